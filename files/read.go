package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/format/csv"
	"lakesql/store"
)

// Reader is the rows of one or several files.
type Reader interface {
	// Next returns the next rows, or io.EOF. The batch is valid until the following call.
	Next(ctx context.Context) (*batch.Batch, error)
	// Extra names the columns of the files read so far that the schema does not have.
	Extra() []string
	// Rejected is the number of rows left out so far by mode DROPMALFORMED.
	Rejected() int64
	Close() error
}

// fileReader reads one file: the columns that the file has, then those that its path gives.
type fileReader struct {
	contents *contents
	release  func()
	csv      *csv.Reader
	schema   *batch.Schema
	source   []int           // by schema column: the column of csv's batch, or -1-i for fixed[i]
	fixed    []*batch.Vector // the path's values, batch.MaxRows times
	extra    []string        // columns that the schema does not have
	out      batch.Batch
	done     error
}

// OpenFile reads one file as rows of schema: columns of key=value folders from its path, the others from the file, by
// header name. onError hears of malformed rows; it may be nil. An empty file has no rows. Errors, here and of Next:
// *GoneError, *ChangedError, *UnreadableError and *RowsError, each naming the file.
func OpenFile(ctx context.Context, open store.Opener, f File, schema *batch.Schema, opts *Options, onError func(RowError)) (Reader, error) {
	c, err := openContents(ctx, open, f)
	if err != nil {
		return nil, err
	}
	r := &fileReader{contents: c, schema: schema}
	values, err := opts.partitionsOf(f)
	if err != nil {
		return nil, &UnreadableError{File: f, Err: err}
	}
	inFile, err := r.bindPath(values, opts)
	if err != nil {
		return nil, &UnreadableError{File: f, Err: err}
	}
	data, release, err := decompress(f.URI, f.Size, c)
	if err != nil {
		return nil, r.failed(err)
	}
	r.release = release
	csvOptions := opts.CSV
	csvOptions.OnError = onError
	if data == io.Reader(c) {
		csvOptions.SizeHint = f.Size
	}
	if r.csv, err = csv.NewReader(data, inFile, csvOptions); err != nil {
		release()
		return nil, r.failed(err)
	}
	r.addExtra(r.csv.Extra()...)
	for _, v := range values {
		r.addExtra(v.name)
	}
	return r, nil
}

// addExtra adds the names that the schema does not have.
func (r *fileReader) addExtra(names ...string) {
	for _, name := range names {
		if r.schema.Index(name) < 0 && !containsFold(r.extra, name) {
			r.extra = append(r.extra, name)
		}
	}
}

// containsFold says whether a column's name is among others, in any case.
func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(have string) bool { return strings.EqualFold(have, name) })
}

// bindPath fixes the columns that the file's path gives, and returns the schema of the rest.
func (r *fileReader) bindPath(values []partitionValue, opts *Options) (*batch.Schema, error) {
	inFile := &batch.Schema{}
	for _, field := range r.schema.Fields {
		at := slices.IndexFunc(values, func(v partitionValue) bool { return strings.EqualFold(v.name, field.Name) })
		if at < 0 {
			r.source = append(r.source, len(inFile.Fields))
			inFile.Fields = append(inFile.Fields, field)
			continue
		}
		one := batch.NewVector(field.Type, 1)
		if values[at].null {
			one.AppendNull()
		} else if err := csv.AppendValue(one, values[at].value, opts.CSV); err != nil {
			return nil, fmt.Errorf("folder %s=%s, column %q: %w", values[at].name, values[at].value, field.Name, err)
		}
		r.source = append(r.source, -1-len(r.fixed))
		r.fixed = append(r.fixed, one.Gather(make([]int32, batch.MaxRows)))
	}
	return inFile, nil
}

// Next implements Reader.
func (r *fileReader) Next(ctx context.Context) (*batch.Batch, error) {
	if r.done != nil {
		return nil, r.done
	}
	r.contents.ctx = ctx
	b, err := r.csv.Next()
	if err == io.EOF {
		if changed := r.contents.verify(ctx); changed != nil {
			err = changed
		}
	}
	if err != nil {
		r.done = r.failed(err)
		return nil, r.done
	}
	if len(r.fixed) == 0 {
		return b, nil
	}
	cols := make([]*batch.Vector, len(r.source))
	for i, at := range r.source {
		if at >= 0 {
			cols[i] = b.Cols[at]
		} else {
			cols[i] = r.fixed[-1-at].Slice(0, b.Len)
		}
	}
	r.out = batch.Batch{Schema: r.schema, Cols: cols, Len: b.Len, Sel: b.Sel}
	return &r.out, nil
}

// failed gives an error the file's name.
func (r *fileReader) failed(err error) error {
	var rows *csv.RecordError
	switch {
	case err == io.EOF || ours(err):
		return err
	case errors.As(err, &rows):
		return &RowsError{File: r.contents.file, Err: rows}
	}
	return &UnreadableError{File: r.contents.file, Err: err}
}

// Extra implements Reader: columns of the file, then of its path.
func (r *fileReader) Extra() []string { return r.extra }

// Rejected implements Reader.
func (r *fileReader) Rejected() int64 { return r.csv.Rejected() }

// Close implements Reader. It may be called twice.
func (r *fileReader) Close() error {
	r.release()
	r.release = func() {}
	if r.done == nil {
		r.done = errors.New("the file was closed")
	}
	return nil
}

// sequence reads files one after the other.
type sequence struct {
	open     store.Opener
	rest     []File
	schema   *batch.Schema
	opts     *Options
	onError  func(File, RowError)
	now      Reader // nil between files
	extra    []string
	rejected int64
}

// Read reads several files one after the other; each is opened when its turn comes. onError is told which file a malformed
// row is in; it may be nil.
func Read(ctx context.Context, open store.Opener, list []File, schema *batch.Schema, opts *Options, onError func(File, RowError)) (Reader, error) {
	return &sequence{open: open, rest: list, schema: schema, opts: opts, onError: onError}, ctx.Err()
}

// Next implements Reader.
func (s *sequence) Next(ctx context.Context) (*batch.Batch, error) {
	for {
		if s.now == nil {
			if len(s.rest) == 0 {
				return nil, io.EOF
			}
			if err := s.next(ctx); err != nil {
				return nil, err
			}
		}
		b, err := s.now.Next(ctx)
		if err == nil {
			return b, nil
		}
		if err != io.EOF {
			return nil, err
		}
		s.rejected += s.now.Rejected()
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
}

// next opens the next file.
func (s *sequence) next(ctx context.Context) error {
	f := s.rest[0]
	var onError func(RowError)
	if s.onError != nil {
		onError = func(e RowError) { s.onError(f, e) }
	}
	r, err := OpenFile(ctx, s.open, f, s.schema, s.opts, onError)
	if err != nil {
		return err
	}
	s.now, s.rest = r, s.rest[1:]
	for _, name := range r.Extra() {
		if !containsFold(s.extra, name) {
			s.extra = append(s.extra, name)
		}
	}
	return nil
}

// Extra implements Reader.
func (s *sequence) Extra() []string { return s.extra }

// Rejected implements Reader.
func (s *sequence) Rejected() int64 {
	if s.now == nil {
		return s.rejected
	}
	return s.rejected + s.now.Rejected()
}

// Close implements Reader. It may be called twice.
func (s *sequence) Close() error {
	if s.now == nil {
		return nil
	}
	r := s.now
	s.now = nil
	return r.Close()
}
