package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"lakesql/store"
)

// source is where a file's bytes are.
type source struct {
	store   store.Store
	key     string
	size    int64
	mapped  []byte // nil: read by ranges
	release func() // ends the mapping
}

func openSource(ctx context.Context, st store.Store, key string, size int64) (*source, error) {
	s := &source{store: st, key: key, size: size, release: func() {}}
	mapper, ok := st.(store.Mapper)
	if !ok {
		return s, nil
	}
	data, release, err := mapper.Map(ctx, key)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != size {
		release()
		return nil, damaged("it has %d bytes; %d were expected", len(data), size)
	}
	s.mapped, s.release = data, release
	return s, nil
}

// reader returns access to the bytes for as long as ctx is not done.
func (s *source) reader(ctx context.Context) io.ReaderAt {
	if s.mapped != nil {
		return bytes.NewReader(s.mapped)
	}
	return &rangeReader{ctx: ctx, source: s}
}

// rangeReader reads through the store. It carries the context of one call or one scan, because io.ReaderAt has none, and is for one
// goroutine.
type rangeReader struct {
	ctx    context.Context
	source *source
	err    error // the store's, if a read failed
}

// readError tells what parquet-go's error means: that the store failed, or that the bytes are no good.
func readError(r io.ReaderAt, err error) error {
	if ranges, ok := r.(*rangeReader); ok && ranges.err != nil {
		return ranges.err
	}
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

func (r *rangeReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.source.size {
		return 0, io.EOF
	}
	data, err := r.source.store.GetRange(r.ctx, r.source.key, off, int64(len(p)))
	if err != nil {
		r.err = err
		return 0, err
	}
	n := copy(p, data)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

var _ io.ReaderAt = (*rangeReader)(nil)
