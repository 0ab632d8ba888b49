package delta

import (
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// actionColumns walks the rows of one row group through the columns that one kind of action has.
type actionColumns struct {
	schema  *parquet.Schema
	group   parquet.RowGroup
	columns []*leafColumn
}

// leaf opens a column; nil, on which all getters give the zero value, when the file does not have it.
func (c *actionColumns) leaf(path ...string) *leafColumn {
	column, ok := c.schema.Lookup(path...)
	if !ok || !column.Node.Leaf() {
		return nil
	}
	return c.open(column)
}

func (c *actionColumns) open(column parquet.LeafColumn) *leafColumn {
	chunk := c.group.ColumnChunks()[column.ColumnIndex]
	out := &leafColumn{pages: chunk.Pages(), node: column.Node, repeated: column.MaxRepetitionLevel > 0, buf: make([]parquet.Value, 0, valuesPerRead)}
	c.columns = append(c.columns, out)
	return out
}

// below opens the leaf of a repeated group, whose inner names differ by writer: the only leaf, or the one so named.
func (c *actionColumns) below(name string, path ...string) *leafColumn {
	for _, p := range c.schema.Columns() {
		if len(p) > len(path) && slices.Equal(p[:len(path)], path) && (name == "" || p[len(p)-1] == name) {
			return c.leaf(p...)
		}
	}
	return nil
}

func (c *actionColumns) list(path ...string) *leafColumn { return c.below("", path...) }

func (c *actionColumns) stringMap(path ...string) mapColumn {
	return mapColumn{keys: c.below("key", path...), values: c.below("value", path...)}
}

// each calls fn with all columns at the row, for every row where key is not null.
func (c *actionColumns) each(key *leafColumn, fn func()) error {
	if key == nil {
		return nil
	}
	for range c.group.NumRows() {
		for _, column := range c.columns {
			if err := column.next(); err != nil {
				return err
			}
		}
		if !key.null() {
			fn()
		}
	}
	return nil
}

func (c *actionColumns) close() {
	for _, column := range c.columns {
		column.close()
	}
}

// valuesPerRead is how many values are taken from a page at a time.
const valuesPerRead = 256

// leafColumn walks one column row by row. What it returns is valid until the next row. A nil one has only nulls.
type leafColumn struct {
	pages    parquet.Pages
	node     parquet.Node
	repeated bool // a row may have several values

	page     parquet.Page
	stale    []parquet.Page // left behind, but the current row may still point into them
	values   parquet.ValueReader
	buf      []parquet.Value
	pos      int
	nullRows int64           // rows left of a page without values
	row      []parquet.Value // the current row's; nil: null
	joined   []parquet.Value // a row that spans several reads
}

// next moves to the next row.
func (l *leafColumn) next() error {
	for _, page := range l.stale {
		parquet.Release(page)
	}
	l.stale = l.stale[:0]
	if l.nullRows == 0 && l.pos == len(l.buf) {
		if err := l.fill(); err == io.EOF {
			return fmt.Errorf("a column has fewer rows than its row group: %w", io.ErrUnexpectedEOF)
		} else if err != nil {
			return err
		}
	}
	if l.nullRows > 0 {
		l.nullRows--
		l.row = nil
		return nil
	}
	l.row = l.buf[l.pos : l.pos+1]
	l.pos++
	if !l.repeated {
		return nil
	}
	l.row = l.buf[l.pos-1 : l.pos+l.continued()]
	l.pos += len(l.row) - 1
	if l.pos < len(l.buf) {
		return nil
	}
	return l.join()
}

// continued counts the values at pos that belong to the row before.
func (l *leafColumn) continued() int {
	n := 0
	for l.pos+n < len(l.buf) && l.buf[l.pos+n].RepetitionLevel() > 0 {
		n++
	}
	return n
}

// join reads on after the last value that is buffered, because the row may go on behind it.
func (l *leafColumn) join() error {
	l.joined = append(l.joined[:0], l.row...)
	for l.pos == len(l.buf) {
		if err := l.fill(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if l.nullRows > 0 {
			break
		}
		n := l.continued()
		l.joined = append(l.joined, l.buf[l.pos:l.pos+n]...)
		l.pos += n
	}
	l.row = l.joined
	return nil
}

// fill buffers the next values, or sets nullRows for a page that has none.
func (l *leafColumn) fill() error {
	for {
		if l.values != nil {
			n, err := l.values.ReadValues(l.buf[:cap(l.buf)])
			l.buf, l.pos = l.buf[:n], 0
			if n > 0 {
				return nil
			}
			if err != nil && err != io.EOF {
				return err
			}
			l.stale = append(l.stale, l.page)
			l.page, l.values = nil, nil
		}
		page, err := l.pages.ReadPage()
		if err != nil {
			l.buf, l.pos = l.buf[:0], 0
			return err
		}
		if page.NumNulls() < page.NumValues() {
			l.page, l.values = page, page.Values()
			continue
		}
		l.nullRows, l.buf, l.pos = page.NumRows(), l.buf[:0], 0
		parquet.Release(page)
		if l.nullRows > 0 {
			return nil
		}
	}
}

func (l *leafColumn) close() {
	for _, page := range l.stale {
		parquet.Release(page)
	}
	if l.page != nil {
		parquet.Release(l.page)
	}
	l.pages.Close()
}

func (l *leafColumn) null() bool { return l == nil || len(l.row) == 0 || l.row[0].IsNull() }

func (l *leafColumn) bytes() []byte {
	if l.null() {
		return nil
	}
	return l.row[0].ByteArray()
}

func (l *leafColumn) string() string { return string(l.bytes()) }

func (l *leafColumn) int() int64 {
	if l.null() {
		return 0
	}
	return integer(l.row[0])
}

func integer(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func (l *leafColumn) intPointer() *int64 {
	if l.null() {
		return nil
	}
	n := l.int()
	return &n
}

func (l *leafColumn) bool() bool { return !l.null() && l.row[0].Boolean() }

// strings copies the elements of a list that are not null.
func (l *leafColumn) strings() []string {
	if l == nil {
		return nil
	}
	var out []string
	for _, v := range l.row {
		if !v.IsNull() {
			out = append(out, string(v.ByteArray()))
		}
	}
	return out
}

// mapColumn is a map of strings.
type mapColumn struct{ keys, values *leafColumn }

// get copies the entries whose value is not null.
func (m mapColumn) get() map[string]string {
	if m.keys.null() || m.values == nil {
		return nil
	}
	out := make(map[string]string, len(m.keys.row))
	for i, k := range m.keys.row {
		if i < len(m.values.row) && !m.values.row[i].IsNull() {
			out[string(k.ByteArray())] = string(m.values.row[i].ByteArray())
		}
	}
	return out
}

// extraColumns are the columns of a fileExtra.
type extraColumns struct {
	tags                                  mapColumn
	storageType, inline, offset, size, n  *leafColumn
	baseRowID, commitVersion, clusteredBy *leafColumn
}

func (c *actionColumns) extra(action string) extraColumns {
	return extraColumns{
		tags:        c.stringMap(action, "tags"),
		storageType: c.leaf(action, "deletionVector", "storageType"), inline: c.leaf(action, "deletionVector", "pathOrInlineDv"),
		offset: c.leaf(action, "deletionVector", "offset"), size: c.leaf(action, "deletionVector", "sizeInBytes"),
		n:         c.leaf(action, "deletionVector", "cardinality"),
		baseRowID: c.leaf(action, "baseRowId"), commitVersion: c.leaf(action, "defaultRowCommitVersion"),
		clusteredBy: c.leaf(action, "clusteringProvider"),
	}
}

// get returns nil when the row has none of the columns. A deletion vector without storage type stands for none.
func (x *extraColumns) get() *fileExtra {
	hasDV := len(x.storageType.bytes()) > 0
	if x.tags.keys.null() && !hasDV && x.baseRowID.null() && x.commitVersion.null() && x.clusteredBy.null() {
		return nil
	}
	out := &fileExtra{tags: x.tags.get(), baseRowID: x.baseRowID.intPointer(), defaultRowCommitVersion: x.commitVersion.intPointer(),
		clusteringProvider: x.clusteredBy.string()}
	if hasDV {
		out.dv = &deletionVector{storageType: x.storageType.string(), pathOrInlineDv: x.inline.string(),
			sizeInBytes: int32(x.size.int()), cardinality: x.n.int()}
		if !x.offset.null() {
			offset := int32(x.offset.int())
			out.dv.offset = &offset
		}
	}
	return out
}
