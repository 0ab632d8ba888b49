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

// TestFunctionsCarryCollations: what functions make of a text with COLLATE is compared by that.
func TestFunctionsCarryCollations(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s VARCHAR(9), u VARCHAR(9))", "INSERT INTO t VALUES (1, 'a', NULL), (2, 'A', 'a'), (3, 'b', 'B')")
	for _, on := range []*lab{l, l.onRows()} {
		for _, e := range []string{
			"CONCAT(c, '')", "CONCAT('', LEFT(c, 1))", "IF(id > 0, c, u)", "CASE WHEN id > 0 THEN c ELSE u END", "COALESCE(c, u)", "COALESCE(NULL, c)", "IFNULL(NULL, c)", "NULLIF(c, 'B')",
			"UPPER(c)", "TRIM(c)", "REPLACE(c, 'x', 'y')", "LPAD(c, 1, 'y')", "REPEAT(c, 1)", "SUBSTRING(c, 1)", "CONCAT_WS('', c)", "INSERT(c, 1, 0, '')", "GREATEST(c, '')", "ELT(1, c)",
		} {
			e = strings.ReplaceAll(e, "c", "s COLLATE utf8mb4_general_ci")
			for _, condition := range []string{e + " = 'A'", "'A' = " + e, e + " LIKE 'A'", e + " IN ('x', 'A')", "'A' IN ('x', " + e + ")", e + " BETWEEN 'A' AND 'A'", "CASE " + e + " WHEN 'A' THEN 1 END"} {
				require.Equal(t, "1 2", strings.Join(on.rows("SELECT id FROM t WHERE "+condition+" ORDER BY id"), " "), condition)
			}
		}
		require.Equal(t, []string{"1|2", "2|2", "3|3"}, on.rows("SELECT a.id, b.id FROM t a JOIN t b ON LEFT(a.s COLLATE utf8mb4_general_ci, 1) = b.u ORDER BY 1"))
		require.Equal(t, []string{"2", "0"}, on.rows("SELECT SUM(CONCAT(s COLLATE utf8mb4_general_ci, '') = 'A') FROM t GROUP BY id > 2 ORDER BY 1 DESC"))
	}
}
