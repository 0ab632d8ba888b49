//go:build !unix

package store

import (
	"context"
	"io/fs"
	"os"
)

func inode(fs.FileInfo) uint64 { return 0 }

func readWhole(path string) ([]byte, error) { return os.ReadFile(path) }

// fsyncDir does nothing: these systems make folder entries durable with the file.
func fsyncDir(*os.File) error { return nil }

// Map implements Mapper by reading.
func (l *Local) Map(ctx context.Context, key string) (data []byte, release func(), err error) {
	data, err = l.Get(ctx, key)
	return data, func() {}, err
}
