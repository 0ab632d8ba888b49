-- ORDER BY, the first 10
SELECT id, cust_id, amount FROM facts ORDER BY amount DESC, id LIMIT 10;
