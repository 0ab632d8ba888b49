package delta

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format/parquet"
	"lakesql/integration/shared"
)

// commitRows writes a batch to the table and returns the snapshot behind it.
func commitRows(t *testing.T, table *Table, s *Snapshot, opts FileWriterOptions, b *batch.Batch) *Snapshot {
	w, err := NewFileWriter(table.Store(), s, s.Metadata(), opts)
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, b))
	adds, err := w.Close(ctx)
	require.NoError(t, err)
	tx := table.Begin(s)
	tx.Add(adds...)
	done, err := tx.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
	return done.Snapshot
}

// allRows reads a snapshot's rows.
func allRows(t testing.TB, table *Table, s *Snapshot, opts FileReaderOptions) string {
	rows := ""
	for f := range s.Files() {
		rows += readFile(t, table, s, f, opts)
	}
	return rows
}

// nestedRows are n rows of nestedSchema.
func nestedRows(t *testing.T, schema *batch.Schema, texts ...[]string) *batch.Batch {
	out := &batch.Batch{Schema: schema, Len: len(texts)}
	for i, f := range schema.Fields {
		v := batch.NewVector(f.Type, len(texts))
		for _, row := range texts {
			if row[i] == "NULL" {
				v.AppendNull()
			} else {
				require.NoError(t, v.AppendFromJSON([]byte(row[i])))
			}
		}
		out.Cols = append(out.Cols, v)
	}
	return out
}

