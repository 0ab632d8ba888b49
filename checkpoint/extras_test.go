package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"lakesql/store"
)

func TestBinding(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	_, ok, err := c.Binding(ctx)
	require.NoError(t, err)
	require.False(t, ok)
	b := Binding{StreamName: "lake.s", TableID: "id", TableURI: "file:///lake/t<1>"}
	require.NoError(t, c.Bind(ctx, b))
	require.NoError(t, c.Bind(ctx, b))
	require.Equal(t, `{"streamName":"lake.s","tableId":"id","tableUri":"file:///lake/t<1>"}`, get(t, m, bindingKey))
	other := Binding{StreamName: "lake.s2", TableID: "id"}
	err = c.Bind(ctx, other)
	isKind(t, err, Bound)
	require.ErrorContains(t, err, "lake.s")
	require.NoError(t, c.Rebind(ctx, other))
	got, ok, err := c.Binding(ctx)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, other, got)
	put(t, m, bindingKey, "{")
	_, _, err = c.Binding(ctx)
	isKind(t, err, Damaged)
}

func TestSchema(t *testing.T) {
	ctx := t.Context()
	c, _ := create(t)
	_, ok, err := c.Schema(ctx, 1)
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, c.SaveSchema(ctx, 1, []byte("one")))
	require.NoError(t, c.SaveSchema(ctx, 1, []byte("two")))
	schema, ok, err := c.Schema(ctx, 1)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "two", string(schema))
}

func TestSkip(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	require.NoError(t, c.SkipFile(ctx, "file:///a&b"))
	require.NoError(t, c.SkipFile(ctx, "file:///a&b"))
	require.NoError(t, c.SkipFile(ctx, "file:///c"))
	_, err := c.Reset(ctx)
	require.NoError(t, err)
	paths, err := c.SkippedFiles(ctx)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"file:///a&b", "file:///c"}, paths)
	put(t, m, skipDir+"x.json", "{")
	_, err = c.SkippedFiles(ctx)
	isKind(t, err, Damaged)
}

func batchesOf(items []Item) string {
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "%d:%s ", it.Batch, it.Data)
	}
	return b.String()
}

func TestRing(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	items := func(c *Checkpoint) string {
		items, err := c.Progress().Items(ctx)
		require.NoError(t, err)
		return batchesOf(items)
	}
	r := c.Progress()
	require.NoError(t, r.Flush(ctx), "nothing to write")
	require.Empty(t, list(t, m, extrasDir))
	r.Put(1, json.RawMessage(`"a"`), json.RawMessage(`"b"`))
	r.Put(2, json.RawMessage(`"c"`))
	require.NoError(t, r.Flush(ctx))
	require.Equal(t, `1:"a" 1:"b" 2:"c" `, items(c))

	c, err := Open(ctx, m)
	require.NoError(t, err)
	c.Progress().Put(2, json.RawMessage(`"again"`)) // put before anything is loaded: replaces what the file has
	require.Equal(t, `1:"a" 1:"b" 2:"again" `, items(c))
	for n := range int64(3 * ProgressBatches) {
		c.Progress().Put(n, json.RawMessage("0"))
	}
	require.NoError(t, c.Progress().Flush(ctx))
	c, err = Open(ctx, m)
	require.NoError(t, err)
	kept, err := c.Progress().Items(ctx)
	require.NoError(t, err)
	require.Len(t, kept, ProgressBatches)
	require.EqualValues(t, 2*ProgressBatches, kept[0].Batch)

	big := json.RawMessage(`"` + strings.Repeat("x", maxRingBytes/4) + `"`)
	for n := range int64(10) {
		c.Errors().Put(n, big)
	}
	kept, err = c.Errors().Items(ctx)
	require.NoError(t, err)
	require.Len(t, kept, 3)

	put(t, m, progressKey, "{")
	c, err = Open(ctx, m)
	require.NoError(t, err)
	_, err = c.Progress().Items(ctx)
	isKind(t, err, Damaged)
	isKind(t, func() error { c.Progress().Put(1); return c.Progress().Flush(ctx) }(), Damaged)
}

func facts(t *testing.T, l *FileLog) []FileFact {
	t.Helper()
	var all []FileFact
	for f, err := range l.All(t.Context()) {
		require.NoError(t, err)
		all = append(all, f)
	}
	return all
}

