package delta

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/delta/dv"
)

// tenRows is an add of ten rows.
func tenRows(path string) AddFile {
	add := addOf(path)
	add.NumRecords, add.Stats = 10, `{"numRecords":10,"minValues":{"id":1},"maxValues":{"id":9},"nullCount":{"id":0}}`
	return add
}

// tableOfTens has a file of ten rows for each path.
func tableOfTens(t *testing.T, features []string, config map[string]string, paths ...string) (*Table, *Snapshot) {
	table := featureTable(t, features, nil, config)
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	x := table.Begin(s)
	for _, p := range paths {
		x.Add(tenRows(p))
	}
	done, err := x.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
	return table, done.Snapshot
}

var (
	vectorFeatures = []string{"deletionVectors", "domainMetadata"}
	vectorConfig   = map[string]string{"delta.enableDeletionVectors": "true"}
)

// TestStatementsSeeEachOther: what a transaction has done so far is what its next statement sees, and what is committed.
func TestStatementsSeeEachOther(t *testing.T) {
	table, s := tableOfTens(t, vectorFeatures, vectorConfig, "a", "b", "c")
	first := table.Begin(s)
	require.NoError(t, first.DeleteRows(fileOf(t, s, "a"), dv.Of(1)))
	done, err := first.Commit(ctx, Operation{Name: "DELETE"})
	require.NoError(t, err)
	s = done.Snapshot
	before := liveRows(t, table, s)
	require.Equal(t, []string{"b", "c", "a-[1]"}, before)

	x := table.Begin(s)
	require.NoError(t, x.DeleteRows(fileOf(t, s, "a"), dv.Of(2)))
	x.Remove(fileOf(t, s, "b"))
	x.Add(tenRows("new"), tenRows("gone"), tenRows("old"))
	one := x.View()
	require.Equal(t, []string{"c", "a-[1 2]", "new", "gone", "old"}, liveRows(t, table, one))

	require.NoError(t, x.DeleteRows(fileOf(t, one, "a"), dv.Of(5, 6)))
	require.NoError(t, x.DeleteRows(fileOf(t, one, "new"), dv.Of(0)))
	require.NoError(t, x.DeleteRows(fileOf(t, x.View(), "new"), dv.Of(9)))
	x.Remove(fileOf(t, one, "gone"))
	all := dv.Of()
	all.AddRange(0, 10)
	require.NoError(t, x.DeleteRows(fileOf(t, one, "old"), all))
	require.NoError(t, x.DeleteRows(fileOf(t, one, "c"), all))
	two := x.View()
	want := []string{"a-[1 2 5 6]", "new-[0 9]"}
	require.Equal(t, want, liveRows(t, table, two))
	require.Equal(t, 2, two.NumFiles())
	require.Equal(t, int64(200), two.SizeInBytes())
	require.Equal(t, s.Version(), two.Version())
	n, ok := fileOf(t, two, "a").NumLiveRecords()
	require.True(t, ok)
	require.Equal(t, int64(6), n)
	require.Equal(t, int64(4), fileOf(t, two, "a").DeletionVector().Cardinality)
	require.Equal(t, []string{"c", "a-[1 2]", "new", "gone", "old"}, liveRows(t, table, one), "a view stays as it is")
	require.Equal(t, before, liveRows(t, table, s))

	done, err = x.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
	require.Equal(t, want, liveRows(t, table, done.Snapshot))
	again, err := NewTable(table.Store()).Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, want, liveRows(t, table, again))
	stats, err := fileOf(t, again, "a").Stats()
	require.NoError(t, err)
	require.False(t, stats.TightBounds)
	stats, err = fileOf(t, again, "new").Stats()
	require.NoError(t, err)
	require.False(t, stats.TightBounds)
}

