-- GROUP BY 1,000,000 integers, the first 10
SELECT cust_id, COUNT(*) AS n, SUM(amount) AS total FROM facts GROUP BY cust_id ORDER BY total DESC LIMIT 10;
