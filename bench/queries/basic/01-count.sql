-- COUNT(*)
SELECT COUNT(*) FROM facts;
