package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
	"lakesql/store"
)

// Scan reads the rows of a snapshot, file after file in the snapshot's order. While the rows of one file are handed out, the next one is
// opened. It leaves out the files and row groups that its filter rules out.
//
// Files that wait cost nothing: they are taken from the snapshot one at a time.
type Scan struct {
	st      store.Store
	cache   *parquet.Cache // nil: every file is opened anew
	schema  *batch.Schema
	columns []scanColumn
	stored  []batch.Field // the columns that come out of the files
	filter  Expr          // nil: none
	needed  []int         // the columns that filter looks at

	ctx    context.Context // of the reads; ends with Close
	cancel context.CancelFunc
	next   func() (delta.File, bool)
	stop   func()
	ahead  chan opened // the file being opened; nil when there is none
	now    *openFile
	closed bool
	out    batch.Batch

	mu    sync.Mutex
	stats ScanStats // guarded by mu: the opening goroutine counts too
}

// scanColumn is where a column of the output comes from.
type scanColumn struct {
	field     batch.Field
	position  int // in the snapshot's schema
	partition bool
	stored    int // in Scan.stored, unless it is a partition column
}

// ScanStats count what a scan reads and leaves out, so far.
type ScanStats struct {
	Files            int   // files of the snapshot that were looked at
	FilesSkipped     int   // of them, those left out by partition values or statistics
	RowGroups        int   // in the files that were opened
	RowGroupsSkipped int   // of them, those left out by statistics
	Rows             int64 // handed out
}

// NewScan returns a scan of the named columns of a snapshot; st is rooted at the table's folder. filter may be nil: it refers to columns by
// their position in columns, and is used to leave out files and row groups that have no row for it. The caller still filters
// the rows. NewScan reads nothing.
func NewScan(snap *delta.Snapshot, st store.Store, columns []string, filter Expr) (*Scan, error) {
	s := &Scan{st: st, filter: filter, schema: &batch.Schema{}}
	partition := make(map[string]bool)
	for _, name := range snap.Metadata().PartitionColumns {
		partition[name] = true
	}
	for _, name := range columns {
		i := snap.Schema().Index(name)
		if i < 0 {
			return nil, fmt.Errorf("scan %s: no column %q in version %d; it has %s", st.URI(), name, snap.Version(), strings.Join(snap.Schema().Names(), ", "))
		}
		c := scanColumn{field: snap.Schema().Fields[i], position: i, partition: partition[snap.Schema().Fields[i].Name]}
		if !c.partition {
			c.stored = len(s.stored)
			s.stored = append(s.stored, c.field)
		}
		s.columns = append(s.columns, c)
		s.schema.Fields = append(s.schema.Fields, c.field)
	}
	if filter != nil {
		s.needed = columnsOf(filter)
		for _, i := range s.needed {
			if i >= len(s.columns) {
				return nil, fmt.Errorf("scan %s: the filter looks at column %d of %d", st.URI(), i, len(s.columns))
			}
		}
	}
	s.next, s.stop = iter.Pull(snap.Files())
	return s, nil
}

// UseCache opens the files through a cache, which other scans share. It is called before Next.
func (s *Scan) UseCache(c *parquet.Cache) { s.cache = c }

// Schema implements Operator.
func (s *Scan) Schema() *batch.Schema { return s.schema }

