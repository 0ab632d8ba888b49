package vector

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// modelTypes are the columns of the model test's batches.
var modelTypes = []batch.Type{
	{Kind: batch.Bool}, {Kind: batch.Int8}, {Kind: batch.Int16}, {Kind: batch.Int32}, {Kind: batch.Int64}, {Kind: batch.Float32}, {Kind: batch.Float64},
	batch.DecimalOf(9, 2), batch.DecimalOf(18, 0), batch.DecimalOf(25, 5),
	{Kind: batch.Date}, {Kind: batch.Timestamp}, {Kind: batch.TimestampNTZ}, {Kind: batch.String}, {Kind: batch.Binary},
}

// longText is as long as the bounds of strings in Delta's statistics.
var longText = strings.Repeat("x", 32)

func modelSchema() *batch.Schema {
	s := &batch.Schema{}
	for i, t := range modelTypes {
		s.Fields = append(s.Fields, batch.Field{Name: fmt.Sprintf("c%d", i), Type: t, Nullable: true})
	}
	return s
}

// drawValue draws a value of a type as Vector.Value has it; small domains, so that values meet.
func drawValue(t *rapid.T, typ batch.Type) any {
	n := rapid.SampledFrom([]int64{-3, -2, -1, 0, 1, 2, 3, 100, 127, -128}).Draw(t, "n")
	switch typ.Kind {
	case batch.Bool:
		return n > 0
	case batch.Int8:
		return int8(n)
	case batch.Int16:
		return int16(n)
	case batch.Int32, batch.Date:
		return int32(n)
	case batch.Int64:
		return rapid.SampledFrom([]int64{n, n, n, math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1}).Draw(t, "long")
	case batch.Timestamp, batch.TimestampNTZ:
		return n*86_400_000_000 + rapid.SampledFrom([]int64{0, 0, 1, 999_999}).Draw(t, "us")
	case batch.Float32:
		return rapid.SampledFrom([]float32{float32(n), float32(n) / 4, float32(math.NaN()), float32(math.Inf(1)), 0, float32(math.Copysign(0, -1))}).Draw(t, "float")
	case batch.Float64:
		return rapid.SampledFrom([]float64{float64(n), float64(n) / 4, 0.1, math.NaN(), math.Inf(-1), math.MaxFloat64, math.Copysign(0, -1), 1 << 53}).Draw(t, "double")
	case batch.Decimal:
		x := decimal128.FromI64(n * rapid.SampledFrom([]int64{1, 10, 100, 100000}).Draw(t, "factor"))
		if typ.Precision > 20 && rapid.IntRange(0, 3).Draw(t, "wide") == 0 {
			x = x.Mul(decimal128.GetScaleMultiplier(rapid.IntRange(8, 16).Draw(t, "power"))).Add(decimal128.FromI64(n))
		}
		return x
	case batch.String:
		return rapid.SampledFrom([]string{"", "a", "ab", "abc", "b", "é", "éa", "a%", "a_", "\U0001F600", longText + "a", longText + "b", longText[1:] + "\U0001F600b"}).Draw(t, "string")
	default:
		return rapid.SampledFrom([][]byte{{}, {0}, {0xff}, []byte("a")}).Draw(t, "binary")
	}
}

// drawColumn draws a vector: plain, dictionary or constant, with or without nulls.
func drawColumn(t *rapid.T, typ batch.Type, n int) *batch.Vector {
	draw := func(n int, nulls bool) *batch.Vector {
		v := batch.NewVector(typ, n)
		for range n {
			if nulls && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
				v.AppendNull()
			} else if err := v.AppendValue(drawValue(t, typ)); err != nil {
				panic(err)
			}
		}
		return v
	}
	shape := rapid.IntRange(0, 3).Draw(t, "shape")
	if shape == 0 {
		return draw(n, false)
	}
	if shape == 1 {
		return draw(n, true)
	}
	dict := draw(1, false)
	v := &batch.Vector{Type: typ, Len: n, Codes: make([]uint32, n)}
	if shape == 2 {
		dict = draw(rapid.IntRange(1, 4).Draw(t, "values"), false)
		v.Valid = batch.NewBitmap(n)
		for i := range v.Codes {
			v.Codes[i] = uint32(rapid.IntRange(0, dict.Len-1).Draw(t, "code"))
			if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
				v.Valid.Clear(i)
			}
		}
	}
	v.Dict = dict
	return v
}

