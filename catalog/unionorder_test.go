package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnionOrderedByAPosition: also by one of a column that is no name in the first SELECT.
func TestUnionOrderedByAPosition(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (x INT)", "INSERT INTO t VALUES (1), (2)")
	for query, want := range map[string][]string{
		"SELECT 1 UNION SELECT 2 ORDER BY 1 DESC":                                        {"2", "1"},
		"(SELECT 1) UNION (SELECT 2) ORDER BY 1 DESC LIMIT 1":                            {"2"},
		"SELECT 1, 1 UNION ALL SELECT 2, 0 ORDER BY 2":                                   {"2|0", "1|1"},
		"SELECT DISTINCT 5 FROM t UNION ALL SELECT 8 ORDER BY 1 DESC":                    {"8", "5"},
		"SELECT (SELECT MAX(x) FROM t), 3 UNION ALL SELECT 9, 4 ORDER BY 2 DESC":         {"9|4", "2|3"},
		"SELECT COUNT(*), 5 FROM t UNION ALL SELECT 8, 9 ORDER BY 2 DESC":                {"8|9", "2|5"},
		"SELECT * FROM (SELECT 1, 2 UNION ALL SELECT 3, 1 ORDER BY 2 LIMIT 1) d":         {"3|1"},
		"SELECT 1 UNION ALL (SELECT 2 ORDER BY 1 DESC) ORDER BY 1 DESC":                  {"2", "1"},
		"SELECT @v := 5 UNION ALL SELECT 8 ORDER BY 1 DESC":                              {"8", "5"},
		"SELECT 3 UNION SELECT 1 UNION SELECT 2 ORDER BY 1":                              {"1", "2", "3"},
		"SELECT 4 UNION SELECT 7 EXCEPT SELECT 8 ORDER BY 1 DESC":                        {"7", "4"},
		"SELECT 5, x FROM t UNION ALL SELECT 5, 0 ORDER BY 1, 2 DESC":                    {"5|2", "5|1", "5|0"},
		"SELECT 'b', x FROM t UNION ALL SELECT 'a', 9 ORDER BY 1, 2 DESC":                {"a|9", "b|2", "b|1"},
		"SELECT x, 'n' FROM t UNION ALL SELECT x, 'm' FROM t ORDER BY 2, 1 DESC LIMIT 3": {"2|m", "1|m", "2|n"},
	} {
		for _, vector := range []string{"ON", "OFF"} {
			l.exec("SET lakesql_vector = " + vector)
			require.Equal(t, want, l.rows(query), "%s, lakesql_vector %s", query, vector)
		}
	}
}
