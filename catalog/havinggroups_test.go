package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHavingOverGroups(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (id INT, k INT, s VARCHAR(5))", "INSERT INTO a VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'z'), (4, NULL, NULL)",
		"CREATE TABLE b (id INT, n INT)", "INSERT INTO b VALUES (1, 10), (2, 20), (3, 5), (3, 6)")
	for query, want := range map[string]string{
		"SELECT a.k FROM a JOIN b ON a.id = b.id GROUP BY a.k HAVING SUM(a.id * b.id) > 10":                                       "2",
		"SELECT a.k AS x, COUNT(*) FROM a JOIN b ON a.id = b.id GROUP BY a.k HAVING SUM(a.id + b.n) > 15 AND x > 1 ORDER BY 2":    "2|2",
		"SELECT a.k + 1 AS x FROM a, b WHERE a.id = b.id GROUP BY a.k HAVING SUM(a.id * b.id) > 1 AND a.k >= 1 ORDER BY a.k DESC": "3 2",
		"SELECT a.k FROM a JOIN b ON a.id = b.id GROUP BY a.k HAVING MAX(b.id) = 3":                                               "2",
		"SELECT 7 FROM a JOIN b ON a.id = b.id HAVING SUM(a.id * b.id) > 100":                                                     "",
		"SELECT k FROM a GROUP BY k HAVING GROUP_CONCAT(s ORDER BY s) = 'x,y' AND GROUP_CONCAT(id ORDER BY id) = '1,2'":           "1",
		"SELECT id DIV 2 AS h, COUNT(*) FROM a GROUP BY id DIV 2 HAVING id DIV 2 > 0 ORDER BY 1":                                  "1|2 2|1",
		"SELECT COUNT(*) FROM a GROUP BY id DIV 2 HAVING id DIV 2 = 1":                                                            "2",
		"SELECT UPPER(s) AS u FROM a GROUP BY u HAVING UPPER(s) > 'X' ORDER BY u":                                                 "Y Z",
	} {
		require.Equal(t, want, strings.Join(l.bothRows(query), " "), query)
	}
	l.refused("SELECT a.k, a.s FROM a JOIN b ON a.id = b.id GROUP BY a.k HAVING SUM(a.id * b.id) > 1", "nonaggregated column 'a.s'")
}
