package delta

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format/parquet"
	"lakesql/store"
)

func kind(k batch.Kind) batch.Type { return batch.Type{Kind: k} }

func writeFiles(t *testing.T, st store.Store, meta *Metadata, opts FileWriterOptions, batches ...*batch.Batch) []AddFile {
	w, err := NewFileWriter(st, nil, meta, opts)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(ctx, b))
	}
	adds, err := w.Close(ctx)
	require.NoError(t, err)
	require.NoError(t, w.Abort(), "after Close it does nothing")
	return adds
}

// rowsOf reads a file back.
func rowsOf(t *testing.T, st store.Store, add AddFile, fields ...batch.Field) string {
	f, err := parquet.Open(ctx, st, add.Path, add.Size)
	require.NoError(t, err)
	defer f.Close()
	scan := f.Scan(ctx, parquet.ScanOptions{Columns: fields})
	var out strings.Builder
	for {
		b, err := scan.Next(ctx)
		if err == io.EOF {
			return out.String()
		}
		require.NoError(t, err)
		out.WriteString(b.Format())
	}
}

func TestPartitionedFiles(t *testing.T) {
	st := memoryStore(t)
	schema := batch.NewSchema(batch.Field{Name: "p_q", Type: kind(batch.String), Nullable: true}, batch.Field{Name: "id", Type: kind(batch.Int64)},
		batch.Field{Name: "d", Type: kind(batch.Date), Nullable: true})
	meta := &Metadata{SchemaString: FormatSchema(schema), PartitionColumns: []string{"d", "p_q"}}
	b := batch.NewBuilder(schema)
	for i, p := range []string{"a/b", "", "NULL", "a/b", "ü %:=#?", ""} {
		if p == "NULL" {
			b.Column(0).AppendNull()
		} else {
			b.Column(0).AppendString(p)
		}
		b.Column(1).AppendInt64(int64(i))
		b.Column(2).AppendInt32(19_000)
	}
	rows := b.Finish()
	rows.Sel = []int32{0, 1, 2, 3, 4}
	adds := writeFiles(t, st, meta, FileWriterOptions{}, rows)
	require.Len(t, adds, 3)

	require.Regexp(t, `^d=2022-01-08/p_q=a%2Fb/part-00000-[0-9a-f-]{36}-c000\.snappy\.parquet$`, adds[0].Path)
	require.Equal(t, map[string]string{"d": "2022-01-08", "p_q": "a/b"}, adds[0].PartitionValues)
	require.Regexp(t, `^d=2022-01-08/p_q=__HIVE_DEFAULT_PARTITION__/part-00001-`, adds[1].Path)
	require.Equal(t, map[string]string{"d": "2022-01-08"}, adds[1].PartitionValues, `"" is null`)
	require.Regexp(t, `^d=2022-01-08/p_q=ü %25%3A%3D%23%3F/part-00002-`, adds[2].Path)
	id := batch.Field{Name: "id", Type: kind(batch.Int64)}
	require.Equal(t, "0\n3\n", rowsOf(t, st, adds[0], id))
	require.Equal(t, "1\n2\n", rowsOf(t, st, adds[1], id))
	for _, add := range adds {
		info, err := st.Stat(ctx, add.Path)
		require.NoError(t, err)
		require.Equal(t, info.Size, add.Size)
	}
	require.Equal(t, `{"numRecords":2,"minValues":{"id":0},"maxValues":{"id":3},"nullCount":{"id":0}}`, adds[0].Stats)

	// What the log says decodes to the same key, after one encoding.
	x := createTable(t, memoryStore(t), schema, meta.PartitionColumns, nil)
	s, err := x.Snapshot(ctx)
	require.NoError(t, err)
	tx := x.Begin(s)
	tx.Add(adds...)
	done, err := tx.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
	require.Equal(t, []string{adds[0].Path, adds[1].Path, adds[2].Path}, pathsOf(done.Snapshot))
	text, err := x.Store().Get(ctx, commitKey(1))
	require.NoError(t, err)
	require.Contains(t, string(text), `"path":"d=2022-01-08/p_q=a%252Fb/part-`)
	require.Contains(t, string(text), `"partitionValues":{"d":"2022-01-08","p_q":null}`)
}

