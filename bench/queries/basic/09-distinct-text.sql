-- COUNT(DISTINCT text), all different
SELECT COUNT(DISTINCT code) FROM facts;
