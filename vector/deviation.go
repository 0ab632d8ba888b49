package vector

import (
	"context"
	"math"

	"lakesql/batch"
)

// deviations is VARIANCE or STDDEV of DOUBLEs, by their mean so far and the sum of the squares of what they are away from it.
type deviations struct {
	sample, root bool
	states       []deviationState
	valid        []int32
	flat         flattener
}

type deviationState struct {
	n, mean, squares float64
}

func (s *deviations) size() int64 { return 24 * int64(cap(s.states)) }

func (s *deviations) add(in *grouped) error {
	s.states = extend(s.states, in.groups)
	v := s.flat.flat(in.args[0])
	eachGroup(in, in.valid(v, &s.valid), func(g uint32, i int) {
		s.states[g].add(v.F64[i])
	})
	return nil
}

func (s *deviationState) add(x float64) {
	if s.n++; s.n == 1 {
		s.mean = x
		return
	}
	away := x - s.mean
	s.mean += away / s.n
	s.squares += away * (x - s.mean)
}

func (s *deviations) merge(_ context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	s.states = extend(s.states, total)
	o := from.(*deviations)
	for k, g := range groups {
		x := at(o.states, g)
		s.states[of[k]].merge(&x)
	}
	return nil
}

// merge adds the values of another state.
func (s *deviationState) merge(x *deviationState) {
	switch {
	case x.n == 0:
		return
	case s.n == 0: // the square of a large mean is infinite
		*s = *x
		return
	}
	n, away := s.n+x.n, x.mean-s.mean
	s.squares += x.squares + away*away*s.n*x.n/n
	s.mean += away * x.n / n
	s.n = n
}

func (s *deviations) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	out := batch.NewVector(batch.Type{Kind: batch.Float64}, hi-lo)
	for _, x := range within(s.states, lo, hi) {
		s.appendResult(out, &x)
	}
	return out, nil
}

// appendResult adds the result of a state.
func (s *deviations) appendResult(out *batch.Vector, x *deviationState) {
	of := x.n
	if s.sample {
		of--
	}
	switch variance := x.squares / of; {
	case of <= 0:
		out.AppendNull()
	case s.root:
		out.AppendFloat64(math.Sqrt(variance))
	default:
		out.AppendFloat64(variance)
	}
}
