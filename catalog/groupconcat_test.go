package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGroupConcat asks both executors.
func TestGroupConcat(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE g (k INT, s VARCHAR(20), n INT, d DECIMAL(9,2), dt DATE, y VARBINARY(9))",
		"INSERT INTO g VALUES (1,'b',1,1.50,'2024-02-29','x'),(1,'',2,0.10,'2024-03-01',NULL),(1,'a',3,NULL,NULL,'y'),(2,NULL,4,2.00,'2024-01-01','z'),(3,'ä',5,3.00,'2024-01-02','w'),(3,'ä',6,3.00,'2024-01-02','w')")
	for query, want := range map[string][]string{
		"SELECT k, GROUP_CONCAT(s) FROM g GROUP BY k ORDER BY k":                                {"1|b,,a", "2|NULL", "3|ä,ä"},
		"SELECT k, GROUP_CONCAT(DISTINCT s) FROM g GROUP BY k ORDER BY k":                       {"1|b,,a", "2|NULL", "3|ä"},
		"SELECT k, GROUP_CONCAT(s ORDER BY s SEPARATOR '-') FROM g GROUP BY k ORDER BY k":       {"1|-a-b", "2|NULL", "3|ä-ä"},
		"SELECT GROUP_CONCAT(s, ':', n ORDER BY d DESC, n SEPARATOR '') FROM g":                 {"ä:5ä:6b:1:2a:3"},
		"SELECT GROUP_CONCAT(n ORDER BY n DESC) FROM g":                                         {"6,5,4,3,2,1"},
		"SELECT GROUP_CONCAT(DISTINCT k ORDER BY n DESC) FROM g":                                {"3,2,1"},
		"SELECT GROUP_CONCAT(d), GROUP_CONCAT(dt), COUNT(*) FROM g":                             {"1.50,0.10,2.00,3.00,3.00|2024-02-29,2024-03-01,2024-01-01,2024-01-02,2024-01-02|6"},
		"SELECT GROUP_CONCAT(s) FROM g WHERE k > 7":                                             {"NULL"},
		"SELECT GROUP_CONCAT(n ORDER BY -n) FROM g WHERE k = 1":                                 {"3,2,1"},
		"SELECT k, GROUP_CONCAT(s) x FROM g GROUP BY k HAVING x LIKE '%b%'":                     {"1|b,,a"},
		"SELECT GROUP_CONCAT(x ORDER BY x) FROM (SELECT GROUP_CONCAT(s) x FROM g GROUP BY k) q": {"b,,a,ä,ä"},
	} {
		require.Equal(t, want, l.rows(query), query)
		l.sameOnRows(query)
	}
	require.Equal(t, []string{"x,w"}, l.rows("SELECT GROUP_CONCAT(DISTINCT y ORDER BY n) FROM g WHERE k <> 2 AND n <> 3"), "of bytes")
	require.Equal(t, []string{"1b,2,3a,5ä,6ä"}, l.rows("SELECT GROUP_CONCAT(DISTINCT n, s) FROM g"))
}

// TestGroupConcatIsCut at a character, with a warning.
func TestGroupConcatIsCut(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE g (n INT, s VARCHAR(20))", "INSERT INTO g VALUES (1,'abc'),(2,'ää'),(3,'z')", "SET group_concat_max_len = 5")
	for _, vector := range []string{"ON", "OFF"} {
		l.exec("SET lakesql_vector = " + vector)
		require.Equal(t, []string{"abc,"}, l.rows("SELECT GROUP_CONCAT(s ORDER BY n) FROM g"), vector)
		require.Equal(t, []string{"Warning|1260|Row 2 was cut by GROUP_CONCAT()"}, l.rows("SHOW WARNINGS"), vector)
		require.Equal(t, []string{"z,abc"}, l.rows("SELECT GROUP_CONCAT(s ORDER BY n = 2, n DESC) FROM g WHERE n <> 2"), "it is as long as it may be")
		require.Empty(t, l.rows("SHOW WARNINGS"), vector)
	}
}

// TestGroupConcatOfManyGroups has more groups than stay together.
func TestGroupConcatOfManyGroups(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE g (n INT, s VARCHAR(20))", "INSERT INTO g WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 900) SELECT n, CONCAT('s', n) FROM c")
	query := "SELECT COUNT(*), SUM(LENGTH(x)), MAX(x) FROM (SELECT a.n * 1000 + b.n AS k, GROUP_CONCAT(b.s ORDER BY b.n DESC) AS x FROM g a JOIN g b ON a.n < 100 GROUP BY k) q"
	require.True(t, strings.HasPrefix(l.plan(query), "Vector\n"), l.plan(query))
	require.Equal(t, []string{"89100|345708|s99"}, l.rows(query))
}
