-- CASE in keys and sums
SELECT CASE WHEN device = '' THEN 'desktop' ELSE device END AS kind, SUM(CASE WHEN is_refresh = 1 THEN 1 ELSE 0 END), SUM(price), AVG(price), MAX(duration) FROM hits GROUP BY kind ORDER BY kind;
