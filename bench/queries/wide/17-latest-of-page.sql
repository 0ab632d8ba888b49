-- ROW_NUMBER: the last three visits of each counter
SELECT counter_id, MIN(event_time) AS first_of_three, COUNT(*) AS visits
FROM (SELECT counter_id, event_time, ROW_NUMBER() OVER (PARTITION BY counter_id ORDER BY event_time DESC, watch_id DESC) AS n FROM hits) t
WHERE n <= 3 GROUP BY counter_id ORDER BY counter_id LIMIT 10