func TestStatisticsText(t *testing.T) {
	st := memoryStore(t)
	fields := []batch.Field{
		{Name: "b", Type: kind(batch.Bool)}, {Name: "i", Type: kind(batch.Int32)}, {Name: "f", Type: kind(batch.Float64)}, {Name: "g", Type: kind(batch.Float32)},
		{Name: "dec", Type: batch.DecimalOf(38, 2)}, {Name: "d", Type: kind(batch.Date)}, {Name: "ts", Type: kind(batch.Timestamp)},
		{Name: "ntz", Type: kind(batch.TimestampNTZ)}, {Name: `s"`, Type: kind(batch.String)}, {Name: "bin", Type: kind(batch.Binary)}, {Name: "none", Type: kind(batch.Int64)},
	}
	for i := range fields {
		fields[i].Nullable = true
	}
	schema := batch.NewSchema(fields...)
	big := decimal128.FromU64(math.MaxUint64).Mul(decimal128.FromU64(1000))
	b := batch.NewBuilder(schema)
	require.NoError(t, b.AppendRow(true, int32(-7), math.Copysign(0, -1), float32(1.1), big, int32(0), int64(-1), int64(-1), strings.Repeat("é", 40), []byte("x"), nil))
	require.NoError(t, b.AppendRow(nil, int32(9), math.NaN(), float32(math.Inf(-1)), decimal128.FromI64(-5), int32(19_000), int64(1_700_000_000_123_999), int64(1_700_000_000_123_999), "a", []byte("y"), nil))
	adds := writeFiles(t, st, &Metadata{SchemaString: FormatSchema(schema)}, FileWriterOptions{}, b.Finish())
	require.Equal(t, `{"numRecords":2,`+
		`"minValues":{"i":-7,"f":-0.0,"g":"-Infinity","dec":-0.05,"d":"1970-01-01","ts":"1969-12-31T23:59:59.999Z","ntz":"1969-12-31T23:59:59.999","s\"":"a"},`+
		`"maxValues":{"i":9,"f":"NaN","g":1.1,"dec":184467440737095516150.00,"d":"2022-01-08","ts":"2023-11-14T22:13:20.123Z","ntz":"2023-11-14T22:13:20.123","s\"":"`+
		strings.Repeat("é", 32)+"\U0010ffff"+`"},`+
		`"nullCount":{"b":1,"i":0,"f":0,"g":0,"dec":0,"d":0,"ts":0,"ntz":0,"s\"":0,"bin":0,"none":2}}`, adds[0].Stats)

	stats, err := parseStats([]byte(adds[0].Stats), newStatsShape(&Metadata{}, schema.Fields))
	require.NoError(t, err)
	require.Equal(t, int64(2), stats.NumRecords)
	at := func(name string) ColumnStats { return stats.Columns[schema.Index(name)] }
	require.True(t, at("i").Exact)
	require.Equal(t, "9", at("i").Max.Format(0))
	require.Equal(t, "184467440737095516150.00", at("dec").Max.Format(0))
	require.Equal(t, int64(1_700_000_000_123_999), at("ts").Max.I64[0], "the cut digits are made up for")
	require.Equal(t, int64(-1999), at("ts").Min.I64[0], "before 1970, in the other direction too")
	require.False(t, at("ts").Exact)
	require.True(t, math.IsNaN(at("f").Max.F64[0]))
	require.Nil(t, at("none").Min)
	require.Equal(t, int64(2), at("none").NullCount)
	require.Nil(t, at("b").Min)
}

