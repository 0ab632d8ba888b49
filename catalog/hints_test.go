package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOptimizeWhereSaysWhichColumnsItTakes(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE p (id INT, day DATE) PARTITIONED BY (day)", "CREATE TABLE t (id INT)")
	l.refused("OPTIMIZE p WHERE id = 1", "id is no partition column", "WHERE may name: day")
	l.refused("OPTIMIZE t WHERE id = 1", "the table has no partition columns")
	l.refused("OPTIMIZE p WHERE nope = 1", "nope")
	l.exec("OPTIMIZE p WHERE day = '2024-01-01'")
}

func TestVersionsWithoutTheirFilesSayWhy(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)", "INSERT OVERWRITE t VALUES (2)")
	files, err := filepath.Glob(l.path("lake", "lake", "t", "*.parquet"))
	require.NoError(t, err)
	for _, f := range files {
		require.NoError(t, os.Remove(f))
	}
	l.refused("SELECT * FROM t VERSION AS OF 1", "version 1 of the table", "VACUUM", "DESCRIBE HISTORY")
}

func TestKeysWithoutEffectAreNoted(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT, KEY (a), INDEX two (a, b))")
	require.Contains(t, fmt.Sprint(l.rows("SHOW WARNINGS")), "KEY (a, b) has no effect")
	require.Len(t, l.rows("SHOW WARNINGS"), 2)
}

func TestWordsOfOtherSystems(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 1), (2, 2)")
	require.Equal(t, l.rows("SHOW COLUMNS FROM t"), l.rows("SHOW COLUMNS IN t IN lake"))
	require.Len(t, l.rows("SHOW FIELDS IN t"), 2)
	require.Equal(t, 1, l.affected("DELETE FROM t x WHERE x.a = 1"))
	require.Equal(t, 1, l.affected("DELETE FROM lake.t AS x WHERE x.a = 2 AND EXISTS (SELECT 1 FROM t y WHERE y.a = x.a)"))
	l.exec("DROP TABLE t PURGE")
}

func TestTableChangesTakesNoQuery(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
	l.refused("SELECT * FROM table_changes('t', (SELECT 0), 8)", "argument 2 is a query")
}

func TestUpdateOfAFieldSaysHow(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s STRUCT<a: INT, b: STRING>)", `INSERT INTO t VALUES (1, '{"a": 1, "b": "x"}')`)
	l.refused("UPDATE t SET s.a = 5", "SET s = JSON_SET(s, '$.a', ...)")
	l.exec("UPDATE t SET s = JSON_SET(s, '$.a', 5)")
	require.Equal(t, []string{"5"}, l.rows("SELECT s->'$.a' FROM t"))
}
