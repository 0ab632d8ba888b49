package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormsOfMySQLs has what MySQL's grammar takes and vitess' does not, with the rows that a MySQL server gave.
func TestFormsOfMySQLs(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE n (x INT, g VARCHAR(5))", "INSERT INTO n VALUES (1, 'a'), (2, 'a'), (3, 'b'), (NULL, 'c')")
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	for _, c := range []struct{ query, want string }{
		{"(SELECT 1 AS a UNION SELECT 2) ORDER BY a DESC", "2 1"},
		{"(SELECT x FROM n UNION SELECT 7) ORDER BY x DESC LIMIT 2", "7 3"},
		{"((SELECT 1 AS a UNION SELECT 2) ORDER BY a DESC)", "2 1"},
		{"SELECT * FROM ((SELECT 1 AS a UNION SELECT 2) ORDER BY a DESC) t", "2 1"},
		{"(SELECT x FROM n) ORDER BY x DESC LIMIT 1", "3"},
		{"(SELECT 1 AS a) UNION (SELECT 2) ORDER BY a DESC", "2 1"},
		{"SELECT ROW(1, 2) = ROW(1, 2), ROW(1,2) IN (ROW(1,3), ROW(1,2)), (1, 2) = (1, 3)", "1|1|0"},
		{"SELECT x FROM n WHERE ROW(x, g) IN (SELECT x, g FROM n) ORDER BY x", "1 2 3"},
		{"SELECT INTERVAL(23, 1, 15, 17, 30, 44, 200), INTERVAL(10, 1, 10, 100), INTERVAL(NULL, 1), INTERVAL(1, NULL, 3), INTERVAL(2.5, 1, 2, 3)", "3|2|-1|1|2"},
		{"SELECT INTERVAL(x, 2, 3) FROM n ORDER BY x", "-1 0 1 2"},
		{"SELECT '2024-01-01' + INTERVAL(1+1) DAY, DATE_ADD('2024-01-01', INTERVAL (GREATEST(1, 2)) DAY)", "2024-01-03|2024-01-03"},
		{"SELECT x FROM n WHERE x = 1 FOR SHARE", "1"},
		{"SELECT x FROM n a WHERE x = 1 FOR SHARE OF a SKIP LOCKED", "1"},
		{"SELECT N'ä', n'b'", "ä|b"},
	} {
		require.Equal(t, c.want, strings.Join(l.rows(c.query), " "), c.query)
		require.Equal(t, c.want, strings.Join(rows.rows(c.query), " "), c.query)
	}
}
