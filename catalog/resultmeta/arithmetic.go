package resultmeta

import (
	"strings"

	"github.com/dolthub/vitess/go/sqltypes"
)

// number is what arithmetic takes a column for: a DOUBLE, or a number of so many digits.
type number struct {
	real             bool
	exact            bool // not an integer
	unsigned         bool
	precision, scale uint64
}

func (n number) whole() uint64 { return n.precision - min(n.scale, n.precision) }

// momentDigits are the digits of a date, a moment and a time, as numbers.
const (
	dateDigits   = 8
	momentDigits = 14
	timeDigits   = 7
)

func (c Column) number() number {
	switch {
	case c.isInteger():
		if c.isUnsigned() {
			return number{unsigned: true, precision: c.Length}
		}
		return number{precision: max(c.Length, 2) - 1}
	case c.Type == sqltypes.Decimal:
		precision := c.Length - 1
		if c.Decimals > 0 {
			precision--
		}
		return number{exact: true, precision: precision, scale: uint64(c.Decimals)}
	case c.isMoment():
		digits := map[bool]uint64{true: dateDigits, false: momentDigits}[c.Type == sqltypes.Date]
		if c.Type == sqltypes.Time {
			digits = timeDigits
		}
		return number{exact: c.Decimals > 0, precision: digits + uint64(c.Decimals), scale: uint64(c.Decimals)}
	}
	return number{real: true}
}

// length is that of an integer of so many digits.
func (n number) length() uint64 {
	length := n.precision
	if !n.unsigned {
		length++
	}
	if n.scale > 0 {
		length++
	}
	return length
}

// exactly is an integer, or a DECIMAL where one of the operands is.
func exactly(l, r number, precision, scale uint64, notNull bool) Column {
	if l.exact || r.exact {
		return decimal(precision, scale, notNull)
	}
	if l.unsigned || r.unsigned {
		return unsigned(precision, notNull)
	}
	return integer(precision+1, notNull)
}

// divisionDigits is div_precision_increment, how many digits a division adds.
const divisionDigits = 4

// arithmetic is what an operator makes of two columns.
func arithmetic(op string, left, right Column) Column {
	l, r := left.number(), right.number()
	both := left.NotNull && right.NotNull
	op = strings.ToLower(op)
	if op == "div" {
		return wholeDivision(left, right, l, r)
	}
	if l.real || r.real {
		return double(both && op != "/" && op != "%" && op != "mod")
	}
	scale := max(l.scale, r.scale)
	switch op {
	case "+", "-":
		return exactly(l, r, min(max(l.whole(), r.whole())+1+scale, maxPrecision), scale, both)
	case "*":
		return exactly(l, r, min(l.precision+r.precision, maxPrecision), l.scale+r.scale, both)
	case "/":
		return decimal(l.precision+r.scale+divisionDigits, l.scale+divisionDigits, false)
	}
	made := exactly(l, r, 0, 0, false) // the remainder
	made.Length, made.Decimals = max(l.length(), r.length()), uint32(scale)
	return made
}

// wholeDivision is DIV.
func wholeDivision(left, right Column, l, r number) Column {
	const most = integerLength + 1
	made := integer(most, false)
	switch {
	case left.isText() && !r.real && r.scale == 0:
		made.Length = integerLength
	case !l.real && !r.real:
		made.Length = min(l.whole()+r.scale+1, most)
	}
	if l.unsigned || r.unsigned {
		made.Type = sqltypes.Uint64
	}
	return made
}

// negative is the column of a minus, and absolute of ABS.
func negative(of Column) Column {
	n := of.number()
	switch {
	case n.real:
		return double(of.NotNull)
	case of.isMoment():
		return Column{} // a DOUBLE of MySQL's, an exact number here
	case n.exact:
		made := of.item()
		made.Type = sqltypes.Decimal
		return made
	}
	return integer(of.Length, of.NotNull)
}
