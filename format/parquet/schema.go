package parquet

import (
	"fmt"
	"strings"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// leaf is a column below the root of the file's schema.
type leaf struct {
	name     string
	id       int32 // 0: none
	index    int   // of the column chunk in a row group
	physical format.Type
	length   int // bytes of a value, FIXED_LEN_BYTE_ARRAY only
	optional bool
	typ      batch.Type // what the values mean
	unit     timeUnit   // Timestamp and TimestampNTZ in an INT64
	unsigned bool
	problem  string // why the column cannot be read; "" when it can
}

// int96 is the physical type of timestamps that old writers and Spark's default use.
const int96 = format.Int96

// timeUnit is the unit of a timestamp.
type timeUnit uint8

const (
	unitMicros timeUnit = iota
	unitMillis
	unitNanos
)

// leavesOf reads the flat list of schema elements, which is in depth-first order with the root first.
func leavesOf(meta *format.FileMetaData) ([]leaf, error) {
	elements := meta.Schema
	if len(elements) == 0 {
		return nil, damaged("the footer has no schema")
	}
	leaves := make([]leaf, 0, len(elements)-1)
	at, chunk := 1, 0
	for at < len(elements) {
		e := &elements[at]
		l := leaf{name: e.Name, id: e.FieldID, index: chunk}
		next, columns, err := skipElement(elements, at)
		if err != nil {
			return nil, err
		}
		switch {
		case columns != 1 || next != at+1:
			l.problem = "it is nested (struct, list or map)"
		case e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated:
			l.problem = "it is a repeated field"
		default:
			l.describe(e)
		}
		leaves = append(leaves, l)
		at, chunk = next, chunk+columns
	}
	return leaves, nil
}

// skipElement returns the position behind the element at that position and all below it, and the number of column chunks they have.
func skipElement(elements []format.SchemaElement, at int) (next, columns int, err error) {
	for open := 1; open > 0; open-- {
		if at >= len(elements) {
			return 0, 0, damaged("the schema ends inside a group")
		}
		children := int(elements[at].NumChildren.V)
		if children < 0 || children > len(elements) {
			return 0, 0, damaged("schema element %q has %d children", elements[at].Name, children)
		}
		if children == 0 {
			columns++
		}
		open += children
		at++
	}
	return at, columns, nil
}

// describe fills in what a primitive element says.
func (l *leaf) describe(e *format.SchemaElement) {
	l.physical = e.Type.V
	l.length = int(e.TypeLength.V)
	l.optional = e.RepetitionType.V == format.Optional
	var ok bool
	if e.LogicalType.Value != nil {
		ok = l.describeLogical(e)
	} else {
		ok = l.describeConverted(e)
	}
	if ok && l.fitsPhysical() {
		return
	}
	kind := e.LogicalType.String()
	if kind == "" && e.ConvertedType.Valid {
		kind = fmt.Sprintf("(converted type %d)", e.ConvertedType.V)
	}
	l.problem = strings.TrimSpace(fmt.Sprintf("its Parquet type is %s %s", l.physical, kind))
}

func (l *leaf) describeLogical(e *format.SchemaElement) bool {
	switch t := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		l.typ.Kind = batch.String
	case *format.DateType:
		l.typ.Kind = batch.Date
	case *format.BsonType, *format.UUIDType:
		l.typ.Kind = batch.Binary
	case *format.DecimalType:
		return l.describeDecimal(t.Precision, t.Scale)
	case *format.IntType:
		return l.describeInt(t.BitWidth, t.IsSigned)
	case *format.TimestampType:
		l.typ.Kind = batch.TimestampNTZ
		if t.IsAdjustedToUTC {
			l.typ.Kind = batch.Timestamp
		}
		switch t.Unit.Value.(type) {
		case *format.MilliSeconds:
			l.unit = unitMillis
		case *format.NanoSeconds:
			l.unit = unitNanos
		}
	default:
		return false
	}
	return true
}

func (l *leaf) describeConverted(e *format.SchemaElement) bool {
	if !e.ConvertedType.Valid {
		return l.describePlain()
	}
	switch e.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		l.typ.Kind = batch.String
	case deprecated.Bson:
		l.typ.Kind = batch.Binary
	case deprecated.Date:
		l.typ.Kind = batch.Date
	case deprecated.Decimal:
		return l.describeDecimal(e.Precision.V, e.Scale.V)
	case deprecated.TimestampMillis:
		l.typ.Kind, l.unit = batch.Timestamp, unitMillis
	case deprecated.TimestampMicros:
		l.typ.Kind = batch.Timestamp
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return l.describeInt(8<<(e.ConvertedType.V-deprecated.Int8), true)
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return l.describeInt(8<<(e.ConvertedType.V-deprecated.Uint8), false)
	default:
		return false
	}
	return true
}