// model is an expression with what it should give for row i: nil, bool, *big.Rat, float64, string, []byte, or instant.
type model struct {
	Expr
	text string
	at   func(b *batch.Batch, i int) (any, error)
}

type instant int64

var errModelOverflow = errors.New("overflow")

// modelValue turns a vector's value into the model's.
func modelValue(typ batch.Type, x any) any {
	switch x := x.(type) {
	case int8:
		return new(big.Rat).SetInt64(int64(x))
	case int16:
		return new(big.Rat).SetInt64(int64(x))
	case int32:
		if typ.Kind == batch.Date {
			return instant(int64(x) * 86_400_000_000)
		}
		return new(big.Rat).SetInt64(int64(x))
	case int64:
		if typ.Kind != batch.Int64 {
			return instant(x)
		}
		return new(big.Rat).SetInt64(x)
	case float32:
		return float64(x)
	case decimal128.Num:
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(typ.Scale)), nil)
		return new(big.Rat).SetFrac(x.BigInt(), scale)
	}
	return x
}

func (g *generator) leaf(t *rapid.T, types []batch.Type) model {
	typ := rapid.SampledFrom(types).Draw(t, "type")
	if rapid.Bool().Draw(t, "column") {
		for i, f := range g.schema.Fields {
			if f.Type == typ {
				return model{NewColumn(i, f), f.Name, func(b *batch.Batch, row int) (any, error) {
					return modelValue(typ, b.Cols[i].Value(row)), nil
				}}
			}
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "null literal") == 0 {
		return model{NewNull(typ), "NULL", func(*batch.Batch, int) (any, error) { return nil, nil }}
	}
	x := drawValue(t, typ)
	e := newLiteral(typ, func(v *batch.Vector) {
		if err := v.AppendValue(x); err != nil {
			panic(err)
		}
	})
	want := modelValue(typ, x)
	return model{e, fmt.Sprint(want), func(*batch.Batch, int) (any, error) { return want, nil }}
}

type generator struct{ schema *batch.Schema }

func typesOf(keep func(k batch.Kind) bool) []batch.Type {
	var out []batch.Type
	for _, t := range modelTypes {
		if keep(t.Kind) {
			out = append(out, t)
		}
	}
	return out
}

var (
	modelNumbers  = typesOf(func(k batch.Kind) bool { return k >= batch.Int8 && k <= batch.Decimal })
	modelTemporal = typesOf(func(k batch.Kind) bool { return k >= batch.Date && k <= batch.TimestampNTZ })
	modelStrings  = []batch.Type{{Kind: batch.String}}
	modelBinaries = []batch.Type{{Kind: batch.Binary}}
)

// number draws a number, down to the depth given.
func (g *generator) number(t *rapid.T, depth int) model {
	if depth == 0 || rapid.Bool().Draw(t, "leaf") {
		return g.leaf(t, modelNumbers)
	}
	op := rapid.SampledFrom([]ArithOp{Add, Subtract, Multiply, Divide, IntDivide, Modulo}).Draw(t, "op")
	l, r := g.number(t, depth-1), g.number(t, depth-1)
	e, err := NewArith(op, l.Expr, r.Expr)
	if op == Divide {
		e, err = NewDivide(l.Expr, r.Expr, 4)
	}
	if err != nil {
		return l
	}
	return model{e, fmt.Sprintf("(%s %s %s)", l.text, op, r.text), func(b *batch.Batch, i int) (any, error) {
		x, errX := l.at(b, i)
		y, errY := r.at(b, i)
		if err := errors.Join(errX, errY); err != nil || x == nil || y == nil {
			return nil, err
		}
		return modelArith(op, e.Type(), x, y)
	}}
}

func modelArith(op ArithOp, typ batch.Type, x, y any) (any, error) {
	if typ.Kind == batch.Float64 {
		a, b := modelFloat(x), modelFloat(y)
		var z float64
		switch op {
		case Add:
			z = a + b
		case Subtract:
			z = a - b
		case Multiply:
			z = a * b
		default:
			if b == 0 {
				return nil, nil
			}
			if z = a / b; op == Modulo {
				z = math.Mod(a, b)
			}
		}
		if math.IsInf(z, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			return nil, errModelOverflow
		}
		return z, nil
	}
	a, b, z := x.(*big.Rat), y.(*big.Rat), new(big.Rat)
	switch op {
	case Add:
		z.Add(a, b)
	case Subtract:
		z.Sub(a, b)
	case Multiply:
		z.Mul(a, b)
	default:
		if b.Sign() == 0 {
			return nil, nil
		}
		scale := int64(0) // a quotient is cut off behind it
		if op == Divide {
			scale = int64(typ.Scale)
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil)
		q := z.Quo(a, b).Num()
		q = new(big.Int).Quo(new(big.Int).Mul(q, power), z.Denom())
		if z = new(big.Rat).SetFrac(q, power); op == Modulo {
			z.Sub(a, z.Mul(z, b))
		}
	}
	if typ.Kind == batch.Decimal {
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(typ.Scale)), nil)
		unscaled := new(big.Rat).Mul(z, new(big.Rat).SetInt(power))
		if len(new(big.Int).Abs(unscaled.Num()).String()) > batch.MaxPrecision {
			return nil, errModelOverflow
		}
	}
	if typ.Kind == batch.Int64 && !z.Num().IsInt64() {
		return nil, errModelOverflow
	}
	return z, nil
}

