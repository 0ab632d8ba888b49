package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// TestRemoveLeftovers removes what dead writers left, and nothing of a writer at work, nothing above the folder, and no object.
func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(store.FileURI(dir))
	require.NoError(t, err)
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{"a/.1.pin.0f9c.tmp", "a/b/.2.x.tmp", "a/.8.crc", "a/x.tmp", "a/3", ".above.x.tmp"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o644))
		require.NoError(t, os.Chtimes(path, long, long))
	}
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "a", "link")))
	w, err := st.Create(t.Context(), "a/4")
	require.NoError(t, err)
	require.NoError(t, store.RemoveLeftovers(t.Context(), st, "a/", time.Now().Add(-time.Minute)))
	require.NoError(t, store.RemoveLeftovers(t.Context(), st, "none/", time.Now()))
	require.NoError(t, w.Commit(t.Context(), true))

	var left []string
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			left = append(left, path[len(dir)+1:])
		}
		return err
	}))
	require.Equal(t, []string{".above.x.tmp", "a/.8.crc", "a/3", "a/4", "a/x.tmp"}, left)
}
