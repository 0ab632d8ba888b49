package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
)

// feed is what a version of a table changed, as its change data feed says, sorted.
func (l *lab) feed(table string, version int64) []string {
	l.t.Helper()
	t, err := l.c.lookup(l.ctx(), name(table))
	require.NoError(l.t, err)
	snap, sets, err := t.handle.Changes(l.t.Context(), version, version)
	require.NoError(l.t, err)
	var out []string
	for set, err := range sets {
		require.NoError(l.t, err)
		columns := slices.Clone(snap.Schema().Fields)
		if set.Type == "" {
			columns = append(columns, delta.ChangeTypeField)
		}
		in, err := t.handle.OpenFile(l.t.Context(), snap, set.File, delta.FileReaderOptions{Columns: columns, Deleted: set.Rows != nil})
		require.NoError(l.t, err)
		require.NoError(l.t, each(l.t.Context(), in, func(b *batch.Batch) error {
			for i := range b.Rows() {
				row := b.Row(i)
				if set.Rows != nil && !set.Rows.Contains(in.Position()+int64(row)) {
					continue
				}
				cells := []string{set.Type}
				for _, c := range b.Cols {
					cells = append(cells, c.Format(row))
				}
				out = append(out, strings.Trim(strings.Join(cells, "|"), "|"))
			}
			return nil
		}))
	}
	slices.Sort(out)
	return out
}

func (l *lab) version(table string) int64 {
	l.t.Helper()
	t, err := l.c.lookup(l.ctx(), name(table))
	require.NoError(l.t, err)
	return t.snap.Version()
}

func TestChangeDataFeed(t *testing.T) {
	for vectors, properties := range withVectors {
		l := newLab(t)
		properties = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', " + strings.TrimPrefix(properties, "TBLPROPERTIES (")
		if !vectors {
			properties = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
		}
		l.exec("CREATE TABLE t (a INT, b INT, p INT) USING DELTA PARTITIONED BY (p) "+properties, "INSERT INTO t VALUES (1, 1, 0), (2, 2, 0), (3, 3, 1)")
		require.Equal(t, []string{"insert|1|1|0", "insert|2|2|0", "insert|3|3|1"}, l.feed("t", l.version("t")))
		l.exec("UPDATE t SET b = 20, p = 1 WHERE a <= 2 AND a > 1")
		require.Equal(t, []string{"2|20|1|update_postimage", "2|2|0|update_preimage"}, l.feed("t", l.version("t")))
		l.exec("INSERT INTO t VALUES (4, 4, 0), (5, 5, 0)", "DELETE FROM t WHERE a = 4")
		deleted := l.feed("t", l.version("t"))
		require.Len(t, deleted, 1, deleted)
		require.Contains(t, deleted[0], "4|4|0")
		require.Contains(t, deleted[0], "delete")
		l.exec("DELETE FROM t WHERE p = 1")
		require.Equal(t, []string{"delete|2|20|1", "delete|3|3|1"}, l.feed("t", l.version("t")), "only the log changed")
		l.exec("BEGIN", "INSERT INTO t VALUES (6, 6, 2)", "DELETE FROM t WHERE a = 1", "UPDATE t SET b = 60 WHERE a >= 6", "DELETE FROM t WHERE p = 2", "COMMIT")
		require.Equal(t, []string{"1|1|0|delete", "6|60|2|delete", "6|60|2|update_postimage", "6|6|2|insert", "6|6|2|update_preimage"}, l.feed("t", l.version("t")))
		require.Equal(t, []string{"5|5|0"}, l.rows("SELECT * FROM t"))
	}
}

