package checkpoint

import (
	"context"
	"fmt"
	"time"

	"lakesql/store"
)

// leftoverAge is how old a temporary file is at the least that a writer which died has left: no put of ours takes as long, and none of a Spark that works beside us, as
// nobody should have it, is taken away under its hands.
const leftoverAge = time.Hour

// RemoveLeftovers removes temporary files that crashes have left, ours and Spark's. It is for the holder of the lease, once after a start, before it prepares anything.
func (c *Checkpoint) RemoveLeftovers(ctx context.Context, now time.Time) error {
	for _, dir := range []string{"offsets/", "commits/", "sources/", extrasDir} {
		if err := store.RemoveLeftovers(ctx, c.st, dir, now.Add(-leftoverAge)); err != nil {
			return fmt.Errorf("clear away what a crash has left: %w", err)
		}
	}
	return nil
}
