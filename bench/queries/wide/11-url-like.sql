-- LIKE, GROUP BY texts
SELECT search_phrase, MIN(url), COUNT(*) AS c FROM hits WHERE url LIKE '%google%' AND search_phrase <> '' GROUP BY search_phrase ORDER BY c DESC, search_phrase LIMIT 10;