func modelFloat(x any) float64 {
	if r, ok := x.(*big.Rat); ok {
		f, _ := r.Float64()
		return f
	}
	return x.(float64)
}

func modelOrder(x, y any) int {
	switch a := x.(type) {
	case instant:
		return cmp.Compare(a, y.(instant))
	case string:
		return cmp.Compare(a, y.(string))
	case []byte:
		return bytes.Compare(a, y.([]byte))
	case *big.Rat:
		if b, ok := y.(*big.Rat); ok {
			return a.Cmp(b)
		}
	}
	a, b := modelFloat(x), modelFloat(y)
	if a != a || b != b { // NaN is the greatest
		return boolInt(a != a) - boolInt(b != b)
	}
	return cmp.Compare(a+0, b+0)
}

func (g *generator) compare(t *rapid.T, op CompareOp, l, r model) (model, bool) {
	e, err := NewCompare(op, l.Expr, r.Expr)
	if err != nil {
		return model{}, false
	}
	return model{e, fmt.Sprintf("(%s cmp%d %s)", l.text, op, r.text), func(b *batch.Batch, i int) (any, error) {
		x, errX := l.at(b, i)
		y, errY := r.at(b, i)
		if err := errors.Join(errX, errY); err != nil {
			return nil, err
		}
		if x == nil || y == nil {
			if op == NullSafeEqual {
				return x == nil && y == nil, nil
			}
			return nil, nil
		}
		return op.holds(modelOrder(x, y)), nil
	}}, true
}

// predicate draws a boolean expression.
func (g *generator) predicate(t *rapid.T, depth int) model {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth > 0 && kind < 3 {
		args := []model{g.predicate(t, depth-1), g.predicate(t, depth-1), g.predicate(t, depth-1)}
		return g.logic(kind == 0, args)
	}
	if depth > 0 && kind == 3 {
		arg := g.predicate(t, depth-1)
		e, err := NewNot(arg.Expr)
		if err != nil {
			panic(err)
		}
		return model{e, "NOT " + arg.text, func(b *batch.Batch, i int) (any, error) {
			x, err := arg.at(b, i)
			if x == nil || err != nil {
				return nil, err
			}
			return !x.(bool), nil
		}}
	}
	family := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 2, 3}).Draw(t, "family")
	operand := func() model {
		switch family {
		case 0:
			return g.number(t, 2)
		case 1:
			return g.leaf(t, modelTemporal)
		case 2:
			return g.leaf(t, modelStrings)
		}
		return g.leaf(t, modelBinaries)
	}
	switch x := operand(); {
	case kind == 4:
		return model{NewIsNull(x.Expr), x.text + " IS NULL", func(b *batch.Batch, i int) (any, error) {
			v, err := x.at(b, i)
			return v == nil, err
		}}
	case kind == 5:
		return g.in(t, x, operand)
	case kind == 6 && family == 2:
		return g.like(t, x)
	default:
		op := CompareOp(rapid.IntRange(0, int(NullSafeEqual)).Draw(t, "cmp"))
		if m, ok := g.compare(t, op, x, operand()); ok {
			return m
		}
		return g.leaf(t, []batch.Type{boolType})
	}
}

func (g *generator) logic(or bool, args []model) model {
	exprs := []Expr{args[0].Expr, args[1].Expr, args[2].Expr}
	e, err := NewAnd(exprs...)
	if or {
		e, err = NewOr(exprs...)
	}
	if err != nil {
		panic(err)
	}
	return model{e, fmt.Sprintf("[or=%v %s, %s, %s]", or, args[0].text, args[1].text, args[2].text), func(b *batch.Batch, i int) (any, error) {
		var out any = !or
		for _, a := range args {
			x, err := a.at(b, i)
			if err != nil {
				return nil, err
			}
			if x == nil {
				out = nil
			} else if x.(bool) == or {
				return or, nil
			}
		}
		return out, nil
	}}
}

