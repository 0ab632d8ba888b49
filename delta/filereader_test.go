package delta

import (
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format/parquet"
	"lakesql/integration/shared"
	"lakesql/store"
)

// readFile returns the rows of a file of a snapshot as text.
func readFile(t testing.TB, table *Table, s *Snapshot, f File, opts FileReaderOptions) string {
	r, err := table.OpenFile(ctx, s, f, opts)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	var out strings.Builder
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		require.NoError(t, err)
		require.Equal(t, r.Schema(), b.Schema)
		out.WriteString(b.Format())
	}
}

// TestFileReaderOnOtherWritersTables reads every file of every table that can be read, and counts the rows.
func TestFileReaderOnOtherWritersTables(t *testing.T) {
	dir, tables := shared.Tables(t)
	for name, want := range tables {
		t.Run(name, func(t *testing.T) {
			table := localTable(t, filepath.Join(dir, name))
			s, err := table.Snapshot(ctx)
			if err != nil {
				require.True(t, strings.HasPrefix(refusedTables[name], "r ") || strings.HasPrefix(name, "refuse_"), "%v", err)
				return
			}
			rows := 0
			for f := range s.Files() {
				rows += strings.Count(readFile(t, table, s, f, FileReaderOptions{}), "\n")
				readFile(t, table, s, f, FileReaderOptions{Columns: s.Schema().Fields})
			}
			require.Equal(t, want.Rows, strconv.Itoa(rows))
		})
	}
}

// TestFilesOutside: a file with an absolute path is read through the option Outside, or refused by name without it.
func TestFilesOutside(t *testing.T) {
	schema := batch.NewSchema(batch.Field{Name: "id", Type: kind(batch.Int64), Nullable: true}, batch.Field{Name: "p", Type: kind(batch.String), Nullable: true})
	origin := memoryStore(t)
	b := batch.NewBuilder(schema)
	require.NoError(t, b.AppendRow(int64(1), "x y"))
	require.NoError(t, b.AppendRow(int64(2), "x y"))
	adds := writeFiles(t, origin, &Metadata{SchemaString: FormatSchema(schema), PartitionColumns: []string{"p"}}, FileWriterOptions{}, b.Finish())
	adds[0].Path = "mem://elsewhere/" + encodePath(adds[0].Path)

	clone := createTable(t, memoryStore(t), schema, []string{"p"}, nil)
	s, err := clone.Snapshot(ctx)
	require.NoError(t, err)
	tx := clone.Begin(s)
	tx.Add(adds...)
	done, err := tx.Commit(ctx, Operation{Name: "CLONE"})
	require.NoError(t, err)
	var file File
	for f := range done.Snapshot.Files() {
		file = f
	}
	_, err = clone.OpenFile(ctx, done.Snapshot, file, FileReaderOptions{Columns: schema.Fields})
	require.ErrorContains(t, err, "lies outside of its table")

	open := func(uri string) (store.Store, string, error) {
		key, ok := strings.CutPrefix(uri, "mem://elsewhere/")
		if !ok {
			return nil, "", errors.New("not allowed")
		}
		return origin, percentDecode(key), nil
	}
	table := NewTable(clone.Store(), Outside(open))
	require.Equal(t, "x y | 1\nx y | 2\n", readFile(t, table, done.Snapshot, file, FileReaderOptions{Columns: []batch.Field{schema.Fields[1], schema.Fields[0]}}))
	_, _, err = table.Locate("s3://other/x")
	require.ErrorContains(t, err, "not allowed")
	_, _, err = table.Locate("plain/key:/x")
	require.NoError(t, err)
}

// TestFileReaderLeavesDeletedRowsOut reads tables with deletion vectors: row by row at its position, and parts of files.
func TestFileReaderLeavesDeletedRowsOut(t *testing.T) {
	dir, tables := shared.Tables(t)
	for _, name := range []string{"dv_second_parquet_page", "dv_inline_and_restore"} {
		table := localTable(t, filepath.Join(dir, name))
		s, err := table.newest(ctx)
		require.NoError(t, err)
		rows := 0
		for f := range s.Files() {
			columns := FileReaderOptions{Columns: s.Schema().Fields[:1]}
			rows += strings.Count(readFile(t, table, s, f, columns), "\n")
			deleted, err := table.DeletedRows(ctx, f)
			require.NoError(t, err)
			for at := range deleted.All() {
				r, err := table.OpenFile(ctx, s, f, columns)
				require.NoError(t, err)
				r.Restrict([]parquet.RowRange{{Start: at, End: at + 1}})
				_, err = r.Next(ctx)
				require.Equal(t, io.EOF, err)
				require.NoError(t, r.Close())
			}
			columns.Deleted = true
			require.Equal(t, strings.Count(readFile(t, table, s, f, columns), "\n"), int(f.records))
		}
		require.Equal(t, tables[name].Rows, strconv.Itoa(rows))
	}
}
