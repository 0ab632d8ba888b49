-- range of a sorted column, SUM
SELECT COUNT(*), SUM(amount) FROM facts WHERE id BETWEEN 4000000 AND 4999999;
