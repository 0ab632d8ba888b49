package checkpoint

import (
	"context"
	"fmt"

	"lakesql/store"
)

// Delete removes a checkpoint, and its folder when nothing else is in it: somebody may have named a folder that holds other
// things. metadata goes first, so that what a crash leaves is refused and not continued. Nothing there is no error; state/ is
// refused, because only Spark writes it.
func Delete(ctx context.Context, st store.Store) error {
	if err := newCheckpoint(st, "").refuseState(ctx); err != nil {
		if IsKind(err, Gone) {
			return nil
		}
		return err
	}
	for _, key := range []string{metadataCRC, metadataKey} {
		if err := st.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete checkpoint: %w", err)
		}
	}
	for _, dir := range []string{"offsets/", "commits/", "sources/", "state/", extrasDir} {
		if err := store.DeletePrefix(ctx, st, dir); err != nil {
			return fmt.Errorf("delete checkpoint: %w", err)
		}
	}
	for _, err := range st.List(ctx, "", "", "") {
		if err != nil {
			return fmt.Errorf("delete checkpoint: %w", err)
		}
		return nil // not ours
	}
	return store.DeletePrefix(ctx, st, "")
}
