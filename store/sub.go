package store

import (
	"context"
	"errors"
	"iter"
	"path"
	"strings"
)

// Sub returns the objects of s below prefix/ as a store of their own, whose root is that folder. A store that is a Subber
// keeps its powers; ".." in the prefix never leads above the root of s. The folder is not made: where it is missing, writes
// give ErrRootMissing until MakeRoot.
func Sub(s Store, prefix string) Store {
	if sub, ok := s.(Subber); ok {
		return sub.Sub(prefix)
	}
	folder := CleanPrefix(prefix)
	if folder == "" {
		return s
	}
	return &view{s: s, prefix: folder + "/"}
}

// view is the Sub of a store that has no folders, so its root cannot be missing.
type view struct {
	s      Store
	prefix string // ends with a slash
}

func (v *view) URI() string { return ObjectURI(v.s, strings.TrimSuffix(v.prefix, "/")) }

func (v *view) Sub(prefix string) Store {
	return &view{s: v.s, prefix: path.Join(v.prefix, CleanPrefix(prefix)) + "/"}
}

func (v *view) Get(ctx context.Context, key string) ([]byte, error) {
	return v.s.Get(ctx, v.prefix+key)
}

func (v *view) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return v.s.GetRange(ctx, v.prefix+key, off, n)
}

func (v *view) Create(ctx context.Context, key string) (Writer, error) {
	return v.s.Create(ctx, v.prefix+key)
}

func (v *view) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	return v.s.PutIfAbsent(ctx, v.prefix+key, data)
}

func (v *view) List(ctx context.Context, prefix, startAfter, delimiter string) iter.Seq2[Info, error] {
	if startAfter != "" {
		startAfter = v.prefix + startAfter
	}
	return func(yield func(Info, error) bool) {
		for info, err := range v.s.List(ctx, v.prefix+prefix, startAfter, delimiter) {
			info.Key = strings.TrimPrefix(info.Key, v.prefix)
			if !yield(info, err) {
				return
			}
		}
	}
}

func (v *view) Stat(ctx context.Context, key string) (Info, error) {
	info, err := v.s.Stat(ctx, v.prefix+key)
	info.Key = strings.TrimPrefix(info.Key, v.prefix)
	return info, err
}

func (v *view) Delete(ctx context.Context, key string) error {
	return v.s.Delete(ctx, v.prefix+key)
}

// ReadRange implements RangeReader.
func (v *view) ReadRange(ctx context.Context, key string, off int64, p []byte) (int, error) {
	return ReadRange(ctx, v.s, v.prefix+key, off, p)
}

// ReadRange fills p with the bytes of an object from off on, and returns how many there are: fewer only where the object ends, none beyond it.
func ReadRange(ctx context.Context, s Store, key string, off int64, p []byte) (int, error) {
	if r, ok := s.(RangeReader); ok {
		return r.ReadRange(ctx, key, off, p)
	}
	data, err := s.GetRange(ctx, key, off, int64(len(p)))
	return copy(p, data), err
}

// DeletePrefix deletes every object whose key begins with prefix. A prefix that is empty or ends with a slash is a folder: it
// goes too, with leftovers of writers in it; the empty prefix removes the root itself. Nothing there is no error.
func DeletePrefix(ctx context.Context, s Store, prefix string) error {
	if err := checkPrefix(prefix); err != nil {
		return err
	}
	if d, ok := s.(PrefixDeleter); ok {
		return d.DeletePrefix(ctx, prefix)
	}
	return deleteListed(ctx, s, prefix)
}

// DeleteKeys deletes objects; those that are not there are no error. The removals are durable when it returns, and not before: a
// crash leaves any of them.
func DeleteKeys(ctx context.Context, s Store, keys []string) error {
	if d, ok := s.(KeysDeleter); ok {
		return d.DeleteKeys(ctx, keys)
	}
	for _, key := range keys {
		if err := s.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func deleteListed(ctx context.Context, s Store, prefix string) error {
	var keys []string
	for info, err := range s.List(ctx, prefix, "", "") {
		if errors.Is(err, ErrRootMissing) {
			return nil
		}
		if err != nil {
			return err
		}
		keys = append(keys, info.Key)
	}
	return DeleteKeys(ctx, s, keys)
}

// ListNames yields, in order, the keys of the objects directly in a folder ("" or ending with a slash) that are greater than
// startAfter. It costs one call where the store is a NameLister; else it is List without the rest of the Info.
func ListNames(ctx context.Context, s Store, folder, startAfter string) iter.Seq2[string, error] {
	if l, ok := s.(NameLister); ok {
		return l.ListNames(ctx, folder, startAfter)
	}
	return func(yield func(string, error) bool) {
		for info, err := range s.List(ctx, folder, startAfter, "/") {
			if !info.Prefix && !yield(info.Key, err) {
				return
			}
		}
	}
}
