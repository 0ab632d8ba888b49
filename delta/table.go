package delta

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lakesql/store"
)

// Table is a handle on one Delta table. It may be used by several goroutines.
//
// It keeps the newest snapshot that it has seen. Refreshing it looks whether the file that made that version is still the
// same, and reads the commits behind it one by one until there is none; so it costs the same whatever the log's length is.
type Table struct {
	st      store.Store
	outside func(uri string) (store.Store, string, error) // nil: files outside of the table are refused

	vectors vectorCache

	maintenance sync.Mutex // held by Maintain, which alone uses what is below
	checksummed time.Time  // when it wrote a checksum last
	cleaned     time.Time  // the last cutoff at which it cleaned the log up

	lock   chan struct{} // holds one token; its holder may touch what is below
	latest *Snapshot     // nil: nothing is cached
	log    *fileLog      // the files of latest
}

// TableOption changes a Table that is being made.
type TableOption func(*Table)

// Outside lets the table have files that lie elsewhere, as shallow clones do. open finds the store and the key of an absolute, encoded
// URI, or says why it must not be read.
func Outside(open func(uri string) (st store.Store, key string, err error)) TableOption {
	return func(t *Table) { t.outside = open }
}

// NewTable returns a handle on the table at the root of st. It touches nothing.
func NewTable(st store.Store, options ...TableOption) *Table {
	t := &Table{st: st, lock: make(chan struct{}, 1)}
	for _, o := range options {
		o(t)
	}
	return t
}

// Store is the store that the table lives in, rooted at the table's folder.
func (t *Table) Store() store.Store { return t.st }

// Snapshot returns the newest version: ErrNoTable when there is no log, ErrCorrupt when it is damaged, *UnsupportedError
// when reading the table needs a feature that is not built.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) {
	s, err := t.newest(ctx)
	if err != nil {
		return nil, err
	}
	return readable(s)
}

// readable returns the snapshot, or why it cannot be read.
func readable(s *Snapshot) (*Snapshot, error) {
	if err := checkReadable(s); err != nil {
		return nil, err
	}
	return s, nil
}

// SnapshotAt returns one version, or ErrNoVersion. The newest version that is cached costs nothing, an older one is
// replayed from the checkpoint before it.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) {
	newest, err := t.newest(ctx)
	if err != nil {
		return nil, err
	}
	if version < 0 || version > newest.Version() {
		return nil, t.noVersion(ctx, version, newest.Version())
	}
	s := newest
	if version != newest.Version() {
		s, _, err = loadVersion(ctx, t.st, version)
		if errors.Is(err, ErrNoVersion) {
			err = errors.Join(t.noVersion(ctx, version, newest.Version()), err)
		}
		if err != nil {
			return nil, err
		}
		if err := s.fillTimestamp(ctx, t.st); err != nil {
			return nil, err
		}
	}
	return readable(s)
}

// newest brings the cache up to date and returns it, unchecked.
func (t *Table) newest(ctx context.Context) (*Snapshot, error) {
	if err := t.acquire(ctx); err != nil {
		return nil, err
	}
	defer t.release()
	err := t.refresh(ctx)
	if err != nil {
		if errors.Is(err, ErrNoTable) || errors.Is(err, ErrCorrupt) {
			t.latest, t.log = nil, nil
		}
		return nil, err
	}
	return t.latest, nil
}

func (t *Table) acquire(ctx context.Context) error {
	select {
	case t.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Table) release() { <-t.lock }

// refresh needs the lock.
func (t *Table) refresh(ctx context.Context) error {
	if t.latest == nil {
		return t.reload(ctx)
	}
	same, err := sameFile(ctx, t.st, t.latest.newest)
	if err != nil {
		return err
	}
	if !same { // replaced, or its commit has been cleaned up
		return t.reload(ctx)
	}
	for {
		c, err := readCommit(ctx, t.st, t.latest.Version()+1)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.advance(ctx, c); err != nil {
			return err
		}
	}
}

func (t *Table) reload(ctx context.Context) error {
	s, log, err := loadNewest(ctx, t.st)
	if err != nil {
		return err
	}
	if err := s.fillTimestamp(ctx, t.st); err != nil {
		return err
	}
	t.latest, t.log = s, log
	return nil
}

// advance makes the commit that follows the cached snapshot the newest one. It needs the lock.
func (t *Table) advance(ctx context.Context, c *commit) error {
	info, err := t.st.Stat(ctx, commitKey(c.version))
	if err != nil {
		return fmt.Errorf("stat commit %d of %s: %w", c.version, t.st.URI(), err)
	}
	next := *t.latest
	next.newest = info
	next.apply(t.log, c)
	if t.log.wasteful() {
		t.log, next.files = t.log.compact(next.files, next.tombstonesSince(time.Now()))
	}
	t.latest = &next
	return nil
}

// sameFile tells whether the object that info describes is still there, unchanged.
func sameFile(ctx context.Context, st store.Store, info store.Info) (bool, error) {
	now, err := st.Stat(ctx, info.Key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("stat %s of %s: %w", info.Key, st.URI(), err)
	}
	return now.Size == info.Size && now.ModTime.Equal(info.ModTime) && now.ETag == info.ETag, nil
}
