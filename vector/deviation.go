package vector

import (
	"context"
	"math"
	"unsafe"

	"lakesql/batch"
)

// FloatVariance is how far DOUBLEs are spread. It keeps the sums of what they are away from the first one, and of the squares of that, in twice the digits of a DOUBLE: neither the
// order of the values nor how workers share them shows in the last digit of the result, and what overflows does so in any order.
type FloatVariance struct {
	n             int64
	first         float64 // finite
	away, squares double
	beyond        float64 // what takes the place of squares: NaN with a value that is not finite, Infinity where one has no place; else 0
}

// Add adds a value.
func (s *FloatVariance) Add(x float64) {
	s.n++
	switch {
	case !finite(x):
		s.beyond = math.NaN()
	case s.n == 1:
		s.first = x
	default:
		d := plus(x, -s.first)
		s.away, s.squares = s.away.plus(d), s.squares.plus(d.times(d))
		s.check()
	}
}

// check keeps what overflowed apart.
func (s *FloatVariance) check() {
	if !finite(s.squares.high) || !finite(s.squares.low) {
		s.away, s.squares = double{}, double{}
		s.beyond += math.Inf(1)
	}
}

// Merge adds the values of another one.
func (s *FloatVariance) Merge(from *FloatVariance) {
	switch {
	case from.n == 0:
		return
	case s.n == 0:
		*s = *from
		return
	}
	d := plus(from.first, -s.first)
	moved := d.times(double{high: float64(from.n)}) // by which its sum changes beside another first value
	squares := from.squares.plus(d.times(from.away.plus(from.away).plus(moved)))
	s.away, s.squares = s.away.plus(from.away).plus(moved), s.squares.plus(squares)
	s.n += from.n
	s.beyond += from.beyond
	s.check()
}

// Result is the variance, or its root, of all values or of a sample; false: there are too few.
func (s *FloatVariance) Result(sample, root bool) (float64, bool) {
	of := float64(s.n)
	if sample {
		of--
	}
	if of <= 0 {
		return 0, false
	}
	variance := s.beyond
	if s.n == 1 {
		variance = 0 // one value has no deviation, even if it is infinite
	}
	if variance == 0 {
		mean := s.away.over(float64(s.n))
		squares := s.squares.plus(mean.times(double{-s.away.high, -s.away.low}))
		variance = max(squares.over(of).high, 0)
	}
	if root {
		variance = math.Sqrt(variance)
	}
	return variance, true
}

// double is a number of twice the digits: the sum of two, of which the low one is smaller than the last digit of the high one.
type double struct{ high, low float64 }

// plus is the sum of two numbers.
func plus(a, b float64) double {
	sum := a + b
	of := sum - a
	return double{sum, (a - (sum - of)) + (b - of)}
}

func (a double) plus(b double) double {
	sum := plus(a.high, b.high)
	return sum.normal(a.low + b.low)
}

// normal adds what is small beside it.
func (a double) normal(low float64) double {
	low += a.low
	high := a.high + low
	return double{high, low - (high - a.high)}
}

func (a double) times(b double) double {
	product := a.high * b.high
	return double{high: product}.normal(math.FMA(a.high, b.high, -product) + (a.high*b.low + a.low*b.high))
}

func (a double) over(n float64) double {
	quotient := a.high / n
	return double{high: quotient}.normal((math.FMA(-quotient, n, a.high) + a.low) / n)
}

// deviations is VARIANCE or STDDEV of DOUBLEs.
type deviations struct {
	sample, root bool
	states       []FloatVariance
	valid        []int32
	flat         flattener
}

func (s *deviations) size() int64 {
	return int64(unsafe.Sizeof(FloatVariance{})) * int64(cap(s.states))
}

func (s *deviations) add(in *grouped) error {
	s.states = extend(s.states, in.groups)
	v := s.flat.flat(in.args[0])
	eachGroup(in, in.valid(v, &s.valid), func(g uint32, i int) {
		s.states[g].Add(v.F64[i])
	})
	return nil
}

func (s *deviations) merge(_ context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	s.states = extend(s.states, total)
	o := from.(*deviations)
	for k, g := range groups {
		x := at(o.states, g)
		s.states[of[k]].Merge(&x)
	}
	return nil
}

func (s *deviations) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	out := batch.NewVector(batch.Type{Kind: batch.Float64}, hi-lo)
	for _, x := range within(s.states, lo, hi) {
		s.appendResult(out, &x)
	}
	return out, nil
}

// appendResult adds the result of a state.
func (s *deviations) appendResult(out *batch.Vector, x *FloatVariance) {
	if result, ok := x.Result(s.sample, s.root); ok {
		out.AppendFloat64(result)
	} else {
		out.AppendNull()
	}
}
