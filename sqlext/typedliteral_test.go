package sqlext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What was rewritten reads as it was written, in the name of a column, a view and errors.
func TestAsWritten(t *testing.T) {
	for _, sql := range []string{
		"SELECT DATE '2024-01-31'", "SELECT timestamp'2024-01-31 10:00:00' + 1", "SELECT Date\n '2024-01-31', date 'it''s', DATE 'a\\'b'", "SELECT @a := DATE '2024-01-31', @b + 1",
	} {
		out, err := Rewrite(sql)
		require.NoError(t, err)
		require.NotEqual(t, sql, out)
		require.Equal(t, sql, AsWritten(out))
		again, err := Rewrite(out)
		require.NoError(t, err)
		require.Equal(t, out, again)
	}
}
