package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
)

// The columns of a row's address, which no table has. Both are longs.
const (
	FileColumn = "_lakesql_file" // the number of the row's file
	RowColumn  = "_lakesql_row"  // the row's position in it
)

// AddressField is an address column as batches have it.
func AddressField(name string) batch.Field {
	return batch.Field{Name: name, Type: batch.Type{Kind: batch.Int64}}
}

// Scan reads the rows of a snapshot, file after file in the snapshot's order. While the rows of one file are handed out, the next one is
// opened. It leaves out the files, row groups and pages that its filter rules out. Its forks read files, or row groups of large ones, side by
// side.
//
// Files that wait cost nothing: they are taken from the snapshot one at a time.
type Scan struct {
	table  *delta.Table
	snap   *delta.Snapshot
	cache  *parquet.Cache // nil: every file is opened anew
	schema *batch.Schema
	filter *FileFilter
	unread []bool        // by column: nobody looks at it, and batches have nil for it; nil: all are read
	read   []batch.Field // the columns of the table among the scan's that are read
	files  iter.Seq2[int64, delta.File]

	ctx    context.Context // of the reads; ends with Close
	cancel context.CancelFunc
	next   func() (int64, delta.File, bool) // nil until the first file is opened
	stop   func()
	ahead  chan opened // the file being opened; nil when there is none
	now    *openFile
	closed bool
	out    batch.Batch
	row    batch.Vector // the values of RowColumn

	counts *scanCounts
}

// scanCounts are the statistics of a scan and its forks.
type scanCounts struct {
	mu    sync.Mutex
	stats ScanStats // guarded by mu: the opening goroutine counts too
}

// ScanStats count what a scan reads and leaves out, so far.
type ScanStats struct {
	Files            int   // files of the snapshot that were looked at
	FilesSkipped     int   // of them, those left out by partition values or statistics
	RowGroups        int   // in the files that were opened
	RowGroupsSkipped int   // of them, those left out by statistics
	RowsSkipped      int64 // in the other row groups, those in pages that were left out by statistics
	Rows             int64 // handed out
}

// NewScan returns a scan of the named columns of a snapshot of the table, FileColumn and RowColumn among them. filter may be nil: it refers
// to columns by their position in columns, and is used to leave out files, row groups and pages that have no row for it. The caller still
// filters the rows. NewScan reads nothing.
func NewScan(table *delta.Table, snap *delta.Snapshot, columns []string, filter Expr) (*Scan, error) {
	s := &Scan{table: table, snap: snap, schema: &batch.Schema{}, files: Numbered(snap), counts: &scanCounts{}}
	var err error
	if s.filter, err = NewFileFilter(snap, columns, filter); err != nil {
		return nil, fmt.Errorf("scan %s: %w", table.Store().URI(), err)
	}
	for _, c := range s.filter.columns {
		s.schema.Fields = append(s.schema.Fields, c.field)
		if c.position >= 0 {
			s.read = append(s.read, c.field)
		}
	}
	return s, nil
}

// keepColumns leaves out the other columns: batches have nil in their places. It is called before Next.
func (s *Scan) keepColumns(columns []int) {
	s.unread, s.read = make([]bool, len(s.filter.columns)), nil
	for i, c := range s.filter.columns {
		if s.unread[i] = !slices.Contains(columns, i); !s.unread[i] && c.position >= 0 {
			s.read = append(s.read, c.field)
		}
	}
}

// Numbered are the files of a snapshot with their places among them, which are the numbers in FileColumn.
func Numbered(snap *delta.Snapshot) iter.Seq2[int64, delta.File] {
	return func(yield func(int64, delta.File) bool) {
		n := int64(0)
		for f := range snap.Files() {
			if !yield(n, f) {
				return
			}
			n++
		}
	}
}

// UseCache opens the files through a cache, which other scans share. It is called before Next.
func (s *Scan) UseCache(c *parquet.Cache) { s.cache = c }

// UseFiles reads these files, with their numbers, instead of those of the snapshot. It is called before Next.
func (s *Scan) UseFiles(files iter.Seq2[int64, delta.File]) { s.files = files }

// Schema implements Operator.
func (s *Scan) Schema() *batch.Schema { return s.schema }

// Stats returns what the scan has done so far. It may be called from another goroutine.
func (s *Scan) Stats() ScanStats {
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	return s.counts.stats
}

func (s *Scan) count(f func(*ScanStats)) {
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	f(&s.counts.stats)
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
		if b, err := s.nextOfFile(ctx); b != nil || err != nil {
			return b, err
		}
	}
}

