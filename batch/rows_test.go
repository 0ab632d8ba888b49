package batch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func people(t *testing.T) *Batch {
	b := NewBuilder(NewSchema(
		Field{Name: "id", Type: Type{Kind: Int64}},
		Field{Name: "name", Type: Type{Kind: String}, Nullable: true},
		Field{Name: "paid", Type: DecimalOf(10, 2), Nullable: true},
	))
	for i, name := range []any{"ann", nil, "cy", "dee"} {
		paid, err := ParseDecimal([]byte("1.5"), 10, 2)
		require.NoError(t, err)
		require.NoError(t, b.AppendRow(int64(i), name, paid))
	}
	return b.Finish()
}

func TestSelection(t *testing.T) {
	b := people(t)
	require.Equal(t, 4, b.Rows())
	require.Same(t, b, b.Compact())
	b.Sel = []int32{1, 3}
	require.Equal(t, 2, b.Rows())
	require.Equal(t, 3, b.Row(1))
	require.Equal(t, "1 | NULL | 1.50\n3 | dee | 1.50\n", b.Format())
	require.Equal(t, b.Format(), b.Compact().Format())
	require.Nil(t, b.Compact().Sel)
	require.Equal(t, "3 | dee | 1.50\n", b.Slice(1, 2).Format())
	b.Sel = []int32{}
	require.Empty(t, b.Format())
	require.Zero(t, b.Compact().Len)
	b.Sel = nil
	require.Equal(t, "1 | NULL | 1.50\n2 | cy | 1.50\n", b.Slice(1, 3).Format())
}

func TestConcat(t *testing.T) {
	a, b := people(t), people(t)
	b.Sel = []int32{2}
	all := Concat(a.Schema, a, b, b)
	require.Equal(t, a.Format()+b.Format()+b.Format(), all.Format())
	require.Zero(t, Concat(a.Schema).Len)
	clone := a.Clone()
	a.Cols[0].I64[0] = 99
	require.Equal(t, int64(0), clone.Cols[0].I64[0])
}

func TestBuilder(t *testing.T) {
	b := NewBuilder(people(t).Schema)
	require.Zero(t, b.Len())
	for i, c := range people(t).Cols {
		b.Column(i).AppendRows(c, nil)
	}
	require.ErrorContains(t, b.AppendRow(int64(1), "x", "not a decimal"), "append row: column paid: append string")
	require.ErrorContains(t, b.AppendRow(int64(1)), "1 values for 3 columns")
	require.Equal(t, 4, b.Len())
	require.NoError(t, b.AppendRow(int64(9), "z", nil))
	first := b.Finish()
	require.Equal(t, people(t).Format()+"9 | z | NULL\n", first.Format())
	require.Zero(t, b.Len())
	b.Column(0).AppendInt64(1)
	require.Equal(t, 5, first.Len)
}

func TestNewChecksItsColumns(t *testing.T) {
	s := people(t).Schema
	require.Panics(t, func() { New(s) })
	require.Panics(t, func() { New(NewSchema(s.Fields[0]), NewNulls(Type{Kind: String}, 1)) })
	require.Panics(t, func() { New(NewSchema(s.Fields[:2]...), NewNulls(s.Fields[0].Type, 1), NewNulls(s.Fields[1].Type, 2)) })
}

func TestSchema(t *testing.T) {
	s := people(t).Schema
	require.Equal(t, "id long not null, name string, paid decimal(10,2)", s.String())
	require.Equal(t, 1, s.Index("NAME"))
	require.Equal(t, -1, s.Index("nam"))
	require.Equal(t, []string{"id", "name", "paid"}, s.Names())
	require.Equal(t, "paid decimal(10,2), id long not null", s.Project([]int{2, 0}).String())
	require.True(t, s.Equal(people(t).Schema))
	var none *Schema
	require.False(t, s.Equal(none))
	require.True(t, none.Equal(nil))
	other := people(t).Schema
	other.Fields[1].Metadata = map[string]string{"comment": `"x"`}
	require.False(t, s.Equal(other))
}

func TestTypeNames(t *testing.T) {
	for _, typ := range everyType {
		back, err := ParseType(typ.String())
		require.NoError(t, err)
		require.Equal(t, typ, back)
	}
	for text, want := range map[string]string{
		"INT": "integer", "BigInt": "long", " tinyint ": "byte", "Numeric( 12 , 3 )": "decimal(12,3)", "DECIMAL": "decimal(10,0)",
		"dec(7)": "decimal(7,0)", "TIMESTAMP_LTZ": "timestamp", "real": "float", "bool": "boolean",
	} {
		typ, err := ParseType(text)
		require.NoError(t, err)
		require.Equal(t, want, typ.String())
	}
	for text, want := range map[string]string{
		"varchar(10)": "unknown type", "int(4)": "takes no arguments", "decimal(39,1)": "must be 1 to 38", "decimal(5,6)": "must be 1 to 38",
		"decimal(0,0)": "must be 1", "decimal(5": "write decimal(precision, scale)", "decimal(a,b)": "write decimal(precision, scale)", "": "unknown type",
	} {
		_, err := ParseType(text)
		require.ErrorContains(t, err, want, text)
	}
	require.Equal(t, "invalid type (kind 0)", Type{}.String())
}