func (g *generator) in(t *rapid.T, x model, operand func() model) model {
	var list []Expr
	var equals []model
	for range rapid.IntRange(1, 10).Draw(t, "list") {
		item := operand()
		if m, ok := g.compare(t, Equal, x, item); ok {
			list, equals = append(list, item.Expr), append(equals, m)
		}
	}
	e, err := NewIn(x.Expr, list)
	if err != nil {
		return g.leaf(t, []batch.Type{boolType})
	}
	return model{e, fmt.Sprintf("%s IN (%d)", x.text, len(list)), func(b *batch.Batch, i int) (any, error) {
		if v, err := x.at(b, i); err != nil || v == nil {
			return nil, err // no item is asked
		}
		var out any = false
		for _, m := range equals {
			v, err := m.at(b, i)
			if err != nil {
				return nil, err
			}
			if v == true {
				return true, nil
			}
			if v == nil {
				out = nil
			}
		}
		return out, nil
	}}
}

func (g *generator) like(t *rapid.T, x model) model {
	pattern := rapid.SampledFrom([]string{"", "%", "a", "a%", "%a", "%b%", "_", "a_", "_b%", "%a%b%", `a\%`, `a\_%`, "%_%", "é%"}).Draw(t, "pattern")
	e, err := NewLike(x.Expr, pattern, '\\')
	if err != nil {
		panic(err)
	}
	return model{e, x.text + " LIKE " + pattern, func(b *batch.Batch, i int) (any, error) {
		v, err := x.at(b, i)
		if v == nil || err != nil {
			return nil, err
		}
		return modelLike([]rune(v.(string)), []rune(pattern)), nil
	}}
}

func modelLike(text, pattern []rune) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	switch pattern[0] {
	case '%':
		return modelLike(text, pattern[1:]) || len(text) > 0 && modelLike(text[1:], pattern)
	case '_':
		return len(text) > 0 && modelLike(text[1:], pattern[1:])
	case '\\':
		pattern = pattern[1:]
	}
	return len(text) > 0 && text[0] == pattern[0] && modelLike(text[1:], pattern[1:])
}

// drawBatch draws a batch of all modelTypes with a selection.
func drawBatch(t *rapid.T, schema *batch.Schema) *batch.Batch {
	n := rapid.IntRange(1, 70).Draw(t, "rows")
	b := &batch.Batch{Schema: schema, Len: n}
	for _, f := range schema.Fields {
		b.Cols = append(b.Cols, drawColumn(t, f.Type, n))
	}
	if rapid.Bool().Draw(t, "selection") {
		b.Sel = []int32{}
		for i := range n {
			if rapid.Bool().Draw(t, "selected") {
				b.Sel = append(b.Sel, int32(i))
			}
		}
	}
	return b
}

// TestExpressionsAgainstModel compares expressions with arithmetic on big numbers, a row at a time. An expression sees two
// batches, so that what it keeps between them shows.
func TestExpressionsAgainstModel(t *testing.T) {
	g := &generator{schema: modelSchema()}
	rapid.Check(t, func(t *rapid.T) {
		m := g.predicate(t, 2)
		if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
			m = g.number(t, 3)
		}
		for range 2 {
			checkModel(t, m, drawBatch(t, g.schema))
		}
	})
}

func checkModel(t *rapid.T, m model, b *batch.Batch) {
	want := make(map[int]any)
	overflow := false
	selected(b, func(i int) {
		x, err := m.at(b, i)
		overflow = overflow || err != nil
		want[i] = x
	})
	got, err := m.Eval(context.Background(), b)
	if overflow {
		var e *OverflowError
		require.ErrorAs(t, err, &e, m.text)
		return
	}
	require.NoError(t, err, m.text)
	require.Equal(t, b.Len, got.Len)
	require.Equal(t, m.Type(), got.Type)
	for i, w := range want {
		x := modelValue(got.Type, got.Value(i))
		if w == nil || x == nil {
			require.Equal(t, w, x, "%s row %d", m.text, i)
			continue
		}
		if wb, ok := w.(bool); ok {
			require.Equal(t, wb, x, "%s row %d", m.text, i)
			continue
		}
		require.Zero(t, modelOrder(w, x), "%s row %d: want %v, got %v", m.text, i, w, x)
	}
}
