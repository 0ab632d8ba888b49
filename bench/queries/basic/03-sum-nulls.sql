-- SUM of an integer with nulls
SELECT SUM(qty), COUNT(qty) FROM facts;
