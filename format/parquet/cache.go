package parquet

import (
	"container/list"
	"context"
	"errors"
	"strings"
	"sync"

	"lakesql/store"
)

const (
	// keptFiles bounds the mappings of a cache: Linux allows a process 65,530.
	keptFiles = 4096
	// keptFooters bounds the bytes of the kept files' footers, which take some ten times that in memory.
	keptFooters = 16 << 20
	// largestKept is the size of a file above which mapping it is nothing beside reading it, and only its footer is kept. It also bounds the disk space of
	// deleted files that are still mapped: 1 GiB with keptFiles.
	largestKept = 256 << 10
)

// Cache keeps small files open between scans, and the footers of larger ones, the least recently used ones the shortest. Several goroutines may use it.
// A nil Cache keeps nothing.
//
// Every Open asks the store whether the object is still the one that is kept, so that one that was deleted, replaced or
// written to is opened anew.
//
// Invariants:
//   - kept and order have the same files, each a URI's newest; footers is the sum of their footers.
//   - A file is closed when it is not in kept and users is 0, and never before. A larger one than largestKept has no users: each opens it for itself.
type Cache struct {
	maxFiles   int
	maxFooters int64

	mu      sync.Mutex
	kept    map[string]*list.Element // of *keptFile, by URI
	order   *list.List               // the most recently used first
	footers int64                    // bytes
	closed  bool
}

// keptFile is a file with its users. The cache's mu guards users and dropped.
type keptFile struct {
	file    *File      // a larger one is not open
	info    store.Info // from before the file was opened
	users   int        // files given out and not closed
	dropped bool       // not in the cache any more
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{maxFiles: keptFiles, maxFooters: keptFooters, kept: make(map[string]*list.Element), order: list.New()}
}

// Open is the function Open, but for a file that is kept the footer is not read again. The File's Close gives it back.
func (c *Cache) Open(ctx context.Context, st store.Store, key string, size int64) (*File, error) {
	if c == nil {
		return Open(ctx, st, key, size)
	}
	uri := strings.TrimSuffix(st.URI(), "/") + "/" + key
	info, statErr := st.Stat(ctx, key)
	if statErr == nil && info.Size == size {
		if f := c.find(uri, info); f != nil {
			if size <= largestKept {
				return f, nil
			}
			again, err := f.reopen(ctx, st, key, info)
			if err = errors.Join(err, f.Close()); again != nil || err != nil {
				return again, err
			}
		}
	}
	f, err := Open(ctx, st, key, size) // the store's error, if any, is the same one again
	if err != nil || statErr != nil {
		c.forget(uri)
		return f, err
	}
	if size > largestKept {
		return f, c.keep(uri, &keptFile{file: f.footerAlone(), info: info}).Close()
	}
	return c.keep(uri, &keptFile{file: f, info: info}), nil
}

// footerAlone is the file as a Cache keeps it that does not keep it open.
func (f *File) footerAlone() *File {
	alone := *f
	alone.source, alone.close = nil, func() {}
	return &alone
}

// reopen opens a file whose footer is at hand; nil when it is not the object any more that info describes.
func (f *File) reopen(ctx context.Context, st store.Store, key string, info store.Info) (*File, error) {
	again := *f
	var err error
	if again.source, err = openSource(ctx, st, key, info.Size); err != nil {
		return nil, &Error{File: f.uri, Err: err}
	}
	if now, err := st.Stat(ctx, key); err != nil || !same(now, info) { // replaced before it was opened
		again.source.release()
		return nil, nil
	}
	again.closeByItself()
	return &again, nil
}

// same says whether an object is the one that it was.
func same(a, b store.Info) bool {
	return a.Size == b.Size && a.ModTime.Equal(b.ModTime) && a.ETag == b.ETag
}

// find gives out the file that is kept for a URI, if it is the object that info describes.
func (c *Cache) find(uri string, info store.Info) *File {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.kept[uri]
	if !ok {
		return nil
	}
	k := at.Value.(*keptFile)
	if !same(k.info, info) {
		return nil
	}
	c.order.MoveToFront(at)
	return c.lend(k)
}

// keep takes in a file and gives it out. What was kept for the URI, and what is too much, is dropped.
func (c *Cache) keep(uri string, k *keptFile) *File {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.kept[uri])
	c.kept[uri] = c.order.PushFront(k)
	c.footers += k.file.footer
	f := c.lend(k)
	for c.closed && c.order.Len() > 0 || c.order.Len() > c.maxFiles || c.footers > c.maxFooters {
		c.drop(c.order.Back())
	}
	return f
}

// lend needs mu. The File that it returns is its user's own; the kept one lives at least as long.
func (c *Cache) lend(k *keptFile) *File {
	k.users++
	f := *k.file
	f.close = sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		k.users--
		k.release()
	})
	return &f
}

func (c *Cache) forget(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.kept[uri])
}

// drop needs mu. nil is nothing to drop.
func (c *Cache) drop(at *list.Element) {
	if at == nil {
		return
	}
	k := c.order.Remove(at).(*keptFile)
	delete(c.kept, k.file.uri)
	c.footers -= k.file.footer
	k.dropped = true
	k.release()
}

// release closes a file that nobody needs.
func (k *keptFile) release() {
	if k.dropped && k.users == 0 {
		k.file.close()
	}
}

// Close lets go of all files; those in use are released when they are closed. It may be called twice. Open may still be used,
// and keeps nothing any more.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for c.order.Len() > 0 {
		c.drop(c.order.Back())
	}
	return nil
}
