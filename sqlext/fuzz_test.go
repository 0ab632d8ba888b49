package sqlext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var fuzzSeeds = []string{
	"CREATE STREAM s INTO t WITH CHECKPOINT 'c' AS SELECT * FROM STREAM read_files('p', format => 'csv', a.b => ?) x",
	"CREATE OR REPLACE TABLE t (a STRING, b LONG) USING DELTA PARTITIONED BY (b) LOCATION '/x' TBLPROPERTIES ('a' = 'b')",
	"SELECT * FROM t VERSION AS OF 3 x JOIN u FOR SYSTEM_TIME AS OF ? ON f(a => 1, `b` => 2)",
	"SHOW STREAMS FROM d LIKE 'x%'; ALTER STREAM s RESET TO VERSION 3; DESCRIBE HISTORY t LIMIT 2",
	"/*!80000 DROP STREAM IF EXISTS s */ -- c\n; SELECT 1",
	"SELECT * FROM read_files('x', header = true) WHERE 'a => b' = \"VERSION AS OF 3\" # VERSION AS OF 3",
	"WITH a AS (SELECT * FROM STREAM read_files('a')) SELECT * FROM a UNION ALL SELECT * FROM STREAM(read_files('b'))",
	"EXPLAIN CREATE STREAM s ON ERROR DEAD LETTER INTO d.t MAX 3 ROWS TRIGGER EVERY '1 minute' INTO t OPTIONS (a = -1) AS (SELECT 1)",
}

func FuzzParse(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		stmt, rest, ok, err := Parse(sql)
		require.False(t, err != nil && !ok)
		require.True(t, err != nil || !ok || stmt != nil)
		require.True(t, strings.HasSuffix(sql, rest))
		_, _, _ = ParseStreamSelect(sql)
	})
}

func FuzzRewrite(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		once, err := Rewrite(sql)
		if err != nil {
			return
		}
		twice, err := Rewrite(once)
		require.NoError(t, err)
		require.Equal(t, once, twice)
		if _, rest, ok, err := Parse(sql); ok && err == nil && rest == "" {
			require.Equal(t, sql, once, "a statement of ours stays as it is")
		}
	})
}
