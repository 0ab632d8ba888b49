package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
	"lakesql/store"
)

// withVectors is what makes a table have deletion vectors, or not.
var withVectors = map[bool]string{false: "", true: "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"}

func TestTransactionOfChanges(t *testing.T) {
	for _, properties := range withVectors {
		l := newLab(t)
		other := l.session()
		l.exec("CREATE TABLE t (a INT, b INT) USING DELTA "+properties, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", "BEGIN",
			"UPDATE t SET b = 20 WHERE a = 2", "INSERT INTO t VALUES (4, 4), (5, 5)", "SAVEPOINT s")
		require.Equal(t, []string{"1|1", "2|20", "3|3", "4|4", "5|5"}, l.rows("SELECT * FROM t ORDER BY a"))
		require.Equal(t, 2, l.affected("DELETE FROM t WHERE a IN (1, 4)"))
		require.Equal(t, 2, l.affected("UPDATE t SET b = b * 100 WHERE b >= 5"))
		require.Equal(t, []string{"2|2000", "3|3", "5|500"}, l.rows("SELECT * FROM t ORDER BY a"))
		require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t"))
		l.exec("ROLLBACK TO s")
		require.Equal(t, []string{"1|1", "2|20", "3|3", "4|4", "5|5"}, l.rows("SELECT * FROM t ORDER BY a"))
		l.refused("UPDATE t SET b = 'x' WHERE a = 3", "Incorrect integer value: 'x' for column 'b'")
		require.Equal(t, 1, l.affected("DELETE FROM t WHERE a = 5"))
		require.Equal(t, []string{"1|1", "2|2", "3|3"}, other.rows("SELECT * FROM t ORDER BY a"))
		l.exec("COMMIT")
		require.Equal(t, []string{"1|1", "2|20", "3|3", "4|4"}, other.rows("SELECT * FROM t ORDER BY a"))
		history := l.rows("DESCRIBE HISTORY t")
		require.Len(t, history, 3, "one commit")
		require.Contains(t, history[0], `TRANSACTION|{"statements":"[\"UPDATE\",\"WRITE\",\"DELETE\"]"}`)
		l.exec("BEGIN", "DELETE FROM t", "INSERT INTO t VALUES (7, 7)")
		require.Equal(t, []string{"7|7"}, l.rows("SELECT * FROM t"))
		l.exec("ROLLBACK")
		require.Equal(t, []string{"4"}, l.rows("SELECT COUNT(*) FROM t"))
	}
}

