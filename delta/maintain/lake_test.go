package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/delta/dv"
	"lakesql/store"
)

var ctx = context.Background()

var rowSchema = batch.NewSchema(
	batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	batch.Field{Name: "x", Type: batch.Type{Kind: batch.Int32}, Nullable: true},
	batch.Field{Name: "part", Type: batch.Type{Kind: batch.String}, Nullable: true},
)

// row is one of rowSchema; an empty part is null.
type row struct {
	id   int64
	x    int32
	part string
}

func (r row) compare(o row) int {
	return cmp.Or(cmp.Compare(r.id, o.id), cmp.Compare(r.x, o.x), cmp.Compare(r.part, o.part))
}

// newTable makes an empty table of rowSchema.
func newTable(t testing.TB, st store.Store, partitionBy []string, config map[string]string) *delta.Table {
	t.Helper()
	metadata, err := delta.NewMetadata(rowSchema, partitionBy, config)
	require.NoError(t, err)
	table := delta.NewTable(st)
	x := table.Begin(nil)
	x.SetMetadata(metadata)
	_, err = x.Commit(ctx, delta.Operation{Name: "CREATE TABLE"})
	require.NoError(t, err)
	return table
}

// insert commits rows as one file a partition.
func insert(t testing.TB, table *delta.Table, rows ...row) {
	t.Helper()
	snap, err := table.Snapshot(ctx)
	require.NoError(t, err)
	w, err := delta.NewFileWriter(table.Store(), snap, snap.Metadata(), delta.FileWriterOptions{})
	require.NoError(t, err)
	b := batch.NewBuilder(rowSchema)
	for _, r := range rows {
		b.Column(0).AppendInt64(r.id)
		b.Column(1).AppendInt32(r.x)
		if r.part == "" {
			b.Column(2).AppendNull()
		} else {
			b.Column(2).AppendString(r.part)
		}
	}
	require.NoError(t, w.Write(ctx, b.Finish()))
	adds, err := w.Close(ctx)
	require.NoError(t, err)
	x := table.Begin(snap)
	x.Add(adds...)
	_, err = x.Commit(ctx, delta.Operation{Name: "WRITE"})
	require.NoError(t, err)
}

// rowsAt reads all rows of a version, sorted; version -1 is the newest.
func rowsAt(t testing.TB, table *delta.Table, version int64) []row {
	t.Helper()
	snap, err := table.Snapshot(ctx)
	if version >= 0 {
		snap, err = table.SnapshotAt(ctx, version)
	}
	require.NoError(t, err)
	out, err := readRows(table, snap)
	require.NoError(t, err)
	return out
}

func readRows(table *delta.Table, snap *delta.Snapshot) ([]row, error) {
	out := []row{}
	for f := range snap.Files() {
		r, err := table.OpenFile(ctx, snap, f, delta.FileReaderOptions{Columns: snap.Schema().Fields})
		if err != nil {
			return nil, err
		}
		for {
			b, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, errors.Join(err, r.Close())
			}
			for i := range b.Rows() {
				at := b.Row(i)
				part, _ := b.Cols[2].Value(at).(string)
				out = append(out, row{b.Cols[0].Value(at).(int64), b.Cols[1].Value(at).(int32), part})
			}
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, row.compare)
	return out, nil
}

func snapshot(t testing.TB, table *delta.Table) *delta.Snapshot {
	t.Helper()
	snap, err := table.Snapshot(ctx)
	require.NoError(t, err)
	return snap
}

func files(t testing.TB, table *delta.Table) []delta.File {
	t.Helper()
	return slices.Collect(snapshot(t, table).Files())
}

// deleteRow deletes the rows at positions of the n-th live file with a deletion vector.
func deleteRow(t testing.TB, table *delta.Table, file int, positions ...int64) {
	t.Helper()
	snap := snapshot(t, table)
	x := table.Begin(snap)
	require.NoError(t, x.DeleteRows(slices.Collect(snap.Files())[file], dv.Of(positions...)))
	_, err := x.Commit(ctx, delta.Operation{Name: "DELETE"})
	require.NoError(t, err)
}

func memory(t testing.TB) *store.Memory {
	t.Helper()
	st := store.NewMemory("memory:///" + t.Name())
	require.NoError(t, st.MakeRoot(ctx))
	return st
}

// numbered are n rows with ids from first on, in the partitions p0 to p<parts-1>.
func numbered(first, n, parts int) []row {
	out := make([]row, n)
	for i := range out {
		out[i] = row{id: int64(first + i), x: int32((first + i) * 7 % 100), part: fmt.Sprintf("p%d", i%parts)}
	}
	return out
}

// later is a time when all retentions have passed.
func later() time.Time { return time.Now().Add(60 * 24 * time.Hour) }
