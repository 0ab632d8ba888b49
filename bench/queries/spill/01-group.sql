-- GROUP BY 10,000,000 texts, the first 10
SELECT code, SUM(amount) AS total FROM facts GROUP BY code ORDER BY total DESC, code LIMIT 10;
