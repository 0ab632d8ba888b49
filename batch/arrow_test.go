package batch

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestArrowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(everyType).Draw(t, "type")
		v := NewVector(typ, 0)
		for range rapid.IntRange(0, 100).Draw(t, "rows") {
			require.NoError(t, v.AppendValue(drawValue(t, typ)))
		}
		if typ.Layout() == LayoutBytes && rapid.Bool().Draw(t, "dictionary") {
			v = encode(t, v)
		}
		b := New(NewSchema(Field{Name: "x", Type: typ, Nullable: true}), v)
		if lo := rapid.IntRange(0, v.Len).Draw(t, "lo"); lo > 0 {
			b = b.Slice(lo, v.Len)
		}
		rec, err := ToArrow(b)
		require.NoError(t, err)
		require.Equal(t, b.Cols[0].NullCount(), rec.Column(0).NullN())
		back, err := FromArrow(rec)
		require.NoError(t, err)
		require.True(t, b.Schema.Equal(back.Schema), back.Schema.String())
		require.Empty(t, diffValues(values(b.Cols[0]), values(back.Cols[0])))
		require.Equal(t, v.Dict != nil, back.Cols[0].Dict != nil)

		if back.Len > 2 { // a slice that begins inside a byte of the bitmap
			part, err := FromArrow(rec.NewSlice(1, int64(back.Len-1)))
			require.NoError(t, err)
			require.Empty(t, diffValues(values(b.Cols[0])[1:back.Len-1], values(part.Cols[0])))
		}
	})
}

func TestArrowValuesAreArrows(t *testing.T) {
	b := people(t)
	b.Sel = []int32{0, 1}
	rec, err := ToArrow(b)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1}, rec.Column(0).(*array.Int64).Int64Values())
	require.Equal(t, "ann", rec.Column(1).(*array.String).Value(0))
	require.True(t, rec.Column(1).IsNull(1))
	require.Equal(t, "decimal(10, 2)", rec.Column(2).DataType().String())
	require.Equal(t, uint64(150), rec.Column(2).(*array.Decimal128).Value(0).LowBits())
}

func TestFromArrowConverts(t *testing.T) {
	mem := memory.NewGoAllocator()
	seconds := array.NewTimestampBuilder(mem, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"})
	seconds.AppendValues([]arrow.Timestamp{-1, 5}, nil)
	nanos := array.NewTimestampBuilder(mem, &arrow.TimestampType{Unit: arrow.Nanosecond})
	nanos.AppendValues([]arrow.Timestamp{-1, 5000}, nil)
	large := array.NewLargeStringBuilder(mem)
	large.AppendValues([]string{"a", "b"}, nil)
	dict := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}).(*array.Int64DictionaryBuilder)
	require.NoError(t, dict.Append(7))
	dict.AppendNull()
	cols := []arrow.Array{seconds.NewArray(), nanos.NewArray(), large.NewArray(), dict.NewArray()}
	var fields []arrow.Field
	for i, c := range cols {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: c.DataType(), Nullable: true})
	}
	b, err := FromArrow(array.NewRecord(arrow.NewSchema(fields, nil), cols, 2))
	require.NoError(t, err)
	require.Equal(t, "a timestamp, b timestamp_ntz, c string, d long", b.Schema.String())
	require.Equal(t, "1969-12-31 23:59:59 | 1969-12-31 23:59:59.999999 | a | 7\n1970-01-01 00:00:05 | 1970-01-01 00:00:00.000005 | b | NULL\n", b.Format())
}

func TestFromArrowRefuses(t *testing.T) {
	mem := memory.NewGoAllocator()
	list := array.NewListBuilder(mem, arrow.PrimitiveTypes.Uint64)
	list.AppendNull()
	arr := list.NewArray()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "l", Type: arr.DataType()}}, nil), []arrow.Array{arr}, 1)
	_, err := FromArrow(rec)
	require.ErrorContains(t, err, "convert arrow column l: item: no column type for arrow's uint64")

	far := array.NewTimestampBuilder(mem, &arrow.TimestampType{Unit: arrow.Second})
	far.Append(arrow.Timestamp(1) << 60)
	arr = far.NewArray()
	rec = array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "t", Type: arr.DataType()}}, nil), []arrow.Array{arr}, 1)
	_, err = FromArrow(rec)
	require.ErrorContains(t, err, "does not fit microseconds")
}