// A view costs what has changed since the one before: it is a few layers, whatever the transaction has done.
func TestViewsAreFewLayers(t *testing.T) {
	table, s := tableOfTens(t, vectorFeatures, vectorConfig, "a", "b")
	x := table.Begin(s)
	want := []string{"b", "a-[0]"}
	require.NoError(t, x.DeleteRows(fileOf(t, s, "a"), dv.Of(0)))
	var views []*Snapshot
	for i := range 300 {
		name := fmt.Sprintf("f%03d", i)
		x.Add(tenRows(name), tenRows("gone"+name))
		view := x.View()
		require.Equal(t, 2+len(views)+2, view.NumFiles())
		x.Remove(fileOf(t, view, "gone"+name))
		require.NoError(t, x.DeleteRows(fileOf(t, view, name), dv.Of(int64(i%10))))
		view = x.View()
		require.LessOrEqual(t, len(view.own.layers), 10)
		require.Equal(t, 2+i+1, view.NumFiles())
		rows, _ := view.NumRows()
		require.EqualValues(t, 19+9*(i+1), rows)
		views = append(views, view)
		want = append(want, fmt.Sprintf("%s-[%d]", name, i%10))
	}
	for i, view := range views {
		if i%50 == 0 || i == len(views)-1 {
			require.Equal(t, want[:3+i], liveRows(t, table, view))
		}
	}
}

// TestViewOfANewTable is CREATE TABLE AS: the rows are there before the table is.
func TestViewOfANewTable(t *testing.T) {
	table := NewTable(memoryStore(t))
	meta, err := NewMetadata(testSchema, nil, nil)
	require.NoError(t, err)
	x := table.Begin(nil)
	x.SetMetadata(meta)
	x.Add(tenRows("a"))
	view := x.View()
	require.Equal(t, []string{"a"}, pathsOf(view))
	require.Equal(t, testSchema.Names(), view.Schema().Names())
	require.Equal(t, int64(-1), view.Version())
	_, err = x.Commit(ctx, Operation{Name: "CREATE TABLE AS SELECT"})
	require.NoError(t, err)
}

func TestWhatCannotBeDone(t *testing.T) {
	table, s := tableOfTens(t, vectorFeatures, vectorConfig, "a", "b")
	x := table.Begin(s)
	require.ErrorContains(t, x.DeleteRows(fileOf(t, s, "a"), dv.Of(10)), "it has 10 rows")
	x.Remove(fileOf(t, s, "a"))
	require.ErrorContains(t, x.DeleteRows(fileOf(t, s, "a"), dv.Of(1)), "has removed the file")
	x.AddChange(tenRows("_change_data/c"))
	_, err := x.Commit(ctx, Operation{Name: "UPDATE"})
	require.ErrorContains(t, err, "no change data feed")

	table = createTable(t, memoryStore(t), testSchema, nil, nil)
	s = appendFiles(t, table, "a").Snapshot
	x = table.Begin(s)
	require.False(t, x.CanDeleteRows(fileOf(t, s, "a")))
	require.ErrorContains(t, x.DeleteRows(fileOf(t, s, "a"), dv.Of(0)), "delta.enableDeletionVectors")
	x.SetDomain("mine", "{}")
	_, err = x.Commit(ctx, Operation{Name: "SET"})
	require.ErrorContains(t, err, "domainMetadata")
}

