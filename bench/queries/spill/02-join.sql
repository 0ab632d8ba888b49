-- JOIN of 10,000,000 rows with as many, by a text
SELECT COUNT(*), SUM(a.price) FROM facts a JOIN facts b ON a.code = b.code;
