package checkpoint

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// copies is a table with a CopyLog: its txn is last.
type copies struct {
	t    *testing.T
	st   *store.Memory
	log  *CopyLog
	last int64
	ok   bool
}

func newCopies(t *testing.T) *copies {
	st := store.NewMemory("file:///t")
	require.NoError(t, st.MakeRoot(t.Context()))
	return &copies{t: t, st: st, log: NewCopyLog(st), last: -1}
}

func (c *copies) read() *Copied {
	c.t.Helper()
	out, err := c.log.Read(c.t.Context(), "id", c.last, c.ok)
	require.NoError(c.t, err)
	return out
}

func paths(names ...string) []SourceEntry {
	out := make([]SourceEntry, len(names))
	for i, name := range names {
		out[i] = SourceEntry{Path: "file:///in/" + name, TimestampMs: 5}
	}
	return out
}

func (c *copies) add(names ...string) CopyEntry {
	c.t.Helper()
	e, err := c.log.Add(c.t.Context(), c.read(), c.last, paths(names...))
	require.NoError(c.t, err)
	return e
}

func (c *copies) commit(e CopyEntry) {
	c.t.Helper()
	c.last, c.ok = e.ID, true
	require.NoError(c.t, c.log.Committed(c.t.Context(), e))
}

func (c *copies) keys() (out []string) {
	for info, err := range c.st.List(c.t.Context(), "", "", "") {
		require.NoError(c.t, err)
		out = append(out, info.Key)
	}
	return out
}

func TestCopyLog(t *testing.T) {
	c := newCopies(t)
	require.Empty(t, c.read().paths)
	c.add("lost") // a crash before the commit
	require.False(t, c.read().Has("file:///in/lost"))
	c.commit(c.add("a", "b", "c"))
	slow := c.add("d") // never committed, and c commits later
	c.commit(c.add("d", "e"))
	require.Greater(t, c.last, slow.ID)
	got := c.read()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		require.True(t, got.Has("file:///in/"+name), name)
	}
	require.False(t, got.Has("file:///in/f"))
	require.Equal(t, []string{copyKey(1), copyKey(3), copyMark}, c.keys())
	data, err := c.st.Get(t.Context(), copyKey(3))
	require.NoError(t, err)
	require.Equal(t, "v1\n"+`{"table":"id","before":1}`+"\n"+
		`{"path":"file:///in/d","timestamp":5,"batchId":3}`+"\n"+`{"path":"file:///in/e","timestamp":5,"batchId":3}`, string(data))

	other, err := c.log.Read(t.Context(), "another table", c.last, true)
	require.NoError(t, err)
	require.Empty(t, other.paths)
	c.last = -1 // CREATE OR REPLACE TABLE
	require.Empty(t, c.read().paths)
	c.commit(c.add("a"))
	require.Len(t, c.read().paths, 1)
}

func TestCopyLogStaysSmall(t *testing.T) {
	c := newCopies(t)
	random := rand.New(rand.NewSource(1))
	files, written := 0, 0
	for range 300 {
		var names []string
		for range 1 + random.Intn(3) {
			names = append(names, fmt.Sprint(files))
			files++
		}
		e := c.add(names...)
		data, err := c.st.Get(t.Context(), copyKey(e.ID))
		require.NoError(t, err)
		written += len(data)
		c.commit(e)
		require.LessOrEqual(t, len(c.keys()), 12)
	}
	got := c.read()
	require.Len(t, got.paths, files)
	for i := range files {
		require.True(t, got.Has(fmt.Sprintf("file:///in/%d", i)))
	}
	require.Less(t, written, files*55*10, "each file is written about log2 times")
	c.commit(c.add("0", "1", "2")) // again, by force
	require.Len(t, c.read().paths, files)
}

func TestCopyLogRefusesToForget(t *testing.T) {
	c := newCopies(t)
	c.commit(c.add("a"))
	c.ok, c.last = false, -1 // the table's txn was dropped
	_, err := c.log.Read(t.Context(), "id", -1, false)
	require.True(t, IsKind(err, Damaged), "%v", err)
	require.ErrorContains(t, err, "'force' = 'true'")
	_, err = c.log.Read(t.Context(), "another", -1, false)
	require.NoError(t, err)

	for _, damage := range []string{"", "v1", "v1\n{}", "v1\n{\"table\":\"id\",\"before\":7}", "v1\n{\"table\":\"id\",\"before\":-1}\n{\"path\":3}"} {
		require.NoError(t, c.st.Delete(t.Context(), copyKey(0)))
		require.NoError(t, c.st.PutIfAbsent(t.Context(), copyKey(0), []byte(damage)))
		_, err := c.log.Read(t.Context(), "id", 0, true)
		require.True(t, IsKind(err, Damaged), "%q: %v", damage, err)
		require.ErrorContains(t, err, "'force' = 'true'", damage)
	}
	require.NoError(t, c.st.Delete(t.Context(), copyKey(0)))
	_, err = c.log.Read(t.Context(), "id", 0, true)
	require.ErrorContains(t, err, "the file is missing")
	require.ErrorIs(t, err, store.ErrNotFound)
}

// BenchmarkCopyLog reads what a million copied files leave.
func BenchmarkCopyLog(b *testing.B) {
	st := store.NewMemory("file:///t")
	require.NoError(b, st.MakeRoot(b.Context()))
	log := NewCopyLog(st)
	files := make([]SourceEntry, 1_000_000)
	for i := range files {
		files[i] = SourceEntry{Path: fmt.Sprintf("file:///landing/2026/11/sales_%09d.csv", i), TimestampMs: 1_700_000_000_000}
	}
	e, err := log.Add(b.Context(), None("id"), -1, files)
	require.NoError(b, err)
	for b.Loop() {
		got, err := log.Read(b.Context(), "id", e.ID, true)
		require.NoError(b, err)
		require.Len(b, got.paths, len(files))
	}
}
