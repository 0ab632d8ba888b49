-- GROUP BY few, of a condition
SELECT adv_engine_id, COUNT(*) AS n FROM hits WHERE adv_engine_id <> 0 GROUP BY adv_engine_id ORDER BY n DESC, adv_engine_id;
