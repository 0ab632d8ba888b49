package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// TestOpenForWriting: a producer that pauses has its file open, whether or not its making was seen.
func TestOpenForWriting(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("id\n1")
	require.NoError(t, err)
	if !isOpenForWriting(path) {
		t.Skip("this file system has no leases")
	}
	opts, err := ParseOptions(map[string]string{"format": "csv"})
	require.NoError(t, err)
	set, err := NewSet(store.Open, nil, store.FileURI(dir), opts)
	require.NoError(t, err)
	now := time.Now()
	set.now = func() time.Time { return now }
	for range 5 {
		now = now.Add(QuietPeriod)
		ready, waiting, err := set.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, ready)
		require.Len(t, waiting, 1)
	}
	require.NoError(t, f.Close())
	require.False(t, isOpenForWriting(path))
	ready, _, err := set.List(t.Context())
	require.NoError(t, err)
	require.Len(t, ready, 1)

	reader, err := os.Open(path)
	require.NoError(t, err)
	defer reader.Close()
	require.False(t, isOpenForWriting(path), "readers do not count")
	require.False(t, isOpenForWriting(filepath.Join(dir, "none")))
}

// TestTouched tells of known files that are written to again, or replaced.
func TestTouched(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	require.NoError(t, os.WriteFile(path, []byte("id\n1\n"), 0o644))
	opts, err := ParseOptions(map[string]string{"format": "csv"})
	require.NoError(t, err)
	set, err := NewSet(store.Open, nil, store.FileURI(dir), opts)
	require.NoError(t, err)
	w, err := set.Watch(nil)
	require.NoError(t, err)
	defer w.Close()
	known := func(uri string) bool { return filepath.Base(uri) == "a.csv" }
	list := func() []string {
		_, _, err := set.ListNew(t.Context(), known)
		require.NoError(t, err)
		return set.Touched()
	}
	require.Empty(t, list()) // from here on the folder is watched
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("2\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	var touched []string
	require.Eventually(t, func() bool { touched = append(touched, list()...); return len(touched) > 0 }, patience, time.Millisecond)
	require.Equal(t, []string{store.FileURI(path)}, touched)
	require.Empty(t, list(), "once")

	require.NoError(t, os.WriteFile(filepath.Join(dir, ".new"), []byte("id\n3\n"), 0o644))
	require.NoError(t, os.Rename(filepath.Join(dir, ".new"), path))
	require.Eventually(t, func() bool { return len(list()) == 1 }, patience, time.Millisecond)
}

// TestEmptyFileIsNoneYet: it is taken when it has bytes.
func TestEmptyFileIsNoneYet(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Chtimes(path, old, old))
	opts, err := ParseOptions(map[string]string{"format": "csv"})
	require.NoError(t, err)
	set, err := NewSet(store.Open, nil, store.FileURI(dir), opts)
	require.NoError(t, err)
	list := func() int {
		ready, waiting, err := set.List(t.Context())
		require.NoError(t, err)
		return len(ready) + len(waiting)
	}
	require.Zero(t, list())
	require.NoError(t, os.WriteFile(path, []byte("id\n1\n"), 0o644))
	require.Equal(t, 1, list())
}
