-- COUNT(DISTINCT text)
SELECT COUNT(DISTINCT search_phrase) FROM hits;
