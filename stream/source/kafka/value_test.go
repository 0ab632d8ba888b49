package kafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/stream/source"
	"lakesql/stream/source/sourcetest"
)

// cut takes what Kafka knows off the rows.
func cut(rows []string) (out []string) {
	for _, r := range rows {
		out = append(out, r[:strings.LastIndex(r, "|")])
	}
	return out
}

func TestJSONValues(t *testing.T) {
	w := newWorld(t, 1).with("format", "json", "schema", "id INT, name STRING")
	w.put(0, `{"id":1,"name":"a"}`)
	w.put(0, "{\n  \"id\": 2,\r\n \"name\": \"b c\"\n}\n")
	w.produce(&kgo.Record{Topic: topic, Key: []byte("gone")})
	w.put(0, "  ")
	w.put(0, `{"id":"x","name":"d"}`)
	w.put(0, `[{"id":5}]`)
	w.put(0, "{\"id\":6,\n")
	w.put(0, `{"id":7} {"id":8}`)
	src := w.Open(t)
	schema, err := src.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, "id integer, name string, _kafka struct<key:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int>", schema.String())
	require.False(t, src.Inferred())
	end := sourcetest.Next(t, src, source.None)
	rows, bad, err := read(t, src, source.None, end)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1|a", "2|b c", "NULL|NULL", "NULL|NULL", "NULL|d", "NULL|NULL", "NULL|NULL", "NULL|NULL"}, cut(rows))
	require.Contains(t, strings.Join(rows, "\n"), `1|a|{"key":null,"topic":"orders","partition":0,"offset":0,"timestamp":`)
	var at []int64
	for _, b := range bad {
		require.Equal(t, "kafka:orders/0", b.File)
		require.NotEmpty(t, b.Raw)
		require.NotEmpty(t, b.Message)
		at = append(at, b.Line)
	}
	require.Equal(t, []int64{4, 5, 6, 7}, at, "the offsets of malformed values; one that is missing is none")
	require.Equal(t, "id", bad[0].Column)

	w.env.Malformed = source.DropRow
	rows, bad, err = read(t, w.Open(t), source.None, end)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1|a", "2|b c", "NULL|NULL", "NULL|NULL"}, cut(rows))
	require.Len(t, bad, 4)

	w.env.Malformed = source.FailRead
	_, _, err = read(t, w.Open(t), source.None, end)
	require.ErrorIs(t, err, source.ErrData)
	require.ErrorContains(t, err, "partition orders/0, offset 4, field \"id\"")
	rows, _, err = read(t, w.with("mode", "PERMISSIVE").Open(t), source.None, end)
	require.NoError(t, err, "the option mode goes before ON ERROR")
	require.Len(t, rows, 8)
}

func TestJSONIsInferredAndEvolves(t *testing.T) {
	w := newWorld(t, 2).with("format", "json", "schemaHints", "price DECIMAL(10,2)")
	src := w.Open(t)
	_, err := src.Schema(t.Context())
	require.ErrorIs(t, err, source.ErrNoData)
	w.put(0, `{"id":1,"price":1.5}`)
	w.put(1, `{"id":2,"tags":["a"]}`)
	schema, err := src.Schema(t.Context())
	require.NoError(t, err)
	require.True(t, src.Inferred())
	require.Contains(t, schema.String(), "price decimal(10,2)")
	require.Contains(t, schema.String(), "tags array<string>")
	at := sourcetest.Next(t, src, source.None)
	_, _, err = read(t, src, source.None, at)
	require.NoError(t, err)

	w.put(0, `{"id":3,"extra":{"x":1}}`)
	end := sourcetest.Next(t, src, at)
	_, _, err = read(t, src, at, end)
	require.ErrorIs(t, err, source.ErrSchemaEvolved)
	again := w.Open(t)
	wider, err := again.Schema(t.Context())
	require.NoError(t, err)
	require.Contains(t, wider.String(), "extra struct<x:bigint>, _kafka")
	rows, _, err := read(t, again, at, end)
	require.NoError(t, err)
	require.Len(t, rows, 1)

	w.env.NewColumns = source.RefuseColumns
	w.put(0, `{"id":4,"more":1}`)
	src = w.Open(t)
	_, _, err = read(t, src, end, sourcetest.Next(t, src, end))
	require.ErrorIs(t, err, source.ErrData)
	require.ErrorContains(t, err, "more")
	w.env.NewColumns = source.IgnoreColumns
	src = w.Open(t)
	rows, _, err = read(t, src, end, sourcetest.Next(t, src, end))
	require.NoError(t, err)
	require.Len(t, rows, 1)
}

