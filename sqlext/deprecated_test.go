package sqlext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeprecations(t *testing.T) {
	for sql, want := range map[string][]string{
		"SELECT !a && b || 'x && y', a != b":                                            {"!", "&&", "||"},
		"SELECT BINARY a, c FROM t WHERE BINARY (b) = 'x' ORDER BY BINARY c":            {"BINARY", "BINARY", "BINARY"},
		"SELECT CAST(a AS BINARY), CONVERT(a, BINARY), CONVERT(a, BINARY(3)), `BINARY`": nil,
		"SELECT SQL_CALC_FOUND_ROWS @a := 5":                                            {"SQL_CALC_FOUND_ROWS", ":="},
		"SET @a := 5":                                                                   nil,
		"CREATE TABLE t (a BINARY(3))":                                                  nil,
		"SELECT 1 -- || \n":                                                             nil,
	} {
		var got []string
		for _, d := range Deprecations(sql) {
			got = append(got, d.Word)
		}
		require.Equal(t, want, got, sql)
	}
}
