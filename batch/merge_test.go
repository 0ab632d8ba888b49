package batch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMergeFields(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "a INT NOT NULL", "a INT"},
		{"a INT, b STRING", "B STRING, c DATE, A BIGINT", "a BIGINT, b STRING, c DATE"},
		{"a DECIMAL(12,2)", "a INT", "a DECIMAL(12,2)"},
		{"a FLOAT, b SMALLINT", "a DOUBLE, b DOUBLE", "a DOUBLE, b DOUBLE"},
		{"s STRUCT<x INT, y STRING>", "s STRUCT<z DATE, X BIGINT>", "s STRUCT<x BIGINT, y STRING, z DATE>"},
		{"l ARRAY<INT>, m MAP<STRING, ARRAY<INT>>", "l ARRAY<BIGINT>, m MAP<STRING, ARRAY<DOUBLE>>", "l ARRAY<BIGINT>, m MAP<STRING, ARRAY<DOUBLE>>"},
	} {
		got, err := MergeFields(fieldsOf(t, c.a), fieldsOf(t, c.b))
		require.NoError(t, err)
		want, err := MergeFields(nil, fieldsOf(t, c.want))
		require.NoError(t, err)
		require.True(t, NewSchema(want...).Equal(NewSchema(got...)), "%s + %s = %s", c.a, c.b, NewSchema(got...))
	}
	for _, c := range []struct{ a, b, want string }{
		{"a INT", "a STRING", "a: integer in one place and string in another"},
		{"s STRUCT<x INT>", "s STRUCT<x DATE>", "s: x: integer in one place and date in another"},
		{"a BIGINT", "a DOUBLE", "a: long in one place and double in another"},
	} {
		_, err := MergeFields(fieldsOf(t, c.a), fieldsOf(t, c.b))
		require.EqualError(t, err, c.want)
	}
}

func fieldsOf(t *testing.T, text string) []Field {
	if text == "" {
		return nil
	}
	fields, err := ParseFields(text)
	require.NoError(t, err)
	return fields
}
