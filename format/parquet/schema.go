package parquet

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

const (
	// maxSchemaDepth bounds the depth of a schema. Levels are counted in bytes.
	maxSchemaDepth = 100
	// maxSchemaNodes bounds the elements of a schema.
	maxSchemaNodes = 1 << 20
)

// element is an element of the file's schema: a group, or a leaf.
type element struct {
	name     string
	id       int32 // 0: none
	optional bool
	repeated bool
	maxRep   uint8 // the levels of a value of it: how many elements from the root to it are repeated,
	maxDef   uint8 // and how many are optional or repeated
	kind     groupKind
	children []*element
	leaf     *leaf // nil: it is a group
	leaves   []*leaf
}

// groupKind is what the schema says of a group.
type groupKind uint8

const (
	plainKind groupKind = iota
	listKind
	mapKind
	variantKind
)

// leaf is an element that has values: a column chunk in each row group.
type leaf struct {
	path     string // its name and those above it, with points between
	index    int    // of the column chunk in a row group
	maxRep   uint8
	maxDef   uint8
	physical format.Type
	length   int        // bytes of a value, FIXED_LEN_BYTE_ARRAY only; at least 1
	typ      batch.Type // what the values mean
	unit     timeUnit   // Timestamp and TimestampNTZ in an INT64
	unsigned bool
	uuid     bool
	exact    bool   // a shredded variant's values are the numbers themselves; see isExact
	problem  string // why the values cannot be read; "" when they can
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

// schemaReader makes nodes of the flat list of schema elements, which is in depth-first order with the root first.
type schemaReader struct {
	elements []format.SchemaElement
	at       int
	leaves   []*leaf
}

// readSchema returns the root and all leaves in order.
func readSchema(elements []format.SchemaElement) (root *element, leaves []*leaf, err error) {
	if len(elements) == 0 || len(elements) > maxSchemaNodes {
		return nil, nil, damaged("the footer has a schema of %d elements", len(elements))
	}
	r := &schemaReader{elements: elements}
	root, err = r.group(&element{}, "", 0)
	if err == nil && r.at < len(elements) {
		err = damaged("the schema has %d elements outside of its root", len(elements)-r.at)
	}
	return root, r.leaves, err
}

// group reads the children of the element at hand into n.
func (r *schemaReader) group(n *element, path string, depth int) (*element, error) {
	count := int(r.elements[r.at].NumChildren.V)
	r.at++
	if count < 0 || count > len(r.elements)-r.at || depth > maxSchemaDepth {
		return nil, damaged("schema element %q has %d children at depth %d", n.name, count, depth)
	}
	first := len(r.leaves)
	for range count {
		if r.at >= len(r.elements) {
			return nil, damaged("the schema ends inside a group")
		}
		child, err := r.element(n, path, depth)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	n.leaves = r.leaves[first:len(r.leaves):len(r.leaves)]
	return n, nil
}

func (r *schemaReader) element(parent *element, path string, depth int) (*element, error) {
	e := &r.elements[r.at]
	n := &element{name: e.Name, id: e.FieldID, maxRep: parent.maxRep, maxDef: parent.maxDef}
	switch e.RepetitionType.V {
	case format.Optional:
		n.optional, n.maxDef = true, n.maxDef+1
	case format.Repeated:
		n.repeated, n.maxRep, n.maxDef = true, n.maxRep+1, n.maxDef+1
	case format.Required:
	default:
		return nil, damaged("schema element %q has the repetition %d", n.name, e.RepetitionType.V)
	}
	if path != "" {
		path += "."
	}
	path += n.name
	if !e.Type.Valid {
		n.kind = groupKindOf(e)
		return r.group(n, path, depth+1)
	}
	r.at++
	n.leaf = &leaf{path: path, index: len(r.leaves), maxRep: n.maxRep, maxDef: n.maxDef}
	n.leaf.describe(e)
	r.leaves = append(r.leaves, n.leaf)
	n.leaves = r.leaves[len(r.leaves)-1 : len(r.leaves) : len(r.leaves)]
	return n, nil
}

func groupKindOf(e *format.SchemaElement) groupKind {
	switch e.LogicalType.Value.(type) {
	case *format.ListType:
		return listKind
	case *format.MapType:
		return mapKind
	case *format.VariantType:
		return variantKind
	}
	if e.ConvertedType.Valid {
		switch e.ConvertedType.V {
		case deprecated.List:
			return listKind
		case deprecated.Map, deprecated.MapKeyValue:
			return mapKind
		}
	}
	return plainKind
}

// describe fills in what a primitive element says.
func (l *leaf) describe(e *format.SchemaElement) {
	l.physical = e.Type.V
	l.length = int(e.TypeLength.V)
	l.exact = isExact(l, e)
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
	case *format.BsonType:
		l.typ.Kind = batch.Binary
	case *format.UUIDType:
		l.typ.Kind, l.uuid = batch.Binary, l.length == 16
	case *format.NullType:
		l.typ.Kind = batch.Void
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
	if l.physical == format.FixedLenByteArray && l.length < 1 {
		return false
	}
	switch l.typ.Kind {
	case batch.Void:
		return true
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

// checkRowGroups checks that each row group has a chunk for each column, inside the file.
func (f *File) checkRowGroups() error {
	rows := int64(0)
	for i := range f.meta.RowGroups {
		g := &f.meta.RowGroups[i]
		if g.NumRows < 0 || rows+g.NumRows < rows || len(g.Columns) != len(f.leaves) {
			return damaged("row group %d has %d rows and %d columns; the schema has %d columns", i, g.NumRows, len(g.Columns), len(f.leaves))
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
	if rows != f.meta.NumRows {
		return damaged("the row groups have %d rows, the footer says %d", rows, f.meta.NumRows)
	}
	return nil
}
