package delta

import (
	"bytes"
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// The texts of bounds are not always what the rows had: writers cut strings and timestamps, and some pass decimals through a float. lower
// and upper give bounds that hold all the same; exact says that they are the values themselves. nil: the text is no value of the type.

func (c statsColumn) lower(raw []byte) (v *batch.Vector, exact bool) { return c.bound(raw, false) }

func (c statsColumn) upper(raw []byte) (v *batch.Vector, exact bool) { return c.bound(raw, true) }

func (c statsColumn) bound(raw []byte, upper bool) (v *batch.Vector, exact bool) {
	isText := raw[0] == '"'
	text := raw
	if isText {
		text = unescape(raw[1 : len(raw)-1])
	}
	switch c.typ.Kind {
	case batch.String:
		if !isText || upper && oldTieBreaker(text) {
			return nil, false
		}
		v = batch.NewVector(c.typ, 1)
		v.AppendBytes(text)
		return v, false
	case batch.Float32, batch.Float64:
		if isText && !namedFloat(string(text)) {
			return nil, false
		}
		return c.floatBound(string(text), upper), false
	case batch.Timestamp, batch.TimestampNTZ:
		if !isText {
			return nil, false
		}
		return timestampBound(c.typ, text, upper), false
	case batch.Date:
		if !isText {
			return nil, false
		}
		v = parseValue(c.typ, text)
		return v, v != nil
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64:
		if isText {
			return nil, false
		}
		v = parseValue(c.typ, text)
		return v, v != nil
	case batch.Decimal:
		if isText {
			return nil, false
		}
		return decimalBound(c.typ, text, upper)
	}
	return nil, false // booleans, binary and what is nested have no bounds
}

func parseValue(t batch.Type, text []byte) *batch.Vector {
	v := batch.NewVector(t, 1)
	if len(text) == 0 || appendPartitionValue(v, string(text)) != nil {
		return nil
	}
	return v
}

// oldTieBreaker reports a maximum that Spark before Delta 3.3 cut off: the U+FFFD that it put behind is less than the characters
// beyond the basic plane.
func oldTieBreaker(text []byte) bool { return bytes.HasSuffix(text, []byte("\uFFFD")) }

func namedFloat(text string) bool {
	return text == "NaN" || text == "Infinity" || text == "-Infinity"
}

// floatBound reads the bound of a float or double. The text of a float that has become a double since is short for another number.
func (c statsColumn) floatBound(text string, upper bool) *batch.Vector {
	v := parseValue(c.typ, []byte(text))
	if v == nil || !c.wasFloat {
		return v
	}
	narrow := parseValue(batch.Type{Kind: batch.Float32}, []byte(text))
	switch f := &v.F64[0]; {
	case narrow == nil:
	case upper:
		*f = math.Max(*f, float64(narrow.F32[0]))
	default:
		*f = math.Min(*f, float64(narrow.F32[0]))
	}
	return v
}

// timestampBound reads a bound of timestamps, and makes up for the digits that the writer may have cut off, toward zero or the past.
// An instant without a zone could be any: it depends on the writer.
func timestampBound(t batch.Type, text []byte, upper bool) *batch.Vector {
	clock := bytes.IndexByte(text, ':')
	zone := clock >= 0 && bytes.ContainsAny(text[clock:], "+-Zz")
	if t.Kind == batch.Timestamp && !zone {
		return nil
	}
	v := parseValue(t, text)
	if v == nil {
		return nil
	}
	us, slack := v.I64[0], cutOff(text)
	switch {
	case upper && us <= math.MaxInt64-slack:
		v.I64[0] += slack
	case !upper && us < 0 && us >= math.MinInt64+slack:
		v.I64[0] -= slack
	}
	return v
}

// cutOff is how much, in microseconds, the digits behind those of a text of a time can be. A date has none.
func cutOff(text []byte) int64 {
	if bytes.IndexByte(text, ':') < 0 {
		return 0
	}
	_, fraction, _ := bytes.Cut(text, []byte("."))
	slack := int64(batch.MicrosPerSecond)
	for i := 0; i < len(fraction) && '0' <= fraction[i] && fraction[i] <= '9'; i++ {
		slack /= 10
	}
	return max(slack-1, 0)
}

// The decimals that survive a float64: those of up to 15 digits do, and a text of more than 17 has never been one.
const (
	safeDigits  = 15
	floatDigits = 17
)

// decimalBound reads a bound of decimals. Where it may have been rounded to a float64 on its way, it is moved outwards by as much.
func decimalBound(t batch.Type, text []byte, upper bool) (v *batch.Vector, exact bool) {
	n, err := batch.ParseDecimal(text, t.Precision, t.Scale)
	if err != nil {
		return nil, false
	}
	v = batch.NewVector(t, 1)
	if n.Abs().Less(decimal128.GetScaleMultiplier(safeDigits)) || significantDigits(string(text)) > floatDigits {
		v.AppendDecimal(n)
		return v, true
	}
	slack := decimal128.FromI64(1).Add(shiftRight52(n.Abs()))
	if upper {
		n = n.Add(slack)
	} else {
		n = n.Sub(slack)
	}
	if !n.FitsInPrecision(int32(t.Precision)) {
		return nil, false
	}
	v.AppendDecimal(n)
	return v, false
}

// shiftRight52 divides a decimal that is not negative by 2^52, which is more than the error of a float64.
func shiftRight52(n decimal128.Num) decimal128.Num {
	return decimal128.New(n.HighBits()>>52, uint64(n.HighBits())<<12|n.LowBits()>>52)
}

func significantDigits(text string) int {
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	digits := strings.Trim(strings.NewReplacer(".", "", "-", "", "+", "").Replace(mantissa), "0")
	return len(digits)
}
