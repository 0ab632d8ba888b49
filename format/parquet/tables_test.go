package parquet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/integration/shared"
	"lakesql/store"
)

// replayed is what the commits of a log, which begins at version 0, leave.
type replayed struct {
	files     []string
	schema    json.RawMessage
	partition []string
	mode      string // of the column mapping
}

// replay reads the commits; ok is false when they do not begin at version 0, or the files are not in the folder.
func replay(t *testing.T, table string) (r replayed, ok bool) {
	commits, err := filepath.Glob(filepath.Join(table, "_delta_log", "[0-9]*.json"))
	require.NoError(t, err)
	commits = slices.DeleteFunc(commits, func(name string) bool {
		return strings.Contains(name, "compacted") || strings.Contains(name, "checkpoint")
	})
	sort.Strings(commits)
	live := map[string]bool{}
	for i, commit := range commits {
		if filepath.Base(commit) != fmt.Sprintf("%020d.json", i) {
			return r, false
		}
		data, err := os.ReadFile(commit)
		require.NoError(t, err)
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var action struct {
				Add, Remove *struct{ Path string }
				MetaData    *struct {
					SchemaString     string
					PartitionColumns []string
					Configuration    map[string]string
				}
			}
			require.NoError(t, json.Unmarshal(lines.Bytes(), &action))
			if action.Remove != nil {
				delete(live, action.Remove.Path)
			}
			if action.Add != nil {
				live[action.Add.Path] = true
			}
			if m := action.MetaData; m != nil {
				r.schema, r.partition, r.mode = json.RawMessage(m.SchemaString), m.PartitionColumns, m.Configuration["delta.columnMapping.mode"]
			}
		}
	}
	for p := range live {
		decoded, err := url.PathUnescape(p)
		require.NoError(t, err)
		if _, err := os.Stat(filepath.Join(table, decoded)); err != nil {
			return r, false // an absolute path of another machine
		}
		r.files = append(r.files, decoded)
	}
	return r, len(commits) > 0
}

// naming finds columns by what the column mapping says, in the field's metadata.
func (r *replayed) naming() Naming {
	if r.mode == "" || r.mode == "none" {
		return nil
	}
	return func(f batch.Field) (string, int32) {
		var name string
		var id int32
		_ = json.Unmarshal([]byte(f.Metadata["delta.columnMapping.physicalName"]), &name)
		_ = json.Unmarshal([]byte(f.Metadata["delta.columnMapping.id"]), &id)
		return name, id
	}
}

// fieldsOf reads the fields of a struct type as a log has it.
func fieldsOf(t *testing.T, raw json.RawMessage) []batch.Field {
	var s struct {
		Fields []struct {
			Name     string
			Type     json.RawMessage
			Nullable bool
			Metadata map[string]json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(raw, &s))
	var fields []batch.Field
	for _, f := range s.Fields {
		field := batch.Field{Name: f.Name, Type: typeOf(t, f.Type), Nullable: f.Nullable, Metadata: map[string]string{}}
		for k, v := range f.Metadata {
			field.Metadata[k] = string(v)
		}
		fields = append(fields, field)
	}
	return fields
}

func typeOf(t *testing.T, raw json.RawMessage) batch.Type {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		typ, err := batch.ParseType(name)
		require.NoError(t, err)
		return typ
	}
	var nested struct {
		Type                            string
		ElementType, KeyType, ValueType json.RawMessage
		ContainsNull, ValueContainsNull bool
	}
	require.NoError(t, json.Unmarshal(raw, &nested))
	switch nested.Type {
	case "array":
		return batch.ListOf(batch.Field{Type: typeOf(t, nested.ElementType), Nullable: nested.ContainsNull})
	case "map":
		return batch.MapOf(batch.Field{Type: typeOf(t, nested.KeyType)}, batch.Field{Type: typeOf(t, nested.ValueType), Nullable: nested.ValueContainsNull})
	}
	return batch.StructOf(fieldsOf(t, raw)...)
}

// factText writes a value as expected.json does; ok is false for types that it writes in a way of its own.
func factText(v *batch.Vector) (text string, ok bool) {
	text = v.Format(0)
	switch v.Type.Kind {
	case batch.Float32, batch.Float64, batch.Binary:
		return "", false
	case batch.Timestamp, batch.TimestampNTZ:
		if strings.Contains(text, ".") {
			text = strings.TrimRight(text, "0")
		}
		if v.Type.Kind == batch.Timestamp {
			text += "+00"
		}
	}
	return text, true
}

func TestTablesOfOtherWriters(t *testing.T) {
	dir, expected := shared.Tables(t)
	checked := 0
	for name, facts := range expected {
		if strings.HasPrefix(name, "refuse_") {
			continue
		}
		table, ok := replay(t, filepath.Join(dir, name))
		if !ok {
			continue
		}
		checked++
		t.Run(name, func(t *testing.T) { checkTable(t, filepath.Join(dir, name), table, facts) })
	}
	require.Greater(t, checked, 45)
}

