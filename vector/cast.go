package vector

import (
	"context"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

const (
	microsPerDay    = 24 * 60 * 60 * 1_000_000
	microsPerSecond = 1_000_000
)

// cast converts values one by one with a function of the type pair.
type cast struct {
	arg      Expr
	to       batch.Type
	monotone bool // keeps the order: bounds of the argument give bounds of the result
	convert  func(out, in *batch.Vector, rows *batch.Batch)
	dict     *batch.Vector // dictOf converted; a new vector each time, as others know dictionaries by their address
	dictOf   *batch.Vector
	out      batch.Vector
}

// NewCast returns arg as type to, by the rules of MySQL's CAST. Supported are the conversions that cannot fail or lose anything, decimals
// to a smaller scale (rounded half away from zero), an integer literal that has the digits, a timestamp to its date, and integers, decimals, dates and timestamps to their texts. A nested
// type becomes one that is Alike.
func NewCast(arg Expr, to batch.Type) (Expr, error) {
	if arg = shrink(arg, to); arg.Type() == to {
		return arg, nil
	}
	if arg.Type().Alike(to) {
		return &relabel{arg: arg, to: to}, nil
	}
	convert := converter(arg.Type(), to)
	if convert == nil {
		return nil, unsupported("CAST from %s to %s", arg.Type(), to)
	}
	return &cast{arg: arg, to: to, convert: convert, monotone: to.Kind != batch.String}, nil
}

func (e *cast) Type() batch.Type { return e.to }

func (e *cast) children() []Expr { return []Expr{e.arg} }

func (e *cast) Clone() Expr {
	return &cast{arg: e.arg.Clone(), to: e.to, monotone: e.monotone, convert: e.convert}
}

func (e *cast) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	in, err := e.arg.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	if in.Dict == nil {
		e.run(&e.out, in, b)
		return &e.out, nil
	}
	if e.dictOf != in.Dict {
		e.dict, e.dictOf = &batch.Vector{}, in.Dict
		e.run(e.dict, in.Dict, &batch.Batch{Len: in.Dict.Len})
	}
	return &batch.Vector{Type: e.to, Len: in.Len, Valid: in.Valid, Codes: in.Codes, Dict: e.dict}, nil
}

func (e *cast) run(out, in *batch.Vector, rows *batch.Batch) {
	reset(out, e.to, in.Len)
	e.convert(out, in, rows)
	out.Valid = in.Valid
}

// relabel gives nested values another type that they are Alike to.
type relabel struct {
	arg Expr
	to  batch.Type
}

func (e *relabel) Type() batch.Type { return e.to }

func (e *relabel) children() []Expr { return []Expr{e.arg} }

func (e *relabel) Clone() Expr { return &relabel{arg: e.arg.Clone(), to: e.to} }

func (e *relabel) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	in, err := e.arg.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	return in.As(e.to), nil
}

// integer reports the kinds that hold whole numbers, and how many digits they can have.
func integer(k batch.Kind) (digits uint8, ok bool) {
	switch k {
	case batch.Int8:
		return 3, true
	case batch.Int16:
		return 5, true
	case batch.Int32:
		return 10, true
	case batch.Int64:
		return 19, true
	}
	return 0, false
}

func isFloat(k batch.Kind) bool { return k == batch.Float32 || k == batch.Float64 }

func isTimestamp(k batch.Kind) bool { return k == batch.Timestamp || k == batch.TimestampNTZ }

// converter returns the conversion between two types, nil when there is none that is exact.
func converter(from, to batch.Type) func(out, in *batch.Vector, rows *batch.Batch) {
	digits, isInt := integer(from.Kind)
	switch {
	case to.Kind == batch.Int64 && (isInt || from.Kind == batch.Bool):
		return toInt64
	case to.Kind == batch.Float64 && (isInt || isFloat(from.Kind)):
		return toFloat64
	case to.Kind == batch.Float64 && from.Kind == batch.Decimal:
		return decimalToFloat64
	case to.Kind == batch.Decimal && isInt && digits <= to.Precision-to.Scale:
		return intToDecimal
	case to.Kind == batch.Decimal && from.Kind == batch.Decimal && fitsWhole(from, to):
		return rescale
	case isTimestamp(to.Kind) && from.Kind == batch.Date:
		return func(out, in *batch.Vector, _ *batch.Batch) {
			for i, d := range in.I32[:in.Len] {
				out.I64[i] = int64(d) * microsPerDay
			}
		}
	case isTimestamp(to.Kind) && isTimestamp(from.Kind):
		return func(out, in *batch.Vector, _ *batch.Batch) { copy(out.I64, in.I64) }
	case to.Kind == batch.Date && isTimestamp(from.Kind):
		return func(out, in *batch.Vector, _ *batch.Batch) {
			for i, us := range in.I64[:in.Len] {
				out.I32[i] = int32(floorDiv(us, microsPerDay))
			}
		}
	case to.Kind == batch.String:
		return toText(from.Kind)
	}
	return nil
}