func TestFileLog(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	l := c.Files(2)
	pin := func(name string) FilePin {
		return FilePin{Path: "file:///" + name, Size: 3, ModTimeNs: 4, ETag: "e"}
	}
	require.NoError(t, l.Pin(ctx, 0, []FilePin{pin("a"), pin("b")}))
	require.NoError(t, l.Pin(ctx, 0, []FilePin{pin("a"), pin("b")}), "the same again")
	isKind(t, l.Pin(ctx, 0, []FilePin{pin("x")}), Concurrent)
	require.NoError(t, l.Pin(ctx, 1, []FilePin{pin("c")}))
	require.NoError(t, l.Pin(ctx, 3, []FilePin{pin("d")}))
	require.NoError(t, l.Finish(ctx, 7, 0, 1, time.UnixMilli(5), []FileResult{{Path: "file:///b", Rows: 5, Rejected: 1, Error: "bad"}, {Path: "file:///c", Rows: 6}}))
	want := []FileFact{
		{FilePin: pin("a"), LogID: 0, Batch: 7, Rows: -1, DoneMs: 5},
		{FilePin: pin("b"), LogID: 0, Batch: 7, Rows: 5, Rejected: 1, Error: "bad", DoneMs: 5},
		{FilePin: pin("c"), LogID: 1, Batch: 7, Rows: 6, DoneMs: 5},
		{FilePin: pin("d"), LogID: 3, Batch: -1, Rows: -1},
	}
	require.Empty(t, cmp.Diff(want, facts(t, l)))
	pins, err := l.Pins(ctx, 1, 2)
	require.NoError(t, err)
	require.Equal(t, []FilePin{pin("c")}, pins)
	require.Equal(t, []string{
		"_lakesql/files/2/00000000000000000000-00000000000000000001.done",
		"_lakesql/files/2/00000000000000000000.pin", "_lakesql/files/2/00000000000000000001.pin", "_lakesql/files/2/00000000000000000003.pin",
	}, list(t, m, filesDir))
	require.Equal(t, "{\"batch\":7,\"doneMs\":5}\n"+`{"path":"file:///b","rows":5,"rejected":1,"error":"bad"}`+"\n"+`{"path":"file:///c","rows":6,"rejected":0}`+"\n",
		get(t, m, "_lakesql/files/2/00000000000000000000-00000000000000000001.done"))
	put(t, m, "_lakesql/files/2/00000000000000000001.pin", "{")
	_, err = l.Pins(ctx, 1, 1)
	isKind(t, err, Damaged)
}

// TestFinishAhead: what is kept before a commit counts until Finish says it, and runs that differ in what they left out say nothing about that.
func TestFinishAhead(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	l := c.Files(0)
	pins := []FilePin{{Path: "file:///a"}, {Path: "file:///b"}, {Path: "file:///c"}}
	require.NoError(t, l.Pin(ctx, 0, pins))
	require.NoError(t, l.Pin(ctx, 1, []FilePin{{Path: "file:///d"}}))
	require.NoError(t, l.FinishAhead(ctx, 4, 0, 0, []FileResult{{Path: "file:///a", Rows: 1}, {Path: "file:///b", Error: "gone"}, {Path: "file:///c", Rows: 3}}))
	want := []FileFact{
		{FilePin: pins[0], Batch: 4, Rows: 1}, {FilePin: pins[1], Batch: 4, Error: "gone"}, {FilePin: pins[2], Batch: 4, Rows: 3},
		{FilePin: FilePin{Path: "file:///d"}, LogID: 1, Batch: -1, Rows: -1},
	}
	require.Empty(t, cmp.Diff(want, facts(t, l)))

	require.NoError(t, l.FinishAhead(ctx, 4, 0, 0, []FileResult{{Path: "file:///a", Rows: 1}, {Path: "file:///b", Rows: 2}, {Path: "file:///c", Rows: 3}}))
	want[1] = FileFact{FilePin: pins[1], Batch: -1, Rows: -1}
	require.Empty(t, cmp.Diff(want, facts(t, l)))

	require.NoError(t, l.Finish(ctx, 4, 0, 0, time.UnixMilli(5), []FileResult{{Path: "file:///a", Rows: 1}, {Path: "file:///b", Rows: 2}, {Path: "file:///c", Rows: 3}}))
	for i := range want[:3] {
		want[i] = FileFact{FilePin: pins[i], Batch: 4, Rows: int64(i + 1), DoneMs: 5}
	}
	require.Empty(t, cmp.Diff(want, facts(t, l)))

	require.NoError(t, l.FinishAhead(ctx, 5, 1, 1, []FileResult{{Path: "file:///d", Rows: 4}}))
	require.Equal(t, "{\"batch\":5,\"doneMs\":0}\n"+`{"path":"file:///d","rows":4,"rejected":0}`+"\n", get(t, m, filesDir+"0/"+strings.Repeat("0", 19)+"1-"+strings.Repeat("0", 19)+"1.read"))
	put(t, m, filesDir+"0/"+strings.Repeat("0", 19)+"1-"+strings.Repeat("0", 19)+"1.read", "{")
	isKind(t, l.FinishAhead(ctx, 5, 1, 1, nil), Damaged)
}

