package parquet

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// written returns the file's summary and row group statistics of one column of these values.
func written(t *testing.T, typ batch.Type, values ...any) (ColumnStats, ColumnStats, *File) {
	t.Helper()
	s := batch.NewSchema(batch.Field{Name: "x", Type: typ, Nullable: true})
	b := batch.NewBuilder(s)
	for _, v := range values {
		require.NoError(t, b.AppendRow(v))
	}
	data, sum := encodeFile(t, s, WriterOptions{}, b.Finish())
	f, err := openBytes(data)
	require.NoError(t, err)
	return sum.Columns[0], f.RowGroups()[0].Stats(s.Fields[0], nil, false), f
}

func TestFloatStatistics(t *testing.T) {
	double := batch.Type{Kind: batch.Float64}
	nan := math.NaN()

	sum, group, _ := written(t, double, 1.5, nil, -2.0)
	require.Equal(t, int64(1), sum.NullCount)
	require.Equal(t, -2.0, sum.Min.F64[0])
	require.Equal(t, 1.5, sum.Max.F64[0])
	require.Equal(t, int64(1), group.NullCount)
	require.Equal(t, -2.0, group.Min.F64[0])

	sum, group, _ = written(t, double, 1.5, nan, -2.0)
	require.Equal(t, -2.0, sum.Min.F64[0])
	require.True(t, math.IsNaN(sum.Max.F64[0]), "NaN is the greatest")
	require.False(t, group.HasMinMax, "a footer has no bounds beside NaN")

	sum, group, _ = written(t, double, nan, nan)
	require.True(t, sum.HasMinMax)
	require.True(t, math.IsNaN(sum.Min.F64[0]))
	require.False(t, group.HasMinMax)

	_, group, _ = written(t, double, 0.0, 0.0)
	require.True(t, math.Signbit(group.Min.F64[0]), "the lower zero is negative")
	require.False(t, math.Signbit(group.Max.F64[0]))
	_, group, _ = written(t, batch.Type{Kind: batch.Float32}, float32(math.Copysign(0, -1)), float32(math.Copysign(0, -1)))
	require.True(t, math.Signbit(float64(group.Min.F32[0])))
	require.False(t, math.Signbit(float64(group.Max.F32[0])))

	sum, group, _ = written(t, double, math.Inf(-1), math.Inf(1))
	require.True(t, math.IsInf(sum.Max.F64[0], 1))
	require.True(t, math.IsInf(group.Min.F64[0], -1))

	sum, group, _ = written(t, double, nil, nil)
	require.False(t, sum.HasMinMax)
	require.Equal(t, int64(2), group.NullCount)
	require.False(t, group.HasMinMax)
}

func TestLongStringStatistics(t *testing.T) {
	text := batch.Type{Kind: batch.String}
	low, high := strings.Repeat("a", 5000), strings.Repeat("ü", 3000)
	sum, group, f := written(t, text, low, high)
	require.Equal(t, low, sum.Min.Value(0), "the summary is exact")
	require.Equal(t, high, sum.Max.Value(0))
	require.Equal(t, strings.Repeat("a", maxStatsBytes), group.Min.Value(0))
	require.Equal(t, strings.Repeat("ü", maxStatsBytes/2-1)+"ý", group.Max.Value(0))
	require.Nil(t, f.meta.RowGroups[0].Columns[0].MetaData.Statistics.Max, "the deprecated fields have another order")

	last := strings.Repeat(string(rune(0x10ffff)), 100)
	_, group, _ = written(t, text, "a", last)
	require.False(t, group.HasMinMax, "nothing is above the last code point")

	surrogates := strings.Repeat("x", maxStatsBytes-3) + string(rune(0xd7ff)) + "tail"
	_, group, _ = written(t, text, "a", surrogates)
	require.Equal(t, strings.Repeat("x", maxStatsBytes-3)+string(rune(0xe000)), group.Max.Value(0))

	binary := batch.Type{Kind: batch.Binary}
	top := append([]byte{5}, []byte(strings.Repeat("\xff", 200))...)
	_, group, _ = written(t, binary, []byte{}, []byte{1}, top)
	require.Equal(t, []byte{}, group.Min.Value(0))
	require.Equal(t, []byte{6}, group.Max.Value(0))
}

