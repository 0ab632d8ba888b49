package vector

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// SpillFile is a temporary file of bytes in a SpillSpace, which is written at its end and read anywhere. It belongs to one goroutine at a time.
type SpillFile struct {
	space *SpillSpace
	file  *os.File
	named bool // the file is to be removed
	size  int64
}

var (
	_ io.Writer   = (*SpillFile)(nil)
	_ io.ReaderAt = (*SpillFile)(nil)
)

// Create makes an empty file. Whoever has it closes it.
func (s *SpillSpace) Create() (*SpillFile, error) {
	file, named, err := s.open()
	if err != nil {
		return nil, err
	}
	return &SpillFile{space: s, file: file, named: named}, nil
}

// Write appends bytes. What the space has no room for is a *SpillLimitError.
func (f *SpillFile) Write(p []byte) (int, error) {
	if err := f.space.take(int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.file.WriteAt(p, f.size)
	f.size += int64(len(p)) // as it was taken
	if err != nil {
		return n, fmt.Errorf("spill to %s: wrote %d of %d bytes: %w", f.space.directory, n, len(p), err)
	}
	return n, nil
}

// ReadAt reads what was written.
func (f *SpillFile) ReadAt(p []byte, at int64) (int, error) { return f.file.ReadAt(p, at) }

// Close removes the file.
func (f *SpillFile) Close() error {
	f.space.files.Add(-1)
	_ = f.space.take(-f.size) // to hold less is no error
	err := f.file.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	if err != nil {
		return fmt.Errorf("remove what was spilled to %s: %w", f.space.directory, err)
	}
	return nil
}
