package parquet

import (
	"testing"

	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// rowsAsJSON reads one column of a file and returns its rows as JSON.
func rowsAsJSON(t *testing.T, f *File, field batch.Field) []string {
	t.Helper()
	b, err := readAll(f, ScanOptions{Columns: []batch.Field{field}})
	require.NoError(t, err)
	var out []string
	for i := range b.Len {
		out = append(out, string(b.Cols[0].AppendJSON(nil, i)))
	}
	return out
}

func parseType(t *testing.T, text string) batch.Type {
	typ, err := batch.ParseType(text)
	require.NoError(t, err, text)
	return typ
}

// The layouts of lists and maps that writers had before the three-level one, and what readers must make of them: LogicalTypes.md of the
// specification, backward-compatibility rules.
func TestLayoutsOfEarlyWriters(t *testing.T) {
	const reps, defs = "01000", "22012" // [1, 2], null, [], [3] where elements cannot be null
	ints := func(reps, defs string, xs ...int32) rawChunk {
		return rawChunk{pages: []rawPage{{reps: reps, defs: defs, values: int32s(xs...)}}}
	}
	for _, c := range []struct {
		schema string
		want   string
		own    string // the type that the schema gives by itself
		chunks []rawChunk
		rows   []string
	}{
		{"optional group c (LIST) { repeated int32 array }", "array<int>", "array<int>",
			[]rawChunk{ints(reps, defs, 1, 2, 3)}, []string{"[1,2]", "null", "[]", "[3]"}},
		{"optional group c (LIST) { repeated int32 element }", "array<bigint>", "array<int>",
			[]rawChunk{ints(reps, defs, 1, 2, 3)}, []string{"[1,2]", "null", "[]", "[3]"}},
		{"optional group c (LIST) { repeated group bag { optional int32 array_element } }", "array<int>", "array<int>",
			[]rawChunk{ints("01000", "32013", 1, 3)}, []string{"[1,null]", "null", "[]", "[3]"}},
		{"required group c (LIST) { repeated group list { optional int32 element } }", "array<int>", "array<int>",
			[]rawChunk{ints("0100", "2102", 1, 3)}, []string{"[1,null]", "[]", "[3]"}},
		{"optional group c { repeated group list { optional int32 element } }", "array<int>", "struct<list:array<struct<element:int>>>",
			[]rawChunk{ints("01000", "32013", 1, 3)}, []string{"[1,null]", "null", "[]", "[3]"}},
		{"optional group c (LIST) { repeated group array { required int32 a } }", "array<struct<a:int>>", "array<struct<a:int>>",
			[]rawChunk{ints(reps, defs, 1, 2, 3)}, []string{`[{"a":1},{"a":2}]`, "null", "[]", `[{"a":3}]`}},
		{"optional group c (LIST) { repeated group c_tuple { required int32 a } }", "array<struct<a:int>>", "array<struct<a:int>>",
			[]rawChunk{ints(reps, defs, 1, 2, 3)}, []string{`[{"a":1},{"a":2}]`, "null", "[]", `[{"a":3}]`}},
		{"optional group c (LIST) { repeated group list { required int32 a } }", "array<struct<a:int>>", "array<int>",
			[]rawChunk{ints(reps, defs, 1, 2, 3)}, []string{`[{"a":1},{"a":2}]`, "null", "[]", `[{"a":3}]`}},
		{"optional group c (LIST) { repeated group list { required group element { required int32 element } } }", "array<struct<element:int>>", "array<struct<element:int>>",
			[]rawChunk{ints(reps, defs, 1, 2, 3)}, []string{`[{"element":1},{"element":2}]`, "null", "[]", `[{"element":3}]`}},
		{"optional group c (LIST) { repeated group element { required int32 a optional int32 b } }", "array<struct<b:int,a:int>>", "array<struct<a:int,b:int>>",
			[]rawChunk{ints(reps, defs, 1, 2, 3), ints(reps, "32013", 9, 8)},
			[]string{`[{"b":9,"a":1},{"b":null,"a":2}]`, "null", "[]", `[{"b":8,"a":3}]`}},
		{"repeated int32 c", "array<int>", "array<int>",
			[]rawChunk{ints("0100", "1101", 1, 2, 3)}, []string{"[1,2]", "[]", "[3]"}},
		{"repeated group c { required int32 a optional int32 b }", "array<struct<b:int>>", "array<struct<a:int,b:int>>",
			[]rawChunk{ints("0100", "1101", 1, 2, 3), ints("0100", "2101", 9)}, []string{`[{"b":9},{"b":null}]`, "[]", `[{"b":null}]`}},
		{"optional group c (LIST) { repeated group array (LIST) { repeated int32 array } }", "array<array<int>>", "array<array<int>>",
			[]rawChunk{ints("0212000", "3333012", 1, 2, 3, 4)}, []string{"[[1,2],[3,4]]", "null", "[]", "[[]]"}},
		{"optional group c (MAP) { repeated group map (MAP_KEY_VALUE) { required binary key (UTF8) optional int32 value } }", "map<string,int>", "map<string,int>",
			[]rawChunk{{pages: []rawPage{{reps: reps, defs: defs, values: strings32("a", "b", "c")}}}, ints(reps, "32013", 1, 3)},
			[]string{`{"a":1,"b":null}`, "null", "{}", `{"c":3}`}},
		{"optional group c (MAP_KEY_VALUE) { repeated group map { optional int32 value required binary key (UTF8) } }", "map<string,int>", "map<int,string>",
			[]rawChunk{ints(reps, "32013", 1, 3), {pages: []rawPage{{reps: reps, defs: defs, values: strings32("a", "b", "c")}}}},
			[]string{`{"a":1,"b":null}`, "null", "{}", `{"c":3}`}},
		{"optional group c (MAP) { repeated group entries { required int32 num optional binary text (UTF8) } }", "map<int,string>", "map<int,string>",
			[]rawChunk{ints(reps, defs, 1, 2, 3), {pages: []rawPage{{reps: reps, defs: "32013", values: strings32("x", "z")}}}},
			[]string{`{"1":"x","2":null}`, "null", "{}", `{"3":"z"}`}},
	} {
		for _, old := range []bool{false, true} {
			chunks := make([]rawChunk, len(c.chunks))
			for i, chunk := range c.chunks {
				page := chunk.pages[0]
				page.oldLevels = old
				chunks[i] = rawChunk{pages: []rawPage{page}}
			}
			f := (&rawFile{schema: c.schema, rows: int64(len(c.rows)), chunks: chunks}).open(t)
			require.Equal(t, parseType(t, c.own), nullableType(f.Schema().Fields[0].Type), c.schema)
			require.Equal(t, c.rows, rowsAsJSON(t, f, batch.Field{Name: "c", Type: parseType(t, c.want), Nullable: true}), c.schema)
		}
	}
}

// nullableType returns a type in which everything may be null, as it is in a type's text.
func nullableType(t batch.Type) batch.Type {
	fields := append([]batch.Field{}, t.Fields()...)
	for i := range fields {
		fields[i].Type, fields[i].Nullable = nullableType(fields[i].Type), true
	}
	switch t.Kind {
	case batch.Struct:
		return batch.StructOf(fields...)
	case batch.List:
		return batch.ListOf(fields[0])
	case batch.Map:
		return batch.MapOf(fields[0], fields[1])
	}
	return t
}

// A row's elements may lie in several pages of the first version.
func TestRowsOverPages(t *testing.T) {
	f := (&rawFile{schema: "optional group c (LIST) { repeated int32 array }", rows: 4, chunks: []rawChunk{{pages: []rawPage{
		{reps: "00", defs: "02", values: int32s(1)},
		{reps: "1", defs: "2", values: int32s(2)},
		{reps: "11", defs: "22", values: int32s(3, 4)},
		{reps: "10", defs: "22", values: int32s(5, 6)},
		{reps: "0", defs: "1"},
	}}}}).open(t)
	want := []string{"null", "[1,2,3,4,5]", "[6]", "[]"}
	field := batch.Field{Name: "c", Type: batch.ListOf(batch.Field{Type: batch.Type{Kind: batch.Int32}}), Nullable: true}
	require.Equal(t, want, rowsAsJSON(t, f, field))
	for from := range int64(4) {
		for to := from + 1; to <= 4; to++ {
			at, b := positions(t, f, ScanOptions{Columns: []batch.Field{field}, Rows: []RowRange{{from, to}}})
			for i, p := range at {
				require.Equal(t, want[p], string(b.Cols[0].AppendJSON(nil, i)))
			}
			require.Len(t, at, int(to-from))
		}
	}
}

// The struct's own nulls are known without any field of it that is wanted.
func TestStructWithoutWantedFields(t *testing.T) {
	f := (&rawFile{schema: "optional group c { optional binary wide (UTF8) optional int32 x optional group l (LIST) { repeated int32 array } }", rows: 3, chunks: []rawChunk{
		{pages: []rawPage{{defs: "201", values: strings32("a long text that nobody wants")}}},
		{pages: []rawPage{{defs: "101", values: nil}}},
		{pages: []rawPage{{reps: "00100", defs: "2033", values: int32s(1, 2)}}},
	}}).open(t)
	require.Equal(t, []string{`{"gone":null}`, "null", `{"gone":null}`}, rowsAsJSON(t, f, batch.Field{Name: "c", Type: parseType(t, "struct<gone:int>"), Nullable: true}))
}

// Pages of the second version, with levels before the compressed part and without values where all is null.
func TestPagesOfTheSecondVersion(t *testing.T) {
	f := (&rawFile{schema: "optional int32 n optional group l (LIST) { repeated int32 array }", rows: 5, chunks: []rawChunk{
		{pages: []rawPage{{v2: true, defs: "101", rows: 3, values: int32s(1, 3)}, {v2: true, defs: "00", rows: 2}}},
		{pages: []rawPage{{v2: true, reps: "0100", defs: "2201", rows: 3, values: int32s(1, 2)}, {v2: true, reps: "00", defs: "20", rows: 2, values: int32s(7)}}},
	}}).open(t)
	require.Equal(t, []string{"1", "null", "3", "null", "null"}, rowsAsJSON(t, f, batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int32}, Nullable: true}))
	require.Equal(t, []string{"[1,2]", "null", "[]", "[7]", "null"}, rowsAsJSON(t, f, batch.Field{Name: "l", Type: parseType(t, "array<int>"), Nullable: true}))
}

