package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lakesql/store"
)

// initialKey is where sources other than those of files keep what they began with: Spark's rate source the time of its start, its
// Kafka source the first offsets.
func initialKey(source int) string { return "sources/" + strconv.Itoa(source) + "/0" }

// Initial returns what SaveInitial, or Spark, has kept for a source; ok is false when nothing has been.
func (c *Checkpoint) Initial(ctx context.Context, source int) (text string, ok bool, err error) {
	key := initialKey(source)
	data, err := c.st.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRootMissing) {
		return "", false, nil
	}
	if err != nil {
		return "", false, gone(c.st, err)
	}
	lines, kind, err := splitLog(bytes.TrimPrefix(data, []byte{0}))
	if err == nil && len(lines) == 0 {
		kind, err = Damaged, errors.New("nothing follows the version")
	}
	if err != nil {
		return "", false, &Error{Kind: kind, URI: store.ObjectURI(c.st, key), Found: err.Error(), Hint: hintCopy}
	}
	return strings.Join(lines, "\n"), true, nil
}

// DamagedInitial is the error for what Initial returned and the source cannot read.
func (c *Checkpoint) DamagedInitial(source int, found string) error {
	return &Error{Kind: Damaged, URI: store.ObjectURI(c.st, initialKey(source)), Found: found, Hint: hintCopy}
}

// SaveInitial keeps what a source begins with, once: Kind Concurrent when something is there. zero puts a byte 0 in front, as Spark
// does for Kafka, and reads it for Kafka alone.
func (c *Checkpoint) SaveInitial(ctx context.Context, source int, text string, zero bool) error {
	data := "v1\n" + text
	if zero {
		data = "\x00" + data
	}
	key := initialKey(source)
	if err := c.st.Delete(ctx, crcKey(key)); err != nil { // left without its file, it would block Spark
		return gone(c.st, err)
	}
	if err := c.st.PutIfAbsent(ctx, key, []byte(data)); err != nil {
		if errors.Is(err, store.ErrExists) {
			return concurrent(c.st, key, 0, err)
		}
		return fmt.Errorf("keep what source %d begins with: %w", source, gone(c.st, err))
	}
	return nil
}
