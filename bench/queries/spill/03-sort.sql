-- ORDER BY, 10 rows of the middle
SELECT code, amount FROM facts ORDER BY code LIMIT 10 OFFSET 5000000;
