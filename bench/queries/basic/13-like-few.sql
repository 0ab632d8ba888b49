-- LIKE over 8 texts
SELECT COUNT(*) FROM facts WHERE status LIKE '%ed%';
