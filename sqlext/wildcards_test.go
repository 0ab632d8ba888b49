package sqlext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWildcardsKeepTheirBackslash(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT x LIKE 'a\_b' FROM t`:     `SELECT x LIKE 'a\\' '_b' FROM t`,
		`SELECT "it''s\%\_" , 'x''\_'`:    `SELECT "it''s\\" "%\\" "_" , 'x''\\' '_'`,
		`SELECT 'a\\_b', 'c\'\_'`:         `SELECT 'a\\_b', 'c\'\\' '_'`,
		`SELECT 'a' '\%' /* '\_' */ "\_"`: `SELECT 'a' '\\' '%' /* '\_' */ "\\" "_"`,
		"SELECT `a\\_b`, 'c\\d'":          "SELECT `a\\_b`, 'c\\d'",
	} {
		got, err := Rewrite(sql)
		require.NoError(t, err)
		require.Equal(t, want, got)
		again, err := Rewrite(got)
		require.NoError(t, err)
		require.Equal(t, want, again)
		require.Equal(t, sql, AsWritten(got))
	}
}
