package resultmeta

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/catalog/mysqltype"
)

// microseconds are the digits after the second of a moment that is read from a text.
const microseconds = 6

// sumLength is the length of a moment that is a text, as a sum with an interval is where the date was none.
const sumLength = 29

var timeRules = map[string]rule{
	"date": days, "last_day": days, "from_days": days, "makedate": days,
	"timestamp": func(c *call) Column { return datetime(c.fraction(0)) }, "datetime": func(c *call) Column { return datetime(c.fraction(0)) },
	"from_unixtime": func(c *call) Column {
		if len(c.of) > 1 {
			return formatted(c)
		}
		return datetime(fraction(c.of[0]))
	},
	"convert_tz":  func(c *call) Column { return datetime(c.fraction(0)) },
	"time":        func(c *call) Column { return timeOfDay(c.fraction(0)) },
	"sec_to_time": func(c *call) Column { return timeOfDay(fraction(c.of[0])) },
	"maketime":    func(c *call) Column { return timeOfDay(fraction(c.of[2])) },
	"timediff":    func(c *call) Column { return timeOfDay(max(c.fraction(0), c.fraction(1))) },
	"date_add":    shifted, "date_sub": shifted, "adddate": shifted, "subdate": shifted, "addtime": timeAdded, "subtime": timeAdded,
	"extract": extracted, "str_to_date": parsed,
}

func days(*call) Column { return date() }

// fraction is how many digits after the second a moment has that is read from a column.
func fraction(of Column) uint32 {
	if of.isText() || of.isReal() || of.Type == sqltypes.TypeJSON {
		return microseconds
	}
	return min(of.Decimals, microseconds)
}

// fraction is how many digits after the second a moment has that is read from an argument: of a text that is written in the statement, as many as it has.
func (c *call) fraction(argument int) uint32 {
	if literal, ok := written(c.args[argument]).(*expression.Literal); ok {
		if text, ok := literal.Value().(string); ok {
			return textFraction(text)
		}
	}
	return fraction(c.of[argument])
}

// textFraction are the digits after the second of a text.
func textFraction(text string) uint32 {
	if _, _, ok := mysqltype.ReadTime(text); !ok {
		if _, ok := mysqltype.ReadDate(text); !ok {
			return microseconds
		}
	}
	_, digits, _ := strings.Cut(text, ".")
	digits = digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]
	return uint32(min(len(digits), microseconds))
}

// shifted is the column of a date and an interval.
func shifted(c *call) Column {
	_, unit, _ := strings.Cut(c.name, " ")
	of := c.of[0]
	digits := of.Decimals
	if strings.HasSuffix(unit, "microsecond") {
		digits = microseconds
	}
	switch of.Type {
	case sqltypes.Date:
		switch unit {
		case "day", "week", "month", "quarter", "year", "year_month", "":
			return date()
		}
		return datetime(digits)
	case sqltypes.Datetime, sqltypes.Timestamp:
		return datetime(digits)
	case sqltypes.Time:
		return Column{}
	}
	made := text(sumLength, false)
	made.Type = sqltypes.Char
	return made
}

// parsed is the column of STR_TO_DATE, by the format that is written in the statement.
func parsed(c *call) Column {
	literal, ok := c.args[1].(*expression.Literal)
	if !ok {
		return datetime(microseconds)
	}
	format, ok := literal.Value().(string)
	if !ok {
		return datetime(microseconds)
	}
	day, clock, fraction := mysqltype.FormatParts(format)
	digits := uint32(0)
	if fraction {
		digits = microseconds
	}
	switch {
	case !clock:
		return date()
	case clock && !day:
		return timeOfDay(digits)
	}
	return datetime(digits)
}

// timeAdded is the column of ADDTIME and SUBTIME.
func timeAdded(c *call) Column {
	switch of := c.of[0]; of.Type {
	case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
		return datetime(max(of.Decimals, 0))
	case sqltypes.Time:
		return timeOfDay(of.Decimals)
	}
	made := text(sumLength, false)
	made.Type = sqltypes.Char
	return made
}

// unitLengths are the lengths of what EXTRACT takes of a moment.
var unitLengths = map[string]uint64{
	"YEAR": 4, "YEAR_MONTH": 6, "QUARTER": 2, "MONTH": 2, "WEEK": 2, "DAY": 2, "DAY_HOUR": 9, "DAY_MINUTE": 11, "DAY_SECOND": 13, "HOUR": 4, "HOUR_MINUTE": 6, "HOUR_SECOND": 8,
	"MINUTE": 2, "MINUTE_SECOND": 4, "SECOND": 2, "MICROSECOND": 20, "DAY_MICROSECOND": 19, "HOUR_MICROSECOND": 14, "MINUTE_MICROSECOND": 11, "SECOND_MICROSECOND": 9,
}

func extracted(c *call) Column {
	unit, ok := c.args[0].(*expression.Literal)
	if !ok {
		return Column{}
	}
	name, _ := unit.Value().(string)
	length, ok := unitLengths[strings.ToUpper(name)]
	if !ok {
		return Column{}
	}
	return integer(length+1, false)
}

// formatLengths are the most characters that a letter of a format stands for.
var formatLengths = map[byte]uint64{
	'M': 64, 'W': 64, 'D': 4, 'Y': 4, 'x': 4, 'X': 4, 'a': 32, 'b': 32, 'j': 3, 'u': 2, 'U': 2, 'v': 2, 'V': 2, 'y': 2, 'm': 2, 'd': 2, 'h': 2, 'i': 2, 'I': 2, 'l': 2, 'p': 2,
	'S': 2, 's': 2, 'c': 2, 'e': 2, 'k': 7, 'H': 7, 'r': 11, 'T': 8, 'f': 6,
}

// formatted is a moment in a format; one that is not written in the statement has no known length.
func formatted(c *call) Column {
	format, ok := c.args[len(c.args)-1].(*expression.Literal)
	if !ok {
		return Column{}
	}
	letters, ok := format.Value().(string)
	if !ok {
		return Column{}
	}
	length := uint64(0)
	for i := 0; i < len(letters); i++ {
		if letters[i] != '%' || i+1 == len(letters) {
			length++
			continue
		}
		i++
		if n, ok := formatLengths[letters[i]]; ok {
			length += n
		} else {
			length++
		}
	}
	return text(length, false)
}
