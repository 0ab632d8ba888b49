package delta

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// flatTypes are one of each flat kind.
var flatTypes = []batch.Type{kind(batch.Bool), kind(batch.Int8), kind(batch.Int16), kind(batch.Int32), kind(batch.Int64), kind(batch.Float32), kind(batch.Float64),
	batch.DecimalOf(10, 2), batch.DecimalOf(38, 10), kind(batch.Date), kind(batch.Timestamp), kind(batch.TimestampNTZ), kind(batch.String), kind(batch.Binary)}

// FuzzStats reads statistics as those of a table with every type, nested too.
func FuzzStats(f *testing.F) {
	schema := nestedSchema()
	for i, t := range flatTypes {
		schema.Fields = append(schema.Fields, batch.Field{Name: string(rune('A' + i)), Type: t, Nullable: true})
	}
	shape := newStatsShape(&Metadata{}, schema.Fields)
	f.Add(`{"numRecords":3,"tightBounds":false,"minValues":{"id":1,"s":{"a":-1,"b":"x"},"A":true,"H":1.25,"I":1e20,"J":"2024-02-29","K":"1969-12-31T23:59:59.999Z","L":"2024-01-01T00:00:00"},"maxValues":{"s":{"b":"y\ufffd"},"G":"NaN"},"nullCount":{"id":0,"s":{"a":3}}}`)
	f.Add(`{"numRecords":-1,"minValues":{"s":1,"id":{"x":[{}]}},"maxValues":null,"nullCount":[]}`)
	f.Add(`{"minValues":{"I":-99999999999999999999999999999999999999,"H":0.000,"E":1.0e5,"K":"9999-12-31T23:59:59+18:00"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseStats([]byte(text), shape)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		require.GreaterOrEqual(t, s.NumRecords, int64(-1))
		checkStats(t, s.Columns, schema.Fields)
	})
}

func checkStats(t *testing.T, columns []ColumnStats, fields []batch.Field) {
	for i, c := range columns {
		require.GreaterOrEqual(t, c.NullCount, int64(-1))
		for _, v := range []*batch.Vector{c.Min, c.Max} {
			require.True(t, v == nil || v.Type == fields[i].Type && v.Len == 1 && !v.IsNull(0))
		}
		require.True(t, !c.Exact || c.Min != nil && c.Max != nil)
		if c.Fields != nil {
			checkStats(t, c.Fields, fields[i].Type.Fields())
		}
	}
}

// FuzzPartitionValue: what can be read is written so that it reads as the same.
func FuzzPartitionValue(f *testing.F) {
	for i, text := range []string{"true", "-128", "32767", "5", "-9223372036854775808", "1.5", "-0.0", "1.25", "1e20", "-0001-01-01", "+20000-01-01T00:00:00Z",
		"-9999-12-31 23:59:59.999999", "a%2Fb", "\u0000\u00ff", ""} {
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		typ := flatTypes[int(kind)%len(flatTypes)]
		v, err := ParsePartitionValue(text, typ)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		again, ok := formatPartitionValue(v, 0)
		require.Equal(t, !v.IsNull(0), ok)
		if !ok || !utf8.ValidString(text) {
			return
		}
		back, err := ParsePartitionValue(again, typ)
		require.NoError(t, err, "%q", again)
		require.True(t, sameValue(v, back, 0), "%s: %q -> %s -> %q -> %s", typ, text, v.Format(0), again, back.Format(0))
		folder := partitionFolder([]string{"p"}, map[string]string{"p": again})
		require.Equal(t, 1, strings.Count(folder, "/"))
		require.Equal(t, folder, decodePath("file:///t", encodePath(folder)))
	})
}

// FuzzPath: every key goes to the log and back, and what a log has means one file.
func FuzzPath(f *testing.F) {
	for _, path := range []string{"a/b.parquet", "p=a%2Fb/x y.parquet", "file:/t/x", "file:///t/%41", "/t/a%25b", "s3://b/k?#", "%", "%4", "a:/b", "C:/x", "é", "\xff", "file:t", "%2F0", "a%3A/x"} {
		f.Add(path)
	}
	const root = "file:///t"
	f.Fuzz(func(t *testing.T, path string) {
		inMemory := decodePath(root, path)
		require.Equal(t, inMemory, decodePath(root, encodePath(inMemory)), "%q", inMemory)
		if !isAbsolute(path) {
			require.Equal(t, path, percentDecode(percentEncode(path)))
		}
	})
}

// FuzzSchema: a schema that can be read is written so that it reads as the same, and everything that looks at schemas copes with it.
func FuzzSchema(f *testing.F) {
	f.Add(FormatSchema(nestedSchema()))
	f.Add(newMeta(f, nestedSchema(), nil, map[string]string{mappingMode: mappingByName}).SchemaString)
	f.Add(`{"type":"struct","fields":[{"name":"v","type":"variant","nullable":true,"metadata":{"delta.typeChanges":[{"fromType":"byte","toType":"long"}]}},{"name":"n","type":"void"},{"name":"i","type":"interval day"}]}`)
	f.Add(`{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":{"type":"map","keyType":"string","valueType":{"type":"struct","fields":[]}}}}]}`)
	f.Add(`{"type":"struct","fields":[{"name":"c","type":"string","metadata":{"__CHAR_VARCHAR_TYPE_STRING":"char(3)","delta.identity.start":1,"delta.invariants":"{}","CURRENT_DEFAULT":"1"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		schema, err := ParseSchema(text)
		if err != nil {
			return
		}
		written := FormatSchema(schema)
		back, err := ParseSchema(written)
		require.NoError(t, err)
		require.Equal(t, written, FormatSchema(back))
		for _, mode := range []string{"none", mappingByName} {
			m := &Metadata{SchemaString: written, Configuration: map[string]string{mappingMode: mode}}
			if _, err := parseTableSchema(m); err == nil {
				newStatsShape(m, schema.Fields)
			}
			newStatsWriter(m, schema)
			neededFeatures(m, schema)
			if checkNewSchema(schema, m) != nil {
				continue
			}
			if r, err := newRules(m, schema, fakeSQL{}, NewRows); err == nil {
				r.identityMarks()
			}
			mapped := (&Metadata{Configuration: map[string]string{mappingMode: mappingByName}}).withSchema(schema, 0, newPhysicalName)
			_, err := ParseSchema(mapped.SchemaString)
			require.NoError(t, err)
		}
	})
}

// FuzzProtocolAndMetadata: whatever the two actions say, the table is read, or refused with a reason.
func FuzzProtocolAndMetadata(f *testing.F) {
	schema := string(appendJSONString(nil, FormatSchema(nestedSchema())))
	f.Add(`{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["columnMapping","deletionVectors"],"writerFeatures":["columnMapping","deletionVectors"]}`,
		`{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":`+schema+`,"partitionColumns":["p"],"configuration":{"delta.columnMapping.mode":"name"},"createdTime":1}`)
	f.Add(`{"minReaderVersion":1,"minWriterVersion":2}`, `{"schemaString":"{}","configuration":{"delta.constraints.c":"x","delta.feature.variantType":"supported","delta.minReaderVersion":"3"}}`)
	f.Add(`{"minReaderVersion":2,"minWriterVersion":7,"readerFeatures":null,"writerFeatures":["x","timestampWithoutTimezone"]}`, `{"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":["gone"]}`)
	f.Fuzz(func(t *testing.T, protocol, metadata string) {
		line := `{"protocol":` + protocol + "}\n" + `{"metaData":` + metadata + "}"
		c, err := parseCommit("0.json", 0, []byte(line))
		if err != nil || c.protocol == nil || c.metadata == nil {
			return
		}
		s := newSnapshot("mem://t")
		s.applyState(c)
		readable := checkReadable(s) == nil
		require.True(t, readable || CheckWritable(s) != nil, "what cannot be read cannot be written")
		if !readable {
			return
		}
		s.Naming()
		s.metadata.partitionKeys()
		next := requiredProtocol(s.protocol, s.metadata, s.schema)
		if next == nil || s.protocol.MinReader > maxReader || s.protocol.MinWriter > maxWriter {
			return
		}
		require.Nil(t, requiredProtocol(next, s.metadata, s.schema))
		for _, name := range neededFeatures(s.metadata, s.schema) {
			require.True(t, next.Supports(name), name)
		}
	})
}

// FuzzColumnNames: a list of names comes back from its text.
func FuzzColumnNames(f *testing.F) {
	for _, list := range []string{"a, b.c", "`a``b`.`c,d`", "", " ` a `", "a.", "`a`b"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		names, err := splitColumnNames(list)
		if err != nil {
			return
		}
		back, err := splitColumnNames(joinColumnNames(names))
		require.NoError(t, err)
		require.Equal(t, names, back)
	})
}

// FuzzTruncate: the bounds of a string hold for it, whatever it is cut to.
func FuzzTruncate(f *testing.F) {
	f.Add("abc\U0010ffffd", 3)
	f.Add("é", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 1 + (n&0x3f+0x40)%0x40
		if !utf8.ValidString(s) {
			return
		}
		low, ok := truncate(s, n, false)
		require.True(t, ok)
		require.LessOrEqual(t, low, s)
		require.LessOrEqual(t, utf8.RuneCountInString(low), n)
		if high, ok := truncate(s, n, true); ok {
			require.GreaterOrEqual(t, high, s)
			require.True(t, utf8.ValidString(high))
		}
	})
}
