-- a tenth of the rows, SUM of a decimal
SELECT COUNT(*), SUM(price) FROM facts WHERE amount > 9000;
