package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// randomType returns a type of at most that many levels of nesting. Void comes only as a field of a struct beside others.
func randomType(r *rand.Rand, depth int) batch.Type {
	if depth == 0 || r.IntN(3) == 0 {
		return allTypes[r.IntN(len(allTypes))]
	}
	field := func(name string) batch.Field {
		return batch.Field{Name: name, Type: randomType(r, depth-1), Nullable: r.IntN(3) > 0}
	}
	switch r.IntN(7) {
	case 0, 1:
		return batch.ListOf(field(""))
	case 2, 3:
		return batch.MapOf(field(""), field(""))
	case 4:
		return batch.Type{Kind: batch.Variant}
	}
	fields := []batch.Field{field("a")}
	for i := range r.IntN(4) {
		fields = append(fields, field(fmt.Sprintf("f%d", i)))
	}
	if r.IntN(4) == 0 {
		fields = append(fields, batch.Field{Name: "nothing", Type: batch.Type{Kind: batch.Void}, Nullable: true})
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return batch.StructOf(fields...)
}

func randomSchema(r *rand.Rand) *batch.Schema {
	s := &batch.Schema{}
	for i := range 1 + r.IntN(4) {
		s.Fields = append(s.Fields, batch.Field{Name: fmt.Sprintf("c%d", i), Type: randomType(r, 4), Nullable: r.IntN(3) > 0})
	}
	return s
}

// appendRandom adds a row to a vector of a field.
func appendRandom(r *rand.Rand, v *batch.Vector, f batch.Field, nulls float64, repeat bool) {
	if f.Type.Kind == batch.Void || f.Nullable && r.Float64() < nulls {
		v.AppendNull()
		return
	}
	fields := f.Type.Fields()
	switch f.Type.Layout() {
	case batch.LayoutStruct:
		if f.Type.Kind == batch.Variant {
			if err := v.AppendFromJSON(fmt.Appendf(nil, `{"a": %d, "b": ["x", %d, null]}`, r.IntN(1000), r.Int64())); err != nil {
				panic(err)
			}
		} else {
			for i, child := range v.Children {
				appendRandom(r, child, fields[i], nulls, repeat)
			}
			v.EndRow()
		}
		if f.Nullable && r.IntN(10) == 0 { // null, with values below
			if v.Valid == nil {
				v.Valid = batch.NewBitmap(v.Len)
			}
			v.Valid.Clear(v.Len - 1)
		}
	case batch.LayoutList:
		n := r.IntN(4)
		if r.IntN(50) == 0 {
			n = r.IntN(300)
		}
		for range n {
			for i, child := range v.Children {
				appendRandom(r, child, fields[i], nulls, repeat)
			}
		}
		v.EndRow()
	default:
		if err := v.AppendValue(randomValue(r, f.Type, repeat)); err != nil {
			panic(err)
		}
	}
}

func randomNested(r *rand.Rand, s *batch.Schema, rows int, nulls float64, repeat bool) *batch.Batch {
	cols := make([]*batch.Vector, len(s.Fields))
	for i, f := range s.Fields {
		cols[i] = batch.NewVector(f.Type, rows)
		for range rows {
			appendRandom(r, cols[i], f, nulls, repeat)
		}
	}
	return batch.New(s, cols...)
}

// stripes are the places of each leaf of a file, by path: repetition level, definition level, value.
type stripes map[string][]string

func (s stripes) add(path []string, rep, def int, value string) {
	s[strings.Join(path, ".")] = append(s[strings.Join(path, ".")], fmt.Sprintf("%d %d %s", rep, def, value))
}

// strip takes one row apart as the specification says, a value at a time: an oracle for the writer, which does it a column at a time.
// row is -1 where there is none; rep and def are then what all leaves below get.
func (s stripes) strip(f batch.Field, v *batch.Vector, row int, path []string, rep, def, depth int) {
	if f.Type.Kind == batch.Void {
		return
	}
	if row >= 0 && v.IsNull(row) {
		row = -1
	} else if row >= 0 && f.Nullable {
		def++
	}
	fields := f.Type.Fields()
	switch f.Type.Layout() {
	case batch.LayoutStruct:
		for i, child := range v.Children {
			s.strip(fields[i], child, row, append(path, fields[i].Name), rep, def, depth)
		}
	case batch.LayoutList:
		group := "list"
		if f.Type.Kind == batch.Map {
			group = "key_value"
		}
		for i, child := range v.Children {
			below := append(append([]string{}, path...), group, fields[i].Name)
			if row < 0 || v.Off[row] == v.Off[row+1] {
				s.strip(fields[i], child, -1, below, rep, def, depth+1)
				continue
			}
			r := rep
			for at := v.Off[row]; at < v.Off[row+1]; at++ {
				s.strip(fields[i], child, int(at), below, r, def+1, depth+1)
				r = depth + 1
			}
		}
	default:
		if row < 0 {
			s.add(path, rep, def, "null")
		} else {
			s.add(path, rep, def, plainText(v.Decode(), row))
		}
	}
}

// plainText renders a value by its physical form.
func plainText(v *batch.Vector, row int) string {
	switch physical, size := physicalType(v.Type); physical {
	case format.FixedLenByteArray:
		return fmt.Sprintf("%x", appendBigEndian(nil, v.Dec[row], size))
	case format.ByteArray:
		return fmt.Sprintf("%x", v.BytesAt(row))
	}
	if v.Type.Kind == batch.Decimal {
		return fmt.Sprint(v.I64[row])
	}
	return fmt.Sprint(v.Value(row))
}

func valueText(v pq.Value) string {
	switch v.Kind() {
	case pq.Boolean:
		return fmt.Sprint(v.Boolean())
	case pq.Int32:
		return fmt.Sprint(v.Int32())
	case pq.Int64:
		return fmt.Sprint(v.Int64())
	case pq.Float:
		return fmt.Sprint(v.Float())
	case pq.Double:
		return fmt.Sprint(v.Double())
	case pq.ByteArray, pq.FixedLenByteArray:
		return fmt.Sprintf("%x", v.ByteArray())
	}
	return "null"
}

// readStripes reads a file with parquet-go and checks its page indexes against its pages.
func readStripes(t *testing.T, data []byte) stripes {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	out := stripes{}
	for _, path := range f.Schema().Columns() {
		out[strings.Join(path, ".")] = nil
	}
	for g, group := range f.RowGroups() {
		require.Equal(t, f.Metadata().RowGroups[g].NumRows, group.NumRows())
		for c, path := range f.Schema().Columns() {
			chunk := group.ColumnChunks()[c].(*pq.FileColumnChunk)
			require.NoError(t, checkIndexes(t, out, path, f.Metadata().RowGroups[g].Columns[c].MetaData, chunk, group.NumRows()), "%v", path)
		}
	}
	return out
}

// compareValues compares as parquet.thrift says; parquet-go compares the bytes of decimals without their sign.
func compareValues(typ pq.Type, a, b pq.Value) int {
	if a.Kind() != pq.FixedLenByteArray {
		return typ.Compare(a, b)
	}
	x, y := bytes.Clone(a.ByteArray()), bytes.Clone(b.ByteArray())
	x[0], y[0] = x[0]^0x80, y[0]^0x80
	return bytes.Compare(x, y)
}

func checkIndexes(t *testing.T, out stripes, path []string, meta format.ColumnMetaData, chunk *pq.FileColumnChunk, groupRows int64) error {
	offsets, err := chunk.OffsetIndex()
	if err != nil {
		return err
	}
	columns, err := chunk.ColumnIndex()
	if errors.Is(err, pq.ErrMissingColumnIndex) {
		columns = nil
	} else if err != nil {
		return err
	}
	pages := chunk.Pages()
	defer func() { require.NoError(t, pages.Close()) }()
	var rows, places, nulls int64
	for p := 0; ; p++ {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			require.Equal(t, offsets.NumPages(), p)
			break
		}
		if err != nil {
			return err
		}
		require.Equal(t, rows, offsets.FirstRowIndex(p))
		values := make([]pq.Value, page.NumValues())
		if n, err := page.Values().ReadValues(values); n < len(values) {
			return err
		}
		pageNulls := int64(0)
		for _, v := range values {
			if v.RepetitionLevel() == 0 {
				rows++
			}
			if v.IsNull() {
				pageNulls++
			}
			out.add(path, v.RepetitionLevel(), v.DefinitionLevel(), valueText(v))
		}
		require.Zero(t, values[0].RepetitionLevel(), "a page begins with a row")
		places, nulls = places+int64(len(values)), nulls+pageNulls
		if columns == nil {
			continue
		}
		require.Equal(t, pageNulls, columns.NullCount(p))
		require.Equal(t, pageNulls == int64(len(values)), columns.NullPage(p))
		if !columns.NullPage(p) {
			low, high := columns.MinValue(p), columns.MaxValue(p)
			for _, v := range values {
				if !v.IsNull() {
					require.LessOrEqual(t, compareValues(chunk.Type(), low, v), 0)
					require.LessOrEqual(t, compareValues(chunk.Type(), v, high), 0)
				}
			}
		}
	}
	require.Equal(t, groupRows, rows)
	require.Equal(t, meta.NumValues, places)
	require.Equal(t, meta.Statistics.NullCount, nulls)
	return nil
}