// Stats returns what the scan has done so far. It may be called from another goroutine.
func (s *Scan) Stats() ScanStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *Scan) count(f func(*ScanStats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

// Next implements Operator.
func (s *Scan) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.closed {
		return nil, io.EOF
	}
	for {
		if s.now == nil {
			if err := s.advance(ctx); err != nil {
				return nil, err
			}
		}
		b, err := s.now.scanner.Next(ctx)
		if errors.Is(err, io.EOF) {
			if err := s.now.close(); err != nil {
				return nil, err
			}
			s.now = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		s.count(func(c *ScanStats) { c.Rows += int64(b.Rows()) })
		return s.assemble(b), nil
	}
}

// assemble puts the file's partition values between the columns that it stores.
func (s *Scan) assemble(b *batch.Batch) *batch.Batch {
	s.out = batch.Batch{Schema: s.schema, Cols: resize(s.out.Cols, len(s.columns)), Len: b.Len, Sel: b.Sel}
	for i, c := range s.columns {
		if c.partition {
			s.out.Cols[i] = s.now.constants[i].vector(c.field.Type, b.Len)
		} else {
			s.out.Cols[i] = b.Cols[c.stored]
		}
	}
	return &s.out
}

// advance makes the next file with rows the current one, and begins to open the one after it. io.EOF: there is none.
func (s *Scan) advance(ctx context.Context) error {
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	}
	if s.ahead == nil {
		s.openAhead()
	}
	select {
	case o := <-s.ahead:
		s.ahead = nil
		if o.err != nil {
			s.ahead = closedWith(o.err)
			return o.err
		}
		s.now = o.file
		s.openAhead()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// opened is the outcome of opening a file.
type opened struct {
	file *openFile
	err  error // io.EOF after the last file
}

// closedWith is an ahead that tells the same again.
func closedWith(err error) chan opened {
	ahead := make(chan opened, 1)
	ahead <- opened{err: err}
	return ahead
}

// openAhead opens the next file that the filter does not rule out. The goroutine ends by itself; its only reader is advance or Close.
func (s *Scan) openAhead() {
	ahead := make(chan opened, 1)
	s.ahead = ahead
	go func() {
		file, err := s.openNext()
		ahead <- opened{file, err}
	}()
}

func (s *Scan) openNext() (file *openFile, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("scan %s: panic: %v", s.st.URI(), r)
		}
	}()
	for {
		f, ok := s.next()
		if !ok {
			return nil, io.EOF
		}
		file, err := s.open(f)
		if err != nil || file != nil {
			return file, err
		}
	}
}

// Close implements Operator.
func (s *Scan) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.now != nil {
		errs = append(errs, s.now.close())
		s.now = nil
	}
	if s.ahead != nil {
		s.cancel()
		if o := <-s.ahead; o.file != nil {
			errs = append(errs, o.file.close())
		}
	}
	if s.cancel != nil {
		s.cancel()
	}
	s.stop()
	return errors.Join(errs...)
}

// openFile is a file whose rows are being read.
type openFile struct {
	file      *parquet.File
	scanner   *parquet.Scanner
	constants []constant // by position in Scan.columns; set for partition columns
}

func (o *openFile) close() error { return errors.Join(o.scanner.Close(), o.file.Close()) }

// open opens a file; nil when nothing in it can match the filter.
func (s *Scan) open(f delta.File) (*openFile, error) {
	s.count(func(c *ScanStats) { c.Files++ })
	constants, err := s.partitionValues(f)
	if err != nil {
		return nil, err
	}
	if !s.fileCanMatch(f, constants) {
		s.count(func(c *ScanStats) { c.FilesSkipped++ })
		return nil, nil
	}
	if isURI(f.Path) {
		return nil, fmt.Errorf("read %s: the file lies outside of its table %s, which is not supported yet", f.Path, s.st.URI())
	}
	file, err := s.cache.Open(s.ctx, s.st, f.Path, f.Size)
	if err != nil {
		return nil, err
	}
	groups := s.rowGroups(file, constants)
	if len(groups) == 0 {
		return nil, file.Close()
	}
	scanner := file.Scan(s.ctx, parquet.ScanOptions{Columns: s.stored, RowGroups: groups})
	return &openFile{file: file, scanner: scanner, constants: constants}, nil
}

// isURI reports a path that is no key below the table's root: it has a scheme.
func isURI(path string) bool {
	scheme, rest, ok := strings.Cut(path, ":")
	return ok && strings.HasPrefix(rest, "/") && !strings.Contains(scheme, "/")
}

// partitionValues parses the file's values of the partition columns.
func (s *Scan) partitionValues(f delta.File) ([]constant, error) {
	constants := make([]constant, len(s.columns))
	for i, c := range s.columns {
		if !c.partition {
			continue
		}
		v, err := delta.ParsePartitionValue(f.PartitionValues[c.field.Name], c.field.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s of %s: %w", c.field.Name, f.Path, err)
		}
		if !v.IsNull(0) {
			constants[i].value = v
		}
	}
	return constants, nil
}
