-- GROUP BY 8 texts
SELECT status, COUNT(*), SUM(amount), AVG(amount) FROM facts GROUP BY status ORDER BY status;