// A column that the file says is null in every row is null as whatever is wanted, and void columns are not looked for.
func TestVoid(t *testing.T) {
	f := (&rawFile{schema: "optional int32 n (NULL) optional int32 x", rows: 2, chunks: []rawChunk{
		{pages: []rawPage{{defs: "00"}}}, {pages: []rawPage{{defs: "11", encoding: format.ByteStreamSplit, values: int32s(0, 0)}}},
	}}).open(t)
	require.Equal(t, []string{"null", "null"}, rowsAsJSON(t, f, batch.Field{Name: "n", Type: parseType(t, "struct<a:int>"), Nullable: true}))
	require.Equal(t, []string{"null", "null"}, rowsAsJSON(t, f, batch.Field{Name: "x", Type: batch.Type{Kind: batch.Void}, Nullable: true}))
	require.Equal(t, batch.Void, f.Schema().Fields[0].Type.Kind)
}

func TestShapesThatDoNotFitAreRefused(t *testing.T) {
	f := (&rawFile{schema: "optional group s { optional int32 x } optional group l (LIST) { repeated int32 array } optional int32 n optional int64 t (TIME)", rows: 1, chunks: []rawChunk{
		{pages: []rawPage{{defs: "0"}}}, {pages: []rawPage{{reps: "0", defs: "0"}}}, {pages: []rawPage{{defs: "0"}}}, {pages: []rawPage{{defs: "0"}}},
	}}).open(t)
	require.Equal(t, []string{"s", "l", "n"}, f.Schema().Names())
	for _, c := range []struct{ name, typ, want string }{
		{"s", "int", "the file has struct<x:int>, the table says int"},
		{"s", "array<int>", "the file has struct<x:int>, the table says array<int>"},
		{"l", "map<int,int>", "the file has array<int>, the table says map<int,int>"},
		{"l", "struct<array:int>", "the file has array<int>"},
		{"l", "variant", "the file has array<int>"},
		{"n", "struct<x:int>", "the file has int"},
		{"s", "struct<x:string>", "read column s.x of memory:/test/f.parquet: type mismatch"},
		{"s", "variant", "a variant needs columns metadata and value"},
		{"t", "bigint", "its Parquet type is INT64 TIME"},
	} {
		_, err := readAll(f, ScanOptions{Columns: []batch.Field{{Name: c.name, Type: parseType(t, c.typ), Nullable: true}}})
		require.ErrorContains(t, err, c.want)
		var typed *Error
		require.ErrorAs(t, err, &typed)
	}
}
