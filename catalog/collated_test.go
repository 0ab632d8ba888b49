package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCollateOfWhatIsNoText: numbers, dates and documents are collated as their texts, and NULL and bytes not at all, as in MySQL.
func TestCollateOfWhatIsNoText(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s VARCHAR(9), d DECIMAL(10,2), dt DATE, y VARBINARY(9))", "INSERT INTO t VALUES (1, 'x', 1.5, '2024-01-01', 'x'), (2, NULL, NULL, NULL, NULL)", "CREATE TABLE e LIKE t")
	for _, on := range []*lab{l, l.onRows()} {
		for query, want := range map[string]string{
			"SELECT id COLLATE utf8mb4_general_ci, d COLLATE utf8mb4_bin, dt COLLATE utf8mb4_0900_ai_ci FROM t": "1|1.50|2024-01-01 2|NULL|NULL",
			"SELECT id FROM t WHERE id COLLATE utf8mb4_general_ci = '1'":                                        "1",
			"SELECT id FROM t WHERE dt COLLATE utf8mb4_general_ci < 'A'":                                        "1",
			"SELECT JSON_ARRAY(id) COLLATE utf8mb4_bin FROM t":                                                  "[1] [2]",
			"SELECT id FROM t WHERE IF(id > 1, NULL, s) COLLATE utf8mb4_general_ci = 'X'":                       "1",
			"SELECT y COLLATE binary FROM t WHERE id = 1":                                                       "x",
		} {
			require.Equal(t, want, strings.Join(on.rows(query), " "), query)
		}
		for _, query := range []string{
			"SELECT NULL COLLATE utf8mb4_general_ci", "SELECT id FROM t WHERE FALSE AND NULL COLLATE utf8mb4_general_ci < s", "SELECT id FROM e WHERE NULL COLLATE utf8mb4_general_ci < s",
			"SELECT id FROM t WHERE s IN (SELECT NULL COLLATE utf8mb4_general_ci FROM t)", "SELECT COALESCE(NULL, NULL) COLLATE utf8mb4_general_ci FROM t", "SELECT y COLLATE utf8mb4_general_ci FROM e",
			"DELETE FROM t WHERE NULL COLLATE utf8mb4_general_ci LIKE 'a'",
		} {
			on.refused(query, "COLLATION 'utf8mb4_general_ci' is not valid for CHARACTER SET 'binary'")
		}
	}
}
