-- SUM of a double
SELECT SUM(amount) FROM facts;
