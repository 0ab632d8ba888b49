-- SUM over the last hundred visits of a region, and all so far
SELECT region_id, MAX(recent) AS most, MAX(so_far) AS total
FROM (SELECT region_id, SUM(price) OVER (PARTITION BY region_id ORDER BY event_time, watch_id ROWS BETWEEN 99 PRECEDING AND CURRENT ROW) AS recent,
  SUM(price) OVER (PARTITION BY region_id ORDER BY event_time, watch_id) AS so_far FROM hits) t
GROUP BY region_id ORDER BY region_id LIMIT 10
