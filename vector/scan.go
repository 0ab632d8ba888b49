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
// opened. It leaves out the files, row groups and pages that its filter rules out. What a Filter on it tests is tested here, where columns that no test looks
// at are read for the rows that are left. Its forks read files, or row groups of large ones, side by side.
//
// Files that wait cost nothing: they are taken from the snapshot one at a time.
type Scan struct {
	table  *delta.Table
	snap   *delta.Snapshot
	cache  *parquet.Cache // nil: every file is opened anew
	schema *batch.Schema
	filter *FileFilter
	tests  []*rowTest
	learnt []*learntTests
	unread []bool        // by column: nobody above looks at it, and batches have nil for it; nil: all are read
	read   []batch.Field // the columns of the table that are read for the rows above or for the tests; nil: not known yet
	place  []int         // by column: where it is in read; -1: it is not there
	files  iter.Seq2[int64, delta.File]

	ctx    context.Context // of the reads; ends with Close
	cancel context.CancelFunc
	next   func() (int64, delta.File, bool) // nil until the first file is opened
	stop   func()
	ahead  chan opened // the file being opened; nil when there is none
	now    *openFile
	closed bool
	window window

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
	Rows             int64 // that were looked at: neither left out nor deleted

	// Of what was left out, what runtime filters did; and the rows that they left out one by one.
	Learnt struct {
		Files, RowGroups int
		PageRows, Rows   int64
	}
}

// NewScan returns a scan of the named columns of a snapshot of the table, FileColumn and RowColumn among them. filter may be nil: it refers
// to columns by their position in columns, and is used to leave out files, row groups and pages that have no row for it. The caller still
// filters the rows, as NewFilter does. NewScan reads nothing.
func NewScan(table *delta.Table, snap *delta.Snapshot, columns []string, filter Expr) (*Scan, error) {
	s := &Scan{table: table, snap: snap, schema: &batch.Schema{}, files: Numbered(snap), counts: &scanCounts{}}
	var err error
	if s.filter, err = NewFileFilter(snap, columns, filter); err != nil {
		return nil, fmt.Errorf("scan %s: %w", table.Store().URI(), err)
	}
	for _, c := range s.filter.columns {
		s.schema.Fields = append(s.schema.Fields, c.field)
	}
	return s, nil
}

// where makes the scan leave out the rows for which a predicate over its columns is not true. It is called before Next and Fork.
func (s *Scan) where(predicate Expr) {
	s.filter.and(predicate)
	for _, test := range conjuncts(predicate) {
		s.tests = append(s.tests, newRowTest(test.Clone()))
	}
}

// keepColumns leaves out the other columns: batches have nil in their places. It is called before Next.
func (s *Scan) keepColumns(columns []int) {
	s.unread = make([]bool, len(s.filter.columns))
	for i := range s.unread {
		s.unread[i] = !slices.Contains(columns, i)
	}
}

// begin decides what is read. It is called before the first file is opened.
func (s *Scan) begin() {
	if s.place != nil {
		return
	}
	tested := make([]bool, len(s.filter.columns))
	for _, t := range s.tests {
		t.mark(tested)
	}
	for _, l := range s.learnt {
		for _, i := range columnsOf(l.values...) {
			tested[i] = true
		}
	}
	s.read, s.place = []batch.Field{}, make([]int, len(s.filter.columns))
	for i, c := range s.filter.columns {
		s.place[i] = -1
		if c.position >= 0 && (tested[i] || !s.leftOut(i)) {
			s.place[i] = len(s.read)
			s.read = append(s.read, c.field)
		}
	}
}

// leftOut says whether nobody above looks at a column.
func (s *Scan) leftOut(i int) bool { return s.unread != nil && s.unread[i] }

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

// filterBy implements runtimeFiltered.
func (s *Scan) filterBy(f *runtimeFilter, values []Expr) bool {
	if len(columnsOf(values...)) == 0 {
		return false
	}
	s.learnt = append(s.learnt, &learntTests{filter: f, values: values})
	return true
}