func TestChangesKeepRowIDs(t *testing.T) {
	for _, vectors := range []string{"false", "true"} {
		l := newLab(t)
		l.exec("CREATE TABLE t (a INT, b INT) USING DELTA TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = '"+vectors+"')",
			"INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", "UPDATE t SET b = 20 WHERE a = 2", "DELETE FROM t WHERE a = 1", "INSERT INTO t VALUES (4, 4)")
		tab, err := l.c.lookup(l.ctx(), name("t"))
		require.NoError(t, err)
		var got []string
		for f := range tab.snap.Files() {
			in, err := tab.handle.OpenFile(t.Context(), tab.snap, f, delta.FileReaderOptions{Columns: tab.snap.Schema().Fields[:1], RowIDs: true})
			require.NoError(t, err)
			require.NoError(t, each(t.Context(), in, func(b *batch.Batch) error {
				for i := range b.Rows() {
					row := b.Row(i)
					got = append(got, fmt.Sprintf("%s id %s version %s", b.Cols[0].Format(row), b.Cols[1].Format(row), b.Cols[2].Format(row)))
				}
				return nil
			}))
		}
		slices.Sort(got)
		require.Equal(t, []string{"2 id 1 version 2", "3 id 2 version 1"}, got[:2], vectors)
		require.Contains(t, got[2], "version 4")
	}
}

func TestChangesObeyTheRules(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, a INT DEFAULT 7, twice INT GENERATED ALWAYS AS (a * 2), CONSTRAINT small CHECK (a < 100)) USING DELTA TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
		"INSERT INTO t (a) VALUES (1), (2)")
	require.Equal(t, []string{"1|1|2", "2|2|4"}, l.rows("SELECT * FROM t ORDER BY id"))
	l.exec("UPDATE t SET a = 50 WHERE id = 2")
	require.Equal(t, []string{"1|1|2", "2|50|100"}, l.rows("SELECT * FROM t ORDER BY id"))
	l.refused("UPDATE t SET a = 100 WHERE id = 1", "CHECK constraint small")
	l.refused("UPDATE t SET twice = 1 WHERE id = 1", "DELTA_GENERATED_COLUMN_VALUE_MISMATCH")
	l.refused("UPDATE t SET id = 9", "DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED")
	l.exec("UPDATE t SET a = DEFAULT, twice = DEFAULT WHERE id = 1")
	require.Equal(t, []string{"1|7|14", "2|50|100"}, l.rows("SELECT * FROM t ORDER BY id"))
	l.exec("DELETE FROM t WHERE a = 7", "INSERT INTO t (a) VALUES (3)")
	require.Equal(t, []string{"2|50|100", "3|3|6"}, l.rows("SELECT * FROM t ORDER BY id"))
	l.exec("CREATE TABLE kept (a INT) USING DELTA TBLPROPERTIES ('delta.appendOnly' = 'true')", "INSERT INTO kept VALUES (1)")
	l.refused("DELETE FROM kept", "DELTA_CANNOT_MODIFY_APPEND_ONLY")
	l.refused("UPDATE kept SET a = 2", "DELTA_CANNOT_MODIFY_APPEND_ONLY")
}

func TestChangesUnderColumnMapping(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, `strange name` INT, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
		"INSERT INTO t VALUES (1, 1, 1), (2, 2, 1), (3, 3, 2)", "UPDATE t SET `strange name` = 10 WHERE a = 1", "DELETE FROM t WHERE p = 2", "UPDATE t SET p = 3 WHERE a = 2")
	require.Equal(t, []string{"1|10|1", "2|2|3"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, []string{"2"}, l.rows("SELECT a FROM t WHERE p = 3"))
}

func TestNestedColumnsAreCopied(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, s STRUCT<x: INT, y: STRING>, l ARRAY<INT>) USING DELTA",
		`INSERT INTO t VALUES (1, '{"x": 1, "y": "one"}', '[1, 2]'), (2, NULL, '[]')`, "UPDATE t SET a = a + 10")
	require.Equal(t, []string{`11|{"x":1,"y":"one"}|[1,2]`, "12|NULL|[]"}, l.rows("SELECT * FROM t ORDER BY a"))
	l.exec(`UPDATE t SET s = '{"x": 5}', l = NULL WHERE a = 12`)
	require.Equal(t, []string{`11|{"x":1,"y":"one"}|[1,2]`, `12|{"x":5,"y":null}|NULL`}, l.rows("SELECT * FROM t ORDER BY a"))
}
