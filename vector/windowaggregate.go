package vector

import (
	"context"

	"lakesql/batch"
)

// frameInput is an aggregate's argument and the frames of all rows.
type frameInput struct {
	frames
	column *WindowColumn
	arg    *batch.Vector // plain; nil: COUNT(*)
}

// frameAggregates are the aggregates that frames have.
var frameAggregates = map[AggregateFunc]func(context.Context, *frameInput) (*batch.Vector, error){
	Count: frameCounts, Min: frameExtremes, Max: frameExtremes, Sum: frameSums, Average: frameSums,
	VariancePop: frameDeviations, VarianceSample: frameDeviations, StddevPop: frameDeviations, StddevSample: frameDeviations,
}

// frameCounts is COUNT: the difference of how many valid rows there are up to either end.
func frameCounts(ctx context.Context, in *frameInput) (*batch.Vector, error) {
	out := &batch.Vector{Type: in.column.Field.Type, Len: len(in.lo), I64: make([]int64, len(in.lo))}
	if in.arg == nil || in.arg.Valid == nil {
		return out, inBlocks(ctx, len(in.lo), func(lo, hi int) error {
			for i := lo; i < hi; i++ {
				out.I64[i] = int64(in.hi[i] - in.lo[i])
			}
			return nil
		})
	}
	upTo := make([]int32, len(in.lo)+1)
	for i := range in.lo {
		upTo[i+1] = upTo[i] + int32(boolInt(in.arg.Valid.Get(i)))
	}
	return out, inBlocks(ctx, len(in.lo), func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			out.I64[i] = int64(upTo[in.hi[i]] - upTo[in.lo[i]])
		}
		return nil
	})
}

// frameExtremes is MIN or MAX: a queue of the rows that may still be the one, the best first. Each row enters and leaves it once.
func frameExtremes(ctx context.Context, in *frameInput) (*batch.Vector, error) {
	at := make([]int32, len(in.lo))
	var queue []int32
	next := int32(0)
	greatest := in.column.Aggregate == Max
	err := inBlocks(ctx, len(in.lo), func(from, to int) error {
		for i := from; i < to; i++ {
			lo, hi := in.lo[i], in.hi[i]
			if next < lo {
				queue, next = queue[:0], lo
			}
			for ; next < hi; next++ {
				if in.arg.IsNull(int(next)) {
					continue
				}
				for len(queue) > 0 {
					if o := batch.Compare(in.arg, int(next), in.arg, int(queue[len(queue)-1])); o == 0 || (o > 0) != greatest {
						break
					}
					queue = queue[:len(queue)-1]
				}
				queue = append(queue, next)
			}
			for len(queue) > 0 && queue[0] < lo {
				queue = queue[1:]
			}
			if at[i] = -1; len(queue) > 0 {
				at[i] = queue[0]
			}
		}
		return nil
	})
	return gatherOrNull(in.arg, at), err
}

// frameSums is SUM or AVG, as exactSums and floatSums have them.
func frameSums(ctx context.Context, in *frameInput) (*batch.Vector, error) {
	average := in.column.Aggregate == Average
	if f, ok := floatsOf(in.arg); ok {
		out := batch.NewVector(in.column.Field.Type, len(in.lo))
		return out, foldFrames(ctx, in.frames, folding[FloatSum]{
			add: func(s *FloatSum, i int) {
				if !in.arg.IsNull(i) {
					s.Add(f(i))
				}
			},
			merge: func(to, from *FloatSum) { to.Merge(from) },
			emit: func(s *FloatSum) error {
				if s.n == 0 {
					out.AppendNull()
				} else {
					out.AppendFloat64(s.Total(average))
				}
				return nil
			},
		})
	}
	exact := &exactSums{what: in.column.Field.Name, scale: in.arg.Type.Scale, to: in.column.Field.Type, average: average}
	out := batch.NewVector(exact.to, len(in.lo))
	wide, fits := wideAt(in.arg), true
	change := func(s *exactSum, i int, count int64) {
		if in.arg.IsNull(i) {
			return
		}
		hi, lo := wide(i)
		if count < 0 {
			hi, lo = negated(hi, lo)
		}
		fits = s.addWide(hi, lo) && fits
		s.n += count
	}
	return out, foldFrames(ctx, in.frames, folding[exactSum]{
		add:    func(s *exactSum, i int) { change(s, i, 1) },
		remove: func(s *exactSum, i int) { change(s, i, -1) },
		emit: func(s *exactSum) error {
			if !fits {
				return exact.overflow()
			}
			return exact.appendResult(out, s)
		},
	})
}

// floatsOf are the values of a vector of floats.
func floatsOf(v *batch.Vector) (func(i int) float64, bool) {
	switch v.Type.Kind {
	case batch.Float32:
		return func(i int) float64 { return float64(v.F32[i]) }, true
	case batch.Float64:
		return func(i int) float64 { return v.F64[i] }, true
	}
	return nil, false
}

// wideAt are the unscaled values of a vector of integers, booleans or DECIMALs.
func wideAt(v *batch.Vector) func(i int) (hi int64, lo uint64) {
	switch v.Type.Layout() {
	case batch.LayoutBools:
		return func(i int) (int64, uint64) { return 0, uint64(boolInt(v.Bools[i])) }
	case batch.LayoutDec:
		return func(i int) (int64, uint64) { return v.Dec[i].HighBits(), v.Dec[i].LowBits() }
	case batch.LayoutI64:
		return func(i int) (int64, uint64) { return v.I64[i] >> 63, uint64(v.I64[i]) }
	}
	return func(i int) (int64, uint64) { x := intAt(v, i); return x >> 63, uint64(x) }
}

// negated is the number of two halves, negated.
func negated(hi int64, lo uint64) (int64, uint64) {
	if lo == 0 {
		return -hi, 0
	}
	return ^hi, -lo
}

// frameDeviations is VARIANCE or STDDEV, as deviations has them.
func frameDeviations(ctx context.Context, in *frameInput) (*batch.Vector, error) {
	of := &deviations{sample: in.column.Aggregate == VarianceSample || in.column.Aggregate == StddevSample, root: in.column.Aggregate >= StddevPop}
	out := batch.NewVector(in.column.Field.Type, len(in.lo))
	return out, foldFrames(ctx, in.frames, folding[FloatVariance]{
		add: func(s *FloatVariance, i int) {
			if !in.arg.IsNull(i) {
				s.Add(in.arg.F64[i])
			}
		},
		merge: (*FloatVariance).Merge,
		emit:  func(s *FloatVariance) error { of.appendResult(out, s); return nil },
	})
}
