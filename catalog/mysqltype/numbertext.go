package mysqltype

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
)

// numberIn is the number that a text begins with, behind white space: its digits with sign and point, "" where there is none, and its exponent, "" where there is none or it has no
// digits. whole: only white space stands behind it.
func numberIn(text string) (digits, exponent string, whole bool) {
	text = strings.Trim(text, sql.NumericCutSet)
	sign := leading(text, "+-", 1)
	n := sign + leading(text[sign:], decimalDigits, len(text))
	count := n - sign
	if n < len(text) && text[n] == '.' {
		fraction := leading(text[n+1:], decimalDigits, len(text))
		n, count = n+1+fraction, count+fraction
	}
	if count == 0 {
		return "", "", text == ""
	}
	digits, text = text[:n], text[n:]
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		sign := 1 + leading(text[1:], "+-", 1)
		if n := leading(text[sign:], decimalDigits, len(text)); n > 0 {
			exponent, text = text[1:sign+n], text[sign+n:]
		}
	}
	return digits, exponent, text == ""
}

const decimalDigits = "0123456789"

// leading is how many bytes of a set a text begins with, at most so many.
func leading(text, set string, most int) int {
	n := 0
	for n < len(text) && n < most && strings.IndexByte(set, text[n]) >= 0 {
		n++
	}
	return n
}

// DoubleOf is what MySQL calculates with where it has a text: the number that the text begins with, else 0. exact is false where more than white space is left of the text,
// or the number is beyond every DOUBLE, and so the greatest: MySQL warns. GMS has 0 for '5e'.
func DoubleOf(text string) (f float64, exact bool) {
	digits, exponent, whole := numberIn(text)
	if digits == "" {
		return 0, whole
	}
	if exponent != "" {
		digits += "e" + exponent
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil && math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f), false
	}
	return f, whole
}

// IntegerOf is a text as MySQL's integer, in two's complement: the digits that the text begins with, else 0. exact is false where there are none, more than white space is left of the
// text, or the number is beyond every BIGINT of its sign, UNSIGNED ones too, and so the greatest or least.
func IntegerOf(text string) (bits uint64, exact bool) {
	text = strings.TrimLeft(text, " \t")
	sign := leading(text, "+-", 1)
	n := sign + leading(text[sign:], decimalDigits, len(text))
	if n == sign {
		return 0, false
	}
	exact = strings.TrimRight(text[n:], sql.NumericCutSet) == ""
	if text[0] == '-' {
		least, err := strconv.ParseInt(text[:n], 10, 64)
		return uint64(least), exact && err == nil
	}
	bits, err := strconv.ParseUint(text[sign:n], 10, 64)
	return bits, exact && err == nil
}

// maxExponent is beyond every DECIMAL, whatever its sign: a text's exponent that is farther is this one.
const maxExponent = 1000

// DecimalOf is a text as MySQL's DECIMAL, with all its digits: the number that the text begins with, nil where it begins with none. exact is false where more than white space is
// left of the text, or nothing is in it. GMS panics at '5e', and at exponents of many digits; it reads hexadecimal digits, underscores, infinities and NaN.
func DecimalOf(text string) (n *apd.Decimal, exact bool) {
	digits, exponent, whole := numberIn(text)
	if digits == "" {
		return nil, false
	}
	n, _, err := apd.NewFromString(digits)
	if err != nil {
		return nil, false
	}
	if exponent == "" {
		return n, whole
	}
	switch e, err := strconv.Atoi(exponent); {
	case n.IsZero():
		n = new(apd.Decimal)
	case err == nil && -maxExponent <= e && e <= maxExponent:
		n.Exponent += int32(e)
	case strings.HasPrefix(exponent, "-"):
		n = new(apd.Decimal)
	default:
		n.Exponent += maxExponent
	}
	return n, whole
}

// ShownText is a text in a warning, which has no more of it than MySQL's.
func ShownText(text string) string { return text[:min(len(text), shownBytes)] }

const shownBytes = 128

// DecimalLimit is the largest value of a DECIMAL, or the smallest.
func DecimalLimit(t sql.DecimalType, negative bool) *apd.Decimal {
	n, _, _ := apd.NewFromString(strings.Repeat("9", int(t.Precision()))) // digits alone are a number
	n.Exponent, n.Negative = -int32(t.Scale()), negative
	return n
}