func TestBegin(t *testing.T) {
	c, _ := create(t)
	l := c.Files(0)
	_, ok, err := l.Begin(t.Context())
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, l.SaveBegin(t.Context(), 1))
	require.NoError(t, l.SaveBegin(t.Context(), 1))
	require.Error(t, l.SaveBegin(t.Context(), 2))
	first, ok, err := l.Begin(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, int64(1), first)
	require.Empty(t, facts(t, l), "it is no fact about a file")
	_, err = c.Reset(t.Context())
	require.NoError(t, err)
	_, ok, err = l.Begin(t.Context())
	require.NoError(t, err)
	require.False(t, ok, "after a reset the stream begins again")
}

// writeFacts writes n batches of the source log, three of them in each batch of the query.
func writeFacts(ctx context.Context, l *FileLog, from, n int64) error {
	for id := from; id < n; id++ {
		path := fmt.Sprint("file:///", id)
		if err := l.Pin(ctx, id, []FilePin{{Path: path, Size: id}}); err != nil {
			return err
		}
		if id%3 != 2 {
			continue
		}
		results := []FileResult{}
		for k := id - 2; k <= id; k++ {
			results = append(results, FileResult{Path: fmt.Sprint("file:///", k), Rows: k * 10})
		}
		if err := l.FinishAhead(ctx, id/3, id-2, id, results); err != nil {
			return err
		}
		if id/3%4 == 0 {
			continue // a crash came between the commit and this
		}
		if err := l.Finish(ctx, id/3, id-2, id, time.UnixMilli(5), results); err != nil {
			return err
		}
	}
	return nil
}

func requireFacts(t *testing.T, got []FileFact, n int64) {
	t.Helper()
	require.Len(t, got, int(n))
	for i, f := range got {
		id := int64(i)
		want := FileFact{FilePin: FilePin{Path: fmt.Sprint("file:///", id), Size: id}, LogID: id, Batch: id / 3, Rows: id * 10, DoneMs: 5}
		switch {
		case id >= n-n%3:
			want.Batch, want.Rows, want.DoneMs = -1, -1, 0
		case id/3%4 == 0:
			want.DoneMs = 0
		}
		require.Empty(t, cmp.Diff(want, f))
	}
}

func TestFileLogCompact(t *testing.T) {
	old := blockSizes
	blockSizes = []int64{10, 50}
	t.Cleanup(func() { blockSizes = old })
	ctx := t.Context()
	c, m := create(t)
	l := c.Files(0)
	require.NoError(t, l.Compact(ctx))
	const n = 137
	for id := range int64(n) {
		require.NoError(t, writeFacts(ctx, l, id, id+1))
		if id%7 == 0 {
			require.NoError(t, l.Compact(ctx))
			require.NoError(t, l.Compact(ctx))
		}
	}
	requireFacts(t, facts(t, l), n)
	require.Less(t, len(list(t, m, filesDir)), 20)
	blocks := 0
	for _, key := range list(t, m, filesDir) {
		if strings.HasSuffix(key, ".all") {
			blocks++
		}
	}
	require.Equal(t, 2+3, blocks) // 0-49, 50-99, 100-109, 110-119, 120-129
	pins, err := l.Pins(ctx, 98, 101)
	require.NoError(t, err)
	require.Len(t, pins, 4)
}

func TestFileLogCompactCrash(t *testing.T) {
	old := blockSizes
	blockSizes = []int64{5, 15}
	t.Cleanup(func() { blockSizes = old })
	const n = 31
	crashes(t,
		func(st store.Store) {
			c, err := Create(t.Context(), st)
			require.NoError(t, err)
			require.NoError(t, writeFacts(t.Context(), c.Files(0), 0, n))
		},
		func(ctx context.Context, st store.Store) error {
			c, err := Open(ctx, st)
			if err != nil {
				return err
			}
			return c.Files(0).Compact(ctx)
		},
		func(t *testing.T, left *store.Memory) {
			c, err := Open(t.Context(), left)
			require.NoError(t, err)
			requireFacts(t, facts(t, c.Files(0)), n)
			require.NoError(t, c.Files(0).Compact(t.Context()))
			requireFacts(t, facts(t, c.Files(0)), n)
			require.Len(t, list(t, left, filesDir), 3, "two blocks and the pin of the last batch") // 0-14, 15-29, 30
		})
}
