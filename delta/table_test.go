package delta

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lakesql/batch"
	"lakesql/store"
	"lakesql/store/faultstore"
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
		out = append(out, fmt.Sprintf("%s %v %d %d %d %s", f.Path, f.PartitionValues, f.Size, f.ModTime.UnixMilli(), n, f.reader.at(f.ref)))
	}
	return out
}

// TestCommitText is the text of a stream's commit, but for what differs each time.
func TestCommitText(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, []string{"day"}, nil)
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	x := table.Begin(s)
	x.Add(addOf("day=2024-01-01/a b"))
	x.SetTxn("7a9d3c1e", 4)
	_, err = x.Commit(ctx, Operation{Name: "STREAMING UPDATE", Parameters: map[string]string{"outputMode": "Append", "queryId": "7a9d3c1e", "epochId": "4"},
		Metrics: map[string]string{"numAddedFiles": "1", "numOutputRows": "1"}})
	require.NoError(t, err)

	require.Equal(t, `{"commitInfo":{"timestamp":T,"operation":"CREATE TABLE","operationParameters":{},"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{},"engineInfo":"lakesql/dev","txnId":"U"}}
{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"U","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"day\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["day"],"configuration":{},"createdTime":T}}
`, commitText(t, st, 0))
	require.Equal(t, `{"commitInfo":{"timestamp":T,"operation":"STREAMING UPDATE","operationParameters":{"epochId":"4","outputMode":"Append","queryId":"7a9d3c1e"},"readVersion":0,"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{"numAddedFiles":"1","numOutputRows":"1"},"engineInfo":"lakesql/dev","txnId":"U"}}
{"txn":{"appId":"7a9d3c1e","version":4,"lastUpdated":T}}
{"add":{"path":"day=2024-01-01/a%20b","partitionValues":{"day":null},"size":100,"modificationTime":1700000000000,"dataChange":true,"stats":"{\"numRecords\":1,\"minValues\":{},\"maxValues\":{},\"nullCount\":{}}"}}
`, commitText(t, st, 1))

	s, err = table.Snapshot(ctx)
	require.NoError(t, err)
	x = table.Begin(s)
	x.ReadWholeTable()
	x.Remove(slices.Collect(s.Files())...)
	_, err = x.Commit(ctx, Operation{Name: "TRUNCATE"})
	require.NoError(t, err)
	require.Equal(t, `{"commitInfo":{"timestamp":T,"operation":"TRUNCATE","operationParameters":{},"readVersion":1,"isolationLevel":"WriteSerializable","isBlindAppend":false,"operationMetrics":{},"engineInfo":"lakesql/dev","txnId":"U"}}
{"remove":{"path":"day=2024-01-01/a%20b","deletionTimestamp":T,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"day":null},"size":100}}
`, commitText(t, st, 2))

	entries, err := table.History(ctx, 2)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.Equal(t, "TRUNCATE", entries[0].Operation)
	require.Equal(t, int64(0), entries[1].ReadVersion)
	require.Equal(t, "Append", entries[1].Parameters["outputMode"])
	require.True(t, entries[0].Timestamp.After(entries[1].Timestamp))
	version, err := table.VersionAt(ctx, entries[1].Timestamp)
	require.NoError(t, err)
	require.Equal(t, int64(1), version)
	version, err = table.VersionAt(ctx, time.Now().AddDate(1, 0, 0))
	require.NoError(t, err)
	require.Equal(t, int64(2), version)
}

var (
	timesOfCommits = regexp.MustCompile(`(timestamp|Timestamp|lastUpdated|createdTime)":\d{13}`)
	idsOfCommits   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
)

func commitText(t *testing.T, st store.Store, version int64) string {
	text, err := st.Get(ctx, commitKey(version))
	require.NoError(t, err)
	return idsOfCommits.ReplaceAllString(timesOfCommits.ReplaceAllString(string(text), `$1":T`), "U")
}

// TestReadersBesideAWriter: snapshots that share a growing log stay what they are, under the race detector too.
func TestReadersBesideAWriter(t *testing.T) {
	table := createTable(t, memoryStore(t), testSchema, nil, nil)
	appendFiles(t, table, "first")
	var readers errgroup.Group
	for v := range 300 {
		s, err := table.Snapshot(ctx)
		require.NoError(t, err)
		readers.Go(func() error {
			files, stats := 0, 0
			for f := range s.Files() {
				files++
				if s, err := f.Stats(); err == nil && s.NumRecords == 1 {
					stats++
				}
			}
			if files != s.NumFiles() || stats != files {
				return fmt.Errorf("version %d: %d files and %d statistics of %d", s.Version(), files, stats, s.NumFiles())
			}
			return nil
		})
		x := table.Begin(s)
		x.Add(addOf(fmt.Sprint("a", v)), addOf(fmt.Sprint("b", v)))
		for f := range s.Files() {
			if v%3 > 0 {
				x.Remove(f)
			}
			break
		}
		_, err = x.Commit(ctx, Operation{Name: "WRITE"})
		require.NoError(t, err)
	}
	require.NoError(t, readers.Wait())
}

// TestACommitIsAsCheapAsTheFirst: what a commit asks of the store does not grow with the log, and whoever opens the table finds the same files, from checkpoints and commits (P42).
func TestACommitIsAsCheapAsTheFirst(t *testing.T) {
	faults := faultstore.New(memoryStore(t))
	asked := 0
	faults.Add(faultstore.Rule{Before: func(context.Context, faultstore.Op) error { asked++; return nil }})
	table := createTable(t, faults, testSchema, nil, map[string]string{"delta.checkpointInterval": "500"})
	const commits = 2000
	var costs []int // of each commit
	for v := range commits {
		before := asked
		s, err := table.Snapshot(ctx)
		require.NoError(t, err)
		x := table.Begin(s)
		x.Add(addOf(fmt.Sprint(v)))
		x.SetTxn("app", int64(v))
		_, err = x.Commit(ctx, Operation{Name: "STREAMING UPDATE"})
		require.NoError(t, err)
		costs = append(costs, asked-before)
		_, err = table.Maintain(ctx)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, slices.Max(costs[100:]), slices.Max(costs[10:100]), "%v", costs)
	want, err := table.Snapshot(ctx)
	require.NoError(t, err)
	before := asked
	got, err := NewTable(faults).Snapshot(ctx)
	require.NoError(t, err)
	require.Less(t, asked-before, 600, "the newest checkpoint, and the commits behind it")
	require.Equal(t, commits, got.NumFiles())
	require.Equal(t, fileFacts(t, want), fileFacts(t, got))
}

// TestRewritesDoNotPileUp: the log in memory is rebuilt when most of it is dead.
func TestRewritesDoNotPileUp(t *testing.T) {
	table := createTable(t, memoryStore(t), testSchema, nil, nil)
	appendFiles(t, table, "0")
	old, err := table.Snapshot(ctx)
	require.NoError(t, err)
	for v := range 2 * minDeadToCompact {
		s, err := table.Snapshot(ctx)
		require.NoError(t, err)
		x := table.Begin(s)
		x.Remove(slices.Collect(s.Files())...)
		x.Add(addOf(fmt.Sprint(v + 1)))
		_, err = x.Commit(ctx, Operation{Name: "OVERWRITE"})
		require.NoError(t, err)
	}
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{fmt.Sprint(2 * minDeadToCompact)}, pathsOf(s))
	require.Less(t, table.log.n, minDeadToCompact+2)
	require.Len(t, s.files.tombstones, 2*minDeadToCompact)
	require.Equal(t, []string{"0"}, pathsOf(old))
}