func TestNestedColumnsAreWritten(t *testing.T) {
	files := 60
	if testing.Short() {
		files = 15
	}
	for seed := range files {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 11))
			s := randomSchema(r)
			rows, nulls := []int{0, 1, 70, 900}[r.IntN(4)], []float64{0, 0.2, 1}[r.IntN(3)]
			opts := WriterOptions{PageBytes: 500, RowGroupRows: 400, Compression: Compression(seed % 4)} // parquet-go misreads LZ4 pages that hardly shrink
			b := randomNested(r, s, rows, nulls, r.IntN(2) == 0)
			if r.IntN(2) == 0 && rows > 0 {
				b.Sel = []int32{}
				for i := range rows {
					if r.IntN(3) > 0 {
						b.Sel = append(b.Sel, int32(i))
					}
				}
			}
			data, sum := encodeFile(t, s, opts, b)
			require.Equal(t, int64(b.Rows()), sum.Rows)
			want := stripes{}
			for c, f := range s.Fields {
				for i := range b.Rows() {
					want.strip(f, b.Cols[c], b.Row(i), []string{f.Name}, 0, 0, 0)
				}
				checkCounts(t, f, b, func(row int) (*batch.Vector, bool) { return b.Cols[c], true }, sum.Columns[c])
			}
			got := readStripes(t, data)
			require.NotEmpty(t, got)
			for path := range got {
				require.Equal(t, want[path], got[path], "%s in %s", path, s)
			}
			if b.Rows() > 0 {
				require.Len(t, got, len(want))
			}
		})
	}
}

