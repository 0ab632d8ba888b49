package parquet

import (
	"bytes"
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// bounds are the exact least and greatest of the values seen. NaN is kept apart. One group of fields is in use, by the layout of the type;
// booleans and all integers share lowInt and highInt.
type bounds struct {
	seen, nan         bool // a number or string; a NaN
	lowInt, highInt   int64
	low, high         float64
	lowDec, highDec   decimal128.Num
	lowText, highText []byte
}

// add takes in the rows of a plain vector, which holds no nulls.
func (b *bounds) add(v *batch.Vector) {
	if v.Len == 0 {
		return
	}
	switch v.Type.Layout() {
	case batch.LayoutBools:
		for _, x := range v.Bools[:v.Len] {
			n := int64(0)
			if x {
				n = 1
			}
			b.addInts(n, n)
		}
	case batch.LayoutI8:
		b.addInts(extremes(v.I8[:v.Len]))
	case batch.LayoutI16:
		b.addInts(extremes(v.I16[:v.Len]))
	case batch.LayoutI32:
		b.addInts(extremes(v.I32[:v.Len]))
	case batch.LayoutI64:
		b.addInts(extremes(v.I64[:v.Len]))
	case batch.LayoutF32:
		addFloats(b, v.F32[:v.Len])
	case batch.LayoutF64:
		addFloats(b, v.F64[:v.Len])
	case batch.LayoutDec:
		for _, x := range v.Dec[:v.Len] {
			b.addDecimals(x, x)
		}
	case batch.LayoutBytes:
		for i := range v.Len {
			b.addText(v.Bytes[v.Off[i]:v.Off[i+1]])
		}
	}
}

// extremes returns the least and greatest of at least one number.
func extremes[T int8 | int16 | int32 | int64](xs []T) (low, high int64) {
	l, h := xs[0], xs[0]
	for _, x := range xs {
		l, h = min(l, x), max(h, x)
	}
	return int64(l), int64(h)
}

func (b *bounds) addInts(low, high int64) {
	if !b.seen {
		b.seen, b.lowInt, b.highInt = true, low, high
		return
	}
	b.lowInt, b.highInt = min(b.lowInt, low), max(b.highInt, high)
}

func addFloats[T float32 | float64](b *bounds, xs []T) {
	for _, x := range xs {
		switch f := float64(x); {
		case f != f:
			b.nan = true
		case !b.seen:
			b.seen, b.low, b.high = true, f, f
		case f < b.low:
			b.low = f
		case f > b.high:
			b.high = f
		}
	}
}

func (b *bounds) addDecimals(low, high decimal128.Num) {
	if !b.seen {
		b.seen, b.lowDec, b.highDec = true, low, high
		return
	}
	if low.Less(b.lowDec) {
		b.lowDec = low
	}
	if b.highDec.Less(high) {
		b.highDec = high
	}
}

func (b *bounds) addText(x []byte) {
	if !b.seen {
		b.seen = true
		b.lowText, b.highText = append(b.lowText[:0], x...), append(b.highText[:0], x...)
		return
	}
	if bytes.Compare(x, b.lowText) < 0 {
		b.lowText = append(b.lowText[:0], x...)
	} else if bytes.Compare(x, b.highText) > 0 {
		b.highText = append(b.highText[:0], x...)
	}
}

// merge takes in the bounds of more values of the same type.
func (b *bounds) merge(o *bounds, t batch.Type) {
	b.nan = b.nan || o.nan
	if !o.seen {
		return
	}
	switch t.Layout() {
	case batch.LayoutF32, batch.LayoutF64:
		addFloats(b, []float64{o.low, o.high})
	case batch.LayoutDec:
		b.addDecimals(o.lowDec, o.highDec)
	case batch.LayoutBytes:
		b.addText(o.lowText)
		b.addText(o.highText)
	default:
		b.addInts(o.lowInt, o.highInt)
	}
}

// stats returns the bounds as Summary documents them.
func (b *bounds) stats(t batch.Type, nulls int64) ColumnStats {
	s := ColumnStats{NullCount: nulls, HasMinMax: b.seen || b.nan}
	if s.HasMinMax {
		s.Min, s.Max = batch.NewVector(t, 1), batch.NewVector(t, 1)
		b.appendTo(s.Min, s.Max)
	}
	return s
}

func (b *bounds) appendTo(low, high *batch.Vector) {
	switch low.Type.Layout() {
	case batch.LayoutBools:
		low.AppendBool(b.lowInt != 0)
		high.AppendBool(b.highInt != 0)
	case batch.LayoutI8:
		low.AppendInt8(int8(b.lowInt))
		high.AppendInt8(int8(b.highInt))
	case batch.LayoutI16:
		low.AppendInt16(int16(b.lowInt))
		high.AppendInt16(int16(b.highInt))
	case batch.LayoutI32:
		low.AppendInt32(int32(b.lowInt))
		high.AppendInt32(int32(b.highInt))
	case batch.LayoutI64:
		low.AppendInt64(b.lowInt)
		high.AppendInt64(b.highInt)
	case batch.LayoutF32:
		l, h := b.floats()
		low.AppendFloat32(float32(l))
		high.AppendFloat32(float32(h))
	case batch.LayoutF64:
		l, h := b.floats()
		low.AppendFloat64(l)
		high.AppendFloat64(h)
	case batch.LayoutDec:
		low.AppendDecimal(b.lowDec)
		high.AppendDecimal(b.highDec)
	case batch.LayoutBytes:
		low.AppendBytes(b.lowText)
		high.AppendBytes(b.highText)
	}
}

// floats returns the bounds with NaN as the greatest number.
func (b *bounds) floats() (low, high float64) {
	low, high = b.low, b.high
	if b.nan {
		high = math.NaN()
	}
	if !b.seen {
		low = math.NaN()
	}
	return low, high
}