// Two transactions that change different rows of one file both succeed where rows are deleted in place, and one of them loses where the file is
// rewritten, or where they meet.
func TestTransactionsThatMeet(t *testing.T) {
	for _, c := range []struct {
		vectors       bool
		first, second string
		lost          string // the class of the conflict; "": both succeed
		rows          []string
	}{
		{true, "UPDATE t SET b = 10 WHERE a = 1", "UPDATE t SET b = 20 WHERE a = 2", "", []string{"1|10", "2|20", "3|3"}},
		{true, "DELETE FROM t WHERE a = 1", "DELETE FROM t WHERE b = 3", "", []string{"2|2"}},
		{true, "UPDATE t SET b = 10 WHERE a = 1", "DELETE FROM t WHERE a = 1", "DELTA_CONCURRENT_", []string{"1|10", "2|2", "3|3"}},
		{true, "UPDATE t SET b = 3 WHERE a = 1", "DELETE FROM t WHERE b = 3", "DELTA_CONCURRENT_APPEND", []string{"1|3", "2|2", "3|3"}},
		{true, "UPDATE t SET b = 10 WHERE a = 1", "UPDATE t SET b = 20 WHERE a = (SELECT max(a) FROM t)", "DELTA_CONCURRENT_", []string{"1|10", "2|2", "3|3"}},
		{true, "UPDATE t SET b = 10 WHERE a = 1", "DELETE FROM t ORDER BY b DESC LIMIT 1", "DELTA_CONCURRENT_", []string{"1|10", "2|2", "3|3"}},
		{true, "DELETE FROM t WHERE a = 1", "UPDATE t JOIN u ON t.a = u.k SET b = u.v", "", []string{"2|200", "3|3"}},
		{false, "UPDATE t SET b = 10 WHERE a = 1", "UPDATE t SET b = 20 WHERE a = 2", "DELTA_CONCURRENT_", []string{"1|10", "2|2", "3|3"}},
		{false, "INSERT INTO t VALUES (4, 4)", "UPDATE t SET b = 20 WHERE a = 2", "", []string{"1|1", "2|20", "3|3", "4|4"}},
		{false, "INSERT INTO t VALUES (4, 4)", "DELETE FROM t", "", []string{"4|4"}},
		{false, "DELETE FROM t WHERE a = 1", "INSERT INTO t SELECT a + 10, b FROM t", "DELTA_CONCURRENT_", []string{"2|2", "3|3"}},
		{false, "DELETE FROM t WHERE a = 1", "INSERT INTO t VALUES (5, 5)", "", []string{"2|2", "3|3", "5|5"}},
	} {
		l := newLab(t)
		other := l.session()
		l.exec("CREATE TABLE t (a INT, b INT) USING DELTA "+withVectors[c.vectors],
			"INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", "CREATE TABLE u (k INT, v INT)", "INSERT INTO u VALUES (2, 200)")
		other.exec("BEGIN", c.second)
		l.exec(c.first)
		_, err := other.try("COMMIT")
		if c.lost == "" {
			require.NoError(t, err, c.second)
		} else {
			require.ErrorIs(t, err, delta.ErrConflict, c.second)
			require.ErrorContains(t, err, c.lost)
		}
		require.Equal(t, c.rows, l.rows("SELECT * FROM t ORDER BY a"), c.second)
	}
}

// racing lets another commit win, as often as it is told, right before one of its own.
type racing struct{ before func() }

type racingStore struct {
	store.Store
	race *racing
}

func (s racingStore) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	if strings.HasSuffix(key, ".json") && s.race.before != nil {
		before := s.race.before
		s.race.before = nil // what it does commits too
		before()
	}
	return s.Store.PutIfAbsent(ctx, key, data)
}

// racingLabs are two servers on one lake, and what the second one does before a commit of the first to table t.
func racingLabs(t *testing.T) (l, other *lab, race *racing) {
	l = newLab(t)
	race = new(racing)
	l.c.cfg.Open = func(uri string) (store.Store, error) {
		st, err := store.Open(uri)
		if strings.HasSuffix(uri, "/lake/t") {
			return racingStore{st, race}, err
		}
		return st, err
	}
	return l, openLab(t, l.dir), race
}

// A statement that loses runs again on the newest version.
func TestStatementRunsAgain(t *testing.T) {
	l, other, race := racingLabs(t)
	other.exec("CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 1), (2, 2)")
	require.Equal(t, 1, l.affected("UPDATE t SET b = 5 WHERE a = 2"))
	race.before = func() { other.exec("UPDATE t SET b = b + 100") }
	require.Equal(t, 2, l.affected("UPDATE t SET b = b + 1"))
	require.Equal(t, []string{"1|102", "2|106"}, l.rows("SELECT * FROM t ORDER BY a"))
	race.before = func() { other.exec("UPDATE t SET a = 3 WHERE a = 1") }
	require.Equal(t, 0, l.affected("DELETE FROM t WHERE a = 1"))
	again := 0
	var lose func()
	lose = func() {
		again++
		other.exec(fmt.Sprintf("UPDATE t SET b = %d", again))
		race.before = lose
	}
	lose()
	_, err := l.try("UPDATE t SET b = -1")
	require.ErrorIs(t, err, delta.ErrConflict)
	require.ErrorContains(t, err, "[DELTA_CONCURRENT_")
	require.Equal(t, 1+maxTries, again)
	race.before = nil
	for _, file := range l.files("lake/lake/t") {
		require.Contains(t, l.logged("t"), file, "what a lost statement has written is dropped")
	}
}

