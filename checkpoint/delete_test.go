package checkpoint

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

func TestDelete(t *testing.T) {
	ctx := t.Context()
	m := memory()
	require.NoError(t, Delete(ctx, m), "nothing is there")
	full(t, m)
	put(t, m, "others/x", "not ours")
	require.NoError(t, Delete(ctx, m))
	require.Equal(t, []string{"others/x"}, list(t, m, ""))
	require.NoError(t, store.DeletePrefix(ctx, m, "others/"))
	full(t, m)
	require.NoError(t, Delete(ctx, m))
	require.ErrorIs(t, m.PutIfAbsent(ctx, "x", nil), store.ErrRootMissing, "the folder is gone as well")

	c, m := create(t)
	put(t, m, "state/0/0/1.delta", "x")
	isKind(t, Delete(ctx, m), HasState)
	require.NoError(t, c.Verify(ctx))
}

// TestDeleteCrash: what a crash leaves is whole, or refused, or nothing.
func TestDeleteCrash(t *testing.T) {
	var c *Checkpoint
	crashes(t, func(st store.Store) { c = full(t, st) },
		func(ctx context.Context, st store.Store) error { return Delete(ctx, st) },
		func(t *testing.T, left *store.Memory) {
			again, err := Open(t.Context(), left)
			switch {
			case err == nil:
				require.Equal(t, c.ID(), again.ID())
			case !IsKind(err, Missing):
				isKind(t, err, NoMetadata)
			}
			require.NoError(t, Delete(t.Context(), left))
			_, err = Open(t.Context(), left)
			isKind(t, err, Missing)
		})
}
