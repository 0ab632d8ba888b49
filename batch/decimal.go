package batch

import (
	"math/bits"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// u128 is an unsigned 128-bit number: enough for 38 digits.
type u128 struct{ hi, lo uint64 }

// mulAdd returns x*10 + digit; ok is false when it does not fit 128 bits.
func (x u128) mulAdd(digit byte) (u128, bool) {
	over, hi := bits.Mul64(x.hi, 10)
	carry, lo := bits.Mul64(x.lo, 10)
	lo, c := bits.Add64(lo, uint64(digit), 0)
	hi, c = bits.Add64(hi, carry, c)
	return u128{hi, lo}, over == 0 && c == 0
}

func (x u128) signed(negative bool) decimal128.Num {
	n := decimal128.New(int64(x.hi), x.lo)
	if negative {
		return n.Negate()
	}
	return n
}

// ParseDecimal reads [+-]digits[.digits][e[+-]digits] exactly and returns the value times 10^scale. Digits beyond the scale must be
// zero, else the error wraps ErrInexact; a value with more than precision digits is ErrOutOfRange.
func ParseDecimal(text []byte, precision, scale uint8) (decimal128.Num, error) {
	n, err := parseDecimal(text, precision, scale, false)
	if err != nil {
		return decimal128.Num{}, decimalError(text, precision, scale, err)
	}
	return n, nil
}

// ParseDecimalRounded is ParseDecimal, but rounds digits beyond the scale half up (away from zero), as Spark and MySQL do.
func ParseDecimalRounded(text []byte, precision, scale uint8) (decimal128.Num, error) {
	n, err := parseDecimal(text, precision, scale, true)
	if err != nil {
		return decimal128.Num{}, decimalError(text, precision, scale, err)
	}
	return n, nil
}

func decimalError(text []byte, precision, scale uint8, err error) error {
	return parseError(text, DecimalOf(precision, scale).String(), err)
}

// decimalText is a decimal number taken apart: the value is digits (without the point) times 10^exponent.
type decimalText struct {
	negative bool
	whole    []byte // digits before the point
	fraction []byte // digits behind it
	exponent int
}

// digit returns the i-th digit of whole and fraction together.
func (d *decimalText) digit(i int) byte {
	if i < len(d.whole) {
		return d.whole[i] - '0'
	}
	return d.fraction[i-len(d.whole)] - '0'
}

func parseDecimal(text []byte, precision, scale uint8, round bool) (decimal128.Num, error) {
	d, ok := splitDecimal(text)
	if !ok {
		return decimal128.Num{}, ErrSyntax
	}
	n := len(d.whole) + len(d.fraction)
	keep := len(d.whole) + d.exponent + int(scale) // digits of the result that the text gives or that are zeros behind it
	var x u128
	for i := range min(keep, n) {
		var fits bool
		if x, fits = x.mulAdd(d.digit(i)); !fits {
			return decimal128.Num{}, ErrOutOfRange
		}
	}
	for i := n; i < keep && x != (u128{}); i++ {
		var fits bool
		if x, fits = x.mulAdd(0); !fits {
			return decimal128.Num{}, ErrOutOfRange
		}
	}
	for i := max(keep, 0); i < n; i++ {
		if d.digit(i) != 0 && !round {
			return decimal128.Num{}, ErrInexact
		}
	}
	if round && keep >= 0 && keep < n && d.digit(keep) >= 5 {
		x.lo++
		if x.lo == 0 {
			x.hi++
		}
	}
	if int64(x.hi) < 0 || !x.signed(false).FitsInPrecision(int32(precision)) {
		return decimal128.Num{}, ErrOutOfRange
	}
	return x.signed(d.negative), nil
}

// maxExponent bounds the exponent of a decimal text, so that absurd ones cost no time; beyond it nothing but zero is in range.
const maxExponent = 1 << 20

func splitDecimal(text []byte) (d decimalText, ok bool) {
	i := 0
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		d.negative, i = text[0] == '-', 1
	}
	d.whole, i = takeDigits(text, i)
	if i < len(text) && text[i] == '.' {
		d.fraction, i = takeDigits(text, i+1)
	}
	if len(d.whole)+len(d.fraction) == 0 {
		return d, false
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if d.exponent, i, ok = takeExponent(text, i+1); !ok {
			return d, false
		}
	}
	return d, i == len(text)
}

// takeDigits returns the digits from position i on, and the position behind them.
func takeDigits(text []byte, i int) ([]byte, int) {
	start := i
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	return text[start:i], i
}

func takeExponent(text []byte, i int) (exponent, next int, ok bool) {
	negative := false
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		negative = text[i] == '-'
		i++
	}
	digits, next := takeDigits(text, i)
	for _, c := range digits {
		exponent = min(exponent*10+int(c-'0'), maxExponent)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, next, len(digits) > 0
}

// ten19 is the largest power of ten below 2^64.
const ten19 = 10_000_000_000_000_000_000

// AppendDecimal appends unscaled / 10^scale with exactly scale digits behind the point, and no point when scale is 0.
func AppendDecimal(dst []byte, unscaled decimal128.Num, scale uint8) []byte {
	hi, lo := uint64(unscaled.HighBits()), unscaled.LowBits()
	if unscaled.Sign() < 0 {
		dst = append(dst, '-')
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	var buf [40]byte
	digits := appendU128(buf[:0], hi, lo)
	point := len(digits) - int(scale)
	if point <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[:point]...)
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; point < 0; point++ {
		dst = append(dst, '0')
	}
	return append(dst, digits[point:]...)
}

// appendU128 appends the decimal digits of hi*2^64 + lo, at most 39 of them.
func appendU128(dst []byte, hi, lo uint64) []byte {
	if hi == 0 {
		return strconv.AppendUint(dst, lo, 10)
	}
	top, rest := hi/ten19, hi%ten19
	quotient, low := bits.Div64(rest, lo, ten19)
	// top*2^64 + quotient, the number divided by 10^19, is below 1.8*10^19 for 38 digits; a 39th digit needs one more step.
	dst = appendU128(dst, top, quotient)
	var tail [19]byte
	for i := len(tail) - 1; i >= 0; i-- {
		tail[i] = byte('0' + low%10)
		low /= 10
	}
	return append(dst, tail[:]...)
}

// DecimalDigits is the precision and scale, at least 0, of the decimal that has just the digits of a number; false where the text is
// none, or has an exponent beyond reason.
func DecimalDigits(text []byte) (precision, scale int, ok bool) {
	d, ok := splitDecimal(text)
	if !ok || d.exponent >= maxExponent || d.exponent <= -maxExponent {
		return 0, 0, false
	}
	n := len(d.whole) + len(d.fraction)
	zeros := 0
	for zeros < n && d.digit(zeros) == 0 {
		zeros++
	}
	precision, scale = max(n-zeros, 1), len(d.fraction)-d.exponent
	if scale < 0 {
		precision, scale = precision-scale, 0
	}
	return max(precision, scale), scale, true
}
