package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

const (
	// ProgressBatches is how many batches Progress keeps, as Spark's spark.sql.streaming.numRecentProgressUpdates.
	ProgressBatches = 100
	// MaxRowErrors is how many row errors Errors keeps: enough to see what is wrong with a file.
	MaxRowErrors = 1000
	// maxRingBytes bounds a ring in memory and what one Flush writes.
	maxRingBytes = 1 << 20
)

// Item is one item of a Ring.
type Item struct {
	Batch int64           `json:"batch"` // the query's batch
	Data  json.RawMessage `json:"data"`
}

// Ring keeps the newest items in memory, and in one file from Flush on. What was not flushed is lost with the process: it informs people,
// nothing depends on it. The oldest items are dropped when there are too many, or too many bytes.
type Ring struct {
	c        *Checkpoint
	key      string
	maxItems int
	maxBytes int

	mu     sync.Mutex
	items  []Item // guarded by mu; oldest first
	loaded bool   // guarded by mu; whether what the file holds is among items
	dirty  bool   // guarded by mu
}

// Progress keeps a JSON object for each of the last ProgressBatches batches.
func (c *Checkpoint) Progress() *Ring { return &c.progress }

// Errors keeps the newest row errors, as JSON objects of the caller's.
func (c *Checkpoint) Errors() *Ring { return &c.errors }

// Put takes the items of a batch in place of those that it may have put before: a batch that is run again replaces its own.
func (r *Ring) Put(batch int64, items ...json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = slices.DeleteFunc(r.items, func(it Item) bool { return it.Batch == batch })
	for _, data := range items {
		r.items = append(r.items, Item{Batch: batch, Data: data})
	}
	r.dirty = true
	r.trim()
}

// Add puts items behind those of a batch that is done.
func (r *Ring) Add(batch int64, items ...json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, data := range items {
		r.items = append(r.items, Item{Batch: batch, Data: data})
	}
	r.dirty = true
	r.trim()
}

// trim drops the oldest. The caller holds mu.
func (r *Ring) trim() {
	size, from := 0, len(r.items)
	for from > 0 && len(r.items)-from < r.maxItems {
		size += len(r.items[from-1].Data)
		if size > r.maxBytes {
			break
		}
		from--
	}
	r.items = slices.Delete(r.items, 0, from)
}

// Items returns what is kept, oldest first.
func (r *Ring) Items(ctx context.Context) ([]Item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(r.items), nil
}

// load puts what the file holds before what was put since. The caller holds mu.
func (r *Ring) load(ctx context.Context) error {
	if r.loaded {
		return nil
	}
	data, _, err := r.c.getExtra(ctx, r.key)
	if err != nil {
		return err
	}
	old, err := decodeItems(data)
	if err != nil {
		return damaged(r.c.st, r.key, "rm "+shellPath(r.c.st, r.key)+"; nothing depends on it", "%v", err)
	}
	old = slices.DeleteFunc(old, func(it Item) bool {
		return slices.ContainsFunc(r.items, func(newer Item) bool { return newer.Batch == it.Batch })
	})
	r.items = append(old, r.items...)
	r.loaded = true
	r.trim()
	return nil
}

func decodeItems(data []byte) ([]Item, error) {
	var items []Item
	for line := range bytes.Lines(data) {
		var it Item
		if err := json.Unmarshal(line, &it); err != nil {
			return nil, fmt.Errorf("want an item, found %s: %w", excerpt(string(line)), err)
		}
		items = append(items, it)
	}
	return items, nil
}

// Flush writes the file when something was put since the last time.
func (r *Ring) Flush(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.dirty {
		return nil
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	var b bytes.Buffer
	for _, it := range r.items {
		line, err := marshal(it)
		if err != nil {
			return err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	if err := r.c.replaceExtra(ctx, r.key, b.Bytes()); err != nil {
		return err
	}
	r.dirty = false
	return nil
}

// forget empties the ring after a reset, which has deleted the file.
func (r *Ring) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items, r.loaded, r.dirty = nil, true, false
}
