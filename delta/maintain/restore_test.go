package maintain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
)

func TestRestore(t *testing.T) {
	table := newTable(t, memory(t), nil, map[string]string{"delta.enableDeletionVectors": "true"})
	insert(t, table, numbered(0, 10, 1)...)
	deleteRow(t, table, 0, 1)
	insert(t, table, numbered(10, 5, 1)...)
	deleteRow(t, table, 0, 2)
	_, err := Optimize(ctx, table, OptimizeOptions{})
	require.NoError(t, err)
	for version := range int64(5) {
		want := rowsAt(t, table, version)
		out, err := Restore(ctx, table, RestoreTarget{Version: version})
		require.NoError(t, err)
		require.Equal(t, want, rowsAt(t, table, -1), "version %d", version)
		require.Equal(t, len(files(t, table)), out.FilesAfter)
	}
	out, err := Restore(ctx, table, RestoreTarget{Version: 4})
	require.NoError(t, err)
	require.Equal(t, int64(-1), out.Committed, "the table is as it was")
	_, err = Restore(ctx, table, RestoreTarget{Version: 99})
	require.ErrorIs(t, err, delta.ErrNoVersion)
}

// TestRestoreNamesMissingFiles changes nothing when a file of the old version is gone.
func TestRestoreNamesMissingFiles(t *testing.T) {
	table := newTable(t, memory(t), nil, nil)
	insert(t, table, numbered(0, 10, 1)...)
	insert(t, table, numbered(10, 10, 1)...)
	_, err := Optimize(ctx, table, OptimizeOptions{})
	require.NoError(t, err)
	gone, err := Vacuum(ctx, table, VacuumOptions{Retention: -1, Now: later()})
	require.NoError(t, err)
	require.Len(t, gone.Files, 2)
	version := snapshot(t, table).Version()
	_, err = Restore(ctx, table, RestoreTarget{Version: 1})
	require.ErrorIs(t, err, delta.ErrNoVersion)
	require.Regexp(t, gone.Files[0]+"|"+gone.Files[1], err)
	require.Equal(t, version, snapshot(t, table).Version())
}
