package parquet

import (
	"bytes"

	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// RowGroup is a horizontal part of a file that can be read on its own.
type RowGroup struct {
	NumRows int64
	file    *File
	meta    *format.RowGroup
}

// RowGroups returns the file's row groups in order.
func (f *File) RowGroups() []RowGroup {
	meta := f.file.Metadata()
	groups := make([]RowGroup, len(meta.RowGroups))
	for i := range groups {
		groups[i] = RowGroup{NumRows: meta.RowGroups[i].NumRows, file: f, meta: &meta.RowGroups[i]}
	}
	return groups
}

// Bytes returns the compressed size of a wanted column in the row group, 0 when the file lacks it.
func (g RowGroup) Bytes(want batch.Field, naming Naming, byID bool) int64 {
	l := g.file.findLeaf(want, naming, byID)
	if l == nil {
		return 0
	}
	return g.meta.Columns[l.index].MetaData.TotalCompressedSize
}

// Stats returns what the footer says of a column, as a scan with the same field would read it: a column that the file lacks is all null.
// Bounds are given only when they can be trusted: none for INT96, for strings in the deprecated fields, for NaN, for unknown orders, and for
// values of another calendar.
func (g RowGroup) Stats(want batch.Field, naming Naming, byID bool) ColumnStats {
	l := g.file.findLeaf(want, naming, byID)
	if l == nil {
		return ColumnStats{NullCount: g.NumRows}
	}
	stats := &g.meta.Columns[l.index].MetaData.Statistics
	out := ColumnStats{NullCount: nullCount(l, stats, g.NumRows)}
	if out.NullCount == g.NumRows {
		return out
	}
	low, high, ok := g.file.rawBounds(l, stats)
	if !ok {
		return out
	}
	err := guard(g.file.uri, want.Name, func() (err error) {
		if out.Min, err = bound(l, want.Type, low); err != nil {
			return err
		}
		out.Max, err = bound(l, want.Type, high)
		return err
	})
	// An error means that the bounds do not fit the wanted type. Reading the column will say so; here they are just not known.
	if err != nil || !ordered(out.Min, out.Max) {
		out.Min, out.Max = nil, nil
		return out
	}
	out.HasMinMax = true
	return out
}

// nullCount returns -1 for an optional column with a count of 0, which is also what the footer's decoder gives when the count is absent.
func nullCount(l *leaf, stats *format.Statistics, rows int64) int64 {
	switch {
	case !l.optional:
		return 0
	case stats.NullCount <= 0 || stats.NullCount > rows:
		return -1
	}
	return stats.NullCount
}

// rawBounds returns the encoded bounds that can be trusted.
func (f *File) rawBounds(l *leaf, stats *format.Statistics) (low, high []byte, ok bool) {
	if l.problem != "" || l.physical == int96 {
		return nil, nil, false
	}
	orders := f.file.Metadata().ColumnOrders
	defined := l.index < len(orders) && orders[l.index].Value != nil
	signed := l.physical == format.Int32 || l.physical == format.Int64
	switch {
	case stats.MinValue != nil && stats.MaxValue != nil && (defined || signed && !l.unsigned):
		low, high = stats.MinValue, stats.MaxValue
	case stats.Min != nil && stats.Max != nil && signed && !l.unsigned:
		low, high = stats.Min, stats.Max
	default:
		return nil, nil, false
	}
	switch l.typ.Kind {
	case batch.Date, batch.Timestamp:
		return low, high, !f.legacy.dates
	}
	return low, high, true
}

// bound decodes one bound into a vector of one row of the wanted type.
func bound(l *leaf, want batch.Type, raw []byte) (*batch.Vector, error) {
	conv, err := converterFor(l, want)
	if err != nil {
		return nil, err
	}
	raw = bytes.Clone(raw) // off the footer, aligned
	var values encoding.Values
	switch l.physical {
	case format.Boolean:
		values = encoding.BooleanValues(raw)
	case format.Int32:
		values = encoding.Int32ValuesFromBytes(raw)
	case format.Int64:
		values = encoding.Int64ValuesFromBytes(raw)
	case format.Float:
		values = encoding.FloatValuesFromBytes(raw)
	case format.Double:
		values = encoding.DoubleValuesFromBytes(raw)
	case format.FixedLenByteArray:
		values = encoding.FixedLenByteArrayValues(raw, l.length)
	default:
		values = encoding.ByteArrayValues(raw, []uint32{0, uint32(len(raw))})
	}
	v, err := conv(values, 1, batch.NewVector(want, 1))
	if err != nil {
		return nil, err
	}
	return v.Clone(), nil
}

// ordered says whether the bounds are in order and no NaN.
func ordered(low, high *batch.Vector) bool {
	switch low.Type.Layout() {
	case batch.LayoutBools:
		return !low.Bools[0] || high.Bools[0]
	case batch.LayoutI8:
		return low.I8[0] <= high.I8[0]
	case batch.LayoutI16:
		return low.I16[0] <= high.I16[0]
	case batch.LayoutI32:
		return low.I32[0] <= high.I32[0]
	case batch.LayoutI64:
		return low.I64[0] <= high.I64[0]
	case batch.LayoutF32:
		return low.F32[0] <= high.F32[0]
	case batch.LayoutF64:
		return low.F64[0] <= high.F64[0]
	case batch.LayoutDec:
		return !high.Dec[0].Less(low.Dec[0])
	case batch.LayoutBytes:
		return bytes.Compare(low.BytesAt(0), high.BytesAt(0)) <= 0
	}
	return false
}