// checkCounts compares the counts of nulls with the rows. at gives the vector at a row unless something above is null.
func checkCounts(t *testing.T, f batch.Field, b *batch.Batch, at func(row int) (*batch.Vector, bool), got ColumnStats) {
	nulls := int64(0)
	for i := range b.Rows() {
		if v, ok := at(b.Row(i)); !ok || v.IsNull(b.Row(i)) {
			nulls++
		}
	}
	require.Equal(t, nulls, got.NullCount, f.Name)
	nested := f.Type.Fields() != nil
	require.Equal(t, !nested && nulls < int64(b.Rows()), got.HasMinMax, f.Name)
	if f.Type.Kind != batch.Struct {
		require.Empty(t, got.Fields)
		return
	}
	for i, child := range f.Type.Fields() {
		checkCounts(t, child, b, func(row int) (*batch.Vector, bool) {
			v, ok := at(row)
			if !ok || v.IsNull(row) {
				return nil, false
			}
			return v.Children[i], true
		}, got.Fields[i])
	}
}

// The schema is the one that Spark writes: three levels, both kinds of annotations, ids where Naming has one, void left out.
func TestNestedSchema(t *testing.T) {
	long, text := batch.Type{Kind: batch.Int64}, batch.Type{Kind: batch.String}
	point := batch.StructOf(batch.Field{Name: "x", Type: long}, batch.Field{Name: "gone", Type: batch.Type{Kind: batch.Void}, Nullable: true},
		batch.Field{Name: "tags", Type: batch.ListOf(batch.Field{Type: text, Nullable: true}), Nullable: true})
	s := batch.NewSchema(
		batch.Field{Name: "void", Type: batch.Type{Kind: batch.Void}, Nullable: true},
		batch.Field{Name: "p", Type: point, Nullable: true},
		batch.Field{Name: "m", Type: batch.MapOf(batch.Field{Type: text}, batch.Field{Type: point})},
		batch.Field{Name: "v", Type: batch.Type{Kind: batch.Variant}, Nullable: true},
	)
	ids := map[string]int32{"p": 1, "x": 2, "m": 3, "key": 4, "v": 5}
	naming := func(f batch.Field) (string, int32) { return "col-" + f.Name, ids[f.Name] }
	data, sum := encodeFile(t, s, WriterOptions{Naming: naming}, randomNested(rand.New(rand.NewPCG(1, 1)), s, 5, 0.3, true))
	require.Equal(t, int64(5), sum.Columns[0].NullCount)
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	var got []string
	for _, e := range f.Metadata().Schema[1:] {
		line := fmt.Sprintf("%s %d %v", e.Name, e.FieldID, e.RepetitionType.V)
		if e.NumChildren.Valid {
			line += fmt.Sprintf(" group of %d", e.NumChildren.V)
		} else {
			line += " " + e.Type.V.String()
		}
		if e.LogicalType.Value != nil {
			line += " " + e.LogicalType.Value.String()
		}
		if e.ConvertedType.Valid {
			line += map[deprecated.ConvertedType]string{deprecated.UTF8: " utf8", deprecated.List: " list", deprecated.Map: " map"}[e.ConvertedType.V]
		}
		got = append(got, line)
	}
	require.Equal(t, []string{
		"col-p 1 OPTIONAL group of 2",
		"col-x 2 REQUIRED INT64",
		"col-tags 0 OPTIONAL group of 1 LIST list",
		"list 0 REPEATED group of 1",
		"element 0 OPTIONAL BYTE_ARRAY STRING utf8",
		"col-m 3 REQUIRED group of 1 MAP map",
		"key_value 0 REPEATED group of 2",
		"key 4 REQUIRED BYTE_ARRAY STRING utf8",
		"value 0 REQUIRED group of 2",
		"col-x 2 REQUIRED INT64",
		"col-tags 0 OPTIONAL group of 1 LIST list",
		"list 0 REPEATED group of 1",
		"element 0 OPTIONAL BYTE_ARRAY STRING utf8",
		"col-v 5 OPTIONAL group of 2",
		"value 0 REQUIRED BYTE_ARRAY",
		"metadata 0 REQUIRED BYTE_ARRAY",
	}, got)
}

