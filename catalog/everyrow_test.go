package catalog

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of 1000 rows, less than 300 or more than 700 for a probability of 0.5 come once in 10^35 times.
func TestFiltersDrawForEachRow(t *testing.T) {
	l := newLab(t)
	some := func(count, query string) {
		t.Helper()
		n, err := strconv.Atoi(count)
		require.NoError(t, err)
		require.Greater(t, n, 300, query)
		require.Less(t, n, 700, query)
	}
	l.exec("CREATE TABLE t (i INT, p INT) PARTITIONED BY (p)",
		"INSERT INTO t WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT i, 1 FROM n")
	for _, query := range []string{
		"SELECT COUNT(*) FROM t WHERE RAND() < 0.5",
		"SELECT COUNT(*) FROM t WHERE p = 1 AND (RAND() < 0.5 OR i < 0)",
		"SELECT COUNT(*) FROM (SELECT * FROM t WHERE RAND() < 0.5) AS s",
		"SELECT COUNT(*) FROM t WHERE i IN (SELECT i FROM t WHERE NOT RAND() < 0.5)",
		"SELECT COUNT(*) FROM t JOIN (SELECT 1 AS p) AS s ON t.p = s.p AND RAND() < 0.5",
		"SELECT COUNT(*) FROM t WHERE CONV(LEFT(UUID(), 1), 16, 10) < 8",
		"SELECT COUNT(*) FROM t WHERE HEX(RANDOM_BYTES(1)) < '8'",
	} {
		some(l.rows(query)[0], query)
	}
	require.Equal(t, []string{"0"}, l.rows("SELECT COUNT(*) FROM t WHERE RAND(1) <> RAND(1) OR SLEEP(0)"))
	l.exec("UPDATE t SET i = -1 WHERE RAND() < 0.5")
	some(l.rows("SELECT COUNT(*) FROM t WHERE i = -1")[0], "as the condition says")
	l.exec("DELETE FROM t WHERE RAND() < 0.5")
	some(l.rows("SELECT COUNT(*) FROM t")[0], "as the condition says")
}