// TestColumnMapping writes rows under both modes, then renames, drops, adds and widens, and reads everything back.
func TestColumnMapping(t *testing.T) {
	for _, mode := range []string{mappingByName, mappingByID} {
		table := createTable(t, memoryStore(t), nestedSchema(), []string{"p"}, map[string]string{mappingMode: mode, typeWideningProperty: "true"})
		s, err := table.Snapshot(ctx)
		require.NoError(t, err)
		require.Equal(t, mode, s.Metadata().Mapping())
		s = commitRows(t, table, s, FileWriterOptions{}, nestedRows(t, s.Schema(),
			[]string{"1", `"x/y"`, `{"a":1,"b":"one"}`, `[{"x":1},null]`, `{"1":[1.5]}`}, []string{"NULL", "NULL", "NULL", "NULL", "NULL"}))
		before := allRows(t, table, s, FileReaderOptions{Columns: s.Schema().Fields})
		require.Equal(t, "1 | x/y | {\"a\":1,\"b\":\"one\"} | [{\"x\":1},null] | {\"1\":[1.5]}\nNULL | NULL | NULL | NULL | NULL\n", before)

		change := func(step func(m *Metadata) (*Metadata, error)) {
			next, err := step(s.Metadata())
			require.NoError(t, err)
			tx := table.Begin(s)
			tx.SetMetadata(next)
			done, err := tx.Commit(ctx, Operation{Name: "ALTER"})
			require.NoError(t, err)
			s = done.Snapshot
		}
		change(func(m *Metadata) (*Metadata, error) { return m.RenameColumn([]string{"p"}, "part") })
		change(func(m *Metadata) (*Metadata, error) { return m.RenameColumn([]string{"s"}, "p") })
		change(func(m *Metadata) (*Metadata, error) { return m.RenameColumn([]string{"p", "a"}, "b2") })
		change(func(m *Metadata) (*Metadata, error) { return m.DropColumn([]string{"p", "b"}) })
		change(func(m *Metadata) (*Metadata, error) { return m.RenameColumn([]string{"p", "b2"}, "b") })
		change(func(m *Metadata) (*Metadata, error) { return m.ChangeType([]string{"p", "b"}, kind(batch.Int64)) })
		change(func(m *Metadata) (*Metadata, error) {
			return m.ChangeType([]string{"m", "value", "element"}, kind(batch.Float64))
		})
		change(func(m *Metadata) (*Metadata, error) {
			return m.AddColumns(NewColumn{Parent: []string{"p"}, Field: batch.Field{Name: "a", Type: kind(batch.String), Nullable: true}})
		})
		require.Equal(t, "id integer, part string, p struct<b:bigint,a:string>, l array<struct<x:tinyint>>, m map<int,array<double>>", s.Schema().String())
		s = commitRows(t, table, s, FileWriterOptions{}, nestedRows(t, s.Schema(), []string{"2", `"z"`, `{"b":70000,"a":"A"}`, "[]", `{}`}))
		want := "1 | x/y | {\"b\":1,\"a\":null} | [{\"x\":1},null] | {\"1\":[1.5]}\nNULL | NULL | NULL | NULL | NULL\n2 | z | {\"b\":70000,\"a\":\"A\"} | [] | {}\n"
		require.Equal(t, want, allRows(t, table, s, FileReaderOptions{Columns: s.Schema().Fields}))

		files := slices.Collect(s.Files())
		require.Equal(t, []map[string]string{{"part": "x/y"}, {}, {"part": "z"}}, []map[string]string{files[0].PartitionValues, orEmpty(files[1].PartitionValues), files[2].PartitionValues})
		require.Regexp(t, `^[A-Z0-9]{2}/part-00000-`, files[0].Path)
		stats, err := files[2].Stats()
		require.NoError(t, err)
		require.Equal(t, "70000", stats.Columns[2].Fields[0].Max.Format(0))
		require.Equal(t, int64(0), stats.Columns[2].Fields[1].NullCount)
		old, err := files[0].Stats()
		require.NoError(t, err)
		require.Equal(t, "1", old.Columns[2].Fields[0].Min.Format(0))
		require.Equal(t, int64(-1), old.Columns[2].Fields[1].NullCount, "the file does not know the column")
		require.Equal(t, int64(0), old.Columns[0].NullCount)

		// Another handle reads the same from the log, and so does a checkpoint.
		again := NewTable(table.Store())
		fresh, err := again.Snapshot(ctx)
		require.NoError(t, err)
		require.Equal(t, want, allRows(t, again, fresh, FileReaderOptions{Columns: fresh.Schema().Fields}))
		commit, err := table.Store().Get(ctx, commitKey(1))
		require.NoError(t, err)
		physical, _ := storedAs(at(t, s.Metadata(), "part"))
		require.Contains(t, string(commit), `"partitionValues":{"`+physical+`":"x/y"}`)
		require.NotContains(t, string(commit), `{"id":`)

		tx := table.Begin(s)
		tx.Remove(files...)
		_, err = tx.Commit(ctx, Operation{Name: "DELETE"})
		require.NoError(t, err)
		commit, err = table.Store().Get(ctx, commitKey(s.Version()+1))
		require.NoError(t, err)
		require.Contains(t, string(commit), `"partitionValues":{"`+physical+`":"z"}`)
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// TestMappingIsSwitchedOn: files from before keep their names.
func TestMappingIsSwitchedOn(t *testing.T) {
	table := createTable(t, memoryStore(t), nestedSchema(), []string{"p"}, nil)
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	row := []string{"1", `"x"`, `{"a":1,"b":"one"}`, `[{"x":1}]`, `{"1":[1.5]}`}
	s = commitRows(t, table, s, FileWriterOptions{}, nestedRows(t, s.Schema(), row))
	next, err := s.Metadata().SetProperties(map[string]string{mappingMode: mappingByName})
	require.NoError(t, err)
	tx := table.Begin(s)
	tx.SetMetadata(next)
	done, err := tx.Commit(ctx, Operation{Name: "SET TBLPROPERTIES"})
	require.NoError(t, err)
	s = done.Snapshot
	require.Equal(t, &Protocol{MinReader: 2, MinWriter: 5}, s.Protocol())
	s = commitRows(t, table, s, FileWriterOptions{}, nestedRows(t, s.Schema(), row))
	rows := strings.SplitAfter(allRows(t, table, s, FileReaderOptions{Columns: s.Schema().Fields}), "\n")
	require.Len(t, rows, 3)
	require.Equal(t, rows[0], rows[1])
}

func TestDamagedMapping(t *testing.T) {
	m := newMeta(t, nestedSchema(), nil, map[string]string{mappingMode: mappingByName})
	for text, change := range map[string]func(*Metadata){
		"column l.element.x has no": func(m *Metadata) { m.SchemaString = strings.ReplaceAll(m.SchemaString, `"`+mappingID+`":7`, `"x":7`) },
		`mode "other" is not known`: func(m *Metadata) { *m = *m.withProperty(mappingMode, "other") },
	} {
		bad := *m
		change(&bad)
		_, err := parseTableSchema(&bad)
		require.ErrorContains(t, err, text)
	}
	stray := *m.withoutProperty(mappingMode)
	schema := schemaOf(t, &stray)
	require.Equal(t, "id", stray.physicalName(schema.Fields[0]), "without a mode, names of another one mean nothing")
	naming, byID := stray.naming()
	require.Nil(t, naming)
	require.False(t, byID)
}

func TestRowIDColumns(t *testing.T) {
	schema := batch.NewSchema(ruleColumn("x", nil))
	table := createTable(t, memoryStore(t), schema, nil, map[string]string{rowTrackingProperty: "true", mappingMode: mappingByID})
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	s = commitRows(t, table, s, FileWriterOptions{}, longs(schema, []any{7, 8, 9}))
	opts := FileReaderOptions{Columns: s.Schema().Fields, RowIDs: true}
	require.Equal(t, "7 | 0 | 1\n8 | 1 | 1\n9 | 2 | 1\n", allRows(t, table, s, opts))

	wide := batch.NewSchema(schema.Fields[0], RowIDField, RowCommitVersionField)
	s = commitRows(t, table, s, FileWriterOptions{RowIDs: true, Rows: MovedRows}, longs(wide, []any{9, 7, 1}, []any{2, 0, nil}, []any{1, 1, nil}))
	require.Equal(t, "7 | 0 | 1\n8 | 1 | 1\n9 | 2 | 1\n9 | 2 | 1\n7 | 0 | 1\n1 | 5 | 2\n", allRows(t, table, s, opts))
	require.Equal(t, "7\n8\n9\n9\n7\n1\n", allRows(t, table, s, FileReaderOptions{Columns: s.Schema().Fields}))

	_, err = NewFileWriter(table.Store(), nil, newMeta(t, schema, nil, nil), FileWriterOptions{RowIDs: true})
	require.ErrorContains(t, err, "does not track its rows")
	other := createTable(t, memoryStore(t), schema, nil, nil)
	s, err = other.Snapshot(ctx)
	require.NoError(t, err)
	s = commitRows(t, other, s, FileWriterOptions{}, longs(schema, []any{7}))
	require.Equal(t, "7 | NULL | NULL\n", allRows(t, other, s, opts))
}

func TestChangeFiles(t *testing.T) {
	schema := batch.NewSchema(ruleColumn("id", nil), ruleColumn("p", nil))
	meta := newMeta(t, schema, []string{"p"}, map[string]string{"delta.constraints.pos": "id > 0"})
	st := memoryStore(t)
	w, err := NewFileWriter(st, nil, meta, FileWriterOptions{Change: true})
	require.NoError(t, err)
	b := longs(schema, []any{-1, 1}, []any{5, 5})
	b.Schema = batch.NewSchema(append(slices.Clone(schema.Fields), ChangeTypeField)...)
	types := batch.NewVector(kind(batch.String), 2)
	types.AppendString("update_preimage")
	types.AppendString("update_postimage")
	b.Cols = append(b.Cols, types)
	require.NoError(t, w.Write(ctx, b))
	adds, err := w.Close(ctx)
	require.NoError(t, err)
	require.Regexp(t, `^_change_data/p=5/cdc-00000-.*\.snappy\.parquet$`, adds[0].Path)
	require.Empty(t, adds[0].Stats)
	require.Equal(t, map[string]string{"p": "5"}, adds[0].PartitionValues)
	require.Equal(t, "-1 | update_preimage\n1 | update_postimage\n", rowsOf(t, st, adds[0], schema.Fields[0], ChangeTypeField))
}

// storedColumns are the names of the columns of a file.
func storedColumns(t *testing.T, table *Table, add AddFile) []string {
	f, err := parquet.Open(ctx, table.Store(), add.Path, add.Size)
	require.NoError(t, err)
	defer f.Close()
	return f.Schema().Names()
}

func TestPartitionColumnsInFiles(t *testing.T) {
	schema := batch.NewSchema(ruleColumn("p", nil), ruleColumn("id", nil))
	for _, property := range []string{"delta.feature.materializePartitionColumns=supported", "delta.enableMaterializePartitionColumnsFeature=true", "a=b"} {
		key, value, _ := strings.Cut(property, "=")
		table := createTable(t, memoryStore(t), schema, []string{"p"}, map[string]string{key: value})
		s, err := table.Snapshot(ctx)
		require.NoError(t, err)
		s = commitRows(t, table, s, FileWriterOptions{}, longs(schema, []any{1}, []any{2}))
		for f := range s.Files() {
			want := []string{"id", "p"}
			if key == "a" {
				want = want[:1]
			}
			require.Equal(t, want, storedColumns(t, table, f.AddFile()))
			stats, err := f.Stats()
			require.NoError(t, err)
			require.Equal(t, "2", stats.Columns[1].Max.Format(0))
		}
		require.Equal(t, "1 | 2\n", allRows(t, table, s, FileReaderOptions{Columns: schema.Fields}))
	}
}

func TestPropertiesOfFiles(t *testing.T) {
	schema := batch.NewSchema(ruleColumn("p", nil), ruleColumn("id", nil))
	for property, path := range map[string]string{
		"delta.parquet.compression.codec=ZSTD":         `^p=1/part-00000-.*-c000\.zstd\.parquet$`,
		"delta.parquet.compression.codec=gzip":         `\.gz\.parquet$`,
		"delta.parquet.compression.codec=lz4_raw":      `\.lz4raw\.parquet$`,
		"delta.parquet.compression.codec=uncompressed": `-c000\.parquet$`,
		"delta.randomizeFilePrefixes=true":             `^[A-Z2-7]{2}/part-`,
		"delta.targetFileSize=1":                       `^p=1/part-`,
	} {
		key, value, _ := strings.Cut(property, "=")
		st := memoryStore(t)
		w, err := NewFileWriter(st, nil, newMeta(t, schema, []string{"p"}, map[string]string{key: value}), FileWriterOptions{})
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, w.Write(ctx, longs(schema, []any{1}, []any{2})))
		}
		adds, err := w.Close(ctx)
		require.NoError(t, err)
		require.Regexp(t, path, adds[0].Path)
		require.Equal(t, strings.Contains(property, "target"), len(adds) == 2)
		for _, a := range adds {
			info, err := st.Stat(ctx, a.Path)
			require.NoError(t, err)
			require.Equal(t, info.Size, a.Size)
		}
	}
}

