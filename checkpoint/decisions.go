package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
)

// decisionName is the name of the object that keeps what somebody has decided about a source file: the SHA-256 of its path in hex.
func decisionName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:]) + ".json"
}

// decisions yields the objects below prefix, in the order of their names. what they are, and the statement that makes one again, are for errors.
func decisions[T any](ctx context.Context, c *Checkpoint, prefix, what, statement string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for info, err := range c.st.List(ctx, prefix, "", "") {
			if err != nil {
				yield(none, gone(c.st, fmt.Errorf("list the files %s: %w", what, err)))
				return
			}
			data, _, err := c.getExtra(ctx, info.Key)
			if err != nil {
				yield(none, err)
				return
			}
			var d T
			if err := json.Unmarshal(data, &d); err != nil {
				yield(none, damaged(c.st, info.Key, "rm "+shellPath(c.st, info.Key)+", and type ALTER STREAM ... "+statement+" again", "%v", err))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}
