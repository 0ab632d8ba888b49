package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A join that does not fit in memory hands its rows out part by part, and a statement that changes rows wants them by their addresses.
func TestChangesByAJoinThatIsSpilled(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE s (k INT, w VARCHAR(90))", `INSERT INTO s WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 299)
		SELECT x.i * 300 + y.i, CONCAT('a text of some length, so that they do not fit, number ', x.i * 300 + y.i) FROM n x JOIN n y`)
	for _, vectors := range []string{"false", "true"} {
		table := "t_" + vectors
		l.exec("CREATE TABLE " + table + " (k INT, v VARCHAR(90)) TBLPROPERTIES ('delta.enableDeletionVectors' = '" + vectors + "')")
		for _, rest := range []string{"0", "1", "2"} {
			l.exec("INSERT INTO " + table + " SELECT k, NULL FROM s WHERE k % 3 = " + rest + " AND k < 30000")
		}
		l.exec("SET lakesql_query_memory = 4194304",
			"MERGE INTO "+table+" t USING (SELECT k, w FROM s WHERE k < 60000) s ON t.k = s.k WHEN MATCHED AND s.k % 10 = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'merged'",
			"UPDATE "+table+" t JOIN s ON t.k = s.k SET t.v = s.w WHERE t.v = 'merged'",
			"DELETE t FROM "+table+" t JOIN s ON t.k = s.k WHERE s.w LIKE '%7'",
			"SET lakesql_query_memory = 0")
		require.Equal(t, []string{"24000|24000"}, l.rows("SELECT COUNT(*), SUM(t.v = s.w) FROM "+table+" t LEFT JOIN s ON t.k = s.k"), vectors)
	}
}
