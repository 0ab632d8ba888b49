package parquet

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
	"lakesql/store"
)

const (
	magic      = "PAR1"
	footerTail = 8 // the footer's length and the magic bytes
	// rangeBuffer is how much is read ahead through a store's ranges: one request for a typical page.
	rangeBuffer = 256 << 10
)

// File is an open Parquet file: its footer, and access to its pages. It is immutable; several goroutines may scan it at once.
type File struct {
	uri    string
	source *source
	meta   *format.FileMetaData
	root   *element
	leaves []*leaf // one a column chunk of a row group
	hasIDs bool    // some element of the schema has a field id
	schema *batch.Schema
	starts []int64 // the position of each row group's first row
	legacy legacyCalendar
	footer int64 // bytes
	close  func()
}

// Open reads the footer of the object key, which has size bytes. The object is mapped when the store can, else read by ranges.
// Close releases the mapping; a File that is forgotten is released by the garbage collector.
func Open(ctx context.Context, st store.Store, key string, size int64) (*File, error) {
	f := &File{uri: strings.TrimSuffix(st.URI(), "/") + "/" + key}
	err := guard(f.uri, "", func() (err error) {
		f.source, err = openSource(ctx, st, key, size)
		if err != nil {
			return err
		}
		if err := f.readFooter(ctx); err != nil {
			f.source.release()
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	f.closeByItself()
	return f, nil
}

// closeByItself makes Close, or else the garbage collector, release the source.
func (f *File) closeByItself() {
	f.close = sync.OnceFunc(f.source.release)
	runtime.AddCleanup(f, func(release func()) { release() }, f.close)
}

func (f *File) readFooter(ctx context.Context) error {
	r := f.source.reader(ctx)
	var err error
	if f.footer, err = checkTail(r, f.source.size); err != nil {
		return err
	}
	data := make([]byte, f.footer)
	if n, err := r.ReadAt(data, f.source.size-footerTail-f.footer); n < len(data) {
		return readError(r, err)
	}
	counted, ok := readChunks(data)
	if !ok {
		return damaged("the footer's row groups are not whole")
	}
	f.meta = new(format.FileMetaData)
	if err := decodeThrift(data, f.meta); err != nil {
		return err
	}
	if f.root, f.leaves, err = readSchema(f.meta.Schema); err != nil {
		return err
	}
	f.hasIDs = slices.ContainsFunc(f.meta.Schema, func(e format.SchemaElement) bool { return e.FieldID != 0 })
	f.schema = &batch.Schema{}
	for _, n := range f.root.children {
		if field, ok := n.field(false); ok {
			f.schema.Fields = append(f.schema.Fields, field)
		}
	}
	f.legacy = legacyCalendarOf(f.meta.KeyValueMetadata)
	if err := f.checkRowGroups(); err != nil {
		return err
	}
	f.noteNullCounts(counted)
	return nil
}

// noteNullCounts makes the counts of nulls -1 that the footer does not have.
func (f *File) noteNullCounts(counted [][]bool) {
	for g := range f.meta.RowGroups {
		chunks := f.meta.RowGroups[g].Columns
		for c := range chunks {
			if g >= len(counted) || c >= len(counted[g]) || !counted[g][c] {
				chunks[c].MetaData.Statistics.NullCount = -1
			}
		}
	}
}

// checkTail checks the end of the file before anything trusts the footer's length, and returns that.
func checkTail(r io.ReaderAt, size int64) (footer int64, err error) {
	if size < int64(len(magic))+footerTail {
		return 0, damaged("%d bytes are too few", size)
	}
	var tail [footerTail]byte
	if n, err := r.ReadAt(tail[:], size-footerTail); n < footerTail {
		return 0, readError(r, err)
	}
	if text := string(tail[4:]); text == "PARE" {
		return 0, fmt.Errorf("%w: the file is encrypted", ErrUnsupported)
	} else if text != magic {
		return 0, damaged("it ends with %q instead of %s; is it a Parquet file, written to its end?", text, magic)
	}
	if footer = int64(binary.LittleEndian.Uint32(tail[:4])); footer > size-footerTail-int64(len(magic)) {
		return 0, damaged("the footer of %d bytes is longer than the file of %d", footer, size)
	}
	return footer, nil
}

// Close releases the file. No scanner of it may be used afterwards. It may be called twice.
func (f *File) Close() error {
	f.close()
	return nil
}

// URI names the file.
func (f *File) URI() string { return f.uri }

// Schema returns the file's columns that can be read, with the types that the file gives them. Those without a batch type are left out; Scan
// says which and why when one is wanted.
func (f *File) Schema() *batch.Schema { return f.schema }

// NumRows returns the number of rows as the footer says.
func (f *File) NumRows() int64 { return f.meta.NumRows }