func TestVoidColumns(t *testing.T) {
	void := batch.Field{Name: "v", Type: kind(batch.Void), Nullable: true}
	id := ruleColumn("id", nil)
	table := createTable(t, memoryStore(t), batch.NewSchema(void, id), nil, nil)
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	s = commitRows(t, table, s, FileWriterOptions{}, longs(s.Schema(), nil, []any{1}))
	require.Equal(t, "NULL | 1\n", allRows(t, table, s, FileReaderOptions{Columns: s.Schema().Fields}))
	for f := range s.Files() {
		require.Equal(t, []string{"id"}, storedColumns(t, table, f.AddFile()))
		require.Equal(t, `{"numRecords":1,"minValues":{"id":1},"maxValues":{"id":1},"nullCount":{"id":0}}`, f.AddFile().Stats)
	}
	for text, fields := range map[string][]batch.Field{
		"all of the columns":                {void},
		"column s is a struct of void":      {id, {Name: "s", Type: batch.StructOf(void), Nullable: true}},
		"column s.l is array<void>":         {id, {Name: "s", Type: batch.StructOf(id, batch.Field{Name: "l", Type: batch.ListOf(void)}), Nullable: true}},
		"column m is map<string,void>":      {id, {Name: "m", Type: batch.MapOf(batch.Field{Type: kind(batch.String)}, void), Nullable: true}},
		"column l.element is a struct of v": {id, {Name: "l", Type: batch.ListOf(batch.Field{Type: batch.StructOf(void)}), Nullable: true}},
	} {
		_, err := NewFileWriter(memoryStore(t), nil, newMeta(t, batch.NewSchema(fields...), nil, nil), FileWriterOptions{})
		require.ErrorContains(t, err, text)
	}
}

// TestMappingOfOthers: the names in the files of tables by Spark are found, in statistics and partition values too.
func TestMappingOfOthers(t *testing.T) {
	dir, _ := shared.Tables(t)
	for _, name := range []string{"cm_name_mode", "cm_id_mode", "cm_partition_renamed_constraints", "iceberg_compat_v2"} {
		table := localTable(t, filepath.Join(dir, name))
		s, err := table.Snapshot(ctx)
		require.NoError(t, err)
		for f := range s.Files() {
			for key := range f.PartitionValues {
				require.GreaterOrEqual(t, s.Schema().Index(key), 0, "%s: %s", name, key)
			}
			stats, err := f.Stats()
			require.NoError(t, err)
			if stats == nil {
				continue
			}
			known := 0
			for _, c := range stats.Columns {
				if c.NullCount >= 0 || c.Fields != nil {
					known++
				}
			}
			require.Greater(t, known, 0, name)
		}
	}
}