// describePlain is for a physical type without annotation.
func (l *leaf) describePlain() bool {
	switch l.physical {
	case format.Boolean:
		l.typ.Kind = batch.Bool
	case format.Int32:
		l.typ.Kind = batch.Int32
	case format.Int64:
		l.typ.Kind = batch.Int64
	case format.Int96:
		l.typ.Kind = batch.Timestamp
	case format.Float:
		l.typ.Kind = batch.Float32
	case format.Double:
		l.typ.Kind = batch.Float64
	case format.ByteArray, format.FixedLenByteArray:
		l.typ.Kind = batch.Binary
	default:
		return false
	}
	return true
}

func (l *leaf) describeDecimal(precision, scale int32) bool {
	if precision < 1 || precision > batch.MaxPrecision || scale < 0 || scale > precision {
		return false
	}
	l.typ = batch.DecimalOf(uint8(precision), uint8(scale))
	return true
}

// describeInt gives an unsigned number the next wider type. There is none for 64 bits.
func (l *leaf) describeInt(bits int8, signed bool) bool {
	kinds := map[int8]batch.Kind{8: batch.Int8, 16: batch.Int16, 32: batch.Int32, 64: batch.Int64}
	if l.unsigned = !signed; l.unsigned {
		kinds = map[int8]batch.Kind{8: batch.Int16, 16: batch.Int32, 32: batch.Int64}
	}
	var ok bool
	l.typ.Kind, ok = kinds[bits]
	return ok
}

// fitsPhysical says whether the physical type may carry the meaning.
func (l *leaf) fitsPhysical() bool {
	switch l.typ.Kind {
	case batch.Bool:
		return l.physical == format.Boolean
	case batch.Int8, batch.Int16, batch.Date:
		return l.physical == format.Int32
	case batch.Int32:
		return l.physical == format.Int32
	case batch.Int64:
		return l.physical == format.Int64 || l.physical == format.Int32 && l.unsigned
	case batch.Float32:
		return l.physical == format.Float
	case batch.Float64:
		return l.physical == format.Double
	case batch.Timestamp, batch.TimestampNTZ:
		return l.physical == format.Int64 || l.physical == format.Int96
	case batch.Decimal:
		return l.physical != format.Boolean && l.physical != format.Int96 && l.physical != format.Float && l.physical != format.Double
	case batch.String:
		return l.physical == format.ByteArray
	case batch.Binary:
		return l.physical == format.ByteArray || l.physical == format.FixedLenByteArray
	}
	return false
}

// findLeaf returns the column that a field is read from, or nil: by its id, or by its name, ignoring case when no name is the same.
func (f *File) findLeaf(field batch.Field, naming Naming, byID bool) *leaf {
	name, id := naming.of(field)
	var found *leaf
	for i := range f.leaves {
		switch l := &f.leaves[i]; {
		case byID:
			if id != 0 && l.id == id {
				return l
			}
		case l.name == name:
			return l
		case found == nil && strings.EqualFold(l.name, name):
			found = l
		}
	}
	return found
}

// checkRowGroups checks that each row group has a chunk for each column, inside the file.
func (f *File) checkRowGroups() error {
	meta := f.file.Metadata()
	chunks, rows := 0, int64(0)
	for at := 1; at < len(meta.Schema); at++ {
		if meta.Schema[at].NumChildren.V == 0 {
			chunks++
		}
	}
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		if g.NumRows < 0 || len(g.Columns) != chunks {
			return damaged("row group %d has %d rows and %d columns; the schema has %d columns", i, g.NumRows, len(g.Columns), chunks)
		}
		f.starts = append(f.starts, rows)
		rows += g.NumRows
		for c := range g.Columns {
			m := &g.Columns[c].MetaData
			if m.TotalCompressedSize < 0 || m.DataPageOffset < 0 || m.DictionaryPageOffset < 0 ||
				m.TotalCompressedSize > f.source.size || m.DataPageOffset > f.source.size || m.DictionaryPageOffset > f.source.size {
				return damaged("column chunk %d of row group %d lies outside of the file", c, i)
			}
		}
	}
	if rows != meta.NumRows {
		return damaged("the row groups have %d rows, the footer says %d", rows, meta.NumRows)
	}
	return nil
}

// legacyCalendar says which values of a file are in Spark 2's hybrid Julian and Gregorian calendar.
type legacyCalendar struct {
	dates bool // dates, and timestamps stored as INT64
	int96 bool
}

// legacyCalendarOf reads the keys by which Spark marks such files. Spark before 3.0 (INT96: 3.1) marked nothing but its version.
func legacyCalendarOf(file *pq.File) legacyCalendar {
	version, written := file.Lookup("org.apache.spark.version")
	_, dates := file.Lookup("org.apache.spark.legacyDateTime")
	_, int96 := file.Lookup("org.apache.spark.legacyINT96")
	return legacyCalendar{
		dates: dates || written && version < "3.0",
		int96: int96 || written && version < "3.1",
	}
}
