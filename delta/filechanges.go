package delta

import (
	"bytes"
	"fmt"
	"time"

	"lakesql/delta/dv"
)

// AddFile is a data file that a transaction adds. The file is durable already.
type AddFile struct {
	Path            string            // key below the table's root, decoded
	PartitionValues map[string]string // column -> text; an absent column is null
	Size            int64             // bytes
	ModTime         time.Time
	NumRecords      int64  // rows; -1 unknown
	Stats           string // JSON; "" none

	extra    *fileExtra       // of a file that was in the table before
	identity map[string]int64 // the farthest identity values that its writer has handed out, by column
}

// AddFile returns what adds the file to its table again, with its deleted rows and row ids, as RESTORE does.
func (f File) AddFile() AddFile {
	return AddFile{Path: f.Path, PartitionValues: f.PartitionValues, Size: f.Size, ModTime: f.ModTime, NumRecords: f.records,
		Stats: string(f.statsText()), extra: f.extra}
}

// statsText is the JSON of the file's statistics; nil without any.
func (f File) statsText() []byte {
	if f.ref == 0 {
		return nil
	}
	f.reader.mu.Lock()
	defer f.reader.mu.Unlock()
	return bytes.Clone(f.reader.at(f.ref))
}

// fileChanges are what a transaction does to the table's files. A file that it adds is known by its path, as is one of the
// snapshot that it touches; the same path may be both.
type fileChanges struct {
	added   []*addedFile // in the order of Add
	touched []*touchedFile
	unseen  []string // paths of what has changed since the last View
	byPath  struct {
		added   map[string]*addedFile
		touched map[string]*touchedFile
	}
}

// addedFile is a file that the transaction adds.
type addedFile struct {
	AddFile
	records int64      // as the statistics say; -1: they do not
	rows    *dv.Bitmap // that a later statement deleted, beyond the file's own vector; nil: none
	dropped bool       // a later statement removed it again

	vector *deletionVector // of all deleted rows, where rows has been written
}

// touchedFile is a file of the snapshot that the transaction removes, or some of whose rows it deletes.
type touchedFile struct {
	file File       // as the snapshot has it, or as a winner left it
	rows *dv.Bitmap // the rows, beyond the file's own vector; nil: the whole file is removed

	vector *deletionVector // of all deleted rows, where rows has been written
}

func (c *fileChanges) add(f AddFile) {
	if c.byPath.added == nil {
		c.byPath.added = make(map[string]*addedFile)
	}
	a := &addedFile{AddFile: f, records: numRecords([]byte(f.Stats))}
	c.unseen = append(c.unseen, f.Path)
	c.added = append(c.added, a)
	c.byPath.added[f.Path] = a
}

// own is the file of that path that the transaction itself has added, and still adds.
func (c *fileChanges) own(path string) *addedFile {
	if a := c.byPath.added[path]; a != nil && !a.dropped {
		return a
	}
	return nil
}

// touch returns the entry of a file of the snapshot.
func (c *fileChanges) touch(f File) (entry *touchedFile, had bool) {
	if t := c.byPath.touched[f.Path]; t != nil {
		return t, true
	}
	if c.byPath.touched == nil {
		c.byPath.touched = make(map[string]*touchedFile)
	}
	t := &touchedFile{file: f}
	c.touched = append(c.touched, t)
	c.byPath.touched[f.Path] = t
	return t, false
}

func (c *fileChanges) remove(f File) {
	c.unseen = append(c.unseen, f.Path)
	if a := c.own(f.Path); a != nil {
		a.dropped = true
		return
	}
	t, _ := c.touch(f)
	t.rows = nil
}

// deleteRows deletes rows that are live. The last ones of a file remove it.
func (c *fileChanges) deleteRows(f File, rows *dv.Bitmap) error {
	c.unseen = append(c.unseen, f.Path)
	if a := c.own(f.Path); a != nil {
		deleted := a.extra.deletedRows() + a.rows.Cardinality() + rows.Cardinality()
		if a.dropped = deleted >= f.records; !a.dropped {
			a.rows = union(a.rows, rows)
		}
		return nil
	}
	t, had := c.touch(f)
	if had && t.rows == nil {
		return fmt.Errorf("rows of %s cannot be deleted: the transaction has removed the file", f.Path)
	}
	if t.rows = union(t.rows, rows); t.file.extra.deletedRows()+t.rows.Cardinality() >= t.file.records {
		t.rows = nil
	}
	return nil
}

// union returns both sets in one that is new.
func union(a, b *dv.Bitmap) *dv.Bitmap {
	out := a.Clone()
	out.Or(b)
	return out
}

// deletedRows is how many rows the file's vector deletes.
func (e *fileExtra) deletedRows() int64 {
	if e == nil || e.dv == nil {
		return 0
	}
	return e.dv.cardinality
}

// unsee makes the next View look at all.
func (c *fileChanges) unsee() {
	c.unseen = nil
	for _, t := range c.touched {
		c.unseen = append(c.unseen, t.file.Path)
	}
	for _, a := range c.added {
		c.unseen = append(c.unseen, a.Path)
	}
}

// live yields the files that are added at the end.
func (c *fileChanges) live(yield func(*addedFile) bool) {
	for _, a := range c.added {
		if !a.dropped && !yield(a) {
			return
		}
	}
}

// removesWhole is how many files of the snapshot are removed.
func (c *fileChanges) removesWhole() int {
	n := 0
	for _, t := range c.touched {
		if t.rows == nil {
			n++
		}
	}
	return n
}

// withVector is extra with another deletion vector; extra may be nil.
func (e *fileExtra) withVector(vector *deletionVector) *fileExtra {
	var out fileExtra
	if e != nil {
		out = *e
	}
	out.dv = vector
	return &out
}

// vector is the file's deletion vector; nil: none.
func (e *fileExtra) vector() *deletionVector {
	if e == nil {
		return nil
	}
	return e.dv
}

// looseBounds is the text of statistics of a file that has lost rows: its bounds may be values that it has no more.
func looseBounds(stats string) (string, error) {
	const key = "tightBounds"
	s := jsonScanner{text: []byte(stats)}
	s.space()
	out := []byte{'{'}
	for name := range s.fields {
		if string(name) == key {
			s.skip()
			continue
		}
		out = append(appendJSONString(out, string(name)), ':')
		out = append(append(out, s.raw()...), ',')
	}
	if err := s.end(); err != nil {
		return "", fmt.Errorf("%w: statistics: %w: %.120q", ErrCorrupt, err, stats)
	}
	return string(append(out, `"`+key+`":false}`...)), nil
}
