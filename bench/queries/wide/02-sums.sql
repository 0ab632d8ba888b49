-- three aggregates of all rows
SELECT SUM(adv_engine_id), COUNT(*), AVG(resolution_width) FROM hits;
