package main

import (
	"fmt"
	"path/filepath"
)

// wideSuite is a table of events as of visits to web pages: one hundred columns, of which a query asks for a few.
var wideSuite = suite{
	name: "wide", title: "A wide table of events", version: 1,
	sample: 0.05,
	about:  "2,000,000 rows of 100 columns in 4 files of 4 row groups, written by DuckDB with Snappy; queries like those of dashboards over web visits.",
	make: func(folder string, scale float64) error {
		return copyTo(filepath.Join(folder, "hits"), hitColumns(), int(2_000_000*scale), 4, 125_000)
	},
}

// hitColumns are the columns that the queries name, and others up to a hundred of the kinds that such tables have.
func hitColumns() []string {
	columns := []string{
		"i AS watch_id",
		"TIMESTAMP '2024-07-01' + to_microseconds(i * 1200000 + chance(i, 1, 1000000)) AS event_time",
		"DATE '2024-07-01' + (i // 72000)::INTEGER AS event_date",
		"chance(chance(i, 2, 400000), 26, 4000000000) AS user_id",
		"(sqrt(chance(i, 3, 4000000)::DOUBLE))::INTEGER AS counter_id",
		"chance(i, 4, 230)::INTEGER AS region_id",
		"[1366, 1920, 1280, 1440, 1600, 1024, 0][1 + chance(i, 5, 7)]::SMALLINT AS resolution_width",
		"CASE WHEN chance(i, 6, 10) < 7 THEN 0 ELSE chance(i, 7, 40) END::SMALLINT AS adv_engine_id",
		"chance(i, 8, 90)::SMALLINT AS search_engine_id",
		"(chance(i, 9, 20) = 0)::SMALLINT AS is_refresh",
		"CASE WHEN chance(i, 10, 10) < 8 THEN '' ELSE concat_ws(' ', ['buy', 'cheap', 'best', 'used', 'new'][1 + chance(i, 11, 5)], ['car', 'house', 'phone', 'ticket', 'book', 'garden'][1 + chance(i, 12, 6)], chance(i, 13, 3000)::VARCHAR) END AS search_phrase",
		"concat('https://', ['shop', 'news', 'mail', 'google', 'video'][1 + chance(i, 14, 5)], '.example/', chance(i, 15, 200000)::VARCHAR, '/page-', chance(i, 16, 50)::VARCHAR) AS url",
		"CASE WHEN chance(i, 17, 3) = 0 THEN '' ELSE concat('https://', ['search', 'portal', 'blog', 'mail'][1 + chance(i, 18, 4)], chance(i, 19, 500)::VARCHAR, '.example/?q=', chance(i, 20, 30000)::VARCHAR) END AS referer",
		"concat('Page ', chance(i, 15, 200000)::VARCHAR, ' of the ', ['shop', 'news', 'mail', 'Google', 'video'][1 + chance(i, 14, 5)]) AS title",
		"['', 'phone', 'tablet'][1 + chance(i, 21, 3)] AS device",
		"chance(i, 22, 100)::SMALLINT AS os",
		"CASE WHEN chance(i, 23, 4) > 0 THEN (chance(i, 24, 1000000) / 100)::DECIMAL(12,2) END AS price",
		"chance(i, 25, 100000) / 1000.0 AS duration",
	}
	others := []string{
		"chance(i, %[1]d, 2)::SMALLINT AS flag_%[1]d",
		"chance(i, %[1]d, 5000)::INTEGER AS code_%[1]d",
		"chance(i, %[1]d, 1000000000000) AS hash_%[1]d",
		"['', 'a', 'few', 'words', 'of text'][1 + chance(i, %[1]d, 5)] AS label_%[1]d",
		"CASE WHEN chance(i, %[1]d, 3) = 0 THEN chance(i, 1%[1]d, 60000)::INTEGER END AS timing_%[1]d",
		"chance(i, %[1]d, 100)::SMALLINT AS kind_%[1]d",
	}
	for n := len(columns); n < 100; n++ {
		columns = append(columns, fmt.Sprintf(others[n%len(others)], 1000+n))
	}
	return columns
}
