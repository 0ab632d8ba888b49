package delta

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/store"
)

// modelState is the plainest replay there is.
type modelState struct {
	live map[string]int64 // key -> size
	txns map[string]int64
	tomb map[string]bool
}

func (m *modelState) clone() *modelState {
	out := &modelState{map[string]int64{}, map[string]int64{}, map[string]bool{}}
	for k, v := range m.live {
		out.live[k] = v
	}
	for k, v := range m.txns {
		out.txns[k] = v
	}
	for k := range m.tomb {
		out.tomb[k] = true
	}
	return out
}

// randomCommit draws a commit over few paths and deletion vectors, and applies it to the model.
func randomCommit(t *rapid.T, m *modelState, version int) string {
	var lines []string
	keys := rapid.SliceOfNDistinct(rapid.IntRange(0, 11), 0, 6, rapid.ID).Draw(t, "keys")
	for _, k := range keys {
		path, dv := fmt.Sprintf("dir%d/f%%25%d.parquet", k%2, k/2), ""
		key := fmt.Sprintf("dir%d/f%%%d.parquet", k%2, k/2)
		if k%3 == 0 {
			dv = `,"deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":` + fmt.Sprint(k) + `,"sizeInBytes":1,"cardinality":1}`
			key += "|ux@" + fmt.Sprint(k)
		}
		if rapid.Bool().Draw(t, "remove") {
			lines = append(lines, fmt.Sprintf(`{"remove":{"path":"%s","deletionTimestamp":%d,"dataChange":true%s}}`, path, version, dv))
			delete(m.live, key)
			m.tomb[key] = true
		} else {
			size := int64(version*100 + k)
			stats := ""
			if rows := rapid.IntRange(-1, 3).Draw(t, "rows"); rows >= 0 {
				stats = fmt.Sprintf(`,"stats":"{\"numRecords\":%d}"`, rows)
			}
			lines = append(lines, fmt.Sprintf(`{"add":{"path":"%s","partitionValues":{},"size":%d,"modificationTime":1,"dataChange":true%s%s}}`, path, size, stats, dv))
			m.live[key] = size
			delete(m.tomb, key)
		}
	}
	if rapid.Bool().Draw(t, "txn") {
		app, v := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "app"), rapid.Int64Range(0, 99).Draw(t, "version")
		lines = append(lines, fmt.Sprintf(`{"txn":{"appId":"%s","version":%d}}`, app, v))
		m.txns[app] = v
	}
	lines = append(lines, `{"unknownAction":{"x":1}}`, "")
	return strings.Join(lines, "\n")
}

func requireModel(t require.TestingT, m *modelState, s *Snapshot) {
	live, bytes := map[string]int64{}, int64(0)
	for f := range s.Files() {
		key := f.Path
		if id := f.extra.dvID(); id != "" {
			key += "|" + id
		}
		require.NotContains(t, live, key)
		live[key] = f.Size
		bytes += f.Size
	}
	require.Equal(t, m.live, live)
	require.Equal(t, len(live), s.NumFiles())
	require.Equal(t, bytes, s.SizeInBytes())
	requireRows(t, s)
	txns := map[string]int64{}
	for app, v := range s.txns.all() {
		txns[app] = v.version
	}
	require.Equal(t, m.txns, txns)
	tomb := map[string]bool{}
	for r := range s.files.tombstones.since(0).each() {
		key := r.path
		if id := r.extra.dvID(); id != "" {
			key += "|" + id
		}
		if _, ok := live[key]; !ok {
			tomb[key] = true
		}
	}
	require.Equal(t, m.tomb, tomb)
}

// requireRows compares the number of rows that a snapshot keeps with that of its files.
func requireRows(t require.TestingT, s *Snapshot) {
	var rows int64
	for f := range s.Files() {
		n, known := f.NumLiveRecords()
		if !known {
			_, known = s.NumRows()
			require.False(t, known)
			return
		}
		rows += n
	}
	n, known := s.NumRows()
	require.True(t, known)
	require.Equal(t, rows, n)
}

// TestReplayModel compares snapshots, new and old, refreshed, loaded and compacted, with the model at every version.
func TestReplayModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := store.NewMemory("mem://t")
		require.NoError(t, st.MakeRoot(ctx))
		m := &modelState{map[string]int64{}, map[string]int64{}, map[string]bool{}}
		head := "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n{\"metaData\":{\"id\":\"i\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{}}}\n"
		table := NewTable(st)
		var snapshots []*Snapshot
		var models []*modelState
		versions := rapid.IntRange(1, 12).Draw(t, "versions")
		for v := range versions {
			text := head + randomCommit(t, m, v)
			head = ""
			require.NoError(t, st.PutIfAbsent(ctx, commitKey(int64(v)), []byte(text)))
			s, err := table.newest(ctx)
			require.NoError(t, err)
			snapshots, models = append(snapshots, s), append(models, m.clone())
			if rapid.Bool().Draw(t, "compact") {
				next := *s
				table.log, next.files = table.log.compact(s.files, 0)
				table.latest = &next
			}
			if first := rapid.IntRange(0, v).Draw(t, "first"); first < v {
				writeCompaction(t, st, int64(first), int64(v), rapid.Bool().Draw(t, "reconcile"))
			}
			if rapid.Bool().Draw(t, "checkpoint") {
				require.NoError(t, writeCheckpoint(ctx, st, s, s.Timestamp().AddDate(-100, 0, 0)))
			}
		}
		for v, s := range snapshots {
			requireModel(t, models[v], s)
			again, _, err := loadVersion(ctx, st, int64(v))
			require.NoError(t, err)
			requireModel(t, models[v], again)
		}
		again, _, err := loadNewest(ctx, st)
		require.NoError(t, err)
		requireModel(t, m, again)
	})
}

// writeCompaction makes one file of the commits first to last. Without reconciling it is a file that must not be used.
func writeCompaction(t *rapid.T, st store.Store, first, last int64, reconcile bool) {
	newest := map[string]string{}
	var lines []string
	for v := first; v <= last; v++ {
		text, err := st.Get(ctx, commitKey(v))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			c, err := parseCommit("f", v, []byte(line))
			require.NoError(t, err)
			var key string
			switch {
			case len(c.adds) > 0:
				key = "file " + string(c.adds[0].path) + c.adds[0].extra.dvID()
			case len(c.removes) > 0:
				key = "file " + string(c.removes[0].path) + c.removes[0].extra.dvID()
			case len(c.txns) > 0:
				key = "txn " + c.txns[0].appID
			default:
				key = strings.TrimSpace(line)
			}
			newest[key] = line
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if reconcile {
		lines = lines[:0]
		for _, key := range sortedKeys(newest) {
			lines = append(lines, strings.TrimSpace(newest[key]))
		}
	} else {
		slices.Reverse(lines)
		lines = append(lines, lines...)
	}
	require.NoError(t, st.PutIfAbsent(ctx, versionRange{first, last}.key(), []byte(strings.Join(lines, "\n"))))
}
