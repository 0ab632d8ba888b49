package delta

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// TestBounds: a bound holds for every value that its writer may have seen.
func TestBounds(t *testing.T) {
	widened := func(k batch.Kind) statsColumn { return statsColumn{typ: kind(k), wasFloat: true} }
	flat := func(k batch.Kind) statsColumn { return statsColumn{typ: kind(k)} }
	decimal := func(p, s uint8) statsColumn { return statsColumn{typ: batch.DecimalOf(p, s)} }
	for _, c := range []struct {
		column    statsColumn
		text      string
		low, high string // "" none
		exact     bool
	}{
		{flat(batch.Int64), `-5`, "-5", "-5", true},
		{flat(batch.Int64), `"5"`, "", "", false},
		{flat(batch.Int64), `5.0`, "", "", false},
		{flat(batch.Int8), `128`, "", "", false},
		{flat(batch.Date), `"2024-02-29"`, "2024-02-29", "2024-02-29", true},
		{flat(batch.Date), `20240229`, "", "", false},
		{flat(batch.Bool), `true`, "", "", false},
		{flat(batch.Binary), `"x"`, "", "", false},
		{flat(batch.String), `"a\u00e9"`, "aé", "aé", false},
		{flat(batch.String), `"cut off\ufffd"`, "cut off\ufffd", "", false},
		{flat(batch.String), `7`, "", "", false},
		{flat(batch.Float64), `1.1`, "1.1", "1.1", false},
		{flat(batch.Float64), `"NaN"`, "NaN", "NaN", false},
		{flat(batch.Float64), `"-Infinity"`, "-Inf", "-Inf", false},
		{flat(batch.Float64), `"1.1"`, "", "", false},
		{widened(batch.Float64), `1.1`, "1.1", "1.100000023841858", false},
		{widened(batch.Float64), `0.7`, "0.699999988079071", "0.7", false},
		{widened(batch.Float64), `1e300`, "1e+300", "1e+300", false},
		{flat(batch.Timestamp), `"2024-01-01T00:00:00.123Z"`, "2024-01-01 00:00:00.123000", "2024-01-01 00:00:00.123999", false},
		{flat(batch.Timestamp), `"2024-01-01T00:00:00.123-08:00"`, "2024-01-01 08:00:00.123000", "2024-01-01 08:00:00.123999", false},
		{flat(batch.Timestamp), `"2024-01-01T00:00:00.123456Z"`, "2024-01-01 00:00:00.123456", "2024-01-01 00:00:00.123456", false},
		{flat(batch.Timestamp), `"2024-01-01T00:00:00Z"`, "2024-01-01 00:00:00", "2024-01-01 00:00:00.999999", false},
		{flat(batch.Timestamp), `"1969-12-31T23:59:59.999Z"`, "1969-12-31 23:59:59.998001", "1969-12-31 23:59:59.999999", false},
		{flat(batch.Timestamp), `"2024-01-01 00:00:00.123"`, "", "", false},
		{flat(batch.Timestamp), `"2024-01-01"`, "", "", false},
		{flat(batch.TimestampNTZ), `"2024-01-01"`, "2024-01-01 00:00:00", "2024-01-01 00:00:00", false},
		{flat(batch.TimestampNTZ), `"2024-01-01T00:00:00.5"`, "2024-01-01 00:00:00.500000", "2024-01-01 00:00:00.599999", false},
		{flat(batch.TimestampNTZ), `"2024-01-01T00:00:00.000Z"`, "2024-01-01 00:00:00", "2024-01-01 00:00:00.000999", false},
		{flat(batch.TimestampNTZ), `"2024-01-01T00:00:00.000+01:00"`, "", "", false},
		{decimal(10, 2), `1.5`, "1.50", "1.50", true},
		{decimal(10, 2), `1.005`, "", "", false},
		{decimal(10, 2), `"1.5"`, "", "", false},
		{decimal(38, 2), `9999999999999.99`, "9999999999999.99", "9999999999999.99", true},
		{decimal(38, 2), `10000000000000.00`, "9999999999999.99", "10000000000000.01", false},
		{decimal(38, 2), `12345678901234567.89`, "12345678901234567.89", "12345678901234567.89", true},
		{decimal(38, 0), `1e30`, "999999999999999777955395074968", "1000000000000000222044604925032", false},
		{decimal(38, 0), `-1e30`, "-1000000000000000222044604925032", "-999999999999999777955395074968", false},
		{decimal(38, 0), `9e37`, "89999999999999980015985556747182272374", "90000000000000019984014443252817727626", false},
		{decimal(17, 0), `9e16`, "89999999999999980", "90000000000000020", false},
		{decimal(16, 0), `9999999999999999`, "9999999999999996", "", false},
	} {
		bound := func(v *batch.Vector, exact bool) string {
			require.Equal(t, c.exact, exact, "%s %s", c.column.typ, c.text)
			if v == nil {
				return ""
			}
			return v.Format(0)
		}
		require.Equal(t, c.low, bound(c.column.lower([]byte(c.text))), "%s %s", c.column.typ, c.text)
		require.Equal(t, c.high, bound(c.column.upper([]byte(c.text))), "%s %s", c.column.typ, c.text)
	}
}