func TestLooseBounds(t *testing.T) {
	for in, want := range map[string]string{
		`{"numRecords":1}`: `{"numRecords":1,"tightBounds":false}`,
		`{"tightBounds":true,"minValues":{"tightBounds":true,"x":"}"}}`:  `{"minValues":{"tightBounds":true,"x":"}"},"tightBounds":false}`,
		` { "numRecords" : 2 , "nullCount":{}, "tightBounds" : false } `: `{"numRecords":2,"nullCount":{},"tightBounds":false}`,
	} {
		got, err := looseBounds(in)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := looseBounds(`{"numRecords":`)
	require.ErrorIs(t, err, ErrCorrupt)
}

// TestTextOfDeletedRows is the text of a commit that deletes rows, but for what differs each time.
func TestTextOfDeletedRows(t *testing.T) {
	table, s := tableOfTens(t, append([]string{"changeDataFeed"}, vectorFeatures...),
		map[string]string{"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}, "a")
	x := table.Begin(s)
	require.NoError(t, x.DeleteRows(fileOf(t, s, "a"), dv.Of(1, 2)))
	x.AddChange(AddFile{Path: "_change_data/c d", Size: 7})
	x.SetDomain("mine", `{"a":"b"}`)
	_, err := x.Commit(ctx, Operation{Name: "DELETE", Metrics: map[string]string{"numDeletedRows": "2"}})
	require.NoError(t, err)
	text := commitText(t, table.Store(), 2)
	_, vector, _ := strings.Cut(text, `"pathOrInlineDv":"`)
	vector, _, _ = strings.Cut(vector, `",`)
	require.Len(t, vector, 20)
	require.Equal(t, `{"commitInfo":{"timestamp":T,"operation":"DELETE","operationParameters":{},"readVersion":1,"isolationLevel":"WriteSerializable","isBlindAppend":false,"operationMetrics":{"numDeletedRows":"2"},"engineInfo":"lakesql/dev","txnId":"U"}}
{"remove":{"path":"a","deletionTimestamp":T,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":100}}
{"add":{"path":"a","partitionValues":{},"size":100,"modificationTime":1700000000000,"dataChange":true,"stats":"{\"numRecords\":10,\"minValues\":{\"id\":1},\"maxValues\":{\"id\":9},\"nullCount\":{\"id\":0},\"tightBounds\":false}","deletionVector":{"storageType":"u","pathOrInlineDv":"V","offset":1,"sizeInBytes":36,"cardinality":2}}}
{"cdc":{"path":"_change_data/c%20d","partitionValues":{},"size":7,"dataChange":false}}
{"domainMetadata":{"domain":"mine","configuration":"{\"a\":\"b\"}","removed":false}}
`, strings.Replace(text, vector, "V", 1))
}

// TestRestoredFiles: a file comes back as it was in another version.
func TestRestoredFiles(t *testing.T) {
	table, s := tableOfTens(t, vectorFeatures, vectorConfig, "a")
	x := table.Begin(s)
	require.NoError(t, x.DeleteRows(fileOf(t, s, "a"), dv.Of(1)))
	one, err := x.Commit(ctx, Operation{Name: "DELETE"})
	require.NoError(t, err)
	x = table.Begin(one.Snapshot)
	require.NoError(t, x.DeleteRows(fileOf(t, one.Snapshot, "a"), dv.Of(2)))
	two, err := x.Commit(ctx, Operation{Name: "DELETE"})
	require.NoError(t, err)
	for _, c := range []struct {
		to   *Snapshot
		want string
	}{{one.Snapshot, "a-[1]"}, {s, "a"}, {two.Snapshot, "a-[1 2]"}} {
		now, err := table.Snapshot(ctx)
		require.NoError(t, err)
		x = table.Begin(now)
		x.Remove(fileOf(t, now, "a"))
		x.Add(fileOf(t, c.to, "a").AddFile())
		require.Equal(t, []string{c.want}, liveRows(t, table, x.View()))
		done, err := x.Commit(ctx, Operation{Name: "RESTORE"})
		require.NoError(t, err)
		require.Equal(t, []string{c.want}, liveRows(t, table, done.Snapshot))
	}
}

// inCommitTimes are the in-commit timestamps of a table's versions; 0 where there is none.
func inCommitTimes(t *testing.T, table *Table) []int64 {
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	var out []int64
	for v := range s.Version() + 1 {
		c, err := readCommit(ctx, table.st, v)
		require.NoError(t, err)
		out = append(out, commitTimestamp(c.info))
	}
	return out
}

func TestInCommitTimestamps(t *testing.T) {
	table, s := tableOfTens(t, []string{"inCommitTimestamp"}, map[string]string{inCommitProperty: "true"})
	future := time.Now().Add(time.Hour).UnixMilli()
	require.NoError(t, table.st.PutIfAbsent(ctx, commitKey(2), appendAction(nil, "commitInfo", []byte(`{"inCommitTimestamp":`+strconv.FormatInt(future, 10)+`}`))))
	x := table.Begin(s) // does not know of version 2 yet
	x.Add(tenRows("a"))
	done, err := x.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
	require.Equal(t, future+1, done.Snapshot.Timestamp().UnixMilli(), "later than its predecessor, whatever the clock says")
	appendFiles(t, table, "b")
	times := inCommitTimes(t, table)
	require.True(t, slices.IsSorted(times))
	require.Equal(t, future+2, times[4])
	for v, ms := range times {
		at, err := table.VersionAt(ctx, time.UnixMilli(ms))
		require.NoError(t, err)
		require.Equal(t, int64(v), at)
	}
	require.True(t, strings.HasPrefix(commitText(t, table.st, 4), `{"commitInfo":{"inCommitTimestamp":`))

	s, err = NewTable(table.st).Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, future+2, s.Timestamp().UnixMilli())
	_, err = table.VersionAt(ctx, time.UnixMilli(1))
	require.ErrorIs(t, err, ErrNoVersion)
	require.ErrorContains(t, err, "there are versions 0 of 2023-11-14T22:13:20Z to 4 of ")
}

// TestRowIDs: ids never meet, whoever is first, and stay with the rows of a file.
func TestRowIDs(t *testing.T) {
	table, s := tableOfTens(t, append([]string{"rowTracking"}, vectorFeatures...),
		map[string]string{"delta.enableDeletionVectors": "true", rowTrackingProperty: "true"}, "a", "b")
	one, two := table.Begin(s), table.Begin(s)
	one.Add(tenRows("c"))
	two.Add(tenRows("d"), tenRows("e"))
	require.NoError(t, two.DeleteRows(fileOf(t, s, "b"), dv.Of(3)))
	two.Recheck(func(context.Context, []File) (bool, error) { return false, nil })
	for _, x := range []*Transaction{one, two} {
		_, err := x.Commit(ctx, Operation{Name: "WRITE"})
		require.NoError(t, err)
	}
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	got := map[string][2]int64{}
	for f := range s.Files() {
		id, ok := f.BaseRowID()
		require.True(t, ok)
		version, ok := f.DefaultRowCommitVersion()
		require.True(t, ok)
		got[f.Path] = [2]int64{id, version}
	}
	require.Equal(t, map[string][2]int64{"a": {0, 1}, "b": {10, 1}, "c": {20, 2}, "d": {30, 3}, "e": {40, 3}}, got)
	mark, ok := s.domains[rowTrackingDomain]
	require.True(t, ok)
	require.Equal(t, `{"rowIdHighWaterMark":49,"domainName":"delta.rowTracking"}`, mark)
	text := commitText(t, table.st, 3)
	require.Contains(t, text, `"tags":{"delta.rowTracking.preserved":"true"}`)
	require.Contains(t, text, `{"remove":{"path":"b","deletionTimestamp":T,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":100,"baseRowId":10,"defaultRowCommitVersion":1}}`)

	x := table.Begin(s)
	x.Add(AddFile{Path: "unknown", NumRecords: -1})
	_, err = x.Commit(ctx, Operation{Name: "CONVERT"})
	require.ErrorContains(t, err, "how many rows it has")
}

// winnerOf commits metadata behind the newest version, as another engine does.
func winnerOf(t *testing.T, table *Table, protocol *Protocol, tags string, change func(*Metadata)) {
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	m := *s.Metadata()
	m.Configuration = withProperties(m.Configuration, nil)
	change(&m)
	text := appendAction(nil, "commitInfo", []byte(`{"operation":"SET","inCommitTimestamp":4102444800000,"tags":`+tags+`}`))
	if protocol != nil {
		text = appendAction(text, "protocol", mustJSON(protocol.json()))
	}
	require.NoError(t, table.st.PutIfAbsent(ctx, commitKey(s.Version()+1), appendAction(text, "metaData", mustJSON(m.json()))))
}

// TestAdoptedChanges: what leaves valid what others write at the time is no conflict, and holds for their commits.
func TestAdoptedChanges(t *testing.T) {
	set := func(kv ...string) func(*Metadata) {
		return func(m *Metadata) {
			for i := 0; i < len(kv); i += 2 {
				m.Configuration[kv[i]] = kv[i+1]
			}
		}
	}
	protocol := func(features ...string) *Protocol {
		return &Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"deletionVectors"}, WriterFeatures: append([]string{"appendOnly", "invariants", "deletionVectors", "domainMetadata"}, features...)}
	}
	schema := func(old, new string) func(*Metadata) {
		return func(m *Metadata) { m.SchemaString = strings.Replace(m.SchemaString, old, new, 1) }
	}
	for name, c := range map[string]struct {
		protocol *Protocol
		tags     string
		change   func(*Metadata)
		want     string // class of the conflict
	}{
		"timestamps":     {protocol("inCommitTimestamp"), "{}", set(inCommitProperty, "true", inCommitVersion, "2", inCommitTimestamp, "4102444800000"), ""},
		"row tracking":   {protocol("rowTracking"), "{}", set(rowTrackingProperty, "true"), ""},
		"v2 checkpoints": {nil, "{}", set("delta.checkpointPolicy", "v2"), ""},
		"identity":       {nil, `{"delta.identity.schemaUpdate":"true"}`, schema(`"metadata":{}`, `"metadata":{"delta.identity.highWaterMark":7}`), ""},
		"vectors off":    {nil, "{}", set("delta.enableDeletionVectors", "false"), classMetadataChanged},
		"append only":    {nil, "{}", set("delta.appendOnly", "true"), classMetadataChanged},
		"a column":       {nil, "{}", schema(`"day"`, `"date"`), classMetadataChanged},
		"constraints":    {protocol("checkConstraints"), "{}", set(), classProtocolChanged},
		"lost feature": {&Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"deletionVectors"}, WriterFeatures: []string{"deletionVectors"}}, "{}",
			set(), classProtocolChanged},
	} {
		t.Run(name, func(t *testing.T) {
			table, s := tableOfTens(t, vectorFeatures, vectorConfig, "a", "b")
			x := table.Begin(s)
			require.NoError(t, x.DeleteRows(fileOf(t, s, "b"), dv.Of(3)))
			x.Add(tenRows("c"))
			winnerOf(t, table, c.protocol, c.tags, c.change)
			_, err := x.Commit(ctx, Operation{Name: "UPDATE"})
			if c.want != "" {
				var conflict *ConflictError
				require.ErrorAs(t, err, &conflict)
				require.Equal(t, c.want, conflict.Class)
				return
			}
			require.NoError(t, err)
			text := commitText(t, table.st, 3)
			var info struct {
				CommitInfo struct{ InCommitTimestamp int64 }
			}
			line, _, _ := strings.Cut(commitRaw(t, table, 3), "\n")
			require.NoError(t, json.Unmarshal([]byte(line), &info))
			switch name {
			case "timestamps":
				require.Equal(t, int64(4102444800001), info.CommitInfo.InCommitTimestamp)
			case "row tracking":
				require.Contains(t, text, `"baseRowId":0`)
				require.Contains(t, text, `"delta.rowTracking.preserved":"false"`)
			default:
				require.Zero(t, info.CommitInfo.InCommitTimestamp)
			}
		})
	}
}

func commitRaw(t *testing.T, table *Table, version int64) string {
	text, err := table.st.Get(ctx, commitKey(version))
	require.NoError(t, err)
	return string(text)
}
