package mysqltype

import (
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// nested is struct<a:array<int>,d:decimal(5,2)>.
var nested = batch.StructOf(
	batch.Field{Name: "a", Type: batch.ListOf(batch.Field{Type: batch.Type{Kind: batch.Int32}, Nullable: true}), Nullable: true},
	batch.Field{Name: "d", Type: batch.DecimalOf(5, 2), Nullable: true},
)

// everyType has a column of each kind, and for each kind a value as rows have it.
func everyType() (*batch.Schema, sql.Row) {
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	at := time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC)
	columns := []struct {
		t batch.Type
		v any
	}{
		{batch.Type{Kind: batch.Bool}, int8(1)}, {batch.Type{Kind: batch.Int8}, int8(-8)}, {batch.Type{Kind: batch.Int16}, int16(-16)},
		{batch.Type{Kind: batch.Int32}, int32(-32)}, {batch.Type{Kind: batch.Int64}, int64(-64)}, {batch.Type{Kind: batch.Float32}, float32(1.5)},
		{batch.Type{Kind: batch.Float64}, 2.25}, {batch.DecimalOf(10, 2), types.DecimalFromInt64(7)}, {batch.DecimalOf(38, 4), types.DecimalFromInt64(-9)},
		{batch.Type{Kind: batch.Date}, day}, {batch.Type{Kind: batch.Timestamp}, at}, {batch.Type{Kind: batch.TimestampNTZ}, at},
		{batch.Type{Kind: batch.String}, "text"}, {batch.Type{Kind: batch.Binary}, []byte{0, 255}},
		{nested, NewDocument([]byte(`{"a":[1,null],"d":1.50}`))}, {batch.Type{Kind: batch.Variant}, NewDocument([]byte(`{"x":"y"}`))},
	}
	schema := &batch.Schema{}
	row := sql.Row{}
	for i, c := range columns {
		schema.Fields = append(schema.Fields, batch.Field{Name: string(rune('a' + i)), Type: c.t, Nullable: true})
		row = append(row, c.v)
	}
	return schema, row
}

func TestRowsComeBackAsTheyWere(t *testing.T) {
	schema, row := everyType()
	ctx := sql.NewEmptyContext()
	b := batch.NewBuilder(schema)
	require.NoError(t, AppendRow(ctx, b, row))
	require.NoError(t, AppendRow(ctx, b, make(sql.Row, len(row))))
	out := b.Finish()
	for i, col := range out.Cols {
		get := NewGetter(schema.Fields[i], col)
		want, _, err := Of(schema.Fields[i].Type).Convert(ctx, row[i])
		require.NoError(t, err)
		order, err := Of(schema.Fields[i].Type).Compare(ctx, want, get(0))
		require.NoError(t, err)
		require.Zero(t, order, "%s: %v came back as %v", schema.Fields[i].Type, row[i], get(0))
		require.Nil(t, get(1))
	}
}

func TestYearsThatMySQLShows(t *testing.T) {
	days := batch.NewVector(batch.Type{Kind: batch.Date}, 3)
	for _, year := range []int{-1, 0, 9999, 10_000} {
		days.AppendInt32(int32(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400))
	}
	get := NewGetter(batch.Field{Type: days.Type}, days)
	for row, shown := range []bool{false, true, true, false} {
		at := get(row).(time.Time)
		require.Equal(t, shown, Shown(at), at)
	}
	require.Equal(t, time.Date(10_000, 6, 1, 0, 0, 0, 0, time.UTC), get(3))
}

func TestTypesBothWays(t *testing.T) {
	schema, _ := everyType()
	for _, f := range schema.Fields {
		back, err := ToDelta(Of(f.Type))
		require.NoError(t, err)
		want := f.Type
		switch {
		case want.Kind == batch.TimestampNTZ:
			want.Kind = batch.Timestamp // MySQL has one DATETIME
		case types.IsJSON(Of(f.Type)):
			want = batch.Type{Kind: batch.String}
		}
		require.Equal(t, want, back)
	}
	for mysql, delta := range map[sql.Type]batch.Type{
		types.Int24: {Kind: batch.Int32}, types.Uint8: {Kind: batch.Int16}, types.Uint32: {Kind: batch.Int64}, types.Uint64: batch.DecimalOf(20, 0),
		types.JSON: {Kind: batch.String}, types.Null: {Kind: batch.String}, types.TimestampMaxPrecision: {Kind: batch.Timestamp},
		types.MustCreateBitType(1): {Kind: batch.Bool},
	} {
		got, err := ToDelta(mysql)
		require.NoError(t, err, mysql.String())
		require.Equal(t, delta, got, mysql.String())
	}
	for _, refused := range []sql.Type{types.Time, types.Year, types.MustCreateBitType(8), types.MustCreateDecimalType(39, 0)} {
		_, err := ToDelta(refused)
		var unsupported *UnsupportedError
		require.ErrorAs(t, err, &unsupported, refused.String())
		require.NotEmpty(t, unsupported.Instead)
	}
}

func TestDeclaredLengthIsKept(t *testing.T) {
	column := &sql.Column{Name: "c", Type: types.MustCreateStringWithDefaults(sqltypes.VarChar, 20), Comment: "what it is"}
	f, err := Field(column)
	require.NoError(t, err)
	require.Equal(t, `"varchar(20)"`, f.Metadata["__CHAR_VARCHAR_TYPE_STRING"])
	back := Schema(&batch.Schema{Fields: []batch.Field{f}}, "db", "t")[0]
	require.Equal(t, "varchar(20)", back.Type.String())
	require.Equal(t, "what it is", back.Comment)
	long, err := Field(&sql.Column{Name: "c", Type: types.LongText})
	require.NoError(t, err)
	require.Empty(t, long.Metadata)
	require.Equal(t, Text, OfField(long))
}

func TestLiteralsTakeTheColumnsSide(t *testing.T) {
	ctx := sql.NewEmptyContext()
	day, at, flag, str := batch.Type{Kind: batch.Date}, batch.Type{Kind: batch.Timestamp}, batch.Type{Kind: batch.Bool}, batch.Type{Kind: batch.String}
	for _, c := range []struct {
		v    any
		t    sql.Type
		col  batch.Type
		want batch.Kind // Invalid: left to the rows
	}{
		{"2024-01-02", types.LongText, day, batch.Date},
		{"2024-01-02 03:00:00", types.LongText, day, batch.Invalid},
		{"2024-01-02 03:00:00", types.LongText, at, batch.Timestamp},
		{"no date", types.LongText, at, batch.Invalid},
		{int8(1), types.Int8, flag, batch.Bool},
		{int8(2), types.Int8, flag, batch.Invalid},
		{int64(3), types.Int64, str, batch.Invalid},
		{"3", types.LongText, batch.Type{Kind: batch.Int32}, batch.Invalid},
		{uint64(1 << 63), types.Uint64, batch.Type{Kind: batch.Int64}, batch.Invalid},
		{types.DecimalFromInt64(5), types.MustCreateDecimalType(1, 0), batch.DecimalOf(5, 2), batch.Decimal},
	} {
		x, ok := LiteralFor(ctx, c.v, c.t, c.col)
		if c.want == batch.Invalid {
			require.False(t, ok, "%v next to %s", c.v, c.col)
			continue
		}
		require.True(t, ok, "%v next to %s", c.v, c.col)
		require.Equal(t, c.want, x.Type().Kind)
	}
}
