package vector

import (
	"math/big"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// u128 is an unsigned 128-bit number.
type u128 struct{ hi, lo uint64 }

// magnitude is the absolute value of a decimal.
func magnitude(n decimal128.Num) (x u128, negative bool) {
	x = u128{uint64(n.HighBits()), n.LowBits()}
	if n.HighBits() >= 0 {
		return x, false
	}
	lo, borrow := bits.Sub64(0, x.lo, 0)
	hi, _ := bits.Sub64(0, x.hi, borrow)
	return u128{hi, lo}, true
}

func (x u128) signed(negative bool) decimal128.Num {
	n := decimal128.New(int64(x.hi), x.lo)
	if negative {
		return n.Negate()
	}
	return n
}

func (x u128) less(y u128) bool { return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo }

// times is the product; false where it has more than 128 bits.
func (x u128) times(y u128) (u128, bool) {
	hi, lo := bits.Mul64(x.lo, y.lo)
	if x.hi == 0 && y.hi == 0 {
		return u128{hi, lo}, true
	}
	if x.hi != 0 && y.hi != 0 {
		return u128{}, false
	}
	over, cross := bits.Mul64(x.hi, y.lo)
	over2, cross2 := bits.Mul64(x.lo, y.hi)
	hi, carry := bits.Add64(hi, cross, 0)
	hi, carry2 := bits.Add64(hi, cross2, 0)
	return u128{hi, lo}, over|over2|carry|carry2 == 0
}

// dividedBy is the quotient and the rest of a division by what is not zero.
func (x u128) dividedBy(y u128) (q, r u128) {
	if y.hi == 0 {
		var rest uint64
		q.hi, rest = x.hi/y.lo, x.hi%y.lo
		q.lo, r.lo = bits.Div64(rest, x.lo, y.lo)
		return q, r
	}
	// The quotient has 64 bits: that of the upper bits is it, or one too many.
	shift := uint(bits.LeadingZeros64(y.hi))
	top := y.hi << shift
	if shift > 0 {
		top |= y.lo >> (64 - shift)
	}
	guess, _ := bits.Div64(x.hi>>1, x.hi<<63|x.lo>>1, top)
	guess >>= 63 - shift
	if guess > 0 {
		guess--
	}
	product, _ := u128{lo: guess}.times(y)
	r = x.minus(product)
	if !r.less(y) {
		guess, r = guess+1, r.minus(y)
	}
	return u128{lo: guess}, r
}

func (x u128) minus(y u128) u128 {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, _ := bits.Sub64(x.hi, y.hi, borrow)
	return u128{hi, lo}
}

func (x u128) big() *big.Int {
	n := new(big.Int).SetUint64(x.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x.lo))
}

// scaledQuotient is x * factor / y without its fraction; false where it has more than 128 bits.
func scaledQuotient(x, factor, y u128) (u128, bool) {
	if scaled, ok := x.times(factor); ok {
		q, _ := scaled.dividedBy(y)
		return q, true
	}
	n := x.big()
	n.Quo(n.Mul(n, factor.big()), y.big())
	if n.BitLen() > 128 {
		return u128{}, false
	}
	lo := new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1)).Uint64()
	return u128{n.Rsh(n, 64).Uint64(), lo}, true
}

// power10 is ten to the power of n, which is at most 38.
func power10(n uint8) u128 {
	x, _ := magnitude(decimal128.GetScaleMultiplier(int(n)))
	return x
}

// digits38 is the first number that has more than 38 digits.
var digits38 = power10(38)

// product64 is the product of two signed 64-bit numbers.
func product64(a, b int64) decimal128.Num {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	h -= a >> 63 & b
	h -= b >> 63 & a
	return decimal128.New(h, lo)
}

// product128 is the product of two decimals; false where it has more than 38 digits.
func product128(a, b decimal128.Num) (decimal128.Num, bool) {
	if isInt64(a) && isInt64(b) {
		return product64(int64(a.LowBits()), int64(b.LowBits())), true
	}
	x, xNegative := magnitude(a)
	y, yNegative := magnitude(b)
	p, ok := x.times(y)
	return p.signed(xNegative != yNegative), ok && p.less(digits38)
}

func isInt64(n decimal128.Num) bool { return n.HighBits() == int64(n.LowBits())>>63 }