func checkTable(t *testing.T, dir string, table replayed, facts shared.Table) {
	st, err := store.NewLocal(dir)
	require.NoError(t, err)
	fields := slices.DeleteFunc(fieldsOf(t, table.schema), func(f batch.Field) bool { return slices.Contains(table.partition, f.Name) })
	schema := batch.NewSchema(fields...)
	naming, byID := table.naming(), table.mode == "id"
	var parts []*batch.Batch
	for _, p := range table.files {
		info, err := os.Stat(filepath.Join(dir, p))
		require.NoError(t, err)
		f, err := Open(t.Context(), st, p, info.Size())
		require.NoError(t, err)
		b, err := readAll(f, ScanOptions{Columns: fields, Naming: naming, ByID: byID})
		require.NoError(t, err)
		for _, field := range fields {
			if field.Type.Fields() == nil && field.Type.Kind != batch.Void {
				checkGroupStats(t, f, field, naming, byID)
			}
		}
		checkParts(t, f, ScanOptions{Columns: fields, Naming: naming, ByID: byID}, b)
		parts = append(parts, b)
		require.NoError(t, f.Close())
	}
	if facts.DV != "0" {
		return // the facts are of the rows that the deletion vectors leave
	}
	all := batch.Concat(schema, parts...)
	require.Equal(t, facts.Rows, fmt.Sprint(all.Len))
	checkRows(t, all, facts)
	for _, fact := range facts.Cols {
		name, text, _ := strings.Cut(fact, ": ")
		c := schema.Index(name)
		if c < 0 {
			continue
		}
		col := all.Cols[c]
		require.Contains(t, text+" ", fmt.Sprintf("nonnull=%d ", col.Len-col.NullCount()), name)
		if col.Type.Fields() != nil {
			continue
		}
		low, high, ok := boundsOf(col)
		if !ok {
			continue
		}
		if lowText, ok := factText(low); ok {
			highText, _ := factText(high)
			require.Contains(t, text+" ", fmt.Sprintf("min=%s max=%s ", lowText, highText), name)
		}
	}
}

// checkParts checks that rows which are read by their positions are those that a scan of all has there.
func checkParts(t *testing.T, f *File, opts ScanOptions, all *batch.Batch) {
	for at := int64(1); at < f.NumRows(); at += 1 + f.NumRows()/5 {
		opts.Rows = append(opts.Rows, RowRange{at, at + 1 + f.NumRows()/20})
	}
	if opts.Rows == nil {
		return
	}
	at, got := positions(t, f, opts)
	for c := range got.Cols {
		for i, p := range at {
			require.Equal(t, string(all.Cols[c].AppendJSON(nil, int(p))), string(got.Cols[c].AppendJSON(nil, i)))
		}
	}
}

// checkRows checks that the table has the rows that the facts show, in its nested columns.
func checkRows(t *testing.T, all *batch.Batch, facts shared.Table) {
	var nested []int
	for c, f := range all.Schema.Fields {
		if f.Type.Fields() != nil {
			nested = append(nested, c)
		}
	}
	have := map[string]int{}
	for row := range all.Len {
		text := ""
		for _, c := range nested {
			var value any
			require.NoError(t, json.Unmarshal(all.Cols[c].AppendJSON(nil, row), &value))
			text += plainJSON(value) + "|"
		}
		have[text]++
	}
	for _, row := range facts.First {
		if !json.Valid([]byte(row)) {
			continue // it was cut off
		}
		var values map[string]any
		require.NoError(t, json.Unmarshal([]byte(row), &values))
		text := ""
		for _, c := range nested {
			text += plainJSON(values[all.Schema.Fields[c].Name]) + "|"
		}
		if strings.Contains(text, "metadata") {
			continue // a variant as it is stored
		}
		require.Positive(t, have[text], "no row has %s, but %v", text, have)
	}
}

// plainJSON writes a value without the differences between two ways to write it: numbers with or without zeros at the end, variants
// as text, the fields of an object in any order.
func plainJSON(value any) string {
	switch x := value.(type) {
	case []any:
		out := "["
		for _, e := range x {
			out += plainJSON(e) + ","
		}
		return out + "]"
	case map[string]any:
		out := "{"
		for _, k := range slices.Sorted(maps.Keys(x)) {
			out += plainJSON(k) + ":" + plainJSON(x[k]) + ","
		}
		return out + "}"
	case string:
		var variant any
		if strings.HasPrefix(x, "{'") && json.Unmarshal([]byte(strings.ReplaceAll(x, "'", `"`)), &variant) == nil {
			return plainJSON(variant)
		}
		if n, err := strconv.ParseFloat(x, 64); err == nil {
			return fmt.Sprint(n)
		}
		return x
	}
	return fmt.Sprint(value)
}

// boundsOf returns the least and greatest value, NaN apart; ok is false when there is none.
func boundsOf(v *batch.Vector) (low, high *batch.Vector, ok bool) {
	var present []int32
	for i := range v.Len {
		if !v.IsNull(i) {
			present = append(present, int32(i))
		}
	}
	if len(present) == 0 {
		return nil, nil, false
	}
	dense := v.Gather(present).Decode()
	var b bounds
	b.add(dense)
	b.nan = false
	low, high = batch.NewVector(v.Type, 1), batch.NewVector(v.Type, 1)
	b.appendTo(low, high)
	return low, high, b.seen
}

// checkGroupStats checks that a column's values lie within what the row groups say.
func checkGroupStats(t *testing.T, f *File, field batch.Field, naming Naming, byID bool) {
	for g, group := range f.RowGroups() {
		stats := group.Stats(field, naming, byID)
		b, err := readAll(f, ScanOptions{Columns: []batch.Field{field}, Naming: naming, ByID: byID, RowGroups: []int{g}})
		require.NoError(t, err)
		if stats.NullCount >= 0 {
			require.Equal(t, int64(b.Cols[0].NullCount()), stats.NullCount)
		}
		low, high, ok := boundsOf(b.Cols[0])
		if !ok || !stats.HasMinMax {
			continue
		}
		require.True(t, ordered(stats.Min, low), "%s: %s > %s", field.Name, stats.Min.Format(0), low.Format(0))
		require.True(t, ordered(high, stats.Max), "%s: %s < %s", field.Name, stats.Max.Format(0), high.Format(0))
	}
}
