package sqlext

import (
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"
)

// A syntax error in a statement with assignments shows the statement as it was written.
func TestSyntaxErrorsOfAssignments(t *testing.T) {
	for _, c := range []struct{ sql, near string }{
		{"SELECT @a := ", ""},
		{"SELECT @a := FROM t", "FROM t"},
		{"SELECT @a := , 1", ", 1"},
		{"SELECT @a := := 1", ":= 1"},
		{"SELECT @a := (1", ""},
		{"SELECT @a := 1)", ")"},
		{"SELECT @a := 1 +", ""},
		{"SELECT @a := 1 2 3", "2 3"},
		{"SELECT @a := 1 FORM t", "t"},
		{"SELECT @a := 1 x y FROM t", "y FROM t"},
		{"SELECT @a :=\n(SELECT 1 x y), @b := @c FROM t", "y), @b := @c FROM t"},
		{"KILL @a := 5", "@a := 5"},
		{"SELECT 1 FROM t WHERE ) AND @b := 1", ") AND @b := 1"},
		{"SELECT @a :=\nFROM t", "FROM t"},
	} {
		rewritten, err := Rewrite(c.sql)
		require.NoError(t, err)
		_, err = sqlparser.Parse(rewritten)
		syntax, ok := FromVitess(err)
		require.True(t, ok, c.sql)
		require.Equal(t, c.near, syntax.Near, c.sql)
	}
}