func TestNestedStatistics(t *testing.T) {
	st := memoryStore(t)
	meta := newMeta(t, nestedSchema(), []string{"p"}, nil)
	adds := writeFiles(t, st, meta, FileWriterOptions{}, nestedRows(t, nestedSchema(),
		[]string{"3", `"x"`, `{"a":1,"b":"one"}`, `[{"x":1}]`, `{"1":[1.5]}`}, []string{"NULL", `"x"`, "NULL", "NULL", "NULL"}, []string{"4", `"x"`, `{"a":null,"b":"two"}`, "[]", "{}"}))
	require.Equal(t, `{"numRecords":3,"minValues":{"id":3,"s":{"a":1,"b":"one"}},"maxValues":{"id":4,"s":{"a":1,"b":"two"}},"nullCount":{"id":1,"s":{"a":2,"b":1},"l":1,"m":1}}`, adds[0].Stats)

	schema := nestedSchema()
	parse := func(text string) *Stats {
		s, err := parseStats([]byte(text), newStatsShape(meta, schema.Fields))
		require.NoError(t, err)
		return s
	}
	s := parse(adds[0].Stats)
	require.True(t, s.Columns[2].Fields[0].Exact)
	require.False(t, s.Columns[2].Fields[1].Exact)
	require.Equal(t, "two", s.Columns[2].Fields[1].Max.Format(0))
	require.Equal(t, int64(2), s.Columns[2].Fields[0].NullCount)
	require.Equal(t, int64(1), s.Columns[3].NullCount)
	require.Nil(t, s.Columns[3].Fields)
	s.widen()
	require.False(t, s.Columns[2].Fields[0].Exact)
	require.False(t, s.TightBounds)

	// Shapes that are not the schema's say nothing, and spoil nothing beside them.
	s = parse(`{"numRecords":2,"minValues":{"s":5,"id":{"x":1},"m":{"key":1},"gone":{"a":[1]}},"maxValues":{"s":{"a":{"b":1},"b":"z"},"id":7},"nullCount":{"s":{"a":null,"b":-1},"id":1.5}}`)
	require.Nil(t, s.Columns[0].Min)
	require.Equal(t, "7", s.Columns[0].Max.Format(0))
	require.False(t, s.Columns[0].Exact, "one bound alone")
	require.Equal(t, int64(-1), s.Columns[0].NullCount)
	require.Nil(t, s.Columns[2].Fields[0].Max)
	require.Equal(t, "z", s.Columns[2].Fields[1].Max.Format(0))
	require.Equal(t, int64(-1), s.Columns[2].Fields[1].NullCount)

	require.Equal(t, int64(-1), numRecords([]byte(`{"numRecords":-3}`)))
}

// TestStatisticsWithDeletionVectors: whatever the text says, rows may be gone.
func TestStatisticsWithDeletionVectors(t *testing.T) {
	table := createTable(t, memoryStore(t), testSchema, nil, map[string]string{"delta.enableDeletionVectors": "true"})
	line := `{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":3,\"minValues\":{\"id\":1},\"maxValues\":{\"id\":3},\"nullCount\":{\"id\":0},\"tightBounds\":true}"` +
		`,"deletionVector":{"storageType":"u","pathOrInlineDv":"vBn[lx{q8@P<9BNH/isA","offset":1,"sizeInBytes":36,"cardinality":2}}}`
	plain := strings.Replace(line[:strings.Index(line, `,"deletionVector"`)], `"path":"a"`, `"path":"b"`, 1) + "}}"
	require.NoError(t, table.Store().PutIfAbsent(ctx, commitKey(1), []byte(line+"\n"+plain)))
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	for f := range s.Files() {
		stats, err := f.Stats()
		require.NoError(t, err)
		require.Equal(t, f.Path == "b", stats.Columns[0].Exact)
		require.Equal(t, f.Path == "b", stats.TightBounds)
		require.Equal(t, "3", stats.Columns[0].Max.Format(0))
	}
}