// An INSERT, of rows or of batches, that meets another writer's ALTER TABLE is planned anew, and so follows the table as it is now.
func TestInsertRunsAgain(t *testing.T) {
	l, other, race := racingLabs(t)
	other.exec("CREATE TABLE u (a INT)", "INSERT INTO u VALUES (1), (2)")
	for insert, affected := range map[string]int{
		"INSERT INTO t (a) VALUES (1), (2)": 2, "INSERT INTO t (a) SELECT a FROM u": 2, "INSERT IGNORE INTO t (a) VALUES (1), (2)": 2,
		"INSERT OVERWRITE t (a) SELECT a FROM u": 2, "INSERT OVERWRITE t (a) VALUES (1), (2)": 2,
	} {
		other.exec("DROP TABLE IF EXISTS t", "CREATE TABLE t (a INT)")
		race.before = func() {
			other.exec("ALTER TABLE t ADD COLUMN b VARCHAR(9)", "ALTER TABLE t ADD CONSTRAINT small CHECK (a < 9)")
		}
		require.Equal(t, affected, l.affected(insert), insert)
		require.Equal(t, []string{"1|NULL", "2|NULL"}, l.rows("SELECT * FROM t ORDER BY a"), insert)
		race.before = func() {
			other.exec("TRUNCATE t", "ALTER TABLE t ADD CONSTRAINT odd CHECK (a % 2 = 1)")
		}
		if strings.Contains(insert, "IGNORE") {
			require.Equal(t, 1, l.affected(insert), insert)
		} else {
			l.refused(insert, "odd")
		}
		race.before = func() { other.exec("ALTER TABLE t ADD COLUMN c INT") }
		l.refused("INSERT INTO t VALUES (1, 'x')", "number of values")
	}
	other.exec("DROP TABLE t", "CREATE TABLE t (a INT)")
	race.before = func() { other.exec("ALTER TABLE u ADD COLUMN x INT", "ALTER TABLE t ADD COLUMN y INT") }
	l.exec("CREATE OR REPLACE TABLE t AS SELECT * FROM u")
	require.Equal(t, []string{"1|NULL", "2|NULL"}, l.rows("SELECT * FROM t ORDER BY a"))
	race.before = func() { other.exec("ALTER TABLE t ADD COLUMN z INT", "TRUNCATE t") }
	l.bound("INSERT INTO t (a, x) VALUES (?, ?)", "1", "2")
	require.Equal(t, []string{"1|2|NULL"}, l.rows("SELECT * FROM t"))
	race.before = func() { other.exec("ALTER TABLE t ADD COLUMN c INT") }
	l.exec("BEGIN", "INSERT INTO t (a) VALUES (3)")
	_, err := l.try("COMMIT")
	require.ErrorIs(t, err, delta.ErrConflict, "what a transaction has seen stays")
	require.Equal(t, []string{"1"}, l.rows("SELECT COUNT(*) FROM t"))
	for _, file := range l.files("lake/lake/t") {
		require.Contains(t, l.logged("t"), file, "what a lost statement has written is dropped")
	}
}

// files are the data files in a folder.
func (l *lab) files(folder string) []string {
	l.t.Helper()
	entries, err := os.ReadDir(l.path(folder))
	require.NoError(l.t, err)
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".parquet") {
			out = append(out, e.Name())
		}
	}
	return out
}

// logged is the text of a table's log.
func (l *lab) logged(table string) string {
	l.t.Helper()
	names, err := filepath.Glob(l.path("lake", "lake", table, "_delta_log", "*.json"))
	require.NoError(l.t, err)
	var out strings.Builder
	for _, n := range names {
		text, err := os.ReadFile(n)
		require.NoError(l.t, err)
		out.Write(text)
	}
	return out.String()
}
