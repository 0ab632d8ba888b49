package parquet

import "lakesql/batch"

// Compression is a codec of data pages.
type Compression uint8

// The codecs that are written: those that Spark writes and every reader knows. Reading knows brotli besides.
const (
	Snappy Compression = iota // the default: the fastest to read
	Zstd
	Gzip
	Uncompressed
	LZ4Raw
)

// Defaults of WriterOptions.
const (
	// DefaultRowGroupRows keeps row groups large enough for few footers and small enough to be the unit of parallel scans.
	DefaultRowGroupRows = 1 << 20
	// DefaultPageBytes lets a decompressed page stay in the second-level cache while it is decoded.
	DefaultPageBytes = 128 << 10
	// DefaultRowGroupBytes bounds what a writer holds before it ends a row group.
	DefaultRowGroupBytes = 64 << 20
)

// WriterOptions choose the layout of a file. The zero value means the defaults.
type WriterOptions struct {
	Compression   Compression
	Naming        Naming
	RowGroupRows  int // rows after which a row group ends
	RowGroupBytes int // bytes of encoded pages, open pages and dictionaries after which one ends, too
	PageBytes     int // bytes of plain values after which a page ends
}

// Summary is what a Writer wrote.
type Summary struct {
	Rows    int64
	Bytes   int64         // size of the file
	Columns []ColumnStats // in the schema's order, void columns too
}

// ColumnStats are facts about a column of a file or of a row group.
type ColumnStats struct {
	NullCount int64 // -1: unknown
	// HasMinMax says that Min and Max are set: vectors of one row.
	//
	// In a Summary they are the exact least and greatest value that is not null; a NaN counts as greater than any other number, and minus
	// zero is written as found. From RowGroup.Stats they are bounds: no value lies outside, but for NaN, which may be there unseen.
	HasMinMax bool
	Min, Max  *batch.Vector

	// Fields are the facts about the fields of a struct, in their order, in a Summary alone. Their counts include the rows where a struct
	// above is null. Lists, maps and variants have a count of their own and nothing about what is in them.
	Fields []ColumnStats
}
