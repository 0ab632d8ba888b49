package catalog

import (
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
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

// TestCollationsOfKeys: what is ordered, grouped, told apart and looked for is so by the COLLATE in it, in functions and in subqueries too.
func TestCollationsOfKeys(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s VARCHAR(9), u VARCHAR(9))", "INSERT INTO t VALUES (1, 'a', 'A'), (2, 'B', 'b'), (3, 'A', 'c'), (4, 'b', NULL), (5, 'c', 'Z')")
	for _, on := range []*lab{l, l.onRows()} {
		for query, want := range map[string]string{
			"SELECT id FROM t ORDER BY CONCAT(c, ''), id":                                                    "1 3 2 4 5",
			"SELECT id FROM t ORDER BY UPPER(c) DESC, id LIMIT 2":                                            "5 2",
			"SELECT MIN(id), COUNT(*) FROM t GROUP BY CONCAT(c, '') ORDER BY 1":                              "1|2 2|2 5|1",
			"SELECT DISTINCT TRIM(c) FROM t":                                                                 "a B c",
			"SELECT COUNT(DISTINCT CONCAT(c, '')) FROM t":                                                    "3",
			"SELECT MAX(CONCAT(c, '')), MIN(CONCAT(c, '')) FROM t WHERE id < 5":                              "B|a",
			"SELECT ROW_NUMBER() OVER (PARTITION BY LEFT(c, 1) ORDER BY id) FROM t ORDER BY id":              "1 1 2 2 1",
			"SELECT TRIM(c) FROM t WHERE id < 3 UNION SELECT u FROM t WHERE id < 3":                          "a B",
			"SELECT k, COUNT(*) FROM (SELECT CONCAT(c, '') AS k FROM t) q GROUP BY k ORDER BY k":             "a|2 B|2 c|1",
			"SELECT id FROM (SELECT id, CONCAT(c, '') AS k FROM t) q WHERE k = 'A' ORDER BY id":              "1 3",
			"SELECT id FROM t WHERE s IN (SELECT c FROM t WHERE id = 1) ORDER BY id":                         "1 3",
			"SELECT id FROM t WHERE s IN (SELECT CONCAT(c, '') FROM t WHERE id = 1 ORDER BY id) ORDER BY id": "1 3",
			"SELECT id FROM t WHERE s NOT IN (SELECT c FROM t WHERE id = 1) ORDER BY id":                     "2 4 5",
			"SELECT id FROM t WHERE (id, s) IN (SELECT id + 2, c FROM t) ORDER BY id":                        "3 4",
			"SELECT s IN (SELECT c FROM t WHERE id = 1) FROM t ORDER BY id":                                  "1 0 1 0 0",
			"SELECT id FROM t WHERE s = (SELECT c FROM t WHERE id = 1) ORDER BY id":                          "1 3",
			"SELECT id FROM t WHERE (SELECT c FROM t WHERE id = 1) = s ORDER BY id":                          "1 3",
			"SELECT id FROM t WHERE s BETWEEN 'A' COLLATE utf8mb4_general_ci AND 'B' ORDER BY id":            "1 2 3 4",
			"SELECT id FROM t WHERE s BETWEEN 'a' AND 'B' COLLATE utf8mb4_general_ci ORDER BY id":            "1 2 3 4",
			"SELECT id FROM t WHERE s IN ('x' COLLATE utf8mb4_general_ci, 'A') ORDER BY id":                  "1 3",
		} {
			query = strings.NewReplacer("(c)", "(s COLLATE utf8mb4_general_ci)", "(c,", "(s COLLATE utf8mb4_general_ci,", "SELECT c ", "SELECT s COLLATE utf8mb4_general_ci ", ", c FROM",
				", s COLLATE utf8mb4_general_ci FROM").Replace(query)
			require.Equal(t, want, strings.Join(on.rows(query), " "), query)
		}
		_, err := on.run("SELECT ? COLLATE utf8mb4_general_ci = 'a'", map[string]sqlparser.Expr{"v1": &sqlparser.NullVal{}})
		require.NoError(t, err)
	}
}

// TestMixOfCollations: two COLLATEs in one comparison, function or column are an error, whatever rows there are.
func TestMixOfCollations(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s VARCHAR(9), u VARCHAR(9))")
	for _, on := range []*lab{l, l.onRows()} {
		for condition, message := range map[string]string{
			"x = y":                                    "Illegal mix of collations (utf8mb4_general_ci,EXPLICIT) and (utf8mb4_bin,EXPLICIT) for operation '='",
			"x < CONCAT(y, '')":                        "Illegal mix of collations (utf8mb4_general_ci,EXPLICIT) and (utf8mb4_bin,EXPLICIT) for operation '<'",
			"x LIKE y":                                 "for operation 'like'",
			"x BETWEEN s AND y":                        "(utf8mb4_general_ci,EXPLICIT), (utf8mb4_0900_bin,IMPLICIT), (utf8mb4_bin,EXPLICIT) for operation 'between'",
			"x IN (y, 'b')":                            "(utf8mb4_0900_bin,COERCIBLE) for operation 'in'",
			"x IN ('a', 'b', y)":                       "Illegal mix of collations for operation 'in'",
			"CONCAT(x, y) = 'a'":                       "for operation 'concat'",
			"IF(id > 1, x, y) = 'a'":                   "for operation 'if'",
			"COALESCE(x, y) IS NULL":                   "for operation 'coalesce'",
			"STRCMP(x, y) = 0":                         "for operation 'strcmp'",
			"x IN (SELECT y FROM t)":                   "for operation '='",
			"id IN (SELECT 1 FROM t WHERE x > y)":      "for operation '>'",
			"CASE WHEN id > 1 THEN x ELSE y END = 'a'": "for operation 'case'",
		} {
			condition = strings.NewReplacer("x", "s COLLATE utf8mb4_general_ci", "y", "u COLLATE utf8mb4_bin").Replace(condition)
			on.refused("SELECT id FROM t WHERE "+condition, message)
		}
		on.refused("SELECT s COLLATE utf8mb4_general_ci FROM t UNION SELECT u COLLATE utf8mb4_bin FROM t", "for operation 'UNION'")
		on.refused("SELECT s COLLATE utf8mb4_general_ci FROM t UNION ALL SELECT CONCAT(u COLLATE utf8mb4_bin, '') FROM t", "for operation 'UNION'")
		require.Empty(t, on.rows("SELECT s COLLATE utf8mb4_general_ci FROM t WHERE s COLLATE utf8mb4_bin = u UNION SELECT u COLLATE utf8mb4_general_ci FROM t"))
	}
}