func TestNestedNotNull(t *testing.T) {
	long := batch.Type{Kind: batch.Int64}
	row := func(f batch.Field, build func(v *batch.Vector)) error {
		s := batch.NewSchema(f)
		v := batch.NewVector(f.Type, 1)
		build(v)
		w, err := NewWriter(io.Discard, s, WriterOptions{})
		require.NoError(t, err)
		return w.Write(batch.New(s, v))
	}
	point := batch.Field{Name: "p", Type: batch.StructOf(batch.Field{Name: "x", Type: long}), Nullable: true}
	require.NoError(t, row(point, func(v *batch.Vector) { v.AppendNull() }), "NOT NULL does not hold below a null")
	err := row(point, func(v *batch.Vector) { v.Children[0].AppendNull(); v.EndRow() })
	require.ErrorContains(t, err, "column p.x: it is NOT NULL, and 1 of 1 rows are null")
	list := batch.Field{Name: "l", Type: batch.ListOf(batch.Field{Type: long}), Nullable: true}
	err = row(list, func(v *batch.Vector) { v.Children[0].AppendNulls(2); v.EndRow() })
	require.ErrorContains(t, err, "column l.element: it is NOT NULL, and 2 of 2 rows")
	dict := batch.Field{Name: "m", Type: batch.MapOf(batch.Field{Type: long}, batch.Field{Type: long, Nullable: true})}
	err = row(dict, func(v *batch.Vector) { v.Children[0].AppendNull(); v.Children[1].AppendNull(); v.EndRow() })
	require.ErrorContains(t, err, "column m.key: it is NOT NULL")
	require.ErrorContains(t, row(dict, func(v *batch.Vector) { v.AppendNull() }), "column m: it is NOT NULL")
}