func TestStatisticsOfOthers(t *testing.T) {
	schema := batch.NewSchema(batch.Field{Name: "a", Type: kind(batch.Int32)}, batch.Field{Name: "s", Type: kind(batch.String)}, batch.Field{Name: "n", Type: kind(batch.TimestampNTZ)})
	for text, want := range map[string]string{
		`{}`: "-1 true [] [] -1 -1",
		`{"numRecords":3,"tightBounds":false,"minValues":{"a":1,"gone":{"x":1}},"maxValues":null,"nullCount":{"a":2}}`:             "3 false [1] [] 2 -1",
		`{"numRecords":3,"minValues":{"a":99999999999,"s":5,"n":"2024-01-01T00:00:00.000Z"},"maxValues":{"a":"7"},"nullCount":{}}`: "3 true [] [] -1 -1",
	} {
		s, err := parseStats([]byte(text), newStatsShape(&Metadata{}, schema.Fields))
		require.NoError(t, err)
		bound := func(v *batch.Vector) []string {
			if v == nil {
				return []string{}
			}
			return []string{v.Format(0)}
		}
		c := s.Columns[0]
		require.Equal(t, want, strings.TrimSpace(strings.Join([]string{formatInt(s.NumRecords), map[bool]string{true: "true", false: "false"}[s.TightBounds],
			"[" + strings.Join(bound(c.Min), "") + "]", "[" + strings.Join(bound(c.Max), "") + "]", formatInt(c.NullCount), formatInt(s.Columns[1].NullCount)}, " ")), text)
	}
	_, err := parseStats([]byte(`{"numRecords":`), newStatsShape(&Metadata{}, schema.Fields))
	require.ErrorIs(t, err, ErrCorrupt)
}

func formatInt(n int64) string { return string(appendInt(nil, n)) }

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // the upper bound; "" none
	}{
		{"abc", "abc"},
		{"abcd", "abc\x7f"},
		{"abc\x7f", "abc\U0010ffff"},
		{"abcé", "abc\U0010ffff"},
		{"éüöx", "éüö\x7f"},
		{"abc\U0010ffff", ""},
		{"abc\U0010ffffd", "abc\U0010ffff\x7f"},
		{"abc\U0010ffff\U0010fffe", "abc\U0010ffff\U0010ffff"},
	} {
		got, ok := truncate(c.in, 3, true)
		require.Equal(t, c.want != "", ok, "%q", c.in)
		if ok {
			require.Equal(t, c.want, got)
			require.GreaterOrEqual(t, got, c.in)
		}
		low, ok := truncate(c.in, 3, false)
		require.True(t, ok)
		require.Equal(t, string([]rune(c.in)[:3]), low)
	}
}

func TestIndexedColumns(t *testing.T) {
	flat := func(name string) batch.Field { return batch.Field{Name: name, Type: kind(batch.Int32)} }
	inner := batch.StructOf(flat("x"), batch.Field{Name: "y.z", Type: batch.ListOf(flat(""))}, flat("f"))
	data := batch.NewSchema(flat("a"), batch.Field{Name: "s", Type: inner}, flat("b c"), flat("d`e"), flat("f"))
	for property, want := range map[string]string{
		"delta.dataSkippingNumIndexedCols=3":              "a s.x s.y.z",
		"delta.dataSkippingNumIndexedCols=0":              "",
		"delta.dataSkippingNumIndexedCols=-1":             "a s.x s.y.z s.f b c d`e f",
		"delta.dataSkippingStatsColumns=f, `b c`,`d``e`":  "b c d`e f",
		"delta.dataSkippingStatsColumns=S":                "s.x s.y.z s.f",
		"delta.dataSkippingStatsColumns=s.`y.z`, `s` . f": "s.y.z s.f",
		"delta.dataSkippingStatsColumns=":                 "",
		"other=1":                                         "a s.x s.y.z s.f b c d`e f",
	} {
		key, value, _ := strings.Cut(property, "=")
		meta := &Metadata{Configuration: map[string]string{key: value}}
		var got []string
		var walk func(path string, targets []statsTarget, fields []batch.Field)
		walk = func(path string, targets []statsTarget, fields []batch.Field) {
			for i, x := range targets {
				if x.wanted {
					got = append(got, joinPath(path, fields[i].Name))
				}
				walk(joinPath(path, fields[i].Name), x.fields, fields[i].Type.Fields())
			}
		}
		walk("", newStatsWriter(meta, data).columns, data.Fields)
		require.Equal(t, want, strings.Join(got, " "), property)
	}
	for _, bad := range []string{"a,", "`a", "a``b`", "a..b", ",", "`a`b", "a `b`"} {
		_, err := splitColumnNames(bad)
		require.Error(t, err, bad)
	}
	names, err := splitColumnNames("a , `b.c`.`d``e`,F")
	require.NoError(t, err)
	require.Equal(t, "a,`b.c`.`d``e`,F", joinColumnNames(names))
}

