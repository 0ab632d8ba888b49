package kafka

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/batch"
	"lakesql/files"
	"lakesql/format"
	"lakesql/format/csv"
	"lakesql/format/json"
	"lakesql/stream/source"
)

// valueOptions say how values are taken apart.
type valueOptions struct {
	format string         // "": they are BINARY; else one of valueKeys
	avro   *avroOptions   // of avro
	text   *files.Options // of json and csv
	bare   *files.Options // the same without the schema, which finds new columns
	mode   format.Mode
	moded  bool // the option mode was given
}

// valueKeys are the options of read_files that a format of values has, besides mode. Those of lines, headers and files have no meaning here.
var valueKeys = map[string][]string{
	"csv": {"schema", "schemahints", "infercolumntypes", "dateformat", "timestampformat", "timestampntzformat", "timezone", "sep", "quote", "escape",
		"chartoescapequoteescaping", "ignoreleadingwhitespace", "ignoretrailingwhitespace", "nullvalue", "emptyvalue", "nanvalue", "positiveinf",
		"negativeinf", "maxcolumns", "maxcharspercolumn", "preferdate", "rescueddatacolumn"},
	"json": {"schema", "schemahints", "infercolumntypes", "dateformat", "timestampformat", "timestampntzformat", "timezone", "primitivesasstring",
		"prefersdecimal", "infertimestamp", "dropfieldifallnull", "allowsinglequotes", "allownonnumericnumbers", "readercasesensitive", "rescueddatacolumn"},
	"text":          {},
	formatAvro:      {"avroschema"},
	formatConfluent: {"avroschema", "avroschemaid"},
}

// formats are the names of the formats, for errors.
const formats = "json, csv, text, avro and avro-confluent"

// parse reads the options that are no others'; given has their spelling.
func (v *valueOptions) parse(args, given map[string]string) error {
	v.format = strings.ToLower(args["format"])
	if v.format == "binary" || v.format == "kafka" {
		v.format = ""
	}
	keys, ok := valueKeys[v.format]
	if v.format != "" && !ok {
		return argumentError("option %s => '%s': values are taken apart by %s", given["format"], args["format"], formats)
	}
	options := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(args)) {
		switch {
		case key == "format":
		case key == "mode" && v.format != "" && v.format != "text":
			if err := v.setMode(args[key]); err != nil {
				return argumentError("option %s => '%s': %w", given[key], args[key], err)
			}
		case slices.Contains(keys, key):
			options[key] = args[key]
		default:
			return v.unknown(key, given[key])
		}
	}
	switch v.format {
	case "json", "csv":
		return v.parseText(options)
	case formatAvro, formatConfluent:
		return v.parseAvro(options, given)
	}
	return nil
}

func (v *valueOptions) parseText(options map[string]string) (err error) {
	options["format"] = v.format
	if v.text, err = files.ParseOptions(options); err != nil {
		return asArgument(err)
	}
	delete(options, "schema")
	bare, err := files.ParseOptions(options)
	if err != nil {
		return asArgument(err)
	}
	v.bare = bare.ForNewColumns()
	return nil
}

// unknown says why an option has no meaning.
func (v *valueOptions) unknown(key, name string) error {
	for _, f := range slices.Sorted(maps.Keys(valueKeys)) {
		if key == "mode" && f != "text" || slices.Contains(valueKeys[f], key) {
			if v.format == "" {
				return argumentError("option %s says how values are taken apart: say format => '%s' too", name, f)
			}
			return argumentError("option %s is one of format => '%s', and the format is '%s': leave it out", name, f, v.format)
		}
	}
	return argumentError("unknown option %s: there are topic, subscribePattern, assign, startingOffsets, startingTimestamp, startingOffsetsByTimestamp, "+
		"startingOffsetsByTimestampStrategy, failOnDataLoss, includeHeaders, maxOffsetsPerTrigger, minOffsetsPerTrigger, maxTriggerDelay, format and what belongs to "+
		"it, and Kafka's own as kafka.NAME", name)
}

func (v *valueOptions) setMode(value string) error {
	mode, ok := map[string]format.Mode{"PERMISSIVE": format.Permissive, "DROPMALFORMED": format.DropMalformed, "FAILFAST": format.FailFast}[strings.ToUpper(value)]
	if !ok {
		return errors.New("give PERMISSIVE, DROPMALFORMED or FAILFAST")
	}
	v.mode, v.moded = mode, true
	return nil
}

// applyMode lets ON ERROR decide what becomes of malformed values, unless the option mode does.
func (v *valueOptions) applyMode(m source.Malformed) {
	if v.moded {
		return
	}
	switch m {
	case source.DropRow:
		v.mode = format.DropMalformed
	case source.FailRead:
		v.mode = format.FailFast
	}
}

// table is the values of some records as columns, a row a record.
type table struct {
	cols    []*batch.Vector
	bad     []bool // by record; nil: none is malformed
	rejects []reject
	extra   []string // columns that the schema has not
}

// reject is what is wrong with a value.
type reject struct {
	record  int
	column  string
	message string
}

func (t *table) reject(records, record int, column, message string) {
	if t.bad == nil {
		t.bad = make([]bool, records)
	}
	t.bad[record] = true
	t.rejects = append(t.rejects, reject{record, column, message})
}

