package vector

import (
	"bytes"
	"math"

	"lakesql/batch"
)

// bounds say what a column of a file or a row group can hold: the values from min to max, and perhaps null. They may be too wide,
// never too narrow.
type bounds struct {
	min, max *batch.Vector // one plain row each; nil: no limit
	null     bool          // there may be nulls
	value    bool          // there may be values
	nan      bool          // min and max do not count NaN, which may be there
}

// unbounded is what nothing is known about.
var unbounded = bounds{null: true, value: true}

// outcome is what a predicate can be for some row.
type outcome struct{ isTrue, isFalse, isNull bool }

var anyOutcome = outcome{true, true, true}

// pruner evaluates predicates on bounds: each method returns every outcome that a row can have, and perhaps more.
type pruner struct{ column func(i int) bounds }

func (p pruner) outcome(e Expr) outcome {
	switch e := e.(type) {
	case *logic:
		return p.logic(e)
	case *not:
		o := p.outcome(e.arg)
		o.isTrue, o.isFalse = o.isFalse, o.isTrue
		return o
	case *isNull:
		b := p.bounds(e.arg)
		return outcome{isTrue: b.null, isFalse: b.value}
	case *compare:
		return p.compare(e.op, p.bounds(e.l), p.bounds(e.r))
	case *set:
		return p.set(e)
	case *ahead:
		if len(e.values) == 1 { // else all of them are computed, whatever the first one is
			return p.outcome(e.alike)
		}
	case *like:
		return p.like(e)
	case *literal, *parameter, *column:
		return p.boolean(p.bounds(e))
	}
	return anyOutcome
}

// logic combines arguments as if they were independent, which only adds outcomes. One that decides for every row makes the others meaningless.
func (p pruner) logic(e *logic) outcome {
	all := outcome{isTrue: true, isFalse: true}
	some := outcome{}
	decided := outcome{isTrue: e.stop, isFalse: !e.stop}
	for _, a := range e.args {
		o := p.outcome(a)
		if o == decided {
			return decided
		}
		all.isTrue = all.isTrue && o.isTrue
		all.isFalse = all.isFalse && o.isFalse
		some.isTrue = some.isTrue || o.isTrue
		some.isFalse = some.isFalse || o.isFalse
		some.isNull = some.isNull || o.isNull
	}
	if e.stop { // OR: true by one, false by all
		return outcome{isTrue: some.isTrue, isFalse: all.isFalse, isNull: some.isNull}
	}
	return outcome{isTrue: all.isTrue, isFalse: some.isFalse, isNull: some.isNull}
}

// boolean is a column or literal that stands for itself.
func (p pruner) boolean(b bounds) outcome {
	o := outcome{isTrue: b.value, isFalse: b.value, isNull: b.null}
	if b.max != nil && !b.max.Bools[0] {
		o.isTrue = false
	}
	if b.min != nil && b.min.Bools[0] {
		o.isFalse = false
	}
	return o
}

// bounds are those of an operand.
func (p pruner) bounds(e Expr) bounds {
	switch e := e.(type) {
	case *column:
		return p.column(e.index)
	case *parameter:
		if !e.of.known {
			return unbounded
		}
		return p.bounds(&literal{typ: e.typ, constant: constant{value: e.of.value}})
	case *literal:
		if e.value == nil {
			return bounds{null: true}
		}
		return bounds{min: e.value, max: e.value, value: true}
	case *cast:
		if e.monotone {
			b := p.bounds(e.arg)
			b.min, b.max = e.one(b.min), e.one(b.max)
			return b
		}
	}
	return unbounded
}

// one converts a single value.
func (e *cast) one(v *batch.Vector) *batch.Vector {
	if v == nil {
		return nil
	}
	out := &batch.Vector{}
	e.run(out, v, &batch.Batch{Len: 1})
	return out
}

func (p pruner) compare(op CompareOp, l, r bounds) outcome {
	if op == NullSafeEqual {
		o := compareValues(Equal, l, r)
		o.isTrue = o.isTrue || l.null && r.null
		o.isFalse = o.isFalse || l.null && r.value || r.null && l.value
		return o
	}
	o := compareValues(op, l, r)
	o.isNull = l.null || r.null
	return o
}

// compareValues returns the outcomes for pairs without a null.
func compareValues(op CompareOp, l, r bounds) outcome {
	o := outcome{}
	for _, a := range l.parts() {
		for _, b := range r.parts() {
			isTrue, isFalse := compareRanges(op, a, b)
			o.isTrue = o.isTrue || isTrue
			o.isFalse = o.isFalse || isFalse
		}
	}
	return o
}

// parts are the values as ranges: NaN is one of its own, where the bounds do not count it.
func (b bounds) parts() []bounds {
	if !b.value {
		return nil
	}
	parts := []bounds{b}
	if b.nan {
		nan := batch.NewVector(batch.Type{Kind: batch.Float64}, 1)
		nan.AppendFloat64(math.NaN())
		parts = append(parts, bounds{min: nan, max: nan})
	}
	return parts
}

// compareRanges reports whether l op r can be true, and false, for some pair out of two ranges.
func compareRanges(op CompareOp, l, r bounds) (isTrue, isFalse bool) {
	below := l.min == nil || r.max == nil || compareBounds(l.min, r.max) < 0 // some l < some r
	above := l.max == nil || r.min == nil || compareBounds(l.max, r.min) > 0
	meet := !disjoint(l, r)
	switch op {
	case Equal:
		return meet, below || above
	case NotEqual:
		return below || above, meet
	case Less:
		return below, above || meet
	case LessEqual:
		return below || meet, above
	case Greater:
		return above, below || meet
	default:
		return above || meet, below
	}
}

// disjoint reports that no value is in both ranges.
func disjoint(l, r bounds) bool {
	return l.min != nil && r.max != nil && compareBounds(l.min, r.max) > 0 ||
		l.max != nil && r.min != nil && compareBounds(l.max, r.min) < 0
}

// compareBounds orders two bounds; a FLOAT against the DOUBLE of a NaN too.
func compareBounds(a, b *batch.Vector) int {
	if fa, ok := floatAt(a); ok {
		fb, _ := floatAt(b)
		return orderFloats(fa, fb)
	}
	return order(a, b)
}

func floatAt(v *batch.Vector) (float64, bool) {
	switch v.Type.Kind {
	case batch.Float32:
		return float64(v.F32[0]), true
	case batch.Float64:
		return v.F64[0], true
	}
	return 0, false
}

func (p pruner) set(e *set) outcome {
	all := outcome{isFalse: true}
	l := p.bounds(e.arg)
	for _, c := range e.equals {
		o := p.compare(Equal, l, p.bounds(c.r))
		all.isTrue = all.isTrue || o.isTrue
		all.isFalse = all.isFalse && o.isFalse
		all.isNull = all.isNull || o.isNull
	}
	return all
}

// like looks at the text that every match begins with.
func (p pruner) like(e *like) outcome {
	b := p.bounds(e.arg)
	o := outcome{isTrue: b.value, isFalse: b.value, isNull: b.null}
	if b.min == nil || b.max == nil || !b.value {
		return o
	}
	low, high := b.min.BytesAt(0), b.max.BytesAt(0)
	if bytes.Equal(low, high) {
		o.isTrue = e.match(low)
		o.isFalse = !o.isTrue
		return o
	}
	n := len(e.prefix)
	o.isTrue = bytes.Compare(low[:min(n, len(low))], e.prefix) <= 0 && bytes.Compare(high, e.prefix) >= 0
	return o
}
