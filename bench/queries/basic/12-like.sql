-- LIKE over different texts
SELECT COUNT(*) FROM facts WHERE code LIKE '%abc%';
