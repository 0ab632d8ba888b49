package resultmeta

import (
	"testing"

	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/stretchr/testify/require"
)

func TestArithmeticKeepsAllDigits(t *testing.T) {
	id, amount := Column{Known: true, Type: sqltypes.Int32, Length: 11, NotNull: true}, decimal(10, 2, false)
	for _, c := range []struct {
		op          string
		left, right Column
		want        Column
	}{
		{"+", id, id, integer(12, true)},
		{"*", id, id, integer(21, true)},
		{"+", id, amount, decimal(13, 2, false)},
		{"*", amount, amount, decimal(20, 4, false)},
		{"/", id, id, decimal(14, 4, false)},
		{"/", amount, amount, decimal(16, 6, false)},
		{"%", amount, id, decimal(10, 2, false)},
		{"div", amount, id, integer(9, false)},
		{"-", text(20, true), id, double(true)},
		{"*", decimal(65, 30, true), decimal(65, 30, true), decimal(65, 30, true)},
	} {
		require.Equal(t, c.want, arithmetic(c.op, c.left, c.right), c.op)
	}
}

func TestMergedColumnsHoldEach(t *testing.T) {
	id := Column{Known: true, Type: sqltypes.Int32, Length: 11}
	for _, c := range []struct {
		of   []Column
		want Column
	}{
		{[]Column{id, decimal(10, 2, true)}, decimal(12, 2, false)},
		{[]Column{id, date()}, text(11, false)},
		{[]Column{id, document()}, bytewise(longLength)},
		{[]Column{{Known: true, Type: sqltypes.Null}, id}, id},
		{[]Column{date(), datetime(3)}, datetime(3)},
		{[]Column{unsigned(20, true), integer(20, true)}, decimal(20, 0, false)},
		{[]Column{id, {}}, Column{}},
	} {
		require.Equal(t, c.want, merge(c.of...))
	}
}
