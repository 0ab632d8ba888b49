package vector

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/delta/dv"
	"lakesql/format/parquet"
)

// TestOneFileIsShared: several forks read the pages of one row group, with a deletion vector or without, in the order of its rows.
func TestOneFileIsShared(t *testing.T) {
	const rows = 6 * minPieceRows
	schema := batch.NewSchema(
		batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
		batch.Field{Name: "word", Type: batch.Type{Kind: batch.String}, Nullable: true})
	b := batch.NewBuilder(schema)
	for i := range int64(rows) {
		word := any("word")
		if i%3 == 0 {
			word = nil
		}
		require.NoError(t, b.AppendRow(i*7919%rows, word))
	}
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, schema, parquet.WriterOptions{RowGroupRows: rows})
	require.NoError(t, err)
	require.NoError(t, w.Write(b.Finish()))
	_, err = w.Close()
	require.NoError(t, err)
	x := newTableWith(t, schema, map[string]string{"delta.enableDeletionVectors": "true"})
	tx := x.tab.Begin(x.snap)
	require.NoError(t, x.st.PutIfAbsent(context.Background(), "one.parquet", out.Bytes()))
	tx.Add(delta.AddFile{Path: "one.parquet", Size: int64(out.Len()), ModTime: time.Now(), NumRecords: rows, Stats: fmt.Sprintf(`{"numRecords":%d}`, rows)})
	x.commit(tx)
	check := func() {
		names := []string{"id", "word", RowColumn}
		filter := must(NewCompare(Less, NewColumn(0, schema.Fields[0]), NewInt(rows/5)))
		forks := NewFilter(x.scan(names, filter), filter).(Forker).Fork(3)
		texts := []morselTexts{{}, {}, {}}
		for i, f := range forks { // each reads one batch before any reads on, as if they ran at once
			b, err := f.Next(context.Background())
			require.NoError(t, err)
			require.NoError(t, texts[i].add(context.Background(), b, f.Morsel()))
		}
		require.NoError(t, drainForks(context.Background(), forks, texts))
		require.NoError(t, closeForks(forks))
		for _, of := range texts {
			require.NotEmpty(t, of)
		}
		require.Equal(t, drain(t, NewFilter(hidden{x.scan(names, nil)}, filter)), inMorselOrder(t, texts))
	}
	check()

	deleted := dv.Of()
	for row := int64(10); row < rows; row += row/50 + 1 {
		deleted.Add(row)
	}
	tx = x.tab.Begin(x.snap)
	for f := range x.snap.Files() {
		require.NoError(t, tx.DeleteRows(f, deleted))
	}
	x.commit(tx)
	check()
}
