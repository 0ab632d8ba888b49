package maintain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/store"
)

// plainFolder is a folder of Parquet files: a table without its log.
func plainFolder(t *testing.T, partitionBy []string, rows ...[]row) (*store.Memory, []row) {
	t.Helper()
	from := memory(t)
	table := newTable(t, from, partitionBy, nil)
	for _, r := range rows {
		insert(t, table, r...)
	}
	want := rowsAt(t, table, -1)
	to := store.NewMemory("memory:///plain/" + t.Name())
	require.NoError(t, to.MakeRoot(ctx))
	for key := range keysOf(t, table) {
		if !hidden(key, nil) {
			data, err := from.Get(ctx, key)
			require.NoError(t, err)
			require.NoError(t, to.PutIfAbsent(ctx, key, data))
		}
	}
	return to, want
}

func TestConvert(t *testing.T) {
	st, want := plainFolder(t, []string{"part"}, numbered(0, 10, 3), []row{{id: 77}, {id: 78, part: "a b/c%"}})
	part := batch.Field{Name: "part", Type: batch.Type{Kind: batch.String}}
	_, err := Convert(ctx, delta.NewTable(st), ConvertOptions{})
	require.ErrorContains(t, err, "PARTITIONED BY (part")
	out, err := Convert(ctx, delta.NewTable(st), ConvertOptions{PartitionBy: []batch.Field{part}})
	require.NoError(t, err)
	require.Equal(t, 5, out.Files)
	table := delta.NewTable(st)
	require.Equal(t, want, rowsAt(t, table, -1))
	for _, f := range files(t, table) {
		stats, err := f.Stats()
		require.NoError(t, err)
		require.NotNil(t, stats.Columns[0].Min)
	}
	out, err = Convert(ctx, delta.NewTable(st), ConvertOptions{})
	require.NoError(t, err)
	require.Equal(t, int64(-1), out.Version, "it is a table already")
}

func TestConvertRefuses(t *testing.T) {
	_, err := Convert(ctx, delta.NewTable(memory(t)), ConvertOptions{})
	require.ErrorContains(t, err, "DELTA_EMPTY_DIRECTORY")
	st, _ := plainFolder(t, nil, numbered(0, 10, 1))
	require.NoError(t, st.PutIfAbsent(ctx, "notes.txt", []byte("no Parquet")))
	_, err = Convert(ctx, delta.NewTable(st), ConvertOptions{})
	require.ErrorContains(t, err, "notes.txt")
	_, err = delta.NewTable(st).Snapshot(ctx)
	require.ErrorIs(t, err, delta.ErrNoTable, "nothing was written")
}