func TestNotNullAndTypes(t *testing.T) {
	schema := batch.NewSchema(batch.Field{Name: "id", Type: kind(batch.Int64)}, batch.Field{Name: "p", Type: kind(batch.String)})
	w, err := NewFileWriter(memoryStore(t), nil, &Metadata{SchemaString: FormatSchema(schema), PartitionColumns: []string{"p"}}, FileWriterOptions{})
	require.NoError(t, err)
	b := batch.NewBuilder(schema)
	require.NoError(t, b.AppendRow(int64(1), "x"))
	require.NoError(t, b.AppendRow(nil, "x"))
	rows := b.Finish()
	err = w.Write(ctx, rows)
	require.ErrorIs(t, err, ErrConstraint)
	require.ErrorContains(t, err, "column: id")
	rows.Sel = []int32{0}
	require.NoError(t, w.Write(ctx, rows), "the row with the null is not selected")
	require.ErrorContains(t, w.Write(ctx, batch.New(batch.NewSchema(batch.Field{Type: kind(batch.Int32)}, batch.Field{Type: kind(batch.String)}),
		batch.NewNulls(kind(batch.Int32), 1), batch.NewNulls(kind(batch.String), 1))), "column id is integer, not long")
	require.NoError(t, w.Abort())
}

func TestAbortLeavesNothing(t *testing.T) {
	st := memoryStore(t)
	w, err := NewFileWriter(st, nil, &Metadata{SchemaString: FormatSchema(testSchema)}, FileWriterOptions{TargetFileBytes: 1})
	require.NoError(t, err)
	b := batch.NewBuilder(testSchema)
	require.NoError(t, b.AppendRow(int64(1), int32(2)))
	rows := b.Finish()
	require.NoError(t, w.Write(ctx, rows))
	require.NoError(t, w.Write(ctx, rows))
	require.NoError(t, w.Abort())
	for info, err := range st.List(ctx, "", "", "") {
		require.NoError(t, err)
		t.Errorf("%s was left behind", info.Key)
	}
}

func TestFilesRollOverAndPartitionsAreBounded(t *testing.T) {
	st := memoryStore(t)
	b := batch.NewBuilder(testSchema)
	for i := range 3 * maxOpenPartitions {
		require.NoError(t, b.AppendRow(int64(i), int32(i)))
	}
	adds := writeFiles(t, st, &Metadata{SchemaString: FormatSchema(testSchema), PartitionColumns: []string{"day"}}, FileWriterOptions{}, b.Finish())
	require.Len(t, adds, 3*maxOpenPartitions)

	require.NoError(t, b.AppendRow(int64(1), int32(2)))
	rows := b.Finish()
	meta := &Metadata{SchemaString: FormatSchema(testSchema), Configuration: map[string]string{"delta.parquet.compression.codec": "zstd"}}
	adds = writeFiles(t, st, meta, FileWriterOptions{TargetFileBytes: 1}, rows, rows)
	require.Len(t, adds, 2)
	require.True(t, strings.HasSuffix(adds[1].Path, ".zstd.parquet"))
	require.Empty(t, writeFiles(t, st, meta, FileWriterOptions{}), "no rows, no file")
}