func TestNestedSchemasThatAreRefused(t *testing.T) {
	void := batch.Field{Name: "n", Type: batch.Type{Kind: batch.Void}, Nullable: true}
	deep := batch.Type{Kind: batch.Int64}
	for range 200 {
		deep = batch.ListOf(batch.Field{Type: deep, Nullable: true})
	}
	for want, f := range map[string]batch.Field{
		"the schema has no columns":                                void,
		"column s is a struct without a field that can be stored":  {Name: "s", Type: batch.StructOf(void)},
		"column l.element has type void, which a file cannot hold": {Name: "l", Type: batch.ListOf(void)},
		"is nested too deep":                                       {Name: "d", Type: deep},
		"two columns are named X in the file: s.x and s.X":         {Name: "s", Type: batch.StructOf(batch.Field{Name: "x", Type: batch.DecimalOf(3, 0)}, batch.Field{Name: "X", Type: batch.DecimalOf(3, 0)})},
	} {
		_, err := NewWriter(io.Discard, batch.NewSchema(f), WriterOptions{})
		require.ErrorContains(t, err, want)
	}
}

// Leaves keep the dictionary encoding that their vectors come with, and give it up when it does not pay off.
func TestNestedDictionaries(t *testing.T) {
	text := batch.Type{Kind: batch.String}
	s := batch.NewSchema(batch.Field{Name: "l", Type: batch.ListOf(batch.Field{Type: text, Nullable: true}), Nullable: true})
	v := batch.NewVector(s.Fields[0].Type, 0)
	for i := range 40_000 {
		n := i % 100
		if i > 12_000 {
			n = i
		}
		v.Children[0].AppendString(fmt.Sprintf("%060d", n))
		if i%5 == 4 {
			v.EndRow()
		}
	}
	data, _ := encodeFile(t, s, WriterOptions{}, batch.New(s, v))
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Len(t, f.Metadata().RowGroups[0].Columns[0].MetaData.EncodingStats, 3, "a dictionary page, pages with codes, plain pages")
	want := stripes{}
	for row := range v.Len {
		want.strip(s.Fields[0], v, row, []string{"l"}, 0, 0, 0)
	}
	require.Equal(t, want, readStripes(t, data))

	coded := batch.NewVector(s.Fields[0].Type, 0)
	words := batch.NewVector(text, 3)
	for _, w := range []string{"a", "b", "c"} {
		words.AppendString(w)
	}
	coded.Children[0] = &batch.Vector{Type: text, Dict: words}
	for i := range 900 {
		coded.Children[0].Codes = append(coded.Children[0].Codes, uint32(i%3))
		coded.Children[0].Len++
		if i%3 == 2 {
			coded.EndRow()
		}
	}
	data, _ = encodeFile(t, s, WriterOptions{PageBytes: 200}, batch.New(s, coded))
	require.Equal(t, "0 3 61", readStripes(t, data)["l.list.element"][897])
	require.Equal(t, "1 3 63", readStripes(t, data)["l.list.element"][899])
}

