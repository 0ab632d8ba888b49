package maintain

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
	"lakesql/store/faultstore"
)

// TestOptimize joins the small files of each partition into one, without changing a row, and says so in the history.
func TestOptimize(t *testing.T) {
	table := newTable(t, memory(t), []string{"part"}, nil)
	for i := range 6 {
		insert(t, table, numbered(i*10, 10, 3)...)
	}
	want := rowsAt(t, table, -1)
	require.Len(t, files(t, table), 18)

	out, err := Optimize(ctx, table, OptimizeOptions{})
	require.NoError(t, err)
	require.Equal(t, 3, out.FilesAdded)
	require.Equal(t, 18, out.FilesRemoved)
	require.Equal(t, 3, out.Partitions)
	require.Equal(t, want, rowsAt(t, table, -1))
	require.Len(t, files(t, table), 3)
	history, err := table.History(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, "OPTIMIZE", history[0].Operation)
	require.Equal(t, "18", history[0].Metrics["numRemovedFiles"])

	out, err = Optimize(ctx, table, OptimizeOptions{})
	require.NoError(t, err)
	require.Equal(t, int64(-1), out.Version, "there is nothing left to do")
}

func TestOptimizeSomePartitions(t *testing.T) {
	table := newTable(t, memory(t), []string{"part"}, nil)
	insert(t, table, numbered(0, 10, 2)...)
	insert(t, table, numbered(10, 10, 2)...)
	out, err := Optimize(ctx, table, OptimizeOptions{Partition: func(values map[string]string) (bool, error) { return values["part"] == "p1", nil }})
	require.NoError(t, err)
	require.Equal(t, 2, out.FilesConsidered)
	require.Len(t, files(t, table), 3)
}

// TestOptimizeAppliesDeletionVectors: a file alone is written anew when many of its rows are deleted.
func TestOptimizeAppliesDeletionVectors(t *testing.T) {
	table := newTable(t, memory(t), nil, map[string]string{"delta.enableDeletionVectors": "true"})
	insert(t, table, numbered(0, 10, 1)...)
	deleteRow(t, table, 0, 3, 4)
	want := rowsAt(t, table, -1)
	require.Len(t, want, 8)
	out, err := Optimize(ctx, table, OptimizeOptions{})
	require.NoError(t, err)
	require.Equal(t, 1, out.FilesAdded)
	require.Nil(t, files(t, table)[0].DeletionVector())
	require.Equal(t, want, rowsAt(t, table, -1))
}

// TestOptimizeYields: what another writer changes while files are rewritten stays as that writer left it, and the rest is committed.
func TestOptimizeYields(t *testing.T) {
	st := faultstore.New(memory(t))
	table := newTable(t, st, []string{"part"}, map[string]string{"delta.enableDeletionVectors": "true"})
	insert(t, table, numbered(0, 10, 2)...)
	insert(t, table, numbered(10, 10, 2)...)
	other := delta.NewTable(st)
	once := false
	st.Add(faultstore.Rule{Match: faultstore.On(faultstore.PutIfAbsent, "_delta_log/"), Before: func(_ context.Context, _ faultstore.Op) error {
		if !once {
			once = true
			deleteRow(t, other, 0, 0)
			insert(t, other, row{id: 100, part: "p0"})
		}
		return nil
	}})
	before := rowsAt(t, table, -1)
	out, err := Optimize(ctx, table, OptimizeOptions{})
	require.NoError(t, err)
	require.Equal(t, 2, out.Skipped)
	require.Equal(t, 1, out.FilesAdded)
	require.Len(t, rowsAt(t, table, -1), len(before), "one row deleted, one added")
}

// TestZOrder: with rows ordered by two columns, a condition on either leaves most files out, and no row is lost.
func TestZOrder(t *testing.T) {
	table := newTable(t, memory(t), nil, nil)
	rnd := rand.New(rand.NewPCG(1, 1))
	rows := make([]row, 40_000)
	for i := range rows {
		rows[i] = row{id: rnd.Int64N(1 << 30), x: int32(rnd.IntN(1 << 30))}
	}
	insert(t, table, rows[:20_000]...)
	insert(t, table, rows[20_000:]...)
	size := snapshot(t, table).SizeInBytes()
	slices.SortFunc(rows, row.compare)

	_, err := Optimize(ctx, table, OptimizeOptions{ZOrderBy: []string{"x", "ID"}, TargetBytes: size / 64})
	require.NoError(t, err)
	require.Equal(t, rows, rowsAt(t, table, -1))
	all := files(t, table)
	require.Greater(t, len(all), 40)
	for column := range 2 {
		touched := 0
		for _, f := range all {
			stats, err := f.Stats()
			require.NoError(t, err)
			low, high := stats.Columns[column].Min, stats.Columns[column].Max
			value := int64(3<<27) + 12345 // not where halves meet
			if column == 0 && low.I64[0] <= value && value <= high.I64[0] || column == 1 && int64(low.I32[0]) <= value && value <= int64(high.I32[0]) {
				touched++
			}
		}
		require.Less(t, touched, len(all)/2, "column %d", column)
	}
	for _, bad := range [][]string{{"nothing"}, {"x", "X"}} {
		_, err := Optimize(ctx, table, OptimizeOptions{ZOrderBy: bad})
		require.Error(t, err)
	}
}

func TestInterleave(t *testing.T) {
	require.Equal(t, uint64(0b10_01), interleave([]uint64{0b10, 0b01})&0b1111)
	require.Less(t, interleave([]uint64{1, 1}), interleave([]uint64{2, 0}))
}

// TestCompact: small files are joined as they gather, each row a few times only.
func TestCompact(t *testing.T) {
	table := newTable(t, memory(t), nil, nil)
	for i := range compactFiles - 1 {
		insert(t, table, row{id: int64(i)})
	}
	out, err := Compact(ctx, table, nil)
	require.NoError(t, err)
	require.Equal(t, int64(-1), out.Version)
	insert(t, table, row{id: compactFiles})
	out, err = Compact(ctx, table, nil)
	require.NoError(t, err)
	require.Equal(t, 1, out.FilesAdded)
	require.Len(t, files(t, table), 1)
	require.Len(t, rowsAt(t, table, -1), compactFiles)
}