// However many partitions are open, together they hold no more than is allowed, and each stays one file.
func TestPartitionsAreBoundedInMemory(t *testing.T) {
	st := memoryStore(t)
	meta := &Metadata{SchemaString: FormatSchema(testSchema), PartitionColumns: []string{"day"}}
	w, err := NewFileWriter(st, nil, meta, FileWriterOptions{})
	require.NoError(t, err)
	w.maxHeld = 40_000
	b := batch.NewBuilder(testSchema)
	const rounds, rows = 20, 4000
	for r := range rounds {
		for i := range rows {
			require.NoError(t, b.AppendRow(int64(r*rows+i)*7919, int32(i%10)))
		}
		require.NoError(t, w.Write(ctx, b.Finish()))
		require.LessOrEqual(t, w.held, w.maxHeld)
	}
	adds, err := w.Close(ctx)
	require.NoError(t, err)
	require.Len(t, adds, 10)
	for _, a := range adds {
		require.Equal(t, int64(rounds*rows/10), a.NumRecords)
	}
}

func TestPartitionValuesRoundTrip(t *testing.T) {
	for _, c := range []struct {
		t    batch.Type
		x    any
		text string
	}{
		{kind(batch.Bool), true, "true"},
		{kind(batch.Int8), int8(-128), "-128"},
		{kind(batch.Int64), int64(math.MinInt64), "-9223372036854775808"},
		{kind(batch.Float64), 5.0, "5.0"},
		{kind(batch.Float64), math.Inf(-1), "-Infinity"},
		{kind(batch.Float64), 1e300, "1e+300"},
		{kind(batch.Float32), float32(0.1), "0.1"},
		{batch.DecimalOf(10, 3), decimal128.FromI64(-1), "-0.001"},
		{kind(batch.Date), int32(-719_529), "-0001-12-31"},
		{kind(batch.Timestamp), int64(-1), "1969-12-31T23:59:59.999999Z"},
		{kind(batch.TimestampNTZ), int64(1_000_000), "1970-01-01 00:00:01"},
		{kind(batch.String), "null", "null"},
		{kind(batch.Binary), []byte{0, 0x80, 0xff}, "\x00\u0080\u00ff"},
	} {
		v := batch.NewVector(c.t, 1)
		require.NoError(t, v.AppendValue(c.x))
		text, ok := formatPartitionValue(v, 0)
		require.True(t, ok)
		if c.t.Kind != batch.Date {
			require.Equal(t, c.text, text)
		}
		back, err := ParsePartitionValue(text, c.t)
		require.NoError(t, err)
		require.Equal(t, v.Value(0), back.Value(0))
	}
	for _, text := range []string{"2024-01-01 10:00:00.5", "2024-01-01T10:00:00.500Z", "2024-01-01T11:00:00.5+01:00"} {
		v, err := ParsePartitionValue(text, kind(batch.Timestamp))
		require.NoError(t, err)
		require.Equal(t, int64(1_704_103_200_500_000), v.I64[0], text)
	}
	v, err := ParsePartitionValue("", kind(batch.Int32))
	require.NoError(t, err)
	require.True(t, v.IsNull(0))
	_, err = ParsePartitionValue("x", kind(batch.Int32))
	require.ErrorIs(t, err, ErrCorrupt)
	_, ok := formatPartitionValue(batch.NewNulls(kind(batch.Int32), 1), 0)
	require.False(t, ok)
}

