package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteOwnFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "users")
	require.NoError(t, WriteOwnFile(path, 0o600, false, []byte("a"), []byte("b")))
	require.NoError(t, WriteOwnFile(path, 0o600, true, []byte("kept out")))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "ab", string(got))
	require.NoError(t, WriteOwnFile(path, 0o640, false, []byte("new")))
	got, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())

	require.NoError(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	require.Error(t, WriteOwnFile(filepath.Join(dir, "taken"), 0o600, false, []byte("x")))
	require.Error(t, WriteOwnFile(filepath.Join(dir, "gone", "x"), 0o600, false, []byte("x")))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2, "nothing is left beside it")
}
