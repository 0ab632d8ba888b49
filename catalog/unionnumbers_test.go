package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnionOfNumbers(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE d (x DOUBLE, i INT)", "INSERT INTO d VALUES (1e300, 1), (1e-35, 2)",
		"CREATE TABLE m (x DECIMAL(10,2))", "INSERT INTO m VALUES (1.5)")
	for query, want := range map[string][]string{
		"SELECT x FROM d UNION ALL SELECT x FROM m":                                                {"1e+300", "1e-35", "1.5"},
		"SELECT x FROM m UNION SELECT x FROM d ORDER BY x":                                         {"1e-35", "1.5", "1e+300"},
		"SELECT i, x FROM d UNION ALL SELECT x, i FROM d ORDER BY 1, 2":                            {"1e-35|2", "1|1e+300", "2|1e-35", "1e+300|1"},
		"SELECT x FROM m UNION ALL SELECT x FROM d UNION ALL SELECT 7":                             {"1.5", "1e+300", "1e-35", "7"},
		"SELECT MAX(x), MIN(x) FROM (SELECT x FROM m UNION ALL SELECT x FROM d) AS u":              {"1e+300|1e-35"},
		"SELECT i FROM d WHERE x IN (SELECT x FROM m UNION ALL SELECT x FROM d) ORDER BY i":        {"1", "2"},
		"WITH u AS (SELECT x FROM m UNION SELECT x FROM d) SELECT COUNT(*) FROM u WHERE x > 1e299": {"1"},
		"SELECT -9223372036854775808 AS n UNION ALL SELECT 18446744073709551615":                   {"-9223372036854775808", "18446744073709551615"},
		"SELECT x FROM m UNION ALL SELECT i FROM d":                                                {"1.50", "1.00", "2.00"},
		"SELECT x FROM d INTERSECT SELECT x FROM m":                                                nil,
	} {
		require.Equal(t, want, append([]string(nil), l.rows(query)...), query)
	}
	l.exec("CREATE TABLE written (x DOUBLE)", "INSERT INTO written SELECT x FROM m UNION ALL SELECT x FROM d")
	require.Equal(t, []string{"1e-35", "1.5", "1e+300"}, l.rows("SELECT x FROM written ORDER BY x"))
}
