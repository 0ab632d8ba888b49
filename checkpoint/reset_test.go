package checkpoint

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
	"lakesql/store/faultstore"
)

// full makes a checkpoint with something everywhere, as Spark on a local disk and we would leave it. Its lease is held.
func full(t *testing.T, st store.Store) *Checkpoint {
	t.Helper()
	ctx := t.Context()
	c, err := Create(ctx, st)
	require.NoError(t, err)
	batches(t, c, 12)
	for id := range int64(12) {
		require.NoError(t, c.Source(0).Add(ctx, id, []SourceEntry{{Path: "file:///a"}}))
		require.NoError(t, c.Files(0).Pin(ctx, id, []FilePin{{Path: "file:///a"}}))
	}
	for _, key := range []string{".metadata.crc", "offsets/.3.crc", "commits/.3.crc", "sources/0/.3.crc"} {
		put(t, st, key, "crc")
	}
	require.NoError(t, c.Bind(ctx, Binding{StreamName: "lake.s"}))
	require.NoError(t, c.SaveSchema(ctx, 0, []byte("{}")))
	c.Progress().Put(11, []byte(`{}`))
	require.NoError(t, c.Progress().Flush(ctx))
	require.NoError(t, c.Lease("a").Acquire(ctx))
	return c
}

// requireEmpty wants a checkpoint as good as new.
func requireEmpty(t *testing.T, st store.Store) {
	t.Helper()
	require.Equal(t, []string{"_lakesql/lease/00000000000000000001.json", "metadata"}, list(t, st, ""))
}

func TestReset(t *testing.T) {
	ctx := t.Context()
	m := memory()
	c := full(t, m)
	old := c.ID()
	latest, err := c.Source(0).Latest(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 11, latest)
	c.Errors().Put(3, []byte(`"kept in memory"`))

	id, err := c.Reset(ctx)
	require.NoError(t, err)
	require.NotEqual(t, old, id)
	require.Equal(t, id, c.ID())
	requireEmpty(t, m)
	require.NoError(t, c.Verify(ctx))
	latest, err = c.Source(0).Latest(ctx)
	require.NoError(t, err)
	require.EqualValues(t, -1, latest)
	for _, ring := range []*Ring{c.Progress(), c.Errors()} {
		items, err := ring.Items(ctx)
		require.NoError(t, err)
		require.Empty(t, items)
	}
	_, ok, err := c.Binding(ctx)
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, c.Source(0).Add(ctx, 0, nil))
	batches(t, c, 2)
	again, err := Open(ctx, m)
	require.NoError(t, err)
	require.Equal(t, id, again.ID())
}

func TestResetCrash(t *testing.T) {
	var old string
	crashes(t,
		func(st store.Store) { old = full(t, st).ID() },
		func(ctx context.Context, st store.Store) error {
			c, err := Open(ctx, st)
			if err != nil {
				return err
			}
			_, err = c.Reset(ctx)
			return err
		},
		func(t *testing.T, left *store.Memory) {
			_, err := left.Stat(t.Context(), resetKey)
			begun := err == nil
			// The next start crashes as well, at each of its own points; the one after that must find either all or nothing.
			for n := 1; begun; n++ {
				m := left.Clone()
				f := faultstore.New(m)
				f.CrashBefore(n)
				if _, err := Open(t.Context(), f); err == nil {
					break
				}
				_, err := Open(t.Context(), m)
				require.NoError(t, err)
				requireEmpty(t, m)
			}
			c, err := Open(t.Context(), left)
			require.NoError(t, err)
			if c.ID() == old {
				require.False(t, begun)
				latest, err := c.Commits().Latest(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, 11, latest)
				return
			}
			requireEmpty(t, left)
		})
}

// TestResetOrder pins the order of the durable operations.
func TestResetOrder(t *testing.T) {
	m := memory()
	c, err := Create(t.Context(), m)
	require.NoError(t, err)
	batches(t, c, 2)
	put(t, m, "offsets/.1.crc", "crc")
	f := faultstore.New(m)
	c, err = Open(t.Context(), f)
	require.NoError(t, err)
	f.ClearLog()
	_, err = c.Reset(t.Context())
	require.NoError(t, err)
	require.Equal(t, strings.TrimLeft(`
put-if-absent _lakesql/reset.json ok
delete .metadata.crc ok
commit metadata ok
delete offsets/0 ok
delete offsets/.1.crc ok
delete offsets/1 ok
delete commits/0 ok
delete commits/1 ok
delete-all sources/ ok
delete-all _lakesql/files/ ok
delete-all _lakesql/schema/ ok
delete-all _lakesql/start/ ok
delete-all _lakesql/retry/ ok
delete-all _lakesql/binding.json ok
delete-all _lakesql/progress.jsonl ok
delete-all _lakesql/errors.jsonl ok
delete _lakesql/reset.json ok
`, "\n"), f.Log(faultstore.Durable...))
}

// TestResetTwice: a process that is late with the same reset must not delete what the other has written since.
func TestResetTwice(t *testing.T) {
	ctx := t.Context()
	m := memory()
	full(t, m)
	marker := `{"oldId":"x","newId":"11111111-1111-4111-8111-111111111111"}`
	put(t, m, resetKey, marker)
	f := faultstore.New(m)
	f.Add(faultstore.Rule{Match: faultstore.On(faultstore.Delete, "offsets/"), Nth: 3, Before: func(ctx context.Context, _ faultstore.Op) error {
		c, err := Open(ctx, m) // the other one
		if err != nil {
			return err
		}
		return c.Offsets().Add(ctx, 0, someOffsets)
	}})
	_, err := Open(ctx, f)
	isKind(t, err, Concurrent)
	c, err := Open(ctx, m)
	require.NoError(t, err)
	latest, err := c.Offsets().Latest(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 0, latest)
}

func TestResetMarkerUnreadable(t *testing.T) {
	_, m := create(t)
	put(t, m, resetKey, `{"newId":`)
	_, err := Open(t.Context(), m)
	isKind(t, err, ResetUnfinished)
	c, err := Recreate(t.Context(), m)
	require.NoError(t, err)
	require.NoError(t, c.Verify(t.Context()))
}

func TestRecreate(t *testing.T) {
	ctx := t.Context()
	m := memory()
	c, err := Recreate(ctx, m)
	require.NoError(t, err, "nothing is there")
	batches(t, c, 3)
	put(t, m, "others", "not ours")
	put(t, m, "offsets/2", "")
	_, err = Open(ctx, m)
	isKind(t, err, Damaged)
	again, err := Recreate(ctx, m)
	require.NoError(t, err)
	require.NotEqual(t, c.ID(), again.ID())
	require.Equal(t, []string{"metadata", "others"}, list(t, m, ""))
	put(t, m, "state/0/0/1.delta", "x")
	_, err = Recreate(ctx, m)
	isKind(t, err, HasState)
	require.NoError(t, again.Verify(ctx))
}
