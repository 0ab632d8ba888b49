package parquet

import (
	"bytes"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// RowGroup is a horizontal part of a file that can be read on its own.
type RowGroup struct {
	NumRows int64
	Start   int64 // the position in the file of its first row
	file    *File
	meta    *format.RowGroup
}

// RowGroups returns the file's row groups in order.
func (f *File) RowGroups() []RowGroup {
	groups := make([]RowGroup, len(f.meta.RowGroups))
	for i := range groups {
		meta := &f.meta.RowGroups[i]
		groups[i] = RowGroup{NumRows: meta.NumRows, Start: f.starts[i], file: f, meta: meta}
	}
	return groups
}

// statsLeaf finds the leaf whose statistics are those of a wanted column, and the type that it is wanted in: that of a flat column, or that
// of the only field of a struct, and of a struct in it, and so on. A nil leaf is one that the file lacks; ok is false for other columns.
func (f *File) statsLeaf(want batch.Field, naming Naming, byID bool) (l *leaf, typ batch.Type, ok bool) {
	c, err := (&resolver{file: f, naming: naming, byID: byID}).column(want)
	if err != nil {
		return nil, typ, false
	}
	for typ = want.Type; c.shape == structShape && typ.Kind == batch.Struct && len(c.children) == 1; c = c.children[0] {
		typ = typ.Fields()[0].Type
	}
	switch c.shape {
	case missingShape:
		return nil, typ, true
	case leafShape:
		return c.leaf.leaf, typ, true
	}
	return nil, typ, false
}

// Stats returns what the footer says of a column, as a scan with the same field would read it: a column that the file lacks is all null. A
// struct that is wanted with a single field, at any depth, has the statistics of that field, which is null where the struct is.
// Bounds are given only when they can be trusted: none for INT96, for strings in the deprecated fields, for NaN, for unknown orders, and for
// values of another calendar.
func (g RowGroup) Stats(want batch.Field, naming Naming, byID bool) ColumnStats {
	l, typ, ok := g.file.statsLeaf(want, naming, byID)
	switch {
	case !ok:
		return ColumnStats{NullCount: -1}
	case l == nil:
		return ColumnStats{NullCount: g.NumRows}
	}
	stats := &g.meta.Columns[l.index].MetaData.Statistics
	out := ColumnStats{NullCount: nullCount(l, stats, g.NumRows)}
	if out.NullCount == g.NumRows {
		return out
	}
	switch {
	case stats.MinValue != nil && stats.MaxValue != nil && g.file.knownOrder(l):
		g.file.setBounds(&out, l, typ, stats.MinValue, stats.MaxValue)
	case stats.Min != nil && stats.Max != nil && l.signed():
		g.file.setBounds(&out, l, typ, stats.Min, stats.Max)
	}
	return out
}

// nullCount returns -1 where the count is not known.
func nullCount(l *leaf, stats *format.Statistics, rows int64) int64 {
	switch {
	case l.maxDef == 0:
		return 0
	case stats.NullCount < 0 || stats.NullCount > rows:
		return -1
	}
	return stats.NullCount
}

// signed says whether the values are ordered as signed integers, in which all writers ever agreed.
func (l *leaf) signed() bool {
	return (l.physical == format.Int32 || l.physical == format.Int64) && !l.unsigned
}

// knownOrder says whether bounds in the fields that replaced the deprecated ones are in the order of the type.
func (f *File) knownOrder(l *leaf) bool {
	orders := f.meta.ColumnOrders
	return l.signed() || l.index < len(orders) && orders[l.index].Value != nil
}

// setBounds sets the bounds of stats in the wanted type, if they can be trusted and are in order.
func (f *File) setBounds(stats *ColumnStats, l *leaf, want batch.Type, low, high []byte) {
	inTime := l.typ.Kind == batch.Date || l.typ.Kind == batch.Timestamp
	if l.problem != "" || l.physical == int96 || inTime && f.legacy.dates {
		return
	}
	err := guard(f.uri, l.path, func() (err error) {
		if stats.Min, err = bound(l, want, low); err != nil {
			return err
		}
		stats.Max, err = bound(l, want, high)
		return err
	})
	// An error means that the bounds do not fit the wanted type. Reading the column will say so; here they are just not known.
	if err != nil || !ordered(stats.Min, stats.Max) {
		stats.Min, stats.Max = nil, nil
		return
	}
	stats.HasMinMax = true
}

// bound decodes one bound into a vector of one row of the wanted type.
func bound(l *leaf, want batch.Type, data []byte) (*batch.Vector, error) {
	conv, err := converterFor(l, want)
	if err != nil {
		return nil, err
	}
	data = bytes.Clone(data) // off the footer
	value := raw{n: 1, bytes: data, from: []int32{0}, to: []int32{int32(len(data))}}
	if l.physical != format.ByteArray {
		d, err := newDecoder(l, format.Plain, data)
		if err != nil {
			return nil, err
		}
		if value, err = d.next(1); err != nil {
			return nil, err
		}
	}
	v := batch.NewVector(want, 1)
	return v, conv(v, &value)
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
