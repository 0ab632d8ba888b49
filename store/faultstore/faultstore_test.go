package faultstore_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
	"lakesql/store/faultstore"
)

func newStore(t *testing.T) (*faultstore.Store, *store.Memory) {
	t.Helper()
	m := store.NewMemory("memory:///m")
	require.NoError(t, m.MakeRoot(t.Context()))
	return faultstore.New(m), m
}

func keys(t *testing.T, s store.Store) (keys []string) {
	t.Helper()
	for info, err := range s.List(t.Context(), "", "", "") {
		require.NoError(t, err)
		keys = append(keys, info.Key)
	}
	return keys
}

func write(ctx context.Context, s store.Store, key string) error {
	w, err := s.Create(ctx, key)
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(key)); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit(ctx, true)
}

func TestLog(t *testing.T) {
	f, _ := newStore(t)
	ctx := t.Context()
	sub := store.Sub(f, "a/b")
	require.ErrorIs(t, sub.PutIfAbsent(ctx, "1", nil), store.ErrRootMissing)
	require.NoError(t, sub.(store.RootMaker).MakeRoot(ctx))
	require.NoError(t, sub.PutIfAbsent(ctx, "1", nil))
	require.Error(t, sub.PutIfAbsent(ctx, "1", nil))
	require.NoError(t, write(ctx, f, "c"))
	_, err := f.Get(ctx, "none")
	require.Error(t, err)
	require.Equal(t, []string{"a/b/1", "c"}, keys(t, f))
	require.NoError(t, f.Rename(ctx, "a", "d"))
	require.NoError(t, store.DeletePrefix(ctx, f, "d/"))
	_, err = sub.Stat(ctx, "1")
	require.Error(t, err)
	require.Equal(t, `put-if-absent a/b/1 root-missing
make-root a/b/ ok
put-if-absent a/b/1 ok
put-if-absent a/b/1 exists
create c ok
write c ok
commit-if-absent c ok
get none not-found
list  ok
rename a -> d ok
delete-all d/ ok
stat a/b/1 root-missing
`, f.Log())
	require.Equal(t, "get none not-found\n", f.Log(faultstore.Get))
	f.ClearLog()
	require.Empty(t, f.Log())
}

func TestRules(t *testing.T) {
	f, m := newStore(t)
	ctx := t.Context()
	f.Add(faultstore.Rule{Match: faultstore.On(faultstore.PutIfAbsent, "a/"), Nth: 2, Before: faultstore.Fail(syscall.ENOSPC)})
	require.NoError(t, f.PutIfAbsent(ctx, "a/1", nil))
	require.NoError(t, f.PutIfAbsent(ctx, "b", nil))
	require.ErrorIs(t, f.PutIfAbsent(ctx, "a/2", nil), syscall.ENOSPC)
	require.NoError(t, f.PutIfAbsent(ctx, "a/3", nil))
	require.Equal(t, []string{"a/1", "a/3", "b"}, keys(t, m))

	f.ClearRules()
	f.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Write), Before: faultstore.Fail(syscall.ENOSPC)})
	require.ErrorIs(t, write(ctx, f, "w"), syscall.ENOSPC)
	w, err := f.Create(ctx, "w")
	require.NoError(t, err)
	_, err = w.Write(nil)
	require.Error(t, err)
	require.ErrorIs(t, w.Commit(ctx, false), syscall.ENOSPC, "an object without those bytes is not committed")
	require.Equal(t, []string{"a/1", "a/3", "b"}, keys(t, m))

	f.ClearRules()
	f.Add(faultstore.Rule{Match: faultstore.On(faultstore.PutIfAbsent, "lost"), Before: faultstore.Lose()})
	f.Add(faultstore.Rule{Match: faultstore.On(faultstore.PutIfAbsent, "done"), After: faultstore.Obscure()})
	require.ErrorIs(t, f.PutIfAbsent(ctx, "lost", nil), store.ErrAmbiguous)
	require.ErrorIs(t, f.PutIfAbsent(ctx, "done", nil), store.ErrAmbiguous)
	require.Equal(t, []string{"a/1", "a/3", "b", "done"}, keys(t, m))
	require.ErrorIs(t, f.PutIfAbsent(ctx, "done", nil), store.ErrExists)

	f.ClearRules()
	var seen []string
	f.Add(faultstore.Rule{
		Match: faultstore.Is(faultstore.Delete),
		Before: func(ctx context.Context, op faultstore.Op) error {
			_, err := f.Stat(ctx, op.Key) // a rule may use the store
			seen = append(seen, op.Key)
			return err
		},
		After: func(_ context.Context, _ faultstore.Op, err error) error { return errors.Join(err, syscall.EIO) },
	})
	require.ErrorIs(t, f.Delete(ctx, "b"), syscall.EIO)
	require.Equal(t, []string{"b"}, seen)
	require.Equal(t, []string{"a/1", "a/3", "done"}, keys(t, m))
}

func TestCrash(t *testing.T) {
	for after, want := range map[bool][]string{false: {"1"}, true: {"1", "2"}} {
		f, m := newStore(t)
		ctx := t.Context()
		if after {
			f.CrashAfter(2)
		} else {
			f.CrashBefore(2)
		}
		require.NoError(t, f.PutIfAbsent(ctx, "1", nil))
		require.False(t, f.Crashed())
		_, err := f.Stat(ctx, "1")
		require.NoError(t, err)
		require.ErrorIs(t, write(ctx, f, "2"), faultstore.ErrCrashed)
		require.True(t, f.Crashed())
		require.ErrorIs(t, f.PutIfAbsent(ctx, "3", nil), faultstore.ErrCrashed)
		_, err = f.Get(ctx, "1")
		require.ErrorIs(t, err, faultstore.ErrCrashed)
		require.Equal(t, want, keys(t, m.Clone()))
	}
}

func TestDelayAndBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := newStore(t)
		f.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Stat), Before: faultstore.Delay(time.Hour)})
		start := time.Now()
		_, err := f.Stat(t.Context(), "k")
		require.ErrorIs(t, err, store.ErrNotFound)
		require.Equal(t, time.Hour, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = f.Stat(ctx, "k")
		require.ErrorIs(t, err, context.DeadlineExceeded)

		until := make(chan struct{})
		f.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Get), Before: faultstore.Block(until)})
		done := make(chan error)
		go func() {
			_, err := f.Get(context.Background(), "k")
			done <- err
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("it did not block")
		default:
		}
		close(until)
		require.ErrorIs(t, <-done, store.ErrNotFound)
	})
}