// What each leaf holds counts, its dictionary too, and is gone with the row group.
func TestWritersTellWhatTheyHold(t *testing.T) {
	text := batch.Type{Kind: batch.String}
	s := batch.NewSchema(batch.Field{Name: "l", Type: batch.ListOf(batch.Field{Type: text, Nullable: true}), Nullable: true})
	v := batch.NewVector(s.Fields[0].Type, 0)
	for i := range batch.MaxRows {
		v.Children[0].AppendString(fmt.Sprintf("%020d", i%2000))
		v.EndRow()
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, s, WriterOptions{})
	require.NoError(t, err)
	require.Zero(t, w.Buffered())
	for range 3 {
		require.NoError(t, w.Write(batch.New(s, v)))
		require.Greater(t, w.Buffered(), 2000*20)
		require.GreaterOrEqual(t, w.Size(), int64(out.Len()))
		require.NoError(t, w.EndRowGroup())
		require.Zero(t, w.Buffered())
		require.Equal(t, int64(out.Len()), w.Size())
	}
	require.NoError(t, w.EndRowGroup(), "there is none")
	_, err = w.Close()
	require.NoError(t, err)
	require.ErrorIs(t, w.EndRowGroup(), ErrClosed)
	f, err := openBytes(out.Bytes())
	require.NoError(t, err)
	require.Len(t, f.RowGroups(), 3)
	require.Equal(t, int64(3*batch.MaxRows), f.NumRows())
}

// indexesOf returns the column index of a file of one row group with a page for each value, and for eight rows of each null; nil: there is none.
func indexesOf(t *testing.T, typ batch.Type, values ...any) *format.ColumnIndex {
	s := batch.NewSchema(batch.Field{Name: "x", Type: typ, Nullable: true})
	var out bytes.Buffer
	w, err := NewWriter(&out, s, WriterOptions{PageBytes: 1})
	require.NoError(t, err)
	for _, x := range values {
		b := batch.NewBuilder(s)
		for range map[bool]int{true: 8, false: 1}[x == nil] {
			require.NoError(t, b.AppendRow(x))
		}
		require.NoError(t, w.Write(b.Finish()))
	}
	_, err = w.Close()
	require.NoError(t, err)
	f, err := pq.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	require.NotZero(t, f.Metadata().RowGroups[0].Columns[0].OffsetIndexLength)
	if f.Metadata().RowGroups[0].Columns[0].ColumnIndexLength == 0 {
		return nil
	}
	return &f.ColumnIndexes()[0]
}

func TestColumnIndex(t *testing.T) {
	text, double := batch.Type{Kind: batch.String}, batch.Type{Kind: batch.Float64}
	x := indexesOf(t, text, "a", nil, strings.Repeat("b", 100), "c")
	require.Equal(t, []bool{false, true, false, false}, []bool(x.NullPages))
	require.Equal(t, []int64{0, 8, 0, 0}, []int64(x.NullCounts))
	require.Equal(t, format.Ascending, x.BoundaryOrder)
	require.Equal(t, strings.Repeat("b", maxStatsBytes), string(x.MinValues[2]))
	require.Equal(t, strings.Repeat("b", maxStatsBytes-1)+"c", string(x.MaxValues[2]), "a bound above all that begin so")
	require.Empty(t, x.MinValues[1])

	require.Equal(t, format.Descending, indexesOf(t, batch.DecimalOf(30, 0), randomDecimal(5, batch.DecimalOf(30, 0)), randomDecimal(-5, batch.DecimalOf(30, 0))).BoundaryOrder)
	require.Equal(t, format.Unordered, indexesOf(t, batch.Type{Kind: batch.Int32}, int32(1), int32(3), int32(2)).BoundaryOrder)
	require.Nil(t, indexesOf(t, double, 1.0, math.NaN()), "readers disagree on NaN")
	require.Nil(t, indexesOf(t, text, "a", strings.Repeat(string(rune(0x10ffff)), 100)), "nothing is above the last code point")
	zero := indexesOf(t, double, 0.0)
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, zero.MinValues[0])
	require.Equal(t, make([]byte, 8), zero.MaxValues[0])
}
