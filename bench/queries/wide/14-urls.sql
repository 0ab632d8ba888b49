-- GROUP BY long texts
SELECT url, COUNT(*) AS c FROM hits GROUP BY url ORDER BY c DESC, url LIMIT 10;
