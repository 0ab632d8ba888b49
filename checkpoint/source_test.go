package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/store"
)

func collect(t require.TestingT, l *SourceLog) []SourceEntry {
	var all []SourceEntry
	for e, err := range l.All(context.Background()) {
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

func requireEntries(t require.TestingT, want, got []SourceEntry) {
	if !slices.Equal(want, got) { // cmp.Diff takes its time
		require.Empty(t, cmp.Diff(want, got))
	}
}

// TestSourceLogModel runs random adds, restarts, preparations and reads against a list in memory.
func TestSourceLogModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		m := memory()
		c, err := Create(ctx, m)
		require.NoError(t, err)
		var model []SourceEntry
		latest := int64(-1)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				latest++
				entries := make([]SourceEntry, rapid.IntRange(0, 3).Draw(t, "files"))
				for i := range entries {
					path := rapid.SampledFrom([]string{"file:///a%20b", "file:///é&<>", `odd "quoted" \ path`, "\u2028"}).Draw(t, "path")
					entries[i] = SourceEntry{Path: fmt.Sprint(path, len(model)+i), TimestampMs: rapid.Int64().Draw(t, "timestamp")}
				}
				require.NoError(t, c.Source(0).Add(ctx, latest, entries))
				for _, e := range entries {
					e.BatchID = latest
					model = append(model, e)
				}
			},
			"many": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "batches") {
					latest++
					require.NoError(t, c.Source(0).Add(ctx, latest, []SourceEntry{{Path: fmt.Sprint("m", latest)}}))
					model = append(model, SourceEntry{Path: fmt.Sprint("m", latest), BatchID: latest})
				}
			},
			"reopen": func(t *rapid.T) {
				c, err = Open(ctx, m)
				require.NoError(t, err)
			},
			"prepare": func(t *rapid.T) { require.NoError(t, c.Source(0).Prepare(ctx)) },
			"": func(t *rapid.T) {
				got, err := c.Source(0).Latest(ctx)
				require.NoError(t, err)
				require.Equal(t, latest, got)
				requireEntries(t, model, collect(t, c.Source(0)))
				if latest < 0 {
					return
				}
				from := rapid.Int64Range(max(0, latest-KeepBatches+1), latest).Draw(t, "from")
				to := rapid.Int64Range(from, latest).Draw(t, "to")
				entries, err := c.Source(0).Entries(ctx, from, to)
				require.NoError(t, err)
				var want []SourceEntry
				for _, e := range model {
					if e.BatchID >= from && e.BatchID <= to {
						want = append(want, e)
					}
				}
				requireEntries(t, want, entries)
			},
		})
	})
}

func TestSourceLogNames(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	for id := range int64(23) {
		require.NoError(t, c.Source(1).Add(ctx, id, []SourceEntry{{Path: fmt.Sprint("file:///", id), TimestampMs: id}}))
	}
	keys := strings.Join(list(t, m, "sources/"), " ")
	require.Equal(t, "sources/1/0 sources/1/1 sources/1/10 sources/1/11 sources/1/12 sources/1/13 sources/1/14 sources/1/15 sources/1/16 "+
		"sources/1/17 sources/1/18 sources/1/19.compact sources/1/2 sources/1/20 sources/1/21 sources/1/22 sources/1/3 sources/1/4 sources/1/5 "+
		"sources/1/6 sources/1/7 sources/1/8 sources/1/9.compact", keys)
	require.Equal(t, 20, strings.Count(get(t, m, "sources/1/19.compact"), "\n"))
}

func TestCompactInterval(t *testing.T) {
	for _, c := range []struct {
		compact []int64
		want    int64
	}{
		{nil, 10}, {[]int64{9}, 10}, {[]int64{4}, 5}, {[]int64{11}, 12}, {[]int64{19}, 20}, {[]int64{29}, 10}, {[]int64{39}, 10},
		{[]int64{9, 19}, 10}, {[]int64{19, 39}, 20}, {[]int64{9, 14}, 5}, {[]int64{210}, 211}, {[]int64{23}, 12},
	} {
		k, err := compactInterval(c.compact)
		require.NoError(t, err)
		require.Equal(t, c.want, k, "%v", c.compact)
	}
	_, err := compactInterval([]int64{9, 16})
	require.Error(t, err)
}

// TestSourceLogOfSpark goes on where Spark has another interval and has deleted old files.
func TestSourceLogOfSpark(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	put(t, m, "sources/0/2.compact", "v1\r\n"+`{"path":"file:///a","timestamp":1,"batchId":0}`+"\r\n"+`{ "batchId":2, "timestamp":2, "path":"file:///b", "new":1}`+"\n")
	put(t, m, "sources/0/3", "v1\n"+`{"path":"file:///c","timestamp":3,"batchId":3}`)
	put(t, m, "sources/0/.3.crc", "crc")
	put(t, m, "sources/0/.4.0e5e.TID3.tmp~", "")
	l := c.Source(0)
	entries, err := l.Entries(ctx, 1, 3)
	require.NoError(t, err)
	require.Equal(t, []SourceEntry{{"file:///b", 2, 2}, {"file:///c", 3, 3}}, entries)
	require.NoError(t, l.Add(ctx, 4, []SourceEntry{{Path: "file:///d", TimestampMs: 4}}))
	require.NoError(t, l.Add(ctx, 5, []SourceEntry{{Path: "file:///e", TimestampMs: 5}}))
	require.Equal(t, "v1\n"+`{"path":"file:///a","timestamp":1,"batchId":0}`+"\n"+
		`{ "batchId":2, "timestamp":2, "path":"file:///b", "new":1}`+"\n"+
		`{"path":"file:///c","timestamp":3,"batchId":3}`+"\n"+
		`{"path":"file:///d","timestamp":4,"batchId":4}`+"\n"+
		`{"path":"file:///e","timestamp":5,"batchId":5}`, get(t, m, "sources/0/5.compact"))
}

