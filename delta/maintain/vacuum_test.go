package maintain

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
)

func keysOf(t testing.TB, table *delta.Table) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for info, err := range table.Store().List(ctx, "", "", "") {
		require.NoError(t, err)
		out[info.Key] = true
	}
	return out
}

// TestVacuum deletes what is removed and old, the files of failed writers, and nothing else.
func TestVacuum(t *testing.T) {
	for _, lite := range []bool{false, true} {
		table := newTable(t, memory(t), []string{"part"}, map[string]string{"delta.enableDeletionVectors": "true"})
		insert(t, table, numbered(0, 10, 2)...)
		insert(t, table, numbered(10, 10, 2)...)
		deleteRow(t, table, 0, 1, 2)
		_, err := Optimize(ctx, table, OptimizeOptions{})
		require.NoError(t, err)
		want := rowsAt(t, table, -1)
		st := table.Store()
		for _, key := range []string{"part=p0/left-over.parquet", "_change_data/left-over.parquet"} {
			require.NoError(t, st.PutIfAbsent(ctx, key, []byte("x")))
		}
		for _, key := range []string{"_lakesql/copy/offsets/0", ".hidden/x", "metadata/v1.json", "part=p0/_SUCCESS"} {
			require.NoError(t, st.PutIfAbsent(ctx, key, []byte("x")))
		}

		young, err := Vacuum(ctx, table, VacuumOptions{Retention: -1})
		require.NoError(t, err)
		require.Empty(t, young.Files)
		dry, err := Vacuum(ctx, table, VacuumOptions{Retention: -1, DryRun: true, Lite: lite, Now: later()})
		require.NoError(t, err)
		before := keysOf(t, table)
		out, err := Vacuum(ctx, table, VacuumOptions{Retention: -1, Lite: lite, Now: later()})
		require.NoError(t, err)
		require.Equal(t, dry.Files, out.Files)
		if lite {
			require.Len(t, out.Files, 4+1, "four data files and a deletion vector")
		} else {
			require.Len(t, out.Files, 4+1+2)
		}
		after := keysOf(t, table)
		for _, key := range out.Files {
			require.True(t, before[key])
			require.False(t, after[key])
		}
		for _, key := range []string{"_lakesql/copy/offsets/0", ".hidden/x", "metadata/v1.json", "part=p0/_SUCCESS"} {
			require.True(t, after[key], key)
		}
		require.Equal(t, want, rowsAt(t, table, -1))
	}
}

func TestVacuumRefusesAShortRetention(t *testing.T) {
	table := newTable(t, memory(t), nil, nil)
	_, err := Vacuum(ctx, table, VacuumOptions{Retention: time.Hour})
	require.ErrorContains(t, err, "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT")
	table = newTable(t, memory(t), nil, map[string]string{"delta.deletedFileRetentionDuration": "interval 0 hours"})
	_, err = Vacuum(ctx, table, VacuumOptions{Retention: 0})
	require.NoError(t, err)
}

func TestHidden(t *testing.T) {
	for key, want := range map[string]bool{
		"part-0.parquet": false, "a=1/part-0.parquet": false, "_change_data/a=1/x.parquet": false, "_delta_index/x": false, "_2=1/x.parquet": false,
		"_delta_log/0.json": true, "a=1/_SUCCESS": true, "_other/x": true, ".x/y": true, "metadata/x": true, "_2": true, "a/_change_data/x": true,
	} {
		require.Equal(t, want, hidden(key, []string{"a", "_2"}), key)
	}
}
