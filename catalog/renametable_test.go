package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRenameTable(t *testing.T) {
	dir := t.TempDir()
	l, other := openLab(t, dir), openLab(t, dir)
	l.exec("CREATE TABLE a (i INT)", "INSERT INTO a VALUES (1)", "RENAME TABLE a TO b")
	require.Equal(t, []string{"b"}, other.rows("SHOW TABLES"))
	require.Equal(t, []string{"1"}, other.rows("SELECT * FROM b"))
	l.refused("SELECT * FROM a", "table not found")
	l.exec("CREATE TABLE a (j INT)", "INSERT INTO a VALUES (2)", "INSERT INTO b VALUES (3)")
	require.Equal(t, []string{"2"}, other.rows("SELECT j FROM a"))
	require.Equal(t, []string{"1", "3"}, other.rows("SELECT i FROM b ORDER BY i"))

	l.exec("RENAME TABLE a TO x, b TO a, x TO b")
	require.Equal(t, []string{"2"}, other.rows("SELECT j FROM b"))
	require.Equal(t, []string{"1", "3"}, other.rows("SELECT i FROM a ORDER BY i"))
	l.refused("RENAME TABLE a TO c, none TO d", "none")
	l.refused("RENAME TABLE a TO b", "already exists")
	require.Equal(t, []string{"a", "b"}, l.rows("SHOW TABLES"))
	l.exec("ALTER TABLE a RENAME TO A", "CREATE DATABASE d", "ALTER TABLE A RENAME d.a2", "ALTER TABLE d.a2 RENAME AS a3", "DROP TABLE d.a3")
	require.Empty(t, l.rows("SHOW TABLES FROM d"))
	require.Equal(t, []string{"b"}, other.rows("SHOW TABLES"))
	l.exec("CREATE TABLE a (k INT)")
	require.Empty(t, l.rows("SELECT k FROM a"))
}

func TestRenameOfOthers(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE e (i INT) LOCATION './e'", "INSERT INTO e VALUES (1)", "ALTER TABLE e RENAME f", "CREATE VIEW v AS SELECT i FROM f", "RENAME TABLE v TO w")
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM w"))
	require.Equal(t, []string{"f", "w"}, l.rows("SHOW TABLES"))
	l.exec("DROP TABLE f")
	require.DirExists(t, l.path("e", "_delta_log"))
	l.refused("RENAME TABLE delta.`"+l.path("e")+"` TO g", "LOCATION")
	l.refused("RENAME TABLE w TO _x", "does not begin with _")

	l.write("in/a.csv", "id\n1\n")
	l.exec("CREATE TABLE dim (id INT, name VARCHAR(9))", "CREATE STREAM s INTO u WITH CHECKPOINT './cp' AS SELECT x.id, dim.name FROM STREAM read_files('./in', format => 'csv', header => true) x LEFT JOIN dim ON x.id = dim.id",
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	l.refused("RENAME TABLE u TO y", "target of the stream lake.s")
	l.refused("ALTER TABLE dim RENAME TO y", "read by the stream lake.s")
	l.refused("DROP TABLE dim", "read by the stream lake.s")
}
