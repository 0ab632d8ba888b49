package parquet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/store"
)

// countedStore counts the objects that are mapped now, and all mappings ever.
type countedStore struct {
	store.Store
	open, ever atomic.Int64
}

// Map implements store.Mapper.
func (s *countedStore) Map(ctx context.Context, key string) ([]byte, func(), error) {
	data, release, err := s.Store.(store.Mapper).Map(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	s.open.Add(1)
	s.ever.Add(1)
	return data, sync.OnceFunc(func() { s.open.Add(-1); release() }), nil
}

func (s *countedStore) mappings() int64 { return s.open.Load() }

var _ store.Mapper = (*countedStore)(nil)

var cachedSchema = batch.NewSchema(batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}})

// oneRow is a file that holds n.
func oneRow(t testing.TB, n int64) []byte {
	rows := batch.NewBuilder(cachedSchema)
	require.NoError(t, rows.AppendRow(n))
	data, _ := encodeFile(t, cachedSchema, WriterOptions{Compression: Uncompressed}, rows.Finish())
	return data
}

// cachedFolder is a folder with the files 0 to n-1, each holding its number.
func cachedFolder(t testing.TB, n int64) (dir string, st *countedStore, sizes []int64) {
	dir = t.TempDir()
	for i := range n {
		data := oneRow(t, i)
		sizes = append(sizes, int64(len(data)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), data, 0o644))
	}
	local, err := store.NewLocal(dir)
	require.NoError(t, err)
	return dir, &countedStore{Store: local}, sizes
}

func readCached(c *Cache, st store.Store, key string, size int64) (int64, error) {
	f, err := c.Open(context.Background(), st, key, size)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	s := f.Scan(context.Background(), ScanOptions{Columns: cachedSchema.Fields})
	defer s.Close()
	b, err := s.Next(context.Background())
	if err != nil {
		return 0, err
	}
	return b.Cols[0].I64[0], nil
}

// TestCacheBounds: scans at once, through a cache that is far too small for them, see every file as it is.
func TestCacheBounds(t *testing.T) {
	const files, readers = 40, 8
	_, st, sizes := cachedFolder(t, files)
	c := NewCache()
	c.maxFiles = 5
	var wg sync.WaitGroup
	for seed := range uint64(readers) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 0))
			for range 300 {
				n := int64(r.IntN(files) * r.IntN(files) / files) // some more often than others
				got, err := readCached(c, st, fmt.Sprint(n), sizes[n])
				if err != nil || got != n {
					t.Errorf("file %d holds %d, %v", n, got, err)
				}
				if open := st.open.Load(); open > 5+2*readers {
					t.Errorf("%d files are open", open)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 5, st.open.Load())
	require.Less(t, st.ever.Load(), int64(readers*300))

	c.maxFooters = c.footers / 2
	_, err := readCached(c, st, "39", sizes[39])
	require.NoError(t, err)
	require.EqualValues(t, 2, st.open.Load())
	require.LessOrEqual(t, c.footers, c.maxFooters)

	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	require.Zero(t, st.open.Load())
	require.Zero(t, c.footers)
	got, err := readCached(c, st, "7", sizes[7])
	require.NoError(t, err)
	require.EqualValues(t, 7, got)
	require.Zero(t, st.open.Load())
}

// TestCacheKeepsUsedFiles: a file that is evicted while it is read stays mapped until its readers have closed it.
func TestCacheKeepsUsedFiles(t *testing.T) {
	_, st, sizes := cachedFolder(t, 2)
	c := NewCache()
	c.maxFiles = 1
	ctx := context.Background()
	a, err := c.Open(ctx, st, "0", sizes[0])
	require.NoError(t, err)
	b, err := c.Open(ctx, st, "0", sizes[0])
	require.NoError(t, err)
	_, err = readCached(c, st, "1", sizes[1])
	require.NoError(t, err)
	require.EqualValues(t, 2, st.open.Load())
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	rows, err := readAll(b, ScanOptions{Columns: cachedSchema.Fields})
	require.NoError(t, err)
	require.Equal(t, "0\n", rows.Format())
	require.NoError(t, b.Close())
	require.EqualValues(t, 1, st.open.Load())
	require.NoError(t, c.Close())
}

