package format

import (
	"errors"
	"math"
	"strconv"
	"unsafe"
)

// ParseInt reads [+-]digits that fit an int64.
func ParseInt(text []byte) (int64, bool) {
	i, negative := 0, false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		i = 1
	}
	digits := text[i:]
	if len(digits) == 0 {
		return 0, false
	}
	var x uint64
	for j, c := range digits {
		c -= '0'
		if c > 9 {
			return 0, false
		}
		if j >= safeDigits && x > (math.MaxUint64-9)/10 {
			return 0, false
		}
		x = x*10 + uint64(c)
	}
	switch {
	case negative && x <= 1<<63:
		return -int64(x), true
	case x <= math.MaxInt64:
		return int64(x), true
	}
	return 0, false
}

// safeDigits digits never overflow an int64.
const safeDigits = 18

// exactPowers are the powers of ten that a float64 holds exactly.
var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseFloat reads a decimal number as Java's Double.parseDouble does: white space around it is dropped, what is too
// large is infinite. Java's suffixes (1.5f, 2d) and hexadecimal numbers are no numbers here.
func ParseFloat(text []byte, bits int) (float64, bool) {
	text = trimmed(text)
	i, negative := 0, false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		i = 1
	}
	var mantissa uint64
	start, point := i, -1
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c <= 9 {
			mantissa = mantissa*10 + uint64(c)
			continue
		}
		if text[i] != '.' || point >= 0 {
			break
		}
		point = i
	}
	digits, fraction := i-start, 0
	if point >= 0 {
		digits, fraction = digits-1, i-point-1
	}
	if i == len(text) && digits > 0 && digits <= 15 && bits == 64 {
		x := float64(mantissa) / exactPowers[fraction]
		if negative {
			x = -x
		}
		return x, true
	}
	return parseFloatSlow(text, i, digits, bits)
}

// parseFloatSlow reads what the quick way does not: long numbers, exponents, names. text[:i] is a sign and that many
// digits with at the most one point.
func parseFloatSlow(text []byte, i, digits, bits int) (float64, bool) {
	if digits == 0 {
		switch string(text) {
		case "NaN":
			return math.NaN(), true
		case "Infinity", "+Infinity":
			return math.Inf(1), true
		case "-Infinity":
			return math.Inf(-1), true
		}
		return 0, false
	}
	if i < len(text) {
		exponent := text[i+1:]
		if text[i] != 'e' && text[i] != 'E' {
			return 0, false
		}
		if _, ok := ParseInt(exponent); !ok && !longExponent(exponent) {
			return 0, false
		}
	}
	x, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), bits)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return x, true
}

// longExponent says whether an exponent is a number too long for an int64.
func longExponent(text []byte) bool {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// trimmed is the text without bytes up to U+0020 at its ends.
func trimmed(text []byte) []byte {
	for len(text) > 0 && text[0] <= ' ' {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] <= ' ' {
		text = text[:len(text)-1]
	}
	return text
}

// ParseSmallDecimal reads [+-]digits[.digits] as the value times 10^scale, for texts of at most safeDigits digits behind
// which no rounding is needed; false sends all others to the general parser.
func ParseSmallDecimal(text []byte, precision, scale uint8) (int64, bool) {
	i, negative := 0, false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		i = 1
	}
	start, point := i, -1
	var x int64
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c <= 9 {
			x = x*10 + int64(c)
			continue
		}
		if text[i] != '.' || point >= 0 {
			return 0, false
		}
		point = i
	}
	digits, fraction := len(text)-start, 0
	if point >= 0 {
		digits, fraction = digits-1, len(text)-point-1
	}
	zeros := int(scale) - fraction
	if digits == 0 || zeros < 0 || digits+zeros > safeDigits {
		return 0, false
	}
	x *= int64Powers[zeros]
	if x >= int64Powers[precision] {
		return 0, false
	}
	if negative {
		x = -x
	}
	return x, true
}

// int64Powers are the powers of ten up to safeDigits.
var int64Powers = func() (p [safeDigits + 1]int64) {
	p[0] = 1
	for i := range safeDigits {
		p[i+1] = p[i] * 10
	}
	return p
}()

// ParseBool reads true or false in any case.
func ParseBool(text []byte) (value, ok bool) {
	switch {
	case equalFold(text, "true"):
		return true, true
	case equalFold(text, "false"):
		return false, true
	}
	return false, false
}

// equalFold compares with a lower-case ASCII word.
func equalFold(text []byte, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i, c := range text {
		if c|0x20 != word[i] {
			return false
		}
	}
	return true
}
