package parquet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/integration/shared"
	"lakesql/store"
)

// liveFiles replays the commits of a log that begins at version 0; ok is false when it does not.
func liveFiles(t *testing.T, table string) (paths []string, ok bool) {
	commits, err := filepath.Glob(filepath.Join(table, "_delta_log", "[0-9]*.json"))
	require.NoError(t, err)
	sort.Strings(commits)
	live := map[string]bool{}
	for i, commit := range commits {
		if filepath.Base(commit) != fmt.Sprintf("%020d.json", i) {
			return nil, false
		}
		data, err := os.ReadFile(commit)
		require.NoError(t, err)
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var action struct{ Add, Remove *struct{ Path string } }
			require.NoError(t, json.Unmarshal(lines.Bytes(), &action))
			if action.Remove != nil {
				delete(live, action.Remove.Path)
			}
			if action.Add != nil {
				live[action.Add.Path] = true
			}
		}
	}
	for p := range live {
		decoded, err := url.PathUnescape(p)
		require.NoError(t, err)
		if _, err := os.Stat(filepath.Join(table, decoded)); err != nil {
			return nil, false // an absolute path of another machine
		}
		paths = append(paths, decoded)
	}
	return paths, len(commits) > 0
}

// flatFields returns the columns of a schema text whose types are flat, and which are no partition columns.
func flatFields(facts shared.Table) []batch.Field {
	var fields []batch.Field
	partitions := strings.FieldsFunc(facts.Part, func(r rune) bool { return r == ',' || r == ' ' })
	for _, fact := range facts.Cols {
		name, _, _ := strings.Cut(fact, ":")
		if slices.Contains(partitions, name) {
			continue
		}
		at := strings.Index(", "+facts.Schema, ", "+name+" ")
		if at < 0 {
			continue
		}
		text := facts.Schema[at+len(name)+1:]
		if end := strings.IndexAny(text, " ,"); end >= 0 && !strings.HasPrefix(text, "decimal") {
			text = text[:end]
		} else if strings.HasPrefix(text, "decimal") {
			text = text[:strings.Index(text, ")")+1]
		}
		if typ, err := batch.ParseType(text); err == nil && typ.Fields() == nil {
			fields = append(fields, batch.Field{Name: name, Type: typ, Nullable: true})
		}
	}
	return fields
}

// factText writes a value as expected.json does; ok is false for types that it writes in a way of its own.
func factText(v *batch.Vector) (text string, ok bool) {
	text = v.Format(0)
	switch v.Type.Kind {
	case batch.Float32, batch.Float64, batch.Binary:
		return "", false
	case batch.Timestamp:
		return text + "+00", !strings.Contains(text, ".")
	case batch.TimestampNTZ:
		return text, !strings.Contains(text, ".")
	}
	return text, true
}

func TestTablesOfOtherWriters(t *testing.T) {
	dir, expected := shared.Tables(t)
	checked := 0
	for name, facts := range expected {
		if strings.HasPrefix(name, "refuse_") || facts.DV != "0" || strings.Contains(facts.Config, "columnMapping") {
			continue
		}
		paths, ok := liveFiles(t, filepath.Join(dir, name))
		if !ok {
			continue
		}
		checked++
		t.Run(name, func(t *testing.T) { checkTable(t, filepath.Join(dir, name), paths, facts) })
	}
	require.Greater(t, checked, 30)
}

func checkTable(t *testing.T, table string, paths []string, facts shared.Table) {
	st, err := store.NewLocal(table)
	require.NoError(t, err)
	fields := flatFields(facts)
	schema := batch.NewSchema(fields...)
	var parts []*batch.Batch
	for _, p := range paths {
		info, err := os.Stat(filepath.Join(table, p))
		require.NoError(t, err)
		f, err := Open(t.Context(), st, p, info.Size())
		require.NoError(t, err)
		b, err := readAll(f, ScanOptions{Columns: fields})
		require.NoError(t, err)
		for _, field := range fields {
			checkGroupStats(t, f, field)
		}
		parts = append(parts, b)
		require.NoError(t, f.Close())
	}
	all := batch.Concat(schema, parts...)
	require.Equal(t, facts.Rows, fmt.Sprint(all.Len))
	for _, fact := range facts.Cols {
		name, text, _ := strings.Cut(fact, ": ")
		c := schema.Index(name)
		if c < 0 {
			continue
		}
		col := all.Cols[c]
		require.Contains(t, text+" ", fmt.Sprintf("nonnull=%d ", col.Len-col.NullCount()), name)
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
func checkGroupStats(t *testing.T, f *File, field batch.Field) {
	for g, group := range f.RowGroups() {
		stats := group.Stats(field, nil, false)
		b, err := readAll(f, ScanOptions{Columns: []batch.Field{field}, RowGroups: []int{g}})
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
