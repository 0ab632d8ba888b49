-- a page of a report: many conditions
SELECT title, COUNT(*) AS views FROM hits WHERE counter_id = 1500 AND event_date BETWEEN DATE '2024-07-01' AND DATE '2024-07-31' AND is_refresh = 0 AND title <> '' GROUP BY title ORDER BY views DESC, title LIMIT 10;
