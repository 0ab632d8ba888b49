-- HAVING over lengths of texts
SELECT counter_id, AVG(CHAR_LENGTH(url)) AS l, COUNT(*) AS c FROM hits WHERE url <> '' GROUP BY counter_id HAVING COUNT(*) > 1000 ORDER BY l DESC, counter_id LIMIT 25;