// decode takes values apart. A record without a value, or with an empty one, is a row of NULLs.
func (v *valueOptions) decode(records []*kgo.Record, schema *batch.Schema) (*table, error) {
	switch {
	case v.avro != nil:
		return v.decodeAvro(records, schema), nil
	case v.text != nil:
		return v.decodeLines(records, schema)
	}
	col := batch.NewVector(textType, len(records))
	for _, rec := range records {
		appendText(col, rec.Value)
	}
	return &table{cols: []*batch.Vector{col}}, nil
}

func appendText(v *batch.Vector, data []byte) {
	if data == nil {
		v.AppendNull()
	} else {
		v.AppendBytes(format.AppendUTF8(nil, data))
	}
}

// decodeLines gives the values, a line each, to the reader of files of their format.
func (v *valueOptions) decodeLines(records []*kgo.Record, schema *batch.Schema) (*table, error) {
	t := &table{}
	text, live := v.lines(records, func(record int, message string) { t.reject(len(records), record, "", message) })
	opts := *v.text
	opts.SetMode(format.Permissive) // the rows keep their places; what becomes of them is decided over all of them
	onError := func(e format.RowError) {
		if at := int(e.Line) - 1; at >= 0 && at < len(live) {
			t.reject(len(records), live[at], e.Column, e.Message)
		}
	}
	rows, err := newLineReader(text, schema, &opts, onError)
	if err != nil {
		return nil, err
	}
	if t.cols, err = drain(rows, schema, len(live)); err != nil {
		return nil, err
	}
	t.extra = rows.Extra()
	if len(live) < len(records) {
		for i, col := range t.cols {
			t.cols[i] = spread(col, live, len(records))
		}
	}
	slices.SortStableFunc(t.rejects, func(a, b reject) int { return a.record - b.record })
	return t, nil
}

// lines writes each value as a line. live are the records that have one: not those without a value, nor those that are malformed
// as a whole.
func (v *valueOptions) lines(records []*kgo.Record, reject func(record int, message string)) (text []byte, live []int) {
	size := 0
	for _, rec := range records {
		size += len(rec.Value) + 1
	}
	text, live = make([]byte, 0, size), make([]int, 0, len(records))
	for i, rec := range records {
		value := bytes.Trim(rec.Value, "\r\n")
		if len(bytes.TrimFunc(value, func(r rune) bool { return r <= ' ' })) == 0 {
			continue
		}
		line, problem := v.line(value)
		if problem != "" {
			reject(i, problem)
			continue
		}
		text = append(append(text, line...), '\n')
		live = append(live, i)
	}
	return text, live
}

// line is a value as one line, or why it is none.
func (v *valueOptions) line(value []byte) (line []byte, problem string) {
	long := bytes.ContainsAny(value, "\r\n")
	if v.format == "csv" {
		if long {
			return nil, "the value has several lines, and a record of CSV is one"
		}
		return value, ""
	}
	if first := bytes.TrimLeft(value, " \t\r\n"); first[0] != '{' {
		return nil, "the value is no JSON object {...}"
	}
	if !long {
		return value, ""
	}
	var b bytes.Buffer
	if err := stdjson.Compact(&b, value); err != nil {
		return nil, "the value is not one JSON object: " + err.Error()
	}
	return b.Bytes(), ""
}

// lineReader reads the rows of lines.
type lineReader interface {
	Next() (*batch.Batch, error)
	Extra() []string
}

func newLineReader(text []byte, schema *batch.Schema, opts *files.Options, onError func(format.RowError)) (lineReader, error) {
	size := int64(len(text))
	if opts.Format == "json" {
		o := opts.JSON
		o.SizeHint, o.OnError = size, onError
		return json.NewReader(bytes.NewReader(text), schema, o)
	}
	o := opts.CSV
	o.SizeHint, o.OnError = size, onError
	return csv.NewReader(bytes.NewReader(text), schema, o)
}

// drain is all rows of a reader, of which there are as many as lines.
func drain(rows lineReader, schema *batch.Schema, want int) ([]*batch.Vector, error) {
	var cols []*batch.Vector
	got := 0
	for got < want {
		b, err := rows.Next()
		if err != nil {
			return nil, fmt.Errorf("values cannot be read as their format says: %w", errors.Join(source.ErrData, err))
		}
		if got += b.Len; got == b.Len && got == want {
			return b.Cols, nil
		}
		if cols == nil {
			for _, f := range schema.Fields {
				cols = append(cols, batch.NewVector(f.Type, want))
			}
		}
		for i, col := range b.Cols {
			cols[i].AppendRows(col, nil)
		}
	}
	if cols == nil {
		for _, f := range schema.Fields {
			cols = append(cols, batch.NewVector(f.Type, 0))
		}
	}
	return cols, nil
}

// spread puts the rows at their places among so many, and NULL at the others.
func spread(col *batch.Vector, places []int, rows int) *batch.Vector {
	null := int32(col.Len)
	col = col.Clone()
	col.AppendNull()
	from := slices.Repeat([]int32{null}, rows)
	for row, place := range places {
		from[place] = int32(row)
	}
	return col.Gather(from)
}
