-- GROUP BY a part of a time
SELECT user_id, EXTRACT(MINUTE FROM event_time) AS m, search_phrase, COUNT(*) AS c FROM hits GROUP BY user_id, m, search_phrase ORDER BY c DESC, user_id, m, search_phrase LIMIT 10;
