package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"lakesql/store"
)

// resetMarker is _lakesql/reset.json while a reset is under way.
type resetMarker struct {
	OldID string `json:"oldId"`
	NewID string `json:"newId"`
}

// Reset gives the checkpoint a new id and empties it, so that its stream reads everything again. The caller holds the lease. Schema and
// binding go too; the lease and the skipped files stay.
//
//  1. The marker _lakesql/reset.json is put, with the new id: from here on the reset will be finished, by this call or the next Open.
//  2. metadata is replaced, which stops whoever still runs under the old id. It comes first because the other order would, after
//     a crash, show Spark empty logs under the old id: it would begin at batch 0, which the table skips as known.
//  3. offsets/, then commits/ are cleared, oldest first, each file behind its checksum file.
//  4. sources/ and our own extras are deleted, those two excepted.
//  5. The marker is deleted.
func (c *Checkpoint) Reset(ctx context.Context) (newID string, err error) {
	if err := c.Verify(ctx); err != nil {
		return "", err
	}
	marker := resetMarker{OldID: c.ID(), NewID: uuid.NewString()}
	data, err := marshal(marker)
	if err != nil {
		return "", err
	}
	// A marker that is there is that of a reset which was cut short: finishing it does what is asked for.
	if err := c.putExtra(ctx, resetKey, data); err != nil && !errors.Is(err, store.ErrExists) {
		return "", err
	}
	if err := c.finishReset(ctx); err != nil {
		return "", err
	}
	id, err := readMetadata(ctx, c.st)
	if err != nil {
		return "", gone(c.st, err)
	}
	return id, c.adopt(id)
}

// Recreate does the same to a checkpoint that Open refuses, or makes one where nothing is left: for a reset of a damaged or deleted
// checkpoint. It touches only what belongs to a checkpoint, and refuses one with state/ as Open does.
func Recreate(ctx context.Context, st store.Store) (*Checkpoint, error) {
	if m, ok := st.(store.RootMaker); ok {
		if err := m.MakeRoot(ctx); err != nil {
			return nil, fmt.Errorf("reset checkpoint: %w", err)
		}
	}
	c := newCheckpoint(st, "")
	if err := c.refuseState(ctx); err != nil {
		return nil, err
	}
	data, err := marshal(resetMarker{NewID: uuid.NewString()})
	if err != nil {
		return nil, err
	}
	if err := replace(ctx, st, resetKey, data); err != nil {
		return nil, fmt.Errorf("reset checkpoint: %w", err)
	}
	return Open(ctx, st)
}

// adopt forgets what was known under the old id.
func (c *Checkpoint) adopt(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id = id
	c.progress.forget()
	c.errors.forget()
	var err error
	for _, s := range c.sources {
		s.mu.Lock()
		err = errors.Join(err, s.forget())
		s.kept = 0
		s.mu.Unlock()
	}
	return err
}

// finishReset does what a marker asks for, if there is one. It can be cut short anywhere and called again.
func (c *Checkpoint) finishReset(ctx context.Context) error {
	marker, ok, err := c.readMarker(ctx)
	if !ok || err != nil {
		return err
	}
	if err := c.replaceMetadata(ctx, marker.NewID); err != nil {
		return fmt.Errorf("reset checkpoint: %w", err)
	}
	for _, dir := range []string{"offsets/", "commits/"} {
		if err := c.clearLog(ctx, dir, marker); err != nil {
			return fmt.Errorf("reset checkpoint: %w", err)
		}
	}
	for _, prefix := range []string{"sources/", filesDir, schemaDir, startDir, retryDir, bindingKey, progressKey, errorsKey} {
		if err := c.stillResetting(ctx, marker); err != nil {
			return err
		}
		if err := store.DeletePrefix(ctx, c.st, prefix); err != nil {
			return fmt.Errorf("reset checkpoint: %w", err)
		}
	}
	if err := c.stillResetting(ctx, marker); err != nil {
		return err
	}
	return c.st.Delete(ctx, resetKey)
}

func (c *Checkpoint) readMarker(ctx context.Context) (m resetMarker, ok bool, err error) {
	data, err := c.st.Get(ctx, resetKey)
	if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRootMissing) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	err = json.Unmarshal(data, &m)
	if err == nil {
		_, err = uuid.Parse(m.NewID)
	}
	if err != nil {
		return m, false, &Error{Kind: ResetUnfinished, URI: store.ObjectURI(c.st, resetKey), Err: err,
			Found: "a reset was cut short, and its marker cannot be read"}
	}
	return m, true, nil
}

// stillResetting is asked before each deletion: when another process has finished the same reset, new files may be there already.
func (c *Checkpoint) stillResetting(ctx context.Context, m resetMarker) error {
	now, ok, err := c.readMarker(ctx)
	if err == nil && (!ok || now != m) {
		err = &Error{Kind: Concurrent, URI: store.ObjectURI(c.st, resetKey), Found: "another process has finished the reset meanwhile",
			Hint: "START STREAM"}
	}
	return err
}

// replaceMetadata publishes a new id, with the old checksum file out of the way.
func (c *Checkpoint) replaceMetadata(ctx context.Context, id string) error {
	found, err := readMetadata(ctx, c.st)
	if err == nil && found == id {
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) && !IsKind(err, Damaged) {
		return err
	}
	if err := c.st.Delete(ctx, metadataCRC); err != nil {
		return err
	}
	return replace(ctx, c.st, metadataKey, encodeMetadata(id))
}

// clearLog deletes what lies in offsets/ or commits/ in the order of batch ids, so that a reader in between meets a log that begins late, not
// one that ends early.
func (c *Checkpoint) clearLog(ctx context.Context, dir string, m resetMarker) error {
	type file struct {
		id  int64
		key string
	}
	var files []file
	for info, err := range c.st.List(ctx, dir, "", "") {
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(info.Key, dir), "."), ".crc")
		id, _ := parseID(name)
		files = append(files, file{id, info.Key})
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.id, b.id), strings.Compare(a.key, b.key)) // ".7.crc" sorts before "7"
	})
	for _, f := range files {
		if err := c.stillResetting(ctx, m); err != nil {
			return err
		}
		if err := c.st.Delete(ctx, f.key); err != nil {
			return err
		}
	}
	return nil
}
