package faultstore

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"lakesql/store"
)

// URI implements store.Store.
func (s *Store) URI() string { return s.inner.URI() }

// Sub implements store.Subber.
func (s *Store) Sub(prefix string) store.Store {
	folder := strings.TrimPrefix(store.CleanPrefix(prefix)+"/", "/")
	return &Store{inner: store.Sub(s.inner, prefix), prefix: s.prefix + folder, s: s.s}
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	return result(s, ctx, Get, key, func() ([]byte, error) { return s.inner.Get(ctx, key) })
}

// GetRange implements store.Store.
func (s *Store) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return result(s, ctx, GetRange, key, func() ([]byte, error) { return s.inner.GetRange(ctx, key, off, n) })
}

// ReadRange implements store.RangeReader: it is a GetRange.
func (s *Store) ReadRange(ctx context.Context, key string, off int64, p []byte) (int, error) {
	return result(s, ctx, GetRange, key, func() (int, error) { return store.ReadRange(ctx, s.inner, key, off, p) })
}

// Stat implements store.Store.
func (s *Store) Stat(ctx context.Context, key string) (store.Info, error) {
	return result(s, ctx, Stat, key, func() (store.Info, error) { return s.inner.Stat(ctx, key) })
}

// PutIfAbsent implements store.Store.
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	return s.s.do(ctx, Op{PutIfAbsent, s.prefix + key}, func() error { return s.inner.PutIfAbsent(ctx, key, data) })
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.s.do(ctx, Op{Delete, s.prefix + key}, func() error { return s.inner.Delete(ctx, key) })
}

// DeletePrefix implements store.PrefixDeleter.
func (s *Store) DeletePrefix(ctx context.Context, prefix string) error {
	return s.s.do(ctx, Op{DeleteAll, s.prefix + prefix}, func() error { return store.DeletePrefix(ctx, s.inner, prefix) })
}

// RemoveLeftovers implements store.LeftoverRemover. It is no operation: what it removes is no object.
func (s *Store) RemoveLeftovers(ctx context.Context, prefix string, before time.Time) error {
	if s.Crashed() {
		return ErrCrashed
	}
	return store.RemoveLeftovers(ctx, s.inner, prefix, before)
}

// List implements store.Store. It is one operation, which ends when the caller has seen the last Info.
func (s *Store) List(ctx context.Context, prefix, startAfter, delimiter string) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		stopped := false
		err := s.s.do(ctx, Op{List, s.prefix + prefix}, func() error {
			for info, err := range s.inner.List(ctx, prefix, startAfter, delimiter) {
				if err != nil {
					return err
				}
				if !yield(info, nil) {
					stopped = true
					break
				}
			}
			return nil
		})
		if err != nil && !stopped {
			yield(store.Info{}, err)
		}
	}
}

// Map implements store.Mapper; a store without that power is read.
func (s *Store) Map(ctx context.Context, key string) (data []byte, release func(), err error) {
	release = func() {}
	data, err = result(s, ctx, Map, key, func() (data []byte, err error) {
		if m, ok := s.inner.(store.Mapper); ok {
			data, release, err = m.Map(ctx, key)
			return data, err
		}
		return s.inner.Get(ctx, key)
	})
	return data, release, err
}

// MakeRoot implements store.RootMaker; a store without that power needs no root.
func (s *Store) MakeRoot(ctx context.Context) error {
	return s.s.do(ctx, Op{MakeRoot, s.prefix}, func() error {
		if m, ok := s.inner.(store.RootMaker); ok {
			return m.MakeRoot(ctx)
		}
		return nil
	})
}

// Rename implements store.Renamer.
func (s *Store) Rename(ctx context.Context, fromPrefix, toPrefix string) error {
	op := Op{Rename, s.prefix + fromPrefix + " -> " + s.prefix + toPrefix}
	return s.s.do(ctx, op, func() error {
		if r, ok := s.inner.(store.Renamer); ok {
			return r.Rename(ctx, fromPrefix, toPrefix)
		}
		return errors.ErrUnsupported
	})
}

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, key string) (store.Writer, error) {
	inner, err := result(s, ctx, Create, key, func() (store.Writer, error) { return s.inner.Create(ctx, key) })
	if err != nil {
		return nil, err
	}
	return &writer{s: s, ctx: ctx, key: s.prefix + key, inner: inner}, nil
}

type writer struct {
	s     *Store
	ctx   context.Context // of Create: Write has none of its own
	key   string
	inner store.Writer
	err   error // the first write that failed: the object must not be committed without those bytes
}

func (w *writer) Write(p []byte) (n int, err error) {
	err = w.s.s.do(w.ctx, Op{Write, w.key}, func() (err error) {
		n, err = w.inner.Write(p)
		return err
	})
	w.err = cmp.Or(w.err, err)
	return n, err
}

func (w *writer) Commit(ctx context.Context, ifAbsent bool) error {
	kind := Commit
	if ifAbsent {
		kind = CommitIfAbsent
	}
	done := false
	err := w.s.s.do(ctx, Op{kind, w.key}, func() error {
		if w.err != nil {
			return w.err
		}
		done = true
		return w.inner.Commit(ctx, ifAbsent)
	})
	if !done {
		err = errors.Join(err, w.inner.Abort())
	}
	return err
}

func (w *writer) Abort() error {
	return w.s.s.do(w.ctx, Op{Abort, w.key}, w.inner.Abort)
}
