package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEscapedWildcards: \_ and \% in a text of SQL are a backslash and the character, which LIKE takes for the character alone.
func TestEscapedWildcards(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (s STRING)", `INSERT INTO t VALUES ('a_b'), ('axb'), ('a%'), ('a\_b')`, "CREATE TABLE a_b (x INT)", "CREATE TABLE axb (x INT)",
		`CREATE VIEW v AS SELECT s FROM t WHERE s LIKE 'a\_b'`)
	for query, want := range map[string][]string{
		`SELECT s FROM t WHERE s LIKE 'a\_b'`:                            {"a_b"},
		`SELECT s FROM t WHERE s LIKE "a\_b" OR s LIKE 'a\%' ORDER BY s`: {"a%", "a_b"},
		`SELECT s FROM t WHERE s NOT LIKE 'a\_%' ORDER BY s`:             {"a%", `a\_b`, "axb"},
		`SELECT s FROM t WHERE s = 'a\_b'`:                               {`a\_b`},
		`SELECT s FROM t WHERE s LIKE 'a\\\\\_b'`:                        {`a\_b`},
		`SELECT s FROM t WHERE s LIKE 'a|_b' ESCAPE '|'`:                 {"a_b"},
		`SELECT s FROM v`:             {"a_b"},
		`SHOW TABLES LIKE 'a\_b'`:     {"a_b"},
		`SELECT LENGTH('\%'), '\'\_'`: {`2|'\_`},
		`SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_NAME LIKE 'a\_b'`: {"a_b"},
	} {
		for _, vector := range []string{"ON", "OFF"} {
			l.exec("SET lakesql_vector = " + vector)
			require.Equal(t, want, l.rows(query), "%s, lakesql_vector %s", query, vector)
		}
	}
	require.Contains(t, l.rows("SHOW CREATE VIEW v")[0], `LIKE 'a\_b'`)
}
