-- ORDER BY a time, the first 10 with a text
SELECT search_phrase, event_time FROM hits WHERE search_phrase <> '' ORDER BY event_time, watch_id LIMIT 10;
