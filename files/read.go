package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/format"
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
	rows     formatReader
	schema   *batch.Schema
	source   []int           // by schema column: the column of rows' batch, or -1-i for fixed[i], or everyFact
	fixed    []*batch.Vector // the values of path and facts, batch.MaxRows times
	facts    []int           // where in fixed the facts are
	path     []partitionValue
	read     bool // the bytes were read and verified before: see Parts
	out      batch.Batch
	done     error
}

// OpenFile reads one file as rows of schema: columns of key=value folders from its path, those of WithMetadata, the others from the file, by
// the names of its header or keys. onError hears of malformed rows; it may be nil. An empty file has no rows. Errors, here and of Next:
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
	if r.rows, r.release, err = opts.openRows(c, inFile, opts.rescued(f, values, schema), onError); err != nil {
		return nil, r.failed(err)
	}
	r.path = values
	return r, nil
}

// containsFold says whether a column's name is among others, in any case.
func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(have string) bool { return strings.EqualFold(have, name) })
}

// bindPath fixes the columns that the file's path and the facts about it give, and returns the schema of the rest.
func (r *fileReader) bindPath(values []partitionValue, opts *Options) (*batch.Schema, error) {
	inFile := &batch.Schema{}
	for _, field := range r.schema.Fields {
		if one := factOf(field, r.contents.file); one != nil {
			r.facts = append(r.facts, len(r.fixed))
			r.fix(one)
			continue
		}
		if field.Name == MetadataPrefix {
			r.source = append(r.source, everyFact)
			continue
		}
		if opts.Format == "text" && len(r.source) == opts.CSV.Rescued.Index(r.schema) { // a line fits its column always: only the path has more
			rescued := opts.rescued(r.contents.file, values, r.schema)
			one := batch.NewVector(field.Type, 1)
			format.NewRescue(&rescued, r.schema).Fill(one, 1)
			r.fix(one)
			continue
		}
		at := slices.IndexFunc(values, func(v partitionValue) bool { return strings.EqualFold(v.name, field.Name) })
		if at < 0 {
			r.source = append(r.source, len(inFile.Fields))
			inFile.Fields = append(inFile.Fields, field)
			continue
		}
		one := batch.NewVector(field.Type, 1)
		if values[at].null {
			one.AppendNull()
		} else if err := csv.AppendValue(one, values[at].value, opts.CSV); err != nil && opts.CSV.Rescued.Index(r.schema) >= 0 {
			values[at].rescued = true
			one.AppendNull()
		} else if err != nil {
			return nil, fmt.Errorf("folder %s=%s, column %q: %w", values[at].name, values[at].value, field.Name, err)
		}
		r.fix(one)
	}
	return inFile, nil
}

// fix gives the next column one value in all rows.
func (r *fileReader) fix(one *batch.Vector) {
	r.source = append(r.source, -1-len(r.fixed))
	if one.Type.Layout() == batch.LayoutBytes && !one.IsNull(0) {
		r.fixed = append(r.fixed, &batch.Vector{Type: one.Type, Len: batch.MaxRows, Codes: firstCodes, Dict: one})
		return
	}
	r.fixed = append(r.fixed, one.Gather(make([]int32, batch.MaxRows)))
}

// everyFact stands for the column that has all facts.
const everyFact = math.MinInt

// allFacts is the column that has all facts, in so many rows.
func (r *fileReader) allFacts(rows int) *batch.Vector {
	v := &batch.Vector{Type: allFacts, Len: rows}
	for _, at := range r.facts {
		v.Children = append(v.Children, r.fixed[at].Slice(0, rows))
	}
	return v
}

// firstCodes are those of a column that has its dictionary's first value in all rows.
var firstCodes = make([]uint32, batch.MaxRows)

