package vector

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
	"lakesql/store"
)

// BenchmarkManyFiles scans a table as a stream leaves it: many files of one row.
func BenchmarkManyFiles(b *testing.B) {
	const files = 300
	schema := batch.NewSchema(
		batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int32}, Nullable: true},
		batch.Field{Name: "text", Type: batch.Type{Kind: batch.String}, Nullable: true},
	)
	st, err := store.NewLocal(b.TempDir())
	require.NoError(b, err)
	ctx := context.Background()
	meta, err := delta.NewMetadata(schema, nil, nil)
	require.NoError(b, err)
	tx := delta.NewTable(st).Begin(nil)
	tx.SetMetadata(meta)
	for n := range files {
		w, err := delta.NewFileWriter(st, nil, meta, delta.FileWriterOptions{})
		require.NoError(b, err)
		rows := batch.NewBuilder(schema)
		require.NoError(b, rows.AppendRow(int32(n), "row"))
		require.NoError(b, w.Write(ctx, rows.Finish()))
		added, err := w.Close(ctx)
		require.NoError(b, err)
		tx.Add(added...)
	}
	done, err := tx.Commit(ctx, delta.Operation{Name: "WRITE"})
	require.NoError(b, err)
	for _, c := range []struct {
		name  string
		cache *parquet.Cache
	}{{"opened", nil}, {"kept", parquet.NewCache()}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				scan, err := NewScan(delta.NewTable(st), done.Snapshot, []string{"n"}, nil)
				require.NoError(b, err)
				scan.UseCache(c.cache)
				require.Equal(b, files, run(b, scan))
			}
		})
		require.NoError(b, c.cache.Close())
	}
}
