package delta

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/store"
)

var ctx = context.Background()

// testSchema has a column to partition by.
var testSchema = batch.NewSchema(
	batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	batch.Field{Name: "day", Type: batch.Type{Kind: batch.Date}, Nullable: true},
)

func memoryStore(t testing.TB) *store.Memory {
	st := store.NewMemory("mem://table")
	require.NoError(t, st.MakeRoot(ctx))
	return st
}

// createTable makes a table as version 0.
func createTable(t testing.TB, st store.Store, schema *batch.Schema, partitionBy []string, config map[string]string) *Table {
	table := NewTable(st)
	meta, err := NewMetadata(schema, partitionBy, config)
	require.NoError(t, err)
	x := table.Begin(nil)
	x.SetMetadata(meta)
	done, err := x.Commit(ctx, Operation{Name: "CREATE TABLE"})
	require.NoError(t, err)
	require.Equal(t, int64(0), done.Version)
	require.NotNil(t, done.Snapshot)
	return table
}

// addOf is an add without a file behind it.
func addOf(path string) AddFile {
	return AddFile{Path: path, Size: 100, ModTime: time.UnixMilli(1_700_000_000_000).UTC(), NumRecords: 1,
		Stats: `{"numRecords":1,"minValues":{},"maxValues":{},"nullCount":{}}`}
}

func appendFiles(t testing.TB, table *Table, paths ...string) Committed {
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	x := table.Begin(s)
	for _, p := range paths {
		x.Add(addOf(p))
	}
	done, err := x.Commit(ctx, Operation{Name: "WRITE", Parameters: map[string]string{"mode": "Append"}})
	require.NoError(t, err)
	return done
}

func pathsOf(s *Snapshot) []string {
	out := []string{}
	for f := range s.Files() {
		out = append(out, f.Path)
	}
	return out
}

func TestCreateAppendRefresh(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, nil, nil)
	done := appendFiles(t, table, "a", "b")
	require.Equal(t, int64(1), done.Version)
	require.Equal(t, []string{"a", "b"}, pathsOf(done.Snapshot))

	other := NewTable(st)
	first, err := other.Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, pathsOf(first))
	appendFiles(t, table, "c")
	second, err := other.Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, pathsOf(second))
	require.Equal(t, []string{"a", "b"}, pathsOf(first), "a snapshot never changes")
	require.Equal(t, int64(300), second.SizeInBytes())
	require.Equal(t, int64(200), first.SizeInBytes())

	at1, err := other.SnapshotAt(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, pathsOf(at1))
	_, err = other.SnapshotAt(ctx, 9)
	require.ErrorIs(t, err, ErrNoVersion)
}

func TestCheckpointRoundTrip(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, []string{"day"}, map[string]string{"delta.checkpointInterval": "10", "mine": ""})
	for i := range 25 {
		s, err := table.Snapshot(ctx)
		require.NoError(t, err)
		x := table.Begin(s)
		add := addOf(fmt.Sprintf("day=x/ü %d.parquet", i))
		if i%2 == 0 {
			add.PartitionValues = map[string]string{"day": "2024-01-01"}
		}
		x.Add(add)
		x.SetTxn(fmt.Sprintf("app-%d", i%3), int64(i))
		if i == 7 {
			for f := range s.Files() {
				x.Remove(f)
				break
			}
		}
		_, err = x.Commit(ctx, Operation{Name: "STREAMING UPDATE"})
		require.NoError(t, err)
		_, err = table.Maintain(ctx)
		require.NoError(t, err)
	}
	want, err := table.Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(20), want.checkpoint)
	for v := range int64(21) { // what the checkpoints replace
		require.NoError(t, st.Delete(ctx, commitKey(v)))
	}
	got, err := NewTable(st).Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(20), got.checkpoint)
	require.Equal(t, fileFacts(t, want), fileFacts(t, got))
	require.Equal(t, want.txns.all(), got.txns.all())
	require.Equal(t, want.protocol, got.protocol)
	require.True(t, want.metadata.Equal(got.metadata), "%v %v", want.metadata, got.metadata)
	require.Equal(t, len(want.files.tombstones), len(got.files.tombstones))
	require.Equal(t, want.files.tombstones, got.files.tombstones)
}

// fileFacts renders every live file.
func fileFacts(t testing.TB, s *Snapshot) []string {
	var out []string
	for f := range s.Files() {
		n, _ := f.NumRecords()
		out = append(out, fmt.Sprintf("%s %v %d %d %d %s", f.Path, f.PartitionValues, f.Size, f.ModTime.UnixMilli(), n, f.StatsJSON()))
	}
	return out
}