// Next implements Reader.
func (r *fileReader) Next(ctx context.Context) (*batch.Batch, error) {
	if r.done != nil {
		return nil, r.done
	}
	r.contents.ctx = ctx
	b, err := r.rows.Next()
	if err == io.EOF && !r.read {
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
		switch {
		case at >= 0:
			cols[i] = b.Cols[at]
		case at == everyFact:
			cols[i] = r.allFacts(b.Len)
		default:
			cols[i] = r.fixed[-1-at].Slice(0, b.Len)
		}
	}
	r.out = batch.Batch{Schema: r.schema, Cols: cols, Len: b.Len, Sel: b.Sel}
	return &r.out, nil
}

// failed gives an error the file's name.
func (r *fileReader) failed(err error) error {
	var rows *format.RecordError
	switch {
	case err == io.EOF || ours(err):
		return err
	case errors.As(err, &rows):
		return &RowsError{File: r.contents.file, Err: rows}
	}
	return &UnreadableError{File: r.contents.file, Err: err}
}

// rescued is what a column of rescued data gets of a file, whose path has the values.
func (o *Options) rescued(f File, values []partitionValue, schema *batch.Schema) format.Rescued {
	out := o.CSV.Rescued
	out.File = f.URI
	for _, v := range values {
		if v.null || !v.rescued && schema.Index(v.name) >= 0 {
			continue
		}
		if len(out.Path) > 0 {
			out.Path = append(out.Path, ',')
		}
		out.Path = append(batch.AppendJSONString(out.Path, []byte(v.name)), ':')
		out.Path = batch.AppendJSONString(out.Path, []byte(v.value))
	}
	return out
}

// Extra implements Reader: columns of the file, then of its path.
func (r *fileReader) Extra() []string {
	var extra []string
	for _, name := range r.rows.Extra() {
		if !slices.ContainsFunc(r.path, func(v partitionValue) bool { return strings.EqualFold(v.name, name) }) {
			extra = append(extra, name)
		}
	}
	for _, v := range r.path {
		if r.schema.Index(v.name) < 0 {
			extra = append(extra, v.name)
		}
	}
	return extra
}

// Rejected implements Reader.
func (r *fileReader) Rejected() int64 { return r.rows.Rejected() }

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
	file     File   // the last that was opened
	extra    []string
	rejected int64
}

// Read reads several files one after the other; each is opened when its turn comes. onError is told which file a malformed
// row is in, and of a file that the options leave out, with the rest of its rows, at line 0; it may be nil.
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
			if err := s.next(ctx); s.leavesOut(err) {
				s.rest = s.rest[1:]
				continue
			} else if err != nil {
				return nil, err
			}
		}
		b, err := s.now.Next(ctx)
		if err == nil {
			return b, nil
		}
		if err != io.EOF && !s.leavesOut(err) {
			return nil, err
		}
		s.rejected += s.now.Rejected()
		s.addExtra()
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
}

// leavesOut tells of a file that the options leave out.
func (s *sequence) leavesOut(err error) bool {
	if err == nil || !s.opts.LeavesOut(err) {
		return false
	}
	if s.onError != nil {
		s.onError(s.file, RowError{Message: "the file is left out: " + err.Error()})
	}
	return true
}

// next opens the next file.
func (s *sequence) next(ctx context.Context) error {
	f := s.rest[0]
	s.file = f
	var onError func(RowError)
	if s.onError != nil {
		onError = func(e RowError) { s.onError(f, e) }
	}
	r, err := OpenFile(ctx, s.open, f, s.schema, s.opts, onError)
	if err != nil {
		return err
	}
	s.now, s.rest = r, s.rest[1:]
	return nil
}

// Extra implements Reader.
func (s *sequence) Extra() []string {
	if s.now != nil {
		s.addExtra()
	}
	return s.extra
}

// addExtra adds what the current file has.
func (s *sequence) addExtra() {
	for _, name := range s.now.Extra() {
		if !slices.Contains(s.extra, name) {
			s.extra = append(s.extra, name)
		}
	}
}

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
