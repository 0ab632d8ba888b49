package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCastOfFarExponents: a text whose exponent no DECIMAL has is the limit, or 0, and one whose exponent has no digits is what stands before it, as in MySQL.
func TestCastOfFarExponents(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s VARCHAR(40))", `INSERT INTO t VALUES (1, '5e99999999999x'), (2, '-5e99999999999'), (3, '5e-99999999999x'), (4, '0.0e2147483648'), (5, '5e1001'), (6, '5e1000'),
		(7, ' -1.5E+0000000000000000009999'), (8, '-1e-2000'), (9, '1.5e3'), (10, '5e'), (11, '-.5E+x'), (12, '0e'), (13, '12e4x')`)
	for _, on := range []*lab{l, l.onRows()} {
		require.Equal(t, "1|99.99 2|-99.99 3|0.00 4|0.00 5|99.99 6|99.99 7|-99.99 8|0.00 9|99.99 10|5.00 11|-0.50 12|0.00 13|99.99", strings.Join(on.rows("SELECT id, CAST(s AS DECIMAL(4,2)) FROM t ORDER BY id"), " "))
		require.Equal(t, []string{
			"Warning|1292|Truncated incorrect DECIMAL value: '5e99999999999x'", "Warning|1264|Out of range value for column 'convert(t.s, decimal(4,2))' at row 1",
		}, func() []string {
			on.rows("SELECT CAST(s AS DECIMAL(4,2)) FROM t WHERE id = 1")
			return on.rows("SHOW WARNINGS")
		}())
	}
}
