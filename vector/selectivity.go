package vector

import (
	"math"

	"lakesql/batch"
)

// ColumnEstimate is what is thought of the values of a column. It is never relied on.
type ColumnEstimate struct {
	Min, Max *batch.Vector // one row each; nil: not known
	Distinct float64       // how many values there are; 0: not known
	OfGroups bool          // it is an aggregate: who compares those looks for the few that stand out
}

// The shares of rows that are assumed where nothing better is known.
const (
	likelyEqual = 0.02
	likelyRange = 0.3
	likelyMatch = 0.1 // LIKE
	likelyGroup = 0.02
	likelyNull  = 0.02
	likelyOther = 0.3
)

// Selectivity estimates for which share of rows a predicate is true, from 0 to 1.
func Selectivity(predicate Expr, column func(i int) ColumnEstimate) float64 {
	s := estimator{column: column, pruner: pruner{func(i int) bounds {
		c := column(i)
		return bounds{min: c.Min, max: c.Max, null: true, value: true}
	}}}
	return s.share(predicate)
}

type estimator struct {
	column func(i int) ColumnEstimate
	pruner pruner
}

func (s estimator) share(e Expr) float64 {
	switch e := e.(type) {
	case *logic:
		all, none := 1.0, 1.0
		for _, a := range e.args {
			x := s.share(a)
			all, none = all*x, none*(1-x)
		}
		if e.stop {
			return 1 - none
		}
		return all
	case *not:
		return 1 - s.share(e.arg)
	case *isNull:
		return likelyNull
	case *compare:
		return s.compare(e)
	case *ahead:
		return s.share(e.alike)
	case *set:
		return min(1, float64(len(e.equals))*s.equal(e.arg))
	case *like:
		return likelyMatch
	}
	return likelyOther
}

func (s estimator) compare(e *compare) float64 {
	switch e.op {
	case Equal, NullSafeEqual:
		return min(s.equal(e.l), s.equal(e.r))
	case NotEqual:
		return 1 - min(s.equal(e.l), s.equal(e.r))
	}
	l, r, op := s.pruner.bounds(e.l), s.pruner.bounds(e.r), e.op
	if s.ofGroups(e.l) || s.ofGroups(e.r) {
		return likelyGroup
	}
	if _, ok := e.r.(*parameter); ok {
		return likelyRange // not known yet
	}
	if _, ok := e.l.(*literal); ok {
		l, r, op = r, l, op.flip()
	}
	lo, okLo := pointOf(l.min)
	hi, okHi := pointOf(l.max)
	at, okAt := pointOf(r.min)
	if _, ok := pointOf(r.max); !ok || !okLo || !okHi || !okAt || hi <= lo || compareBounds(r.min, r.max) != 0 {
		return likelyRange
	}
	below := min(1, max(0, (at-lo)/(hi-lo)))
	if op == Greater || op == GreaterEqual {
		return 1 - below
	}
	return below
}

// ofGroups says whether an expression is an aggregate, or a conversion of one.
func (s estimator) ofGroups(e Expr) bool {
	if c, ok := e.(*cast); ok {
		return s.ofGroups(c.arg)
	}
	c, ok := e.(*column)
	return ok && s.column(c.index).OfGroups
}

// equal is the share of rows with one value of an expression.
func (s estimator) equal(e Expr) float64 {
	for {
		switch x := e.(type) {
		case *cast:
			e = x.arg
			continue
		case *column:
			if n := s.column(x.index).Distinct; n >= 1 {
				return 1 / n
			}
			return likelyEqual
		case *literal, *parameter:
			return 1
		}
		return likelyEqual
	}
}

// pointOf is where a value lies among others of its type; false where that is not to be told.
func pointOf(v *batch.Vector) (float64, bool) {
	if v == nil || v.IsNull(0) {
		return 0, false
	}
	switch v.Type.Layout() {
	case batch.LayoutI8, batch.LayoutI16, batch.LayoutI32, batch.LayoutI64:
		return float64(intAt(v, 0)), true
	case batch.LayoutF32, batch.LayoutF64:
		f, _ := floatAt(v)
		return f, !math.IsNaN(f) && !math.IsInf(f, 0)
	case batch.LayoutDec:
		return v.Dec[0].ToFloat64(int32(v.Type.Scale)), true
	}
	return 0, false
}

// Span is how many whole numbers, or days, a column can have between its least and its greatest value; 0: not known.
func (c ColumnEstimate) Span() float64 {
	if c.Min == nil || c.Max == nil {
		return 0
	}
	if _, whole := integer(c.Min.Type.Kind); !whole && c.Min.Type.Kind != batch.Date {
		return 0
	}
	lo, okLo := pointOf(c.Min)
	hi, okHi := pointOf(c.Max)
	if !okLo || !okHi {
		return 0
	}
	return hi - lo + 1
}
