package catalog

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnalyzeTableCountsWhatStatisticsLack(t *testing.T) {
	dir := t.TempDir()
	writer := openLab(t, dir)
	writer.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2), (3)")
	log := writer.path("lake", "lake", "t", "_delta_log", "00000000000000000001.json")
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	without := regexp.MustCompile(`"stats":"(\\.|[^"\\])*",?`).ReplaceAll(text, nil)
	require.NotEqual(t, string(text), string(without))
	require.NoError(t, os.WriteFile(log, regexp.MustCompile(`,}`).ReplaceAll(without, []byte("}")), 0o644))

	l := openLab(t, dir)
	open := func() *table {
		found, _, err := database{c: l.c, name: "lake"}.GetTableInsensitive(l.ctx(), "t")
		require.NoError(t, err)
		return found.(*table)
	}
	_, exact := open().exactRows()
	require.False(t, exact)
	require.Equal(t, []string{"lake.t|analyze|status|OK", "lake.none|analyze|Error|Table 'lake.none' doesn't exist", "lake.none|analyze|status|Operation failed"}, l.rows("ANALYZE TABLE t, none"))
	rows, exact := open().exactRows()
	require.True(t, exact)
	require.Equal(t, int64(3), rows)
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t"))
	require.Len(t, l.rows("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS"), 1)
}

func TestEverySpellingOfTimeTravel(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
	at := ""
	for _, row := range l.rows("DESCRIBE HISTORY t") {
		if rest, ok := strings.CutPrefix(row, "1|"); ok {
			at, _, _ = strings.Cut(rest, "|")
		}
	}
	path := "delta.`" + l.path("lake", "lake", "t") + "`"
	for _, from := range []string{"t", "lake.t", path} {
		for _, when := range []string{
			"VERSION AS OF 1", "FOR VERSION AS OF 1", "AS OF 1", "TIMESTAMP AS OF '" + at + "'", "FOR TIMESTAMP AS OF '" + at + "'",
			"FOR SYSTEM_TIME AS OF '" + at + "'", "AS OF '" + at + "'",
		} {
			require.Equal(t, []string{"1"}, l.rows("SELECT a FROM "+from+" "+when), when)
			require.Equal(t, []string{"1"}, l.rows("SELECT x.a FROM "+from+" "+when+" x"), when)
			require.Equal(t, []string{"1"}, l.rows("SELECT x.a FROM "+from+" "+when+" AS x WHERE x.a > 0"), when)
		}
	}
	require.Equal(t, []string{"2"}, l.rows("SELECT n.a FROM t n LEFT JOIN t VERSION AS OF 1 o ON n.a = o.a WHERE o.a IS NULL"))
	require.Equal(t, []string{"2"}, l.rows("SELECT a FROM t WHERE a NOT IN (SELECT a FROM t VERSION AS OF 1)"))
	l.exec("CREATE TABLE old AS SELECT * FROM t VERSION AS OF 1", "INSERT INTO old SELECT a + 10 FROM t AS OF 1")
	require.Equal(t, []string{"1", "11"}, l.rows("SELECT * FROM old ORDER BY a"))
	l.exec("PREPARE p FROM 'SELECT a FROM t VERSION AS OF ?'", "SET @v = 1")
	require.Equal(t, []string{"1"}, l.rows("EXECUTE p USING @v"))
	l.refused("SELECT * FROM t VERSION AS OF 9", "version 9")
	l.refused("SELECT * FROM t TIMESTAMP AS OF '1999-01-01'", "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION")
}
