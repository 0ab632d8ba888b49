-- JOIN with 100,000 rows, GROUP BY
SELECT c.segment, COUNT(*), SUM(f.amount) FROM facts f JOIN customers c ON f.cust_id = c.id GROUP BY c.segment ORDER BY c.segment;
