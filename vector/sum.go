package vector

import (
	"context"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// exactSums is SUM or AVG over integers, booleans and DECIMALs: a DECIMAL, rounded half away from zero where it has fewer digits than the
// exact result.
type exactSums struct {
	what    string // for errors
	scale   uint8  // of the argument
	to      batch.Type
	average bool
	states  []exactSum
	valid   []int32
	flat    flattener
}

// exactSum is the sum hi*2^64 + lo of n values.
type exactSum struct {
	hi int64
	lo uint64
	n  int64
}

func (s *exactSum) add(x int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(x), 0)
	s.hi += x>>63 + int64(carry)
}

// addWide reports whether the sum still fits.
func (s *exactSum) addWide(hi int64, lo uint64) bool {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	sum := s.hi + hi + int64(carry)
	fits := (s.hi^sum)&(hi^sum) >= 0
	s.hi = sum
	return fits
}

func (s *exactSums) size() int64 { return 24 * int64(cap(s.states)) }

func (s *exactSums) add(in *grouped) error {
	s.states = extend(s.states, in.groups)
	v := s.flat.flat(in.args[0])
	rows := in.valid(v, &s.valid)
	switch v.Type.Layout() {
	case batch.LayoutBools:
		s.addBools(v.Bools, in, rows)
	case batch.LayoutI8:
		sumIntegers(s.states, v.I8, in, rows)
	case batch.LayoutI16:
		sumIntegers(s.states, v.I16, in, rows)
	case batch.LayoutI32:
		sumIntegers(s.states, v.I32, in, rows)
	case batch.LayoutI64:
		sumIntegers(s.states, v.I64, in, rows)
	default:
		return s.addDecimals(v.Dec, in, rows)
	}
	return nil
}

// sumIntegers adds values to the groups of their rows. Of a single group, the upper and the lower halves of a batch's values are added up apart,
// which cannot overflow.
func sumIntegers[T int8 | int16 | int32 | int64](states []exactSum, values []T, in *grouped, rows []int32) {
	switch {
	case in.of == nil && rows == nil:
		var upper, lower int64
		for _, x := range values[:in.n] {
			upper += int64(x) >> 32
			lower += int64(x) & (1<<32 - 1)
		}
		states[0].addHalves(upper, lower, in.n)
	case in.of == nil:
		var upper, lower int64
		for _, i := range rows {
			x := int64(values[i])
			upper += x >> 32
			lower += x & (1<<32 - 1)
		}
		states[0].addHalves(upper, lower, len(rows))
	case rows == nil:
		of := in.of[:in.n]
		for i, x := range values[:len(of)] {
			s := &states[of[i]]
			s.add(int64(x))
			s.n++
		}
	default:
		for _, i := range rows {
			s := &states[in.of[i]]
			s.add(int64(values[i]))
			s.n++
		}
	}
}

// addHalves adds n values of which the sum is upper*2^32 + lower.
func (s *exactSum) addHalves(upper, lower int64, n int) {
	s.addWide(upper>>32, uint64(upper)<<32)
	s.add(lower)
	s.n += int64(n)
}

func (s *exactSums) addBools(values []bool, in *grouped, rows []int32) {
	eachGroup(in, rows, func(g uint32, i int) {
		s.states[g].add(int64(boolInt(values[i])))
		s.states[g].n++
	})
}

func (s *exactSums) addDecimals(values []decimal128.Num, in *grouped, rows []int32) error {
	fits := true
	eachGroup(in, rows, func(g uint32, i int) {
		fits = s.states[g].addWide(values[i].HighBits(), values[i].LowBits()) && fits
		s.states[g].n++
	})
	if !fits {
		return s.overflow()
	}
	return nil
}

// eachGroup calls f with each row that counts, and its group. rows nil: the first in.n.
func eachGroup(in *grouped, rows []int32, f func(g uint32, i int)) {
	of := func(i int) uint32 {
		if in.of == nil {
			return 0
		}
		return in.of[i]
	}
	if rows == nil {
		for i := range in.n {
			f(of(i), i)
		}
		return
	}
	for _, i := range rows {
		f(of(int(i)), int(i))
	}
}