// TestPrepare wants the same bytes with and without preparing, and old files gone.
func TestPrepare(t *testing.T) {
	ctx := t.Context()
	run := func(prepare bool) *store.Memory {
		c, m := create(t)
		l := c.Source(0)
		long := strings.Repeat("x", 5000)
		for id := range int64(251) {
			require.NoError(t, l.Add(ctx, id, []SourceEntry{{Path: fmt.Sprint(long, id)}}))
			if prepare {
				require.NoError(t, l.Prepare(ctx))
			}
		}
		require.NoError(t, l.Close())
		require.NoError(t, l.Close())
		return m
	}
	plain, prepared := run(false), run(true)
	require.Equal(t, get(t, plain, "sources/0/249.compact"), get(t, prepared, "sources/0/249.compact"))
	keys := list(t, prepared, "sources/0/")
	require.Len(t, keys, 251-149)
	require.Contains(t, keys, "sources/0/149.compact")
	require.NotContains(t, keys, "sources/0/148")
	require.Greater(t, len(list(t, plain, "sources/0/")), 200)
}

// TestCompactionIsOffTheBatch: the batch that compacts the log writes what is new, however long the log is (P43). Prepare does the rest between batches.
func TestCompactionIsOffTheBatch(t *testing.T) {
	ctx := t.Context()
	st := &countedStore{Memory: store.NewMemory("mem://cp")}
	c, err := Create(ctx, st)
	require.NoError(t, err)
	l := c.Source(0)
	long := strings.Repeat("x", 20_000)
	most := map[bool]int64{} // bytes that an Add wrote, of compact batches and of others
	for id := range int64(130) {
		before := st.written
		require.NoError(t, l.Add(ctx, id, []SourceEntry{{Path: fmt.Sprint(long, id)}}))
		if id > 80 { // a short log is left to the batch
			most[id%10 == 9] = max(most[id%10 == 9], st.written-before)
		}
		require.NoError(t, l.Prepare(ctx))
	}
	require.NoError(t, l.Close())
	require.Less(t, most[true], most[false]+100, "the version, and a line end")
	require.Len(t, collect(t, c.Source(0)), 130)
}

// countedStore counts the bytes that are written.
type countedStore struct {
	*store.Memory
	written int64
}

func (s *countedStore) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	s.written += int64(len(data))
	return s.Memory.PutIfAbsent(ctx, key, data)
}

func (s *countedStore) Create(ctx context.Context, key string) (store.Writer, error) {
	w, err := s.Memory.Create(ctx, key)
	return &countedWriter{w, s}, err
}

type countedWriter struct {
	store.Writer
	st *countedStore
}

func (w *countedWriter) Write(data []byte) (int, error) {
	w.st.written += int64(len(data))
	return w.Writer.Write(data)
}

func TestSourceLogCrash(t *testing.T) {
	crashes(t, func(st store.Store) { _, err := Create(t.Context(), st); require.NoError(t, err) },
		func(ctx context.Context, st store.Store) error {
			c, err := Open(ctx, st)
			for id := int64(0); err == nil && id < 21; id++ {
				err = c.Source(0).Add(ctx, id, []SourceEntry{{Path: fmt.Sprint(id)}})
			}
			return err
		},
		func(t *testing.T, left *store.Memory) {
			c, err := Open(t.Context(), left)
			require.NoError(t, err)
			latest, err := c.Source(0).Latest(t.Context())
			require.NoError(t, err)
			all := collect(t, c.Source(0))
			require.Len(t, all, int(latest)+1)
			for id, e := range all {
				require.Equal(t, SourceEntry{Path: fmt.Sprint(id), BatchID: int64(id)}, e)
			}
			require.NoError(t, c.Source(0).Add(t.Context(), latest+1, nil))
		})
}

func TestSourceLogDamaged(t *testing.T) {
	ctx := t.Context()
	good := `{"path":"file:///a","timestamp":1,"batchId":0}`
	for name, files := range map[string]map[string]string{
		"empty file": {"0": ""},
		"torn line":  {"0": "v1\n" + good[:20]},
		"no field":   {"0": "v1\n" + `{"path":"file:///a","timestamp":1}`},
		"hole":       {"0": "v1\n" + good, "2": "v1\n" + good},
		"irregular":  {"9.compact": "v1", "16.compact": "v1"},
		"lost start": {"1": "v1\n" + good},
	} {
		t.Run(name, func(t *testing.T) {
			c, m := create(t)
			for key, content := range files {
				put(t, m, "sources/0/"+key, content)
			}
			_, err := c.Source(0).Latest(ctx)
			for _, allErr := range c.Source(0).All(ctx) {
				if err == nil {
					err = allErr
				}
			}
			isKind(t, err, Damaged)
			require.ErrorContains(t, err, "file:///cp/sources/0/")
		})
	}
	c, m := create(t)
	put(t, m, "sources/0/0", "v2\n")
	_, err := c.Source(0).Entries(ctx, 0, 0)
	isKind(t, err, UnsupportedVersion)
}
