-- UNION of two sets of users
SELECT COUNT(*) AS users FROM (SELECT user_id FROM hits WHERE search_engine_id < 30 UNION SELECT user_id FROM hits WHERE adv_engine_id > 0) t