// fitsWhole reports whether every whole part of from fits to, also when rounding carries into it.
func fitsWhole(from, to batch.Type) bool {
	whole := from.Precision - from.Scale
	if to.Scale < from.Scale {
		whole++
	}
	return whole <= to.Precision-to.Scale
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func toInt64(out, in *batch.Vector, _ *batch.Batch) {
	switch in.Type.Layout() {
	case batch.LayoutBools:
		for i, v := range in.Bools[:in.Len] {
			out.I64[i] = 0
			if v {
				out.I64[i] = 1
			}
		}
	case batch.LayoutI8:
		widen(out.I64, in.I8[:in.Len])
	case batch.LayoutI16:
		widen(out.I64, in.I16[:in.Len])
	case batch.LayoutI32:
		widen(out.I64, in.I32[:in.Len])
	}
}

func toFloat64(out, in *batch.Vector, _ *batch.Batch) {
	switch in.Type.Layout() {
	case batch.LayoutI8:
		widen(out.F64, in.I8[:in.Len])
	case batch.LayoutI16:
		widen(out.F64, in.I16[:in.Len])
	case batch.LayoutI32:
		widen(out.F64, in.I32[:in.Len])
	case batch.LayoutI64:
		widen(out.F64, in.I64[:in.Len])
	case batch.LayoutF32:
		widen(out.F64, in.F32[:in.Len])
	}
}

func widen[T int8 | int16 | int32 | int64 | float32, U int64 | float64](out []U, in []T) {
	for i, v := range in {
		out[i] = U(v)
	}
}

// decimalToFloat64 takes the double nearest to the decimal's text, as MySQL does. The quotient of two numbers that a double holds is that already.
func decimalToFloat64(out, in *batch.Vector, rows *batch.Batch) {
	const exact, exactPower = 1 << 53, 22
	var text []byte
	by := 0.0
	if in.Type.Layout() == batch.LayoutI64 && in.Type.Scale <= exactPower {
		by = math.Pow10(int(in.Type.Scale))
	}
	selected(rows, func(i int) {
		if by != 0 && -exact <= in.I64[i] && in.I64[i] <= exact {
			out.F64[i] = float64(in.I64[i]) / by
			return
		}
		text = batch.AppendDecimal(text[:0], in.DecimalAt(i), in.Type.Scale)
		out.F64[i], _ = strconv.ParseFloat(string(text), 64) // the text of a number of at most 38 digits always parses
	})
}

func intToDecimal(out, in *batch.Vector, _ *batch.Batch) {
	factor := decimal128.GetScaleMultiplier(int(out.Type.Scale))
	for i := range in.Len {
		setDecimal(out, i, decimal128.FromI64(intAt(in, i)).Mul(factor))
	}
}

// intAt returns row i of a plain vector of integers.
func intAt(v *batch.Vector, i int) int64 {
	switch v.Type.Layout() {
	case batch.LayoutI8:
		return int64(v.I8[i])
	case batch.LayoutI16:
		return int64(v.I16[i])
	case batch.LayoutI32:
		return int64(v.I32[i])
	default:
		return v.I64[i]
	}
}

// setDecimal sets row i of a plain vector that has as many rows.
func setDecimal(out *batch.Vector, i int, x decimal128.Num) {
	if out.Type.Layout() == batch.LayoutI64 {
		out.I64[i] = int64(x.LowBits())
	} else {
		out.Dec[i] = x
	}
}

// rescale changes precision and scale; to a smaller scale it rounds half away from zero.
func rescale(out, in *batch.Vector, rows *batch.Batch) {
	up, down := int(out.Type.Scale)-int(in.Type.Scale), int(in.Type.Scale)-int(out.Type.Scale)
	if up >= 0 && out.Type.Layout() == batch.LayoutI64 {
		factor := int64(decimal128.GetScaleMultiplier(up).LowBits())
		for i, x := range in.I64[:in.Len] {
			out.I64[i] = x * factor
		}
		return
	}
	if up >= 0 && up <= batch.MaxInt64Precision && in.Type.Layout() == batch.LayoutI64 {
		factor := int64(power10(uint8(up)).lo)
		for i, x := range in.I64[:in.Len] {
			out.Dec[i] = product64(x, factor)
		}
		return
	}
	selected(rows, func(i int) {
		x := in.DecimalAt(i)
		if up >= 0 {
			setDecimal(out, i, x.Mul(decimal128.GetScaleMultiplier(up)))
		} else {
			setDecimal(out, i, x.ReduceScaleBy(int32(down), true))
		}
	})
}

// toText returns the conversion of a kind to the text that MySQL shows.
func toText(from batch.Kind) func(out, in *batch.Vector, rows *batch.Batch) {
	var appendText func(dst []byte, in *batch.Vector, i int) []byte
	_, isInt := integer(from)
	switch {
	case isInt || from == batch.Decimal:
		appendText = func(dst []byte, in *batch.Vector, i int) []byte { return in.AppendText(dst, i) }
	case from == batch.Date:
		appendText = func(dst []byte, in *batch.Vector, i int) []byte { return batch.AppendDate(dst, in.I32[i]) }
	case isTimestamp(from):
		appendText = func(dst []byte, in *batch.Vector, i int) []byte {
			dst = batch.AppendTimestamp(dst, in.I64[i])
			if in.I64[i]%microsPerSecond == 0 {
				dst = append(dst, ".000000"...) // a DATETIME(6) always shows six digits
			}
			return dst
		}
	default:
		return nil
	}
	return func(out, in *batch.Vector, rows *batch.Batch) {
		at := 0
		selected(rows, func(i int) {
			for ; at < i; at++ {
				out.Off = append(out.Off, int32(len(out.Bytes)))
			}
			if !in.IsNull(i) {
				out.Bytes = appendText(out.Bytes, in, i)
			}
			out.Off = append(out.Off, int32(len(out.Bytes)))
			at++
		})
		for ; at < in.Len; at++ {
			out.Off = append(out.Off, int32(len(out.Bytes)))
		}
	}
}
