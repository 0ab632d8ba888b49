-- several aggregates of groups
SELECT region_id, SUM(adv_engine_id), COUNT(*) AS c, AVG(resolution_width), COUNT(DISTINCT user_id) FROM hits GROUP BY region_id ORDER BY c DESC, region_id LIMIT 10;