func TestValuesAreRescued(t *testing.T) {
	w := newWorld(t, 1).with("format", "json", "schema", "id INT")
	w.put(0, `{"id":1}`)
	w.put(0, `{"id":"x","more":[1]}`)
	w.env.NewColumns = source.RescueColumns
	src := w.Open(t)
	schema, err := src.Schema(t.Context())
	require.NoError(t, err)
	require.Contains(t, schema.String(), "id integer, _rescued_data string, _kafka struct")
	rows, bad, err := read(t, src, source.None, sourcetest.Next(t, src, source.None))
	require.NoError(t, err)
	require.Empty(t, bad)
	require.ElementsMatch(t, []string{"1|NULL", `NULL|{"id":"x","more":[1]}`}, cut(rows))
}

func TestCSVAndTextValues(t *testing.T) {
	w := newWorld(t, 1).with("format", "csv", "schema", "id INT, name STRING", "sep", ";")
	w.put(0, "1;a")
	w.put(0, "2;b\r\n")
	w.put(0, "3;c\n4;d")
	w.put(0, "x;e")
	src := w.Open(t)
	end := sourcetest.Next(t, src, source.None)
	rows, bad, err := read(t, src, source.None, end)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1|a", "2|b", "NULL|NULL", "NULL|e"}, cut(rows))
	require.Len(t, bad, 2)

	w.with("sep", "", "schema", "", "format", "text")
	w.produce(&kgo.Record{Topic: topic, Value: []byte{0xff, 'z'}})
	src = w.Open(t)
	rows, _, err = read(t, src, end, sourcetest.Next(t, src, end))
	require.NoError(t, err)
	require.Equal(t, []string{"\uFFFDz"}, cut(rows))
}