// TestCacheSeesChanges: what happens to the object is seen as without a cache.
func TestCacheSeesChanges(t *testing.T) {
	dir, st, sizes := cachedFolder(t, 1)
	path := filepath.Join(dir, "0")
	c := NewCache()
	read := func() (int64, error) { return readCached(c, st, "0", sizes[0]) }
	for range 3 {
		n, err := read()
		require.NoError(t, err)
		require.Zero(t, n)
	}
	require.EqualValues(t, 1, st.ever.Load())

	old := filepath.Join(dir, "old")
	require.NoError(t, os.Rename(path, old))
	_, err := read()
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Zero(t, st.open.Load(), "a file that is gone is not kept")

	require.Len(t, oneRow(t, 5), int(sizes[0]))
	require.NoError(t, os.WriteFile(path, oneRow(t, 5), 0o644))
	n, err := read()
	require.NoError(t, err)
	require.EqualValues(t, 5, n, "replaced by another of the same size")

	require.NoError(t, os.WriteFile(path, oneRow(t, 6), 0o644))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	n, err = read()
	require.NoError(t, err)
	require.EqualValues(t, 6, n, "written over in place")

	require.NoError(t, os.Truncate(path, sizes[0]/2))
	_, err = read()
	require.ErrorIs(t, err, ErrDamaged)
	require.NoError(t, os.Rename(old, path))
	n, err = read()
	require.NoError(t, err)
	require.Zero(t, n, "put back")
	require.EqualValues(t, 1, st.open.Load())
	require.NoError(t, c.Close())
}

// TestCacheCutShortWhileRead: the memory behind a kept file goes away between two scans' steps; that is an error, not a crash.
func TestCacheCutShortWhileRead(t *testing.T) {
	dir, st, sizes := cachedFolder(t, 1)
	c := NewCache()
	f, err := c.Open(context.Background(), st, "0", sizes[0])
	require.NoError(t, err)
	require.NoError(t, os.Truncate(filepath.Join(dir, "0"), 0))
	_, err = readAll(f, ScanOptions{Columns: cachedSchema.Fields})
	require.ErrorIs(t, err, ErrDamaged)
	require.NoError(t, f.Close())
	_, err = readCached(c, st, "0", sizes[0])
	require.ErrorIs(t, err, ErrDamaged)
	require.Zero(t, st.open.Load())
	require.NoError(t, c.Close())
}

// replacedStore has an object replaced just before it is mapped.
type replacedStore struct {
	*countedStore
	replace func()
}

// Map implements store.Mapper.
func (s *replacedStore) Map(ctx context.Context, key string) ([]byte, func(), error) {
	s.replace()
	return s.countedStore.Map(ctx, key)
}

// TestCacheKeepsFootersOfLargeFiles: large files are mapped anew each time, with the footer that was read before as long as they are the same.
func TestCacheKeepsFootersOfLargeFiles(t *testing.T) {
	largeFile := func(from int64) []byte {
		rows := batch.NewBuilder(cachedSchema)
		for n := range int64(largestKept / 4) {
			require.NoError(t, rows.AppendRow(from*1_000_000+n*n*n*7919))
		}
		data, _ := encodeFile(t, cachedSchema, WriterOptions{Compression: Uncompressed}, rows.Finish())
		require.Greater(t, len(data), largestKept)
		return data
	}
	dir, st, sizes := cachedFolder(t, 1)
	path, size := filepath.Join(dir, "large"), int64(len(largeFile(1)))
	put := func(from int64) {
		require.NoError(t, os.WriteFile(path+".new", largeFile(from), 0o644))
		require.NoError(t, os.Rename(path+".new", path))
	}
	c := NewCache()
	var footers []*format.FileMetaData
	read := func(st store.Store, want int64) {
		f, err := c.Open(context.Background(), st, "large", size)
		require.NoError(t, err)
		footers = append(footers, f.meta)
		b, err := f.Scan(context.Background(), ScanOptions{Columns: cachedSchema.Fields}).Next(context.Background())
		require.NoError(t, err)
		require.Equal(t, want*1_000_000, b.Cols[0].I64[0])
		require.NoError(t, f.Close())
		require.Zero(t, st.(interface{ mappings() int64 }).mappings(), "it is not kept open")
	}
	put(1)
	read(st, 1)
	read(st, 1)
	require.Same(t, footers[0], footers[1])
	put(2)
	read(st, 2)
	require.NotSame(t, footers[1], footers[2])
	read(&replacedStore{st, sync.OnceFunc(func() { put(1) })}, 1)
	require.NotSame(t, footers[2], footers[3], "replaced between the look at it and the mapping")
	require.NoError(t, os.Remove(path))
	_, err := c.Open(context.Background(), st, "large", size)
	require.ErrorIs(t, err, store.ErrNotFound)

	var none *Cache
	_, err = readCached(none, st, "0", sizes[0])
	require.NoError(t, err)
	require.Zero(t, st.open.Load())
	require.NoError(t, none.Close())
	require.NoError(t, c.Close())
}
