package sqlext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsOfTheGrammarAreWhereMySQLHasThem(t *testing.T) {
	for _, c := range []struct{ sql, function, near string }{
		{"SELECT IF(1,2)", "if", ")"},
		{"SELECT IF(1,(2,3),4,5) FROM n", "IF", ",5) FROM n"},
		{"SELECT LEFT(a, 1), LEFT('a')", "left", ")"},
		{"SELECT DATABASE(), database(1 + 2)", "DATABASE", "1 + 2)"},
		{"SELECT COALESCE()", "coalesce", ")"},
		{"SELECT MAX(x, g) FROM n", "max", ", g) FROM n"},
		{"SELECT MAX(f(x, g)), max(1 , 2)", "MAX", ", 2)"},
	} {
		require.Equal(t, c.near, WrongCall(c.sql, c.function).Near, c.sql)
	}
	require.Nil(t, WrongCall("SELECT ABS(1,2)", "abs"))
	require.Nil(t, WrongCall("SELECT left, LEFT(", "left"))
	require.Equal(t, "nounit)", UnknownWord("SELECT DATE_ADD(a, INTERVAL 1 nounit)", "NOUNIT").Near)
	require.Nil(t, UnknownWord("SELECT 'NOUNIT'", "NOUNIT"))
	require.Equal(t, "?, 1", StrayMark("SELECT '?', ?, 1").Near)
	require.Nil(t, StrayMark("SELECT '?'"))
}