// Next implements Operator.
func (s *Scan) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.closed {
		return nil, io.EOF
	}
	s.begin()
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
	for {
		n, live, err := s.now.reader.Advance(ctx)
		if errors.Is(err, io.EOF) {
			done := s.now
			s.now = nil
			return nil, done.reader.Close()
		}
		if err != nil {
			return nil, err
		}
		looked := n
		if live != nil {
			looked = len(live)
		}
		s.count(func(c *ScanStats) { c.Rows += int64(looked) })
		b, err := s.readWindow(ctx, n, live)
		if b != nil || err != nil {
			return b, err
		}
	}
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
	passed bool // the tests are true for every row of it
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
		f, err := s.nextFile()
		if err != nil {
			return nil, err
		}
		o, err := s.open(s.ctx, f)
		if err != nil {
			return nil, err
		}
		if o.reader == nil {
			continue
		}
		if some, err := s.restrict(s.ctx, o.reader, f.file, o.rows); err != nil || !some {
			if err = errors.Join(err, o.reader.Close()); err != nil {
				return nil, err
			}
			continue
		}
		return newOpenFile(f.number, o.reader, o.passed), nil
	}
}

// nextFile returns the next file with what the filter says of it, or io.EOF.
func (s *Scan) nextFile() (numbered, error) {
	if s.next == nil {
		s.next, s.stop = iter.Pull2(s.files)
	}
	n, f, ok := s.next()
	if !ok {
		return numbered{}, io.EOF
	}
	s.count(func(c *ScanStats) { c.Files++ })
	coverage, err := s.filter.Match(f)
	if coverage == NoRows {
		s.count(func(c *ScanStats) { c.FilesSkipped++ })
	}
	return numbered{number: n, file: f, coverage: coverage}, err
}

func newOpenFile(n int64, reader *delta.FileReader, passed bool) *openFile {
	number := batch.NewVector(AddressField(FileColumn).Type, 1)
	number.AppendInt64(n)
	return &openFile{number: constant{value: number}, reader: reader, passed: passed}
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

// matching is an open file with what the filter says of it.
type matching struct {
	reader *delta.FileReader  // nil: nothing in the file can match
	rows   []parquet.RowRange // those that can; nil: all
	passed bool               // every row matches
}

// open opens a file unless the filter, or a filter that is learnt, rules it out.
func (s *Scan) open(ctx context.Context, f numbered) (matching, error) {
	if f.coverage == NoRows {
		return matching{}, nil
	}
	wanted, err := s.learntWants(f.file)
	if err != nil {
		return matching{}, err
	}
	if !wanted {
		s.count(func(c *ScanStats) {
			c.FilesSkipped++
			c.Learnt.Files++
		})
		return matching{}, nil
	}
	m := matching{passed: f.coverage == AllRows}
	if m.reader, err = s.openReader(ctx, f.file); err != nil {
		return matching{}, err
	}
	s.count(func(c *ScanStats) { c.RowGroups += len(m.reader.Parquet().RowGroups()) })
	if m.passed {
		return m, nil
	}
	var left skipped
	m.rows, left, err = s.filter.rows(ctx, f.file, m.reader.Parquet(), nil)
	s.leave(left)
	if err != nil || len(m.rows) == 0 {
		return matching{}, errors.Join(err, m.reader.Close())
	}
	return m, nil
}

// leave counts what is left out of an open file.
func (s *Scan) leave(left skipped) {
	s.count(func(c *ScanStats) {
		c.RowGroupsSkipped += left.groups
		c.RowsSkipped += left.rows
	})
}

func (s *Scan) openReader(ctx context.Context, f delta.File) (*delta.FileReader, error) {
	return s.table.OpenFile(ctx, s.snap, f, delta.FileReaderOptions{Columns: s.read, Cache: s.cache})
}

// Preview counts what a scan of the files would leave out, without reading a row: of at most opened files that are read the row groups and pages too. It is
// called instead of Next. all: it has looked into every file.
func (s *Scan) Preview(ctx context.Context, opened int) (stats ScanStats, all bool, err error) {
	s.begin()
	for left := opened; ; {
		f, err := s.nextFile()
		if errors.Is(err, io.EOF) {
			return s.Stats(), left >= 0, nil
		}
		if err != nil {
			return stats, false, err
		}
		if f.coverage == NoRows {
			continue
		}
		if left--; left < 0 {
			continue
		}
		m, err := s.open(ctx, f)
		if err != nil {
			return stats, false, err
		}
		if m.reader == nil {
			continue
		}
		if err := m.reader.Close(); err != nil {
			return stats, false, err
		}
	}
}