func TestPartitionValues(t *testing.T) {
	for _, c := range []struct {
		t     batch.Type
		text  string
		value string // "" an error
		again string // how it is written; "" the same
	}{
		{kind(batch.Bool), "true", "true", ""},
		{kind(batch.Bool), "FALSE", "false", "false"},
		{kind(batch.Bool), "yes", "", ""},
		{kind(batch.Int8), "-128", "-128", ""},
		{kind(batch.Int8), "128", "", ""},
		{kind(batch.Int64), "9223372036854775807", "9223372036854775807", ""},
		{kind(batch.Float32), "1.5", "1.5", ""},
		{kind(batch.Float64), "0.0", "0", ""},
		{kind(batch.Float64), "-0.0", "-0", ""},
		{kind(batch.Float64), "1.0E10", "1e+10", "1e+10"},
		{kind(batch.Float64), "Infinity", "+Inf", ""},
		{kind(batch.Float64), "NaN", "NaN", ""},
		{kind(batch.Float64), "5", "5", "5.0"},
		{batch.DecimalOf(12, 5), "-2342342.23423", "-2342342.23423", ""},
		{batch.DecimalOf(12, 5), "234", "234.00000", "234.00000"},
		{batch.DecimalOf(12, 5), "2.34E2", "234.00000", "234.00000"},
		{batch.DecimalOf(12, 5), "0.000001", "", ""},
		{kind(batch.Date), "2021-09-08", "2021-09-08", ""},
		{kind(batch.Date), "0000-01-01", "0000-01-01", ""},
		{kind(batch.Date), "-0001-12-31", "-0001-12-31", ""},
		{kind(batch.Date), "+10000-01-01", "+10000-01-01", ""},
		{kind(batch.Date), "10000-01-01", "+10000-01-01", "+10000-01-01"},
		{kind(batch.Date), "2021-13-01", "", ""},
		{kind(batch.Timestamp), "2024-01-01T10:00:00.000000Z", "2024-01-01 10:00:00", ""},
		{kind(batch.Timestamp), "2020-01-01 08:09:10.001", "2020-01-01 08:09:10.001000", "2020-01-01T08:09:10.001000Z"},
		{kind(batch.Timestamp), "2020-01-01T08:09:10+02:00", "2020-01-01 06:09:10", "2020-01-01T06:09:10.000000Z"},
		{kind(batch.Timestamp), "1500-06-01 00:00:00", "1500-06-01 00:00:00", "1500-06-01T00:00:00.000000Z"},
		{kind(batch.Timestamp), "+20000-06-01 00:00:00", "+20000-06-01 00:00:00", "+20000-06-01T00:00:00.000000Z"},
		{kind(batch.TimestampNTZ), "-9999-12-31 23:59:59.999999", "-9999-12-31 23:59:59.999999", ""},
		{kind(batch.TimestampNTZ), "1582-10-05 00:00:00", "1582-10-05 00:00:00", ""},
		{kind(batch.TimestampNTZ), "2021-11-18T02:30:00.123456Z", "2021-11-18 02:30:00.123456", "2021-11-18 02:30:00.123456"},
		{kind(batch.TimestampNTZ), "2021-11-18", "2021-11-18 00:00:00", "2021-11-18 00:00:00"}, // of a date that was widened
		{kind(batch.TimestampNTZ), "2021-11-18 02:30:00+01:00", "", ""},
		{kind(batch.String), "a=b:c+d %/é", "a=b:c+d %/é", ""},
		{kind(batch.String), "null", "null", ""},
		{kind(batch.Binary), "\u0000\u007f\u0080\u00ff", "0x007F80FF", ""},
		{kind(batch.Binary), "\u0100", "", ""},
	} {
		v, err := ParsePartitionValue(c.text, c.t)
		if c.value == "" {
			require.ErrorIs(t, err, ErrCorrupt, "%s %q", c.t, c.text)
			require.ErrorContains(t, err, c.t.String())
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.value, v.Format(0))
		again, ok := formatPartitionValue(v, 0)
		require.True(t, ok)
		if c.again == "" {
			c.again = c.text
		}
		require.Equal(t, c.again, again, c.t)
	}
	for _, k := range []batch.Kind{batch.Bool, batch.Int32, batch.Float64, batch.Date, batch.Timestamp, batch.TimestampNTZ, batch.String, batch.Binary} {
		v, err := ParsePartitionValue("", kind(k))
		require.NoError(t, err)
		require.True(t, v.IsNull(0))
	}
	empty := batch.NewVector(kind(batch.Binary), 1)
	empty.AppendBytes(nil)
	_, ok := formatPartitionValue(empty, 0)
	require.False(t, ok)
	require.Equal(t, "-0.0", formatFloat(math.Copysign(0, -1), 64))

	schema := batch.NewSchema(batch.Field{Name: "p", Type: kind(batch.String), Nullable: true}, ruleColumn("id", nil))
	b := longs(schema, nil, []any{1})
	b.Cols[0] = batch.NewVector(kind(batch.String), 1)
	b.Cols[0].AppendString("a\xff")
	_, _, err := written(t, memoryStore(t), newMeta(t, schema, []string{"p"}, nil), FileWriterOptions{}, b)
	require.ErrorContains(t, err, "not UTF-8")
}

// A schema that cannot be read is an error of the table, not of what looks at its files.
func TestStatsUnderASchemaThatCannotBeRead(t *testing.T) {
	st := memoryStore(t)
	require.NoError(t, st.PutIfAbsent(ctx, commitKey(0), []byte(`{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"i","format":{"provider":"parquet"},"schemaString":"{","partitionColumns":[],"configuration":{}}}
{"add":{"path":"a","size":1,"modificationTime":1,"dataChange":true,"partitionValues":{},"stats":"{\"numRecords\":3,\"minValues\":{\"id\":1}}"}}`)))
	table := NewTable(st)
	s, err := table.newest(ctx)
	require.NoError(t, err)
	for f := range s.Files() {
		stats, err := f.Stats()
		require.NoError(t, err)
		require.Equal(t, int64(3), stats.NumRecords)
		require.Empty(t, stats.Columns)
	}
	_, err = table.Snapshot(ctx)
	require.ErrorContains(t, err, "mem://t")
}