// TestAvroValues reads values by a schema, with and without Confluent's header.
func TestAvroValues(t *testing.T) {
	const schema = `{"type":"record","name":"order","fields":[{"name":"id","type":"int"},{"name":"name","type":["null","string"]},{"name":"tags","type":{"type":"array","items":"string"}}]}`
	of := func(id int, name any) []byte {
		data, err := avro.MustParse(schema).Encode(map[string]any{"id": id, "name": name, "tags": []string{"x"}})
		require.NoError(t, err)
		return data
	}
	for _, header := range []string{"", "\x00\x00\x00\x01\x02"} {
		w := newWorld(t, 1).with("format", map[bool]string{true: "avro", false: "avro-confluent"}[header == ""], "avroSchema", schema)
		put := func(value []byte) { w.put(0, header+string(value)) }
		put(of(1, "a"))
		put(of(2, nil))
		w.produce(&kgo.Record{Topic: topic, Key: []byte("gone")})
		put(of(3, "c")[:3])
		put(append(of(4, "d"), 1))
		put(of(5, "e"))
		src := w.Open(t)
		columns, err := src.Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, "id integer, name string, tags array<string>, _kafka struct<key:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int>", columns.String())
		require.False(t, src.Inferred())
		end := sourcetest.Next(t, src, source.None)
		rows, bad, err := read(t, src, source.None, end)
		require.NoError(t, err)
		require.ElementsMatch(t, []string{`1|a|["x"]`, `2|NULL|["x"]`, "NULL|NULL|NULL", "NULL|NULL|NULL", "NULL|NULL|NULL", `5|e|["x"]`}, cut(rows))
		require.Len(t, bad, 2)
		require.Equal(t, []int64{3, 4}, []int64{bad[0].Line, bad[1].Line})
		require.Equal(t, "name", bad[0].Column)
		require.Equal(t, fmt.Sprintf("the value ends in the middle (behind byte %d)", len(header)+3), bad[0].Message)
		require.Equal(t, header+string(of(3, "c")[:3]), string(bad[0].Raw))

		w.env.Malformed = source.DropRow
		rows, _, err = read(t, w.Open(t), source.None, end)
		require.NoError(t, err)
		require.Len(t, rows, 4)
		w.env.Malformed = source.FailRead
		_, _, err = read(t, w.Open(t), source.None, end)
		require.ErrorIs(t, err, source.ErrData)
		require.ErrorContains(t, err, `[MALFORMED_RECORD_IN_PARSING] partition orders/0, offset 3, field "name": the value ends in the middle`)
		w.with("mode", "PERMISSIVE", "startingOffsets", "latest").st = newWorld(t, 1).st
		if header != "" {
			w.with("avroSchemaId", "258")
		}
		src = w.Open(t)
		_, _, err = src.Latest(t.Context(), source.None, source.Limit{})
		require.NoError(t, err)
		put(of(6, "f"))
		w.put(0, "\x00\x00\x00\x00\x07"+string(of(7, "g")))
		w.put(0, string(of(8, "h")))
		rows, bad, err = read(t, src, source.None, sourcetest.Next(t, src, source.None))
		require.NoError(t, err)
		if header == "" {
			require.ElementsMatch(t, []string{`6|f|["x"]`, "NULL|NULL|NULL", `8|h|["x"]`}, cut(rows))
			require.Contains(t, bad[0].Message, "are read by format => 'avro-confluent'")
		} else {
			require.ElementsMatch(t, []string{`6|f|["x"]`, "NULL|NULL|NULL", "NULL|NULL|NULL"}, cut(rows))
			require.Contains(t, bad[0].Message, "written by schema 7 of the registry, and avroSchemaId is 258")
			require.Contains(t, bad[1].Message, "are read by format => 'avro'")
		}
	}
}

func TestAvroOptionsAreRefused(t *testing.T) {
	for want, options := range map[string][]string{
		"avroSchema => '{":              {"format", "avro"},
		"option avroSchema: ":           {"format", "avro-confluent", "avroSchema", "{"},
		"holds itself":                  {"format", "avro", "avroSchema", `{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}`},
		"give the number":               {"format", "avro-confluent", "avroSchema", `"int"`, "avroSchemaId", "-1"},
		"one of format => 'avro-conflu": {"format", "avro", "avroSchema", `"int"`, "avroSchemaId", "1"},
		"say format => 'avro' too":      {"avroSchema", `"int"`},
		"a column _kafka":               {"format", "avro", "avroSchema", `{"type":"record","name":"r","fields":[{"name":"_kafka","type":"int"}]}`},
		"one of format => 'csv'":        {"format", "avro", "avroSchema", `"int"`, "schema", "id INT"},
	} {
		w := newWorld(t, 1).with(options...)
		_, err := Open(t.Context(), source.Spec{Options: w.options}, w.env)
		require.ErrorContains(t, err, want)
	}
}

func TestColumnOfThatName(t *testing.T) {
	w := newWorld(t, 1).with("format", "json", "schema", "id INT, _Kafka STRING")
	_, err := Open(t.Context(), source.Spec{Options: w.options}, w.env)
	require.ErrorContains(t, err, "_kafka")
	w.with("schema", "")
	w.put(0, `{"_kafka":1}`)
	_, err = w.Open(t).Schema(t.Context())
	require.ErrorIs(t, err, source.ErrData)
}
