package vector

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// SpillSpace is the directory for the temporary files of all queries, and how much they may take. Several goroutines may use it.
type SpillSpace struct {
	directory string
	limit     int64
	used      atomic.Int64
	files     atomic.Int64 // that are open
}

// spillPattern names the files. Where the system allows it they have no name from the moment on at which they are open.
const spillPattern = "lakesql-spill-*"

// NewSpillSpace makes the directory where it is missing, and removes what a process that died has left in it. limit is in bytes.
func NewSpillSpace(directory string, limit int64) (*SpillSpace, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory to spill to: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(directory, spillPattern))
	if err != nil {
		return nil, fmt.Errorf("look into the directory to spill to, %s: %w", directory, err)
	}
	for _, name := range left {
		// That of a living process goes as well: it is without a name already, or the system that keeps names does not let go of it.
		_ = os.Remove(name)
	}
	return &SpillSpace{directory: directory, limit: limit}, nil
}

// Used is how many bytes the files have now.
func (s *SpillSpace) Used() int64 { return s.used.Load() }

// SpillLimitError says that the queries would spill more than they may together.
type SpillLimitError struct{ Limit int64 } // bytes

func (e *SpillLimitError) Error() string {
	return fmt.Sprintf("queries would spill more than the %d MiB that they may have on disk together", e.Limit>>20)
}

// open makes a file without a name, as far as the system has such.
func (s *SpillSpace) open() (file *os.File, named bool, err error) {
	file, err = os.CreateTemp(s.directory, spillPattern)
	if errors.Is(err, fs.ErrNotExist) { // somebody has removed the directory
		if err = os.MkdirAll(s.directory, 0o700); err == nil {
			file, err = os.CreateTemp(s.directory, spillPattern)
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("make a file to spill to: %w", err)
	}
	s.files.Add(1)
	return file, os.Remove(file.Name()) != nil, nil
}

// take counts more bytes, or fewer.
func (s *SpillSpace) take(bytes int64) error {
	if s.used.Add(bytes) > s.limit && bytes > 0 {
		s.used.Add(-bytes)
		return &SpillLimitError{Limit: s.limit}
	}
	return nil
}
