package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBoundsOfBetween computes both bounds of BETWEEN where the value is not NULL, and the value once, as MySQL does.
func TestBoundsOfBetween(t *testing.T) {
	l := newLab(t)
	l.exec(
		"CREATE TABLE t (id INT, u INT, b BIGINT, f DOUBLE, s VARCHAR(9), d DECIMAL(10,2))",
		"INSERT INTO t VALUES (1, NULL, 9007199254740992, 1e308, '2x', 1.5), (2, NULL, 9007199254740993, -1e308, 'x', 2.5)",
		"CREATE TABLE o (id INT)", "INSERT INTO o VALUES (7)",
	)
	const cut = "Warning|1292|Truncated incorrect INTEGER value: '2x';Warning|1292|Truncated incorrect INTEGER value: 'x'"
	for _, on := range []*lab{l, l.onRows()} {
		for _, c := range []struct{ query, want, warnings string }{
			{"SELECT id FROM t WHERE id BETWEEN 2 AND b", "2", ""},
			{"SELECT id FROM t WHERE id NOT BETWEEN 0 AND b - 9007199254740992", "1 2", ""},
			{"SELECT id FROM t WHERE u BETWEEN 0 AND b + 9223372036854775807", "", ""},
			{"SELECT id FROM t WHERE u NOT BETWEEN 0 AND b + 9223372036854775807", "", ""},
			{"SELECT id, u BETWEEN f * 10 AND 5 FROM t", "1|NULL 2|NULL", ""},
			{"SELECT id FROM t WHERE b BETWEEN 9007199254740993 AND f", "1", ""},
			{"SELECT id FROM t WHERE b BETWEEN 9007199254740993 AND 1e300", "1 2", ""},
			{"SELECT id FROM t WHERE b + 0 BETWEEN 9007199254740993 AND 1e300", "1 2", ""},
			{"SELECT id FROM t WHERE d BETWEEN 1 AND 1 / (id - id)", "", "Warning|1365|Division by 0;Warning|1365|Division by 0"},
			{"SELECT id, d BETWEEN 2 AND id / 0 FROM t", "1|0 2|NULL", "Warning|1365|Division by 0;Warning|1365|Division by 0"},
			{"SELECT id FROM t WHERE CAST(s AS SIGNED) BETWEEN id AND 5", "1", cut},
			{"SELECT id FROM t WHERE id BETWEEN 9 AND CAST(s AS SIGNED)", "", cut},
			{"SELECT id FROM t WHERE CAST(s AS SIGNED) IN (id, 2)", "1", cut},
			{"SELECT id FROM t WHERE CAST(s AS SIGNED) NOT IN (1, 2)", "2", cut},
			{"SELECT id FROM t WHERE id BETWEEN (SELECT MIN(id) FROM t) AND (SELECT MAX(id) - 1 FROM t)", "1", ""},
			{"SELECT a.id, o.id FROM t a JOIN o ON o.id BETWEEN a.id * 5 AND a.id * 10", "1|7", ""},
			{"SELECT CASE WHEN id BETWEEN id + 1 AND id + 2 THEN 'a' WHEN s BETWEEN CONCAT('', '2') AND UPPER(s) THEN 'b' ELSE s END FROM t", "2x x", ""},
			{"SELECT COUNT(*) FROM t GROUP BY id HAVING COUNT(*) BETWEEN MAX(id) - 1 AND MIN(id)", "1 1", ""},
			{"SELECT id FROM t WHERE s COLLATE utf8mb4_0900_ai_ci BETWEEN 'X' AND CONCAT('X', '')", "2", ""},
		} {
			require.Equal(t, c.want, strings.Join(on.rows(c.query), " "), c.query)
			require.Equal(t, c.warnings, strings.Join(on.rows("SHOW WARNINGS"), ";"), c.query)
		}
		for _, query := range []string{
			"SELECT id FROM t WHERE -1 BETWEEN id AND f * 10",
			"SELECT id FROM t WHERE -1 NOT BETWEEN id AND f * 10",
			"SELECT id FROM t WHERE b BETWEEN -0.05 AND b + 9223372036854775807",
			"SELECT id FROM t WHERE id BETWEEN 5 AND b + 9223372036854775807",
			"SELECT id FROM t WHERE id = 1 AND f BETWEEN f * 10 AND 0",
			"SELECT IF(id BETWEEN 5 AND b + 9223372036854775807, 1, 2) FROM t",
			"DELETE FROM t WHERE id BETWEEN 5 AND b + 9223372036854775807",
		} {
			on.refused(query, "value is out of range in")
		}
	}
	require.Contains(t, l.plan("SELECT id FROM t WHERE id BETWEEN 5 AND b + 1"), "Vector\n")
}

// TestConstantBoundsSkipFiles: of bounds that are computed once, statistics leave out files.
func TestConstantBoundsSkipFiles(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, dt DATE)", "INSERT INTO t VALUES (1, '2024-01-05')", "INSERT INTO t VALUES (10, '2024-02-05')")
	for _, condition := range []string{
		"id BETWEEN 8 + 1 AND 2 * 5", "dt BETWEEN DATE '2024-01-31' AND DATE '2024-01-31' + INTERVAL 1 MONTH", "id BETWEEN (SELECT MIN(id) + 8 FROM t) AND (SELECT MAX(id) FROM t)",
	} {
		plan := l.analysed("SELECT id FROM t WHERE " + condition)
		require.Contains(t, plan, "files=1/2", condition)
	}
}