func (s *exactSums) overflow() error {
	return &OverflowError{Type: "DECIMAL", Expr: s.what}
}

func (s *exactSums) merge(_ context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	s.states = extend(s.states, total)
	o, fits := from.(*exactSums), true
	for k, g := range groups {
		x, to := at(o.states, g), &s.states[of[k]]
		fits = to.addWide(x.hi, x.lo) && fits
		to.n += x.n
	}
	if !fits {
		return s.overflow()
	}
	return nil
}

func (s *exactSums) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	out := batch.NewVector(s.to, hi-lo)
	for _, x := range within(s.states, lo, hi) {
		if err := s.appendResult(out, &x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// appendResult adds the result of a sum.
func (s *exactSums) appendResult(out *batch.Vector, x *exactSum) error {
	if x.n == 0 {
		out.AppendNull()
		return nil
	}
	n, ok := x.quotient(s.average, int(s.to.Scale)-int(s.scale))
	if !ok || !n.FitsInPrecision(int32(s.to.Precision)) {
		return s.overflow()
	}
	out.AppendDecimal(n)
	return nil
}

// quotient is the sum, or the average, times ten to the power of digits, rounded half away from zero.
func (s *exactSum) quotient(average bool, digits int) (decimal128.Num, bool) {
	n := decimal128.New(s.hi, s.lo)
	if digits < 0 && !average {
		return n.ReduceScaleBy(int32(-digits), true), true
	}
	negative := n.Sign() < 0
	if negative {
		n = n.Negate()
	}
	hi, lo := uint64(n.HighBits()), n.LowBits()
	for ; digits > 0; digits-- { // times 10
		over, h := bits.Mul64(hi, 10)
		carry, l := bits.Mul64(lo, 10)
		h, c := bits.Add64(h, carry, 0)
		if over != 0 || c != 0 || h>>63 != 0 {
			return decimal128.Num{}, false
		}
		hi, lo = h, l
	}
	if average {
		by := uint64(s.n)
		for ; digits < 0; digits++ {
			var over uint64
			if over, by = bits.Mul64(by, 10); over != 0 {
				return decimal128.Num{}, false
			}
		}
		var rest uint64
		lo, rest = bits.Div64(hi%by, lo, by)
		hi /= by
		if rest >= by-rest { // at least half
			var carry uint64
			lo, carry = bits.Add64(lo, 1, 0)
			hi += carry
		}
	}
	n = decimal128.New(int64(hi), lo)
	if negative {
		n = n.Negate()
	}
	return n, true
}

// floatSums is SUM or AVG over FLOAT and DOUBLE: a DOUBLE.
type floatSums struct {
	average bool
	states  []FloatSum
	valid   []int32
	flat    flattener
}

func (s *floatSums) size() int64 { return 24 * int64(cap(s.states)) }

func (s *floatSums) add(in *grouped) error {
	s.states = extend(s.states, in.groups)
	v := s.flat.flat(in.args[0])
	rows := in.valid(v, &s.valid)
	if v.Type.Kind == batch.Float32 {
		sumFloats(s.states, v.F32, in, rows)
	} else {
		sumFloats(s.states, v.F64, in, rows)
	}
	return nil
}

func (s *floatSums) merge(_ context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	s.states = extend(s.states, total)
	o := from.(*floatSums)
	for k, g := range groups {
		x := at(o.states, g)
		s.states[of[k]].Merge(&x)
	}
	return nil
}

func (s *floatSums) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	out := batch.NewVector(batch.Type{Kind: batch.Float64}, hi-lo)
	for _, x := range within(s.states, lo, hi) {
		if x.n == 0 {
			out.AppendNull()
		} else {
			out.AppendFloat64(x.Total(s.average))
		}
	}
	return out, nil
}
