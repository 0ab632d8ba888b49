package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
	"lakesql/store/faultstore"
)

func memory() *store.Memory { return store.NewMemory("file:///cp") }

// create makes a checkpoint in a new memory store.
func create(t *testing.T) (*Checkpoint, *store.Memory) {
	t.Helper()
	m := memory()
	c, err := Create(t.Context(), m)
	require.NoError(t, err)
	return c, m
}

func get(t *testing.T, st store.Store, key string) string {
	t.Helper()
	data, err := st.Get(t.Context(), key)
	require.NoError(t, err)
	return string(data)
}

func put(t *testing.T, st store.Store, key, content string) {
	t.Helper()
	require.NoError(t, replace(t.Context(), st, key, []byte(content)))
}

func list(t *testing.T, st store.Store, prefix string) []string {
	t.Helper()
	var keys []string
	for info, err := range st.List(t.Context(), prefix, "", "") {
		require.NoError(t, err)
		keys = append(keys, info.Key)
	}
	return keys
}

func isKind(t *testing.T, err error, kind Kind) {
	t.Helper()
	require.Error(t, err)
	require.True(t, IsKind(err, kind), "want kind %d, got: %v", kind, err)
}

var someOffsets = Offsets{TimestampMs: 7, Conf: []byte(`{}`), Sources: []string{`{"logOffset":0}`}}

// batches writes finished batches 0..n-1.
func batches(t *testing.T, c *Checkpoint, n int64) {
	t.Helper()
	for id := range n {
		require.NoError(t, c.Offsets().Add(t.Context(), id, someOffsets))
		require.NoError(t, c.Commits().Add(t.Context(), id, 0))
	}
}

func TestCreateOpen(t *testing.T) {
	ctx := t.Context()
	m := memory()
	_, err := Open(ctx, m)
	isKind(t, err, Missing)
	require.NoError(t, m.MakeRoot(ctx))
	_, err = Open(ctx, m)
	isKind(t, err, Missing)
	require.Empty(t, list(t, m, ""))

	put(t, m, ".metadata.crc", "stale")
	c, err := Create(ctx, m)
	require.NoError(t, err)
	require.Equal(t, []string{"metadata"}, list(t, m, ""))
	require.Equal(t, `{"id":"`+c.ID()+`"}`, get(t, m, "metadata"))
	require.Len(t, get(t, m, "metadata"), 45)
	require.Equal(t, "file:///cp", c.URI())

	_, err = Create(ctx, m)
	isKind(t, err, Exists)
	require.ErrorIs(t, err, store.ErrExists)
	batches(t, c, 3)
	again, err := Open(ctx, m)
	require.NoError(t, err)
	require.Equal(t, c.ID(), again.ID())
	require.NoError(t, again.Verify(ctx))
}

// TestDeleted holds that nothing of a deleted checkpoint ever comes back, with its folder gone or only emptied.
func TestDeleted(t *testing.T) {
	for _, prefixes := range [][]string{{""}, {"metadata", "offsets/", "commits/", "sources/", "_lakesql/"}} {
		c, m := create(t)
		ctx := t.Context()
		batches(t, c, 1)
		lease := c.Lease("a")
		require.NoError(t, lease.Acquire(ctx))
		for _, p := range prefixes {
			require.NoError(t, store.DeletePrefix(ctx, m, p))
		}
		isKind(t, c.Verify(ctx), Gone)
		isKind(t, lease.Renew(ctx), Gone)
		isKind(t, c.Rebind(ctx, Binding{}), Gone)
		isKind(t, c.Bind(ctx, Binding{}), Gone)
		isKind(t, c.SaveSchema(ctx, 0, nil), Gone)
		isKind(t, c.Files(0).Pin(ctx, 0, nil), Gone)
		isKind(t, c.Files(0).Finish(ctx, 0, 0, 0, time.Now(), nil), Gone)
		c.Progress().Put(1)
		isKind(t, c.Progress().Flush(ctx), Gone)
		_, err := c.Reset(ctx)
		isKind(t, err, Gone)
		_, err = Open(ctx, m)
		isKind(t, err, Missing)
		if len(prefixes) == 1 {
			isKind(t, c.Offsets().Add(ctx, 1, someOffsets), Gone)
			isKind(t, c.Commits().Add(ctx, 1, 0), Gone)
			isKind(t, c.Source(0).Add(ctx, 0, nil), Gone)
			require.ErrorIs(t, m.PutIfAbsent(ctx, "x", nil), store.ErrRootMissing)
		} else {
			require.Empty(t, list(t, m, ""))
		}
	}
}

func TestChanged(t *testing.T) {
	c, m := create(t)
	other, err := Open(t.Context(), m)
	require.NoError(t, err)
	id, err := other.Reset(t.Context())
	require.NoError(t, err)
	err = c.Verify(t.Context())
	isKind(t, err, Changed)
	require.ErrorContains(t, err, c.ID())
	require.ErrorContains(t, err, id)
}