func TestPaths(t *testing.T) {
	const root = "file:///data/my%20table"
	for encoded, want := range map[string]string{
		"a%20b+c%2520d.parquet":         "a b+c%20d.parquet",
		"p=x%253Ay/f":                   "p=x%3Ay/f",
		"not%zzencoded%":                "not%zzencoded%",
		"p=a:b/f":                       "p=a:b/f",
		"file:/data/my%20table/x%20y":   "x y",
		"file:///data/my%20table/x":     "x",
		"/data/my%20table/x":            "x",
		"file:/elsewhere/x%20y":         "file:///elsewhere/x%20y",
		"s3://bucket/x%20y":             "s3://bucket/x%20y",
		"file:/data/my%20table-2/x%20y": "file:///data/my%20table-2/x%20y",
		"ü/%C3%BC":                      "ü/ü",
	} {
		require.Equal(t, want, decodePath(root, encoded), encoded)
		require.Equal(t, want, decodePath(root, encodePath(want)), "once more")
	}
	require.Equal(t, "a=b%25/ü c=__HIVE_DEFAULT_PARTITION__/", partitionFolder([]string{"a", "ü c"}, map[string]string{"a": "b%"}))
	var every []byte
	for c := byte(1); c < 0x80; c++ {
		if c != '/' {
			every = append(every, c)
		}
	}
	require.Equal(t, string(every), percentDecode(percentEncode(string(every))))
}

func TestNewMetadataRefuses(t *testing.T) {
	ok := batch.Field{Name: "a", Type: kind(batch.Int32), Nullable: true}
	for text, call := range map[string]func() error{
		"at least one column": func() error { _, err := NewMetadata(batch.NewSchema(), nil, nil); return err },
		"differ only by case": func() error {
			_, err := NewMetadata(batch.NewSchema(ok, batch.Field{Name: "A", Type: ok.Type}), nil, nil)
			return err
		},
		"DELTA_INVALID_CHARACTERS": func() error {
			_, err := NewMetadata(batch.NewSchema(batch.Field{Name: "a b", Type: ok.Type}), nil, nil)
			return err
		},
		"is not a column":    func() error { _, err := NewMetadata(testSchema, []string{"x"}, nil); return err },
		"named twice":        func() error { _, err := NewMetadata(testSchema, []string{"id", "id"}, nil); return err },
		"all of its columns": func() error { _, err := NewMetadata(testSchema, []string{"id", "day"}, nil); return err },
		"UNKNOWN_CONFIGURATION": func() error {
			_, err := NewMetadata(testSchema, nil, map[string]string{"delta.nothing": "true"})
			return err
		},
		"true or false": func() error {
			_, err := NewMetadata(testSchema, nil, map[string]string{"delta.appendOnly": "yes"})
			return err
		},
		"not an interval": func() error {
			_, err := NewMetadata(testSchema, nil, map[string]string{"delta.logRetentionDuration": "soon"})
			return err
		},
	} {
		require.ErrorContains(t, call(), text)
	}
	m, err := NewMetadata(testSchema, []string{"day"}, map[string]string{"mine": "x", "delta.deletedFileRetentionDuration": "interval 1 week 2 hours"})
	require.NoError(t, err)
	require.Equal(t, int64(170), int64(m.interval("delta.deletedFileRetentionDuration", 0).Hours()))
	back, err := ParseSchema(m.SchemaString)
	require.NoError(t, err)
	require.True(t, testSchema.Equal(back))
	require.True(t, slices.Equal([]string{"day"}, m.PartitionColumns))
}

func TestAppendOnly(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, nil, map[string]string{"delta.appendOnly": "true"})
	s := appendFiles(t, table, "a").Snapshot
	begin := func() *Transaction {
		x := table.Begin(s)
		x.Remove(slices.Collect(s.Files())...)
		x.Add(addOf("c"))
		return x
	}
	_, err := begin().Commit(ctx, Operation{Name: "DELETE"})
	require.ErrorContains(t, err, "DELTA_CANNOT_MODIFY_APPEND_ONLY")
	x := begin()
	x.Rearrange()
	_, err = x.Commit(ctx, Operation{Name: "OPTIMIZE"})
	require.NoError(t, err, "no row is changed")
}

