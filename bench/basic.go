package main

import "path/filepath"

// basicSuite is one operator a query, over one table of ten million rows.
var basicSuite = suite{
	name: "basic", title: "One operator at a time", version: 1,
	sample: 0.05,
	about:  "10,000,000 rows of 9 columns in 8 files of 2 row groups, written by DuckDB with Snappy; customers has 100,000 rows.",
	make: func(folder string, scale float64) error {
		if err := copyTo(filepath.Join(folder, "facts"), factColumns, int(10_000_000*scale), 8, 625_000); err != nil {
			return err
		}
		return copyTo(filepath.Join(folder, "customers"), []string{
			"i::INTEGER AS id", "['retail', 'wholesale', 'public', 'online', 'other'][1 + chance(i, 9, 5)] AS segment",
		}, 100_000, 1, 100_000)
	},
}

// factColumns are the columns of the table of facts.
var factColumns = []string{
	"i AS id",
	"chance(i, 1, 1000000)::INTEGER AS cust_id",
	"CASE WHEN chance(i, 2, 100) >= 3 THEN (1 + chance(i, 3, 100))::INTEGER END AS qty",
	"chance(i, 4, 100000000) / 10000.0 AS amount",
	"['new', 'paid', 'packed', 'shipped', 'delivered', 'returned', 'refunded', 'lost'][1 + chance(i, 5, 8)] AS status",
	"md5(i::VARCHAR)[:16] AS code",
	"TIMESTAMP '2024-01-01' + to_microseconds(i * 3000000 + chance(i, 6, 1000000)) AS ts",
	"DATE '2024-01-01' + (i // 28800)::INTEGER AS d",
	"(chance(i, 7, 10000000) / 100)::DECIMAL(18,2) AS price",
}
