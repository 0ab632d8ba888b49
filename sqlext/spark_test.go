package sqlext

import (
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"
)

func TestSparkExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"a > 0 AND b == 'x'":                "a > 0 and b = 'x'",
		"a || '-' || b":                     "concat(concat(a, '-'), b)",
		"CAST(ts AS DATE)":                  "__spark_cast(ts, 'date')",
		"cast(a as decimal(10, 2)) + 5L":    "__spark_cast(a, 'decimal(10,2)') + 5",
		"CAST(CAST(a AS STRING) AS INT)":    "__spark_cast(__spark_cast(a, 'string'), 'int')",
		"to_date(a)":                        "__spark_cast(a, 'date')",
		"year(ts) * 100 + month(ts)":        "year(ts) * 100 + month(ts)",
		"DATE_FORMAT(ts, 'yyyy-MM')":        "__spark_date_format(ts, 'yyyy-MM')",
		"date_trunc('DAY', ts)":             "__spark_date_trunc('DAY', ts)",
		"trunc(d, 'MM')":                    "__spark_trunc(d, 'MM')",
		"date_add(d, 3)":                    "__spark_date_add(d, 3)",
		"a / b":                             "__spark_divide(a, b)",
		"length(s) < 10":                    "char_length(s) < 10",
		"substring(s, 1, 2)":                "__spark_substring(s, 1, 2)",
		"s.x IS NOT NULL":                   "`s.x` is not null",
		"! a = b":                           "not a = b",
		`s = "text"`:                        "s = 'text'",
		"ts > TIMESTAMP '2020-01-01'":       "ts > __spark_cast('2020-01-01', 'timestamp')",
		"ts + INTERVAL 3 DAYS > now()":      "__spark_add_time(ts, 3, 'day') > now(6)",
		"CASE WHEN a THEN 1 ELSE 2D END":    "case when a then 1 else 2e0 end",
		"a IN (1, 2) OR a BETWEEN 5 AND 6":  "a in (1, 2) or a between 5 and 6",
		"upper(trim(s)) RLIKE '^A'":         "upper(trim(both ' ' from s)) regexp '^A'",
		"coalesce(nvl(a, b), isnotnull(c))": "coalesce(ifnull(a, b), (c is not null))",
		"current_timestamp()":               "now(6)",
		"current_timestamp":                 "now(6)",
		"EXTRACT(YEAR FROM ts)":             "year(ts)",
		"-1":                                "-1",
		"'it''s'":                           "'it\\'s'",
		"a <=> b":                           "a <=> b",
		"`a b` >= 1.5":                      "`a b` >= 1.5",
		"a % 2 = 0 AND a DIV 2 > 1":         "a % 2 = 0 and a div 2 > 1",
		"substr(upper(s), 2)":               "__spark_substring(upper(s), 2)",
		"substring(s from 2 for 3)":         "__spark_substring(s, 2, 3)",
		"hour(ts) + quarter(ts)":            "hour(ts) + quarter(ts)",
		"replace(s, 'a', 'b')":              "replace(s, 'a', 'b')",
		"left(s, 2)":                        "left(s, 2)",
		"char_length(s)":                    "char_length(s)",
		"if(a > 1, 'x', NULL)":              "if(a > 1, 'x', null)",
		"s LIKE 'a%' ESCAPE '!'":            "s like 'a%' escape '!'",
		"s NOT LIKE 'a%'":                   "s not like 'a%'",
		"greatest(a, b)":                    "__spark_greatest(a, b)",
		"a = true":                          "a = true",
		"date '2020-01-01' = d":             "__spark_cast('2020-01-01', 'date') = d",
		"current_date()":                    "current_date()",
		"date(ts)":                          "__spark_cast(ts, 'date')",
	} {
		e, err := SparkExpression(text)
		require.NoError(t, err, text)
		require.Equal(t, want, sqlparser.String(e), text)
	}
}

func TestSparkExpressionsThatAreRefused(t *testing.T) {
	for text, part := range map[string]string{
		"a > (SELECT 1)":               "subquery",
		"a[0] = 1":                     "arrays and maps",
		"a::int > 1":                   "CAST(x AS type)",
		"a > ?":                        "parameter",
		"transform(a, x -> x)":         "",
		"map_keys(m) = 1":              "map_keys",
		"sum(a) > 1":                   "sum",
		"CAST(a AS ARRAY<INT>)":        "CAST to array<int>",
		"date_format(ts, '%Y-%m')":     "MySQL's",
		"date_format(ts, 'YYYY')":      "'YYYY'",
		"a; b":                         "one expression",
		"a, b":                         "one expression",
		"a FROM t":                     "one expression",
		"":                             "cannot be read",
		"a >":                          "cannot be read",
		"JSON_EXTRACT(a, '$.x') = 'x'": "json_extract",
		"CONVERT(a, CHAR)":             "",
	} {
		_, err := SparkExpression(text)
		require.Error(t, err, text)
		require.Contains(t, err.Error(), part, text)
	}
}

func TestSparkColumns(t *testing.T) {
	columns, err := SparkColumns("a > 0 AND A < s.x AND b = 'c'")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "s.x", "b"}, columns)
}

func FuzzSparkExpression(f *testing.F) {
	f.Add("CAST(a AS INT) == 5L || `b`.c AND date_format(ts, 'yyyy')")
	f.Add("CASE WHEN ! a THEN INTERVAL 3 DAYS END [0] :: x")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := SparkExpression(text)
		require.True(t, err != nil || e != nil)
	})
}