// TestConcurrent runs two handles, as two processes would be, into each other.
func TestConcurrent(t *testing.T) {
	ctx := t.Context()
	a, m := create(t)
	b, err := Open(ctx, m)
	require.NoError(t, err)
	batches(t, a, 2)
	for _, err := range []error{
		b.Offsets().Add(ctx, 1, someOffsets),
		b.Commits().Add(ctx, 0, 0),
	} {
		isKind(t, err, Concurrent)
		require.ErrorIs(t, err, store.ErrExists)
		require.ErrorContains(t, err, "[CONCURRENT_STREAM_LOG_UPDATE] ")
	}
	latest, err := b.Source(0).Latest(ctx)
	require.NoError(t, err)
	require.EqualValues(t, -1, latest)
	require.NoError(t, a.Source(0).Add(ctx, 0, nil))
	isKind(t, b.Source(0).Add(ctx, 0, nil), Concurrent)
	require.NoError(t, b.Source(0).Add(ctx, 1, nil), "it has looked again")
	isKind(t, a.Source(0).Add(ctx, 1, nil), Concurrent)
	isKind(t, b.Offsets().Add(ctx, 3, someOffsets), Damaged)
}

// TestDiskFull wants a write that failed to leave nothing, and to work again later.
func TestDiskFull(t *testing.T) {
	ctx := t.Context()
	m := memory()
	f := faultstore.New(m)
	c, err := Create(ctx, f)
	require.NoError(t, err)
	for id := range int64(2 * CompactInterval) {
		before := list(t, m, "")
		for _, kind := range []faultstore.Kind{faultstore.PutIfAbsent, faultstore.Write, faultstore.CommitIfAbsent} {
			f.Add(faultstore.Rule{Match: faultstore.Is(kind), Before: faultstore.Fail(syscall.ENOSPC)})
		}
		require.ErrorIs(t, c.Source(0).Add(ctx, id, []SourceEntry{{Path: "p"}}), syscall.ENOSPC)
		require.ErrorIs(t, c.Offsets().Add(ctx, id, someOffsets), syscall.ENOSPC)
		require.ErrorIs(t, c.Commits().Add(ctx, id, 0), syscall.ENOSPC)
		require.Equal(t, before, list(t, m, ""))
		f.ClearRules()
		require.NoError(t, c.Source(0).Add(ctx, id, []SourceEntry{{Path: fmt.Sprint(id)}}))
		require.NoError(t, c.Offsets().Add(ctx, id, someOffsets))
		require.NoError(t, c.Commits().Add(ctx, id, 0))
	}
	require.EqualValues(t, 2*CompactInterval, len(collect(t, c.Source(0))))
}

// TestAmbiguous: whether the write has happened or not, the next Open tells.
func TestAmbiguous(t *testing.T) {
	ctx := t.Context()
	for _, rule := range []faultstore.Rule{{Before: faultstore.Lose()}, {After: faultstore.Obscure()}} {
		m := memory()
		f := faultstore.New(m)
		c, err := Create(ctx, f)
		require.NoError(t, err)
		rule.Match, rule.Nth = faultstore.On(faultstore.PutIfAbsent, ""), 1
		f.Add(rule)
		require.ErrorIs(t, c.Source(0).Add(ctx, 0, []SourceEntry{{Path: "p"}}), store.ErrAmbiguous)
		latest, err := c.Source(0).Latest(ctx)
		require.NoError(t, err)
		if latest < 0 {
			require.NoError(t, c.Source(0).Add(ctx, 0, []SourceEntry{{Path: "p"}}))
		}
		entries, err := c.Source(0).Entries(ctx, 0, 0)
		require.NoError(t, err)
		require.Equal(t, []SourceEntry{{Path: "p"}}, entries)
	}
}

func TestPurge(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	batches(t, c, 6)
	put(t, m, "offsets/.1.crc", "x")
	f := faultstore.New(m)
	c, err := Open(ctx, f)
	require.NoError(t, err)
	f.ClearLog()
	require.NoError(t, c.Offsets().Purge(ctx, 3))
	require.Equal(t, "delete offsets/0 ok\ndelete offsets/.1.crc ok\ndelete offsets/1 ok\ndelete offsets/2 ok\n", f.Log(faultstore.Delete))
	require.NoError(t, c.Commits().Purge(ctx, 99))
	require.Equal(t, []string{"commits/4", "commits/5"}, list(t, m, "commits/"), "the last two stay")
	_, err = Open(ctx, m)
	require.NoError(t, err)
}

// TestStaleChecksum: a checksum file without its file would keep Spark from writing that batch.
func TestStaleChecksum(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	for _, key := range []string{"offsets/.0.crc", "commits/.0.crc", "sources/0/.0.crc", "sources/0/.9.compact.crc"} {
		put(t, m, key, "stale")
	}
	batches(t, c, 1)
	for id := range int64(10) {
		require.NoError(t, c.Source(0).Add(ctx, id, nil))
	}
	for _, key := range list(t, m, "") {
		require.NotContains(t, key, ".crc")
	}
}

// crashes runs steps once for every crash point among the durable operations of that run, and hands what the crash left to
// check. prepare writes what is there before.
func crashes(t *testing.T, prepare func(store.Store), steps func(context.Context, store.Store) error, check func(t *testing.T, left *store.Memory)) {
	t.Helper()
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			m := memory()
			prepare(m)
			f := faultstore.New(m)
			if after {
				f.CrashAfter(n)
			} else {
				f.CrashBefore(n)
			}
			err := steps(t.Context(), f)
			if !f.Crashed() {
				require.NoError(t, err)
				require.Greater(t, n, 1, "there was no crash point")
				break
			}
			if err != nil && !errors.Is(err, faultstore.ErrCrashed) {
				t.Fatalf("crash point %d (after: %v): %v", n, after, err)
			}
			check(t, m.Clone())
		}
	}
}