// nextOfFile returns the next batch of the current file; nil, nil after the last.
func (s *Scan) nextOfFile(ctx context.Context) (*batch.Batch, error) {
	b, err := s.now.reader.Next(ctx)
	if errors.Is(err, io.EOF) {
		done := s.now
		s.now = nil
		return nil, done.reader.Close()
	}
	if err != nil {
		return nil, err
	}
	s.count(func(c *ScanStats) { c.Rows += int64(b.Rows()) })
	return s.assemble(b), nil
}

// assemble puts the address between the columns of the table.
func (s *Scan) assemble(b *batch.Batch) *batch.Batch {
	if len(s.read) == len(s.filter.columns) {
		return b
	}
	s.out = batch.Batch{Schema: s.schema, Cols: s.out.Cols[:0], Len: b.Len, Sel: b.Sel}
	read := 0
	for i, c := range s.filter.columns {
		switch {
		case s.unread != nil && s.unread[i]:
			s.out.Cols = append(s.out.Cols, nil)
		case c.position >= 0:
			s.out.Cols = append(s.out.Cols, b.Cols[read])
			read++
		case c.field.Name == FileColumn:
			s.out.Cols = append(s.out.Cols, s.now.number.vector(c.field.Type, b.Len))
		default:
			reset(&s.row, c.field.Type, b.Len)
			for i := range s.row.I64 {
				s.row.I64[i] = s.now.reader.Position() + int64(i)
			}
			s.out.Cols = append(s.out.Cols, &s.row)
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

// openFile is a file whose rows are being read.
type openFile struct {
	number constant // of the file, for FileColumn
	reader *delta.FileReader
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
			file, err = nil, fmt.Errorf("scan %s: panic: %v", s.table.Store().URI(), r)
		}
	}()
	for {
		n, f, err := s.nextFile()
		if err != nil {
			return nil, err
		}
		reader, rows, err := s.open(s.ctx, f)
		if err != nil {
			return nil, err
		}
		if reader != nil {
			reader.Restrict(rows)
			return newOpenFile(n, reader), nil
		}
	}
}

// nextFile returns the next file and its number, or io.EOF.
func (s *Scan) nextFile() (int64, delta.File, error) {
	if s.next == nil {
		s.next, s.stop = iter.Pull2(s.files)
	}
	n, f, ok := s.next()
	if !ok {
		return 0, delta.File{}, io.EOF
	}
	return n, f, nil
}

func newOpenFile(n int64, reader *delta.FileReader) *openFile {
	number := batch.NewVector(AddressField(FileColumn).Type, 1)
	number.AppendInt64(n)
	return &openFile{number: constant{value: number}, reader: reader}
}

// Close implements Operator.
func (s *Scan) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.now != nil {
		errs = append(errs, s.now.reader.Close())
		s.now = nil
	}
	if s.ahead != nil {
		s.cancel()
		if o := <-s.ahead; o.file != nil {
			errs = append(errs, o.file.reader.Close())
		}
	}
	if s.cancel != nil {
		s.cancel()
	}
	if s.stop != nil {
		s.stop()
	}
	return errors.Join(errs...)
}

// open opens a file, and tells which of its rows can match the filter; nil rows: all. The reader is nil when nothing in the file can.
func (s *Scan) open(ctx context.Context, f delta.File) (*delta.FileReader, []parquet.RowRange, error) {
	s.count(func(c *ScanStats) { c.Files++ })
	coverage, err := s.filter.Match(f)
	if err != nil {
		return nil, nil, err
	}
	if coverage == NoRows {
		s.count(func(c *ScanStats) { c.FilesSkipped++ })
		return nil, nil, nil
	}
	reader, err := s.openReader(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	s.count(func(c *ScanStats) { c.RowGroups += len(reader.Parquet().RowGroups()) })
	if coverage == AllRows {
		return reader, nil, nil
	}
	rows, left, err := s.filter.rows(ctx, f, reader.Parquet())
	if err != nil || len(rows) == 0 {
		err = errors.Join(err, reader.Close())
		reader = nil
	}
	s.count(func(c *ScanStats) {
		c.RowGroupsSkipped += left.groups
		c.RowsSkipped += left.rows
	})
	return reader, rows, err
}

func (s *Scan) openReader(ctx context.Context, f delta.File) (*delta.FileReader, error) {
	return s.table.OpenFile(ctx, s.snap, f, delta.FileReaderOptions{Columns: s.read, Cache: s.cache})
}