func TestMetadataThatCannotBeHonoured(t *testing.T) {
	table := createTable(t, memoryStore(t), testSchema, nil, nil)
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	for text, change := range map[string]func(*Metadata){
		"enableIcebergCompatV2": func(m *Metadata) { m.Configuration = map[string]string{"delta.enableIcebergCompatV2": "true"} },
		"column id: interval":   func(m *Metadata) { m.SchemaString = strings.Replace(m.SchemaString, `"long"`, `"interval day"`, 1) },
		"differ only by case":   func(m *Metadata) { m.SchemaString = strings.Replace(m.SchemaString, `"day"`, `"ID"`, 1) },
		"is not a column":       func(m *Metadata) { m.PartitionColumns = []string{"x"} },
		"Serializable or Write": func(m *Metadata) { m.Configuration = map[string]string{"delta.isolationLevel": "None"} },
	} {
		x := table.Begin(s)
		m := *s.Metadata()
		change(&m)
		x.SetMetadata(&m)
		_, err = x.Commit(ctx, Operation{Name: "ALTER"})
		require.ErrorContains(t, err, text)
	}

	appendFiles(t, table, "a")
	s, err = table.Snapshot(ctx)
	require.NoError(t, err)
	x := table.Begin(s)
	m := *s.Metadata()
	m.PartitionColumns = []string{"day"}
	x.SetMetadata(&m)
	_, err = x.Commit(ctx, Operation{Name: "ALTER"})
	require.ErrorContains(t, err, "cannot be changed")
}

func TestTimestampNTZUpgradesTheProtocol(t *testing.T) {
	ntz := batch.NewSchema(append(slices.Clone(testSchema.Fields), batch.Field{Name: "n", Type: kind(batch.TimestampNTZ), Nullable: true})...)
	table := createTable(t, memoryStore(t), ntz, nil, nil)
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, &Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"timestampNtz"}, WriterFeatures: []string{"appendOnly", "invariants", "timestampNtz"}}, s.Protocol())

	table = createTable(t, memoryStore(t), testSchema, nil, nil)
	s, err = table.Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, &Protocol{MinReader: 1, MinWriter: 2}, s.Protocol())
	x := table.Begin(s)
	m := *s.Metadata()
	m.ID, m.SchemaString = "ignored", FormatSchema(ntz)
	x.SetMetadata(&m)
	done, err := x.Commit(ctx, Operation{Name: "ADD COLUMNS"})
	require.NoError(t, err)
	require.Equal(t, &Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"timestampNtz"}, WriterFeatures: []string{"appendOnly", "invariants", "timestampNtz"}}, done.Snapshot.Protocol())
	require.Equal(t, s.Metadata().ID, done.Snapshot.Metadata().ID)
}

// TestWriterThatDoesNotPart: a writer of partitions, which all who have rows write by, holds as much as one that is alone.
func TestWriterThatDoesNotPart(t *testing.T) {
	schema := batch.NewSchema(batch.Field{Name: "id", Type: kind(batch.Int64), Nullable: true}, batch.Field{Name: "day", Type: kind(batch.Int32), Nullable: true})
	for _, c := range []struct {
		partitions []string
		parts      bool
		held       int
	}{{nil, true, maxHeldBytes / 4}, {[]string{"day"}, false, maxHeldBytes}} {
		meta, err := NewMetadata(schema, c.partitions, nil)
		require.NoError(t, err)
		w, err := NewFileWriter(store.NewMemory("file:///t"), nil, meta, FileWriterOptions{Writers: 4})
		require.NoError(t, err)
		require.Equal(t, c.parts, w.Parts())
		require.Equal(t, c.held, w.maxHeld)
	}
}