func TestStatsInTheWantedType(t *testing.T) {
	_, _, f := written(t, batch.Type{Kind: batch.Int32}, int32(-7), int32(9))
	group := f.RowGroups()[0]
	wide := group.Stats(batch.Field{Name: "X", Type: batch.Type{Kind: batch.Int64}}, nil, false)
	require.Equal(t, []int64{-7}, wide.Min.I64)
	dec := group.Stats(batch.Field{Name: "x", Type: batch.DecimalOf(20, 2)}, nil, false)
	require.Equal(t, "9.00", dec.Max.Format(0))
	require.False(t, group.Stats(batch.Field{Name: "x", Type: batch.Type{Kind: batch.String}}, nil, false).HasMinMax)
	missing := group.Stats(batch.Field{Name: "y", Type: batch.Type{Kind: batch.Int64}}, nil, false)
	require.Equal(t, ColumnStats{NullCount: 2}, missing)
}

func TestSummaryOverRowGroups(t *testing.T) {
	s := batch.NewSchema(
		batch.Field{Name: "d", Type: batch.DecimalOf(38, 0), Nullable: true},
		batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}, Nullable: true},
		batch.Field{Name: "f", Type: batch.Type{Kind: batch.Float32}, Nullable: true},
	)
	b := batch.NewBuilder(s)
	for i := range 100 {
		n := int64((i*37)%100 - 50)
		d, err := batch.ParseDecimal(batch.AppendDecimal(nil, decimal128.FromI64(n), 0), 38, 0)
		require.NoError(t, err)
		require.NoError(t, b.AppendRow(d, strings.Repeat("k", i+1), float32(n)))
	}
	_, sum := encodeFile(t, s, WriterOptions{RowGroupRows: 7}, b.Finish())
	require.Equal(t, "-50", sum.Columns[0].Min.Format(0))
	require.Equal(t, "49", sum.Columns[0].Max.Format(0))
	require.Equal(t, "k", sum.Columns[1].Min.Format(0))
	require.Equal(t, strings.Repeat("k", 100), sum.Columns[1].Max.Format(0))
	require.Equal(t, float32(-50), sum.Columns[2].Min.F32[0])
}

// TestNullCountThatIsNotThere tells a count of 0 from none at all, which the footer's decoder does not.
func TestNullCountThatIsNotThere(t *testing.T) {
	_, group, f := written(t, batch.Type{Kind: batch.Int32}, int32(1), int32(2))
	require.Equal(t, int64(0), group.NullCount)
	f.noteNullCounts([][]bool{{false}})
	require.Equal(t, int64(-1), f.RowGroups()[0].Stats(f.Schema().Fields[0], nil, false).NullCount)

	type statistics struct {
		Min []byte `thrift:"6"`
	}
	type metaData struct {
		Path       string     `thrift:"3"`
		Statistics statistics `thrift:"12"`
	}
	type chunk struct {
		MetaData metaData `thrift:"3"`
	}
	type rowGroup struct {
		Columns []chunk `thrift:"1"`
	}
	type footer struct {
		RowGroups []rowGroup `thrift:"4"`
	}
	without := footer{RowGroups: []rowGroup{{Columns: []chunk{{MetaData: metaData{Path: "long enough for a chunk", Statistics: statistics{Min: []byte{1}}}}}}}}
	counted, ok := readChunks(thriftOf(t, &without))
	require.True(t, ok)
	require.Equal(t, [][]bool{{false}}, counted)
	counted, ok = readChunks(thriftOf(t, f.meta))
	require.True(t, ok)
	require.Equal(t, [][]bool{{true}}, counted)
}
