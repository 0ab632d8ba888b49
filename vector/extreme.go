package vector

import (
	"bytes"
	"context"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// newExtremes returns MAX, or MIN, of a type. NaN is above every number; texts compare by bytes. false: the type has no order.
func newExtremes(t batch.Type, greatest bool) (accumulator, bool) {
	switch t.Layout() {
	case batch.LayoutBools:
		return &extremes[bool]{typ: t, values: func(v *batch.Vector) []bool { return v.Bools }, append: (*batch.Vector).AppendBool,
			update: updateBy(greatest, func(a, b bool) int { return boolInt(a) - boolInt(b) })}, true
	case batch.LayoutI8:
		return &extremes[int8]{typ: t, values: func(v *batch.Vector) []int8 { return v.I8 }, append: (*batch.Vector).AppendInt8, update: updateIntegers[int8](greatest)}, true
	case batch.LayoutI16:
		return &extremes[int16]{typ: t, values: func(v *batch.Vector) []int16 { return v.I16 }, append: (*batch.Vector).AppendInt16, update: updateIntegers[int16](greatest)}, true
	case batch.LayoutI32:
		return &extremes[int32]{typ: t, values: func(v *batch.Vector) []int32 { return v.I32 }, append: (*batch.Vector).AppendInt32, update: updateIntegers[int32](greatest)}, true
	case batch.LayoutI64:
		return &extremes[int64]{typ: t, values: func(v *batch.Vector) []int64 { return v.I64 }, append: (*batch.Vector).AppendInt64, update: updateIntegers[int64](greatest)}, true
	case batch.LayoutF32:
		return &extremes[float32]{typ: t, values: func(v *batch.Vector) []float32 { return v.F32 }, append: (*batch.Vector).AppendFloat32,
			update: updateBy(greatest, func(a, b float32) int { return orderFloats(float64(a), float64(b)) })}, true
	case batch.LayoutF64:
		return &extremes[float64]{typ: t, values: func(v *batch.Vector) []float64 { return v.F64 }, append: (*batch.Vector).AppendFloat64, update: updateBy(greatest, orderFloats)}, true
	case batch.LayoutDec:
		return &extremes[decimal128.Num]{typ: t, values: func(v *batch.Vector) []decimal128.Num { return v.Dec }, append: (*batch.Vector).AppendDecimal,
			update: updateBy(greatest, decimal128.Num.Cmp)}, true
	case batch.LayoutBytes:
		return &textExtremes{typ: t, greatest: greatest}, true
	}
	return nil, false
}

// extremes is MIN or MAX of values of a fixed size.
type extremes[T any] struct {
	typ    batch.Type
	values func(*batch.Vector) []T
	append func(*batch.Vector, T)
	update func(s *extremes[T], values []T, in *grouped, rows []int32)
	best   []T
	has    []bool
	valid  []int32
	flat   flattener
}

func (s *extremes[T]) size() int64 {
	return int64(cap(s.best))*int64(unsafe.Sizeof(*new(T))) + int64(cap(s.has))
}

func (s *extremes[T]) add(in *grouped) error {
	s.best, s.has = extend(s.best, in.groups), extend(s.has, in.groups)
	v := s.flat.flat(in.args[0])
	s.update(s, s.values(v), in, in.valid(v, &s.valid))
	return nil
}

// updateIntegers returns the kernel for integers. An equal value may take the place of another one.
func updateIntegers[T int8 | int16 | int32 | int64](greatest bool) func(*extremes[T], []T, *grouped, []int32) {
	return func(s *extremes[T], values []T, in *grouped, rows []int32) {
		best, has := s.best, s.has
		if in.of != nil && rows == nil {
			of := in.of[:in.n]
			for i, x := range values[:len(of)] {
				if g := of[i]; !has[g] || (x > best[g]) == greatest {
					best[g], has[g] = x, true
				}
			}
			return
		}
		eachGroup(in, rows, func(g uint32, i int) {
			if x := values[i]; !has[g] || (x > best[g]) == greatest {
				best[g], has[g] = x, true
			}
		})
	}
}

// updateBy returns the kernel for an order. Of equal values the first one stays.
func updateBy[T any](greatest bool, order func(a, b T) int) func(*extremes[T], []T, *grouped, []int32) {
	return func(s *extremes[T], values []T, in *grouped, rows []int32) {
		eachGroup(in, rows, func(g uint32, i int) {
			x := values[i]
			if s.has[g] {
				if o := order(x, s.best[g]); o == 0 || (o > 0) != greatest {
					return
				}
			}
			s.best[g], s.has[g] = x, true
		})
	}
}

func (s *extremes[T]) merge(_ context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	o := from.(*extremes[T])
	s.best, s.has = extend(s.best, total), extend(s.has, total)
	values, to := make([]T, 0, len(groups)), make([]uint32, 0, len(groups))
	for k, g := range groups {
		if at(o.has, g) {
			values, to = append(values, o.best[g]), append(to, of[k])
		}
	}
	s.update(s, values, &grouped{of: to, n: len(values), groups: total}, nil)
	return nil
}

func (s *extremes[T]) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	out := batch.NewVector(s.typ, hi-lo)
	best := within(s.best, lo, hi)
	for i, has := range within(s.has, lo, hi) {
		if has {
			s.append(out, best[i])
		} else {
			out.AppendNull()
		}
	}
	return out, nil
}

// textExtremes is MIN or MAX of texts.
type textExtremes struct {
	typ      batch.Type
	greatest bool
	best     [][]byte // nil: none yet
	bytes    int64
	valid    []int32
}

func (s *textExtremes) size() int64 { return 24*int64(cap(s.best)) + s.bytes }

func (s *textExtremes) add(in *grouped) error {
	s.best = extend(s.best, in.groups)
	v := in.args[0]
	eachGroup(in, in.valid(v, &s.valid), func(g uint32, i int) { s.offer(g, v.BytesAt(i)) })
	return nil
}

// offer copies a text that is better than that of its group.
func (s *textExtremes) offer(g uint32, text []byte) {
	best := s.best[g]
	if best != nil {
		if o := bytes.Compare(text, best); o == 0 || (o > 0) != s.greatest {
			return
		}
	}
	if s.best[g] = append(best[:0], text...); s.best[g] == nil {
		s.best[g] = []byte{}
	}
	s.bytes += int64(cap(s.best[g]) - cap(best))
}

func (s *textExtremes) merge(_ context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	s.best = extend(s.best, total)
	o := from.(*textExtremes)
	for k, g := range groups {
		if text := at(o.best, g); text != nil {
			s.offer(of[k], text)
		}
	}
	return nil
}

func (s *textExtremes) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	out := batch.NewVector(s.typ, hi-lo)
	for _, text := range within(s.best, lo, hi) {
		if text != nil {
			out.AppendBytes(text)
		} else {
			out.AppendNull()
		}
	}
	return out, nil
}
