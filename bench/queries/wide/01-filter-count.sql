-- rows of a condition
SELECT COUNT(*) FROM hits WHERE adv_engine_id <> 0;
