package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"lakesql/store"
)

// IsOne reports whether the store's root is a checkpoint, ours or Spark's, whole or not. It writes nothing.
func IsOne(ctx context.Context, st store.Store) (bool, error) {
	switch _, err := st.Stat(ctx, metadataKey); {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return false, fmt.Errorf("look for a checkpoint: %w", err)
	default:
		_, err := readMetadata(ctx, st)
		if err == nil {
			return true, nil
		}
		var damage *Error
		if !errors.As(err, &damage) {
			return false, err
		}
	}
	for _, err := range st.List(ctx, "offsets/", "", "/") {
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	return false, nil
}
