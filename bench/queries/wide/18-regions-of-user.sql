-- LAG: visits of a user from another region than the one before
SELECT COUNT(*) AS moves, COUNT(DISTINCT user_id) AS users
FROM (SELECT user_id, region_id, LAG(region_id) OVER (PARTITION BY user_id ORDER BY event_time, watch_id) AS before_it FROM hits) t
WHERE region_id <> before_it
