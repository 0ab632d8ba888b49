package resultmeta

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/vitess/go/sqltypes"
)

// rule is what a function makes of its arguments' columns.
type rule func(c *call) Column

// call is a function with its arguments.
type call struct {
	name string
	args []sql.Expression
	of   []Column
}

// number is the value of an argument that is a number written in the statement.
func (c *call) number(i int) (int64, bool) {
	if i >= len(c.args) {
		return 0, false
	}
	e, negative := c.args[i], int64(1)
	if minus, ok := e.(*expression.UnaryMinus); ok {
		e, negative = minus.Child, -1
	}
	l, ok := e.(*expression.Literal)
	if !ok {
		return 0, false
	}
	switch v := l.Value().(type) {
	case int8:
		return negative * int64(v), true
	case int16:
		return negative * int64(v), true
	case int32:
		return negative * int64(v), true
	case int64:
		return negative * v, true
	case uint8:
		return negative * int64(v), true
	case uint16:
		return negative * int64(v), true
	case uint32:
		return negative * int64(v), true
	}
	return 0, false
}

// call is the column of a function.
func (d *derivation) call(e sql.FunctionExpression) Column {
	c := &call{name: strings.ToLower(e.FunctionName()), args: e.Children()}
	for _, a := range c.args {
		if i, ok := a.(*expression.Interval); ok {
			c.of = append(c.of, Column{})
			c.name += " " + strings.ToLower(i.Unit)
			continue
		}
		c.of = append(c.of, d.expression(a))
	}
	if over, ok := e.(sql.WindowAdaptableExpression); ok {
		return windowed(over, c)
	}
	name, _, _ := strings.Cut(c.name, " ")
	make, ok := rules[name]
	if !ok {
		return Column{}
	}
	for i, of := range c.of {
		if _, interval := c.args[i].(*expression.Interval); !of.Known && !interval {
			return Column{}
		}
	}
	return make(c)
}

// rules are those of functions by name.
var rules = func() map[string]rule {
	all := map[string]rule{}
	for _, of := range []map[string]rule{integerRules, realRules, roundingRules, textRules, timeRules, documentRules, choiceRules} {
		for name, r := range of {
			all[name] = r
		}
	}
	return all
}()

// counting functions give a BIGINT of a length that is the same for all arguments, and NULL for NULL alone.
func counting(length uint64) rule {
	return func(c *call) Column { return integer(length, eachNotNull(c.of)) }
}

// possibly functions give a BIGINT, or NULL for arguments that they cannot read.
func possibly(length uint64) rule { return func(*call) Column { return integer(length, false) } }

// certainly functions give a BIGINT that is never NULL.
func certainly(length uint64) rule { return func(*call) Column { return integer(length, true) } }

var integerRules = map[string]rule{
	"char_length": counting(11), "character_length": counting(11), "length": counting(11), "octet_length": counting(11), "bit_length": counting(11),
	"ascii": counting(4), "ord": counting(integerLength), "locate": counting(11), "position": counting(11), "instr": counting(11), "find_in_set": counting(11),
	"field": certainly(11), "strcmp": counting(2), "sign": counting(integerLength), "bit_count": counting(integerLength),
	"regexp_instr": counting(integerLength), "regexp_like": counting(1), "isnull": certainly(1), "coercibility": certainly(10),
	"is_ipv4": counting(1), "is_ipv6": counting(1), "is_ipv4_compat": counting(1), "is_ipv4_mapped": counting(1), "interval": certainly(2),
	"crc32":      func(c *call) Column { return unsigned(10, eachNotNull(c.of)) },
	"inet_aton":  func(*call) Column { return unsigned(integerLength, false) },
	"period_add": counting(integerLength), "period_diff": counting(integerLength),
	"json_valid": possibly(integerLength), "json_length": possibly(integerLength), "json_depth": possibly(integerLength), "json_contains": possibly(integerLength),
	"json_contains_path": possibly(integerLength), "json_overlaps": counting(1),
	"month": possibly(3), "day": possibly(3), "dayofmonth": possibly(3), "dayofweek": possibly(2), "dayofyear": possibly(4), "weekday": possibly(2), "quarter": possibly(2),
	"week": possibly(3), "yearweek": possibly(7), "weekofyear": possibly(3), "hour": possibly(4), "minute": possibly(3), "second": possibly(3),
	"microsecond": possibly(integerLength), "to_days": possibly(8), "to_seconds": possibly(integerLength), "time_to_sec": possibly(10), "datediff": possibly(9),
	"timestampdiff": possibly(integerLength),
	"year":          func(*call) Column { return Column{Known: true, Type: sqltypes.Year, Length: 4} },
}

// real functions have no value for some numbers.
func realOrNull(*call) Column { return double(false) }

func realOf(c *call) Column { return double(eachNotNull(c.of)) }

var realRules = map[string]rule{
	"sqrt": realOrNull, "exp": realOrNull, "ln": realOrNull, "log": realOrNull, "log10": realOrNull, "log2": realOrNull, "sin": realOrNull, "cos": realOrNull,
	"tan": realOrNull, "cot": realOrNull, "atan": realOrNull, "atan2": realOrNull, "asin": realOrNull, "acos": realOrNull, "pow": realOrNull, "power": realOrNull,
	"degrees": realOf, "radians": realOf,
}

var roundingRules = map[string]rule{"abs": absolute, "ceil": whole, "ceiling": whole, "floor": whole, "round": rounded, "truncate": rounded}

func absolute(c *call) Column { return negative(c.of[0]) }

// whole is the column of CEIL and FLOOR.
func whole(c *call) Column {
	n := c.of[0].number()
	switch {
	case n.real, c.of[0].isMoment():
		return double(c.of[0].NotNull)
	case n.exact && n.whole() >= integerLength-3:
		return decimal(n.whole()+1, 0, c.of[0].NotNull)
	}
	return integer(integerLength, c.of[0].NotNull)
}

// rounded is the column of ROUND and TRUNCATE.
func rounded(c *call) Column {
	n := c.of[0].number()
	places, known := int64(0), true
	if len(c.of) > 1 {
		places, known = c.number(1)
	}
	switch {
	case n.real, c.of[0].isMoment():
		return double(eachNotNull(c.of))
	case !n.exact:
		return integer(integerLength, eachNotNull(c.of))
	case !known:
		return decimal(n.precision, n.scale, false)
	}
	scale := min(uint64(max(places, 0)), n.scale)
	digits := n.whole() + scale
	if c.name == "round" && scale < n.scale {
		digits++
	}
	return decimal(digits, scale, eachNotNull(c.of))
}

var documentRules = map[string]rule{
	"json_array": documents, "json_object": documents, "json_extract": documents, "json_set": documents, "json_insert": documents, "json_replace": documents,
	"json_remove": documents, "json_merge_patch": documents, "json_merge_preserve": documents, "json_merge": documents, "json_search": documents, "json_keys": documents,
	"json_array_append": documents, "json_array_insert": documents,
	"json_type":    func(*call) Column { return bytewise(17) },
	"json_quote":   func(c *call) Column { return bytewise(c.of[0].asText().Length*6 + 2) },
	"json_unquote": func(c *call) Column { return bytewise(c.of[0].asText().Length) },
	"json_pretty":  func(*call) Column { return bytewise(longLength / 16) },
}

func documents(*call) Column { return document() }

// bytewise is a text that a function of JSON makes.
func bytewise(length uint64) Column {
	c := text(length, false)
	c.Bytewise = true
	return c
}

var choiceRules = map[string]rule{
	"if":       func(c *call) Column { return merge(c.of[1:]...).notNull(eachNotNull(c.of[1:])) },
	"ifnull":   func(c *call) Column { return merge(c.of...).notNull(anyNotNull(c.of)) },
	"coalesce": func(c *call) Column { return merge(c.of...).notNull(anyNotNull(c.of)) },
	"greatest": func(c *call) Column { return merge(c.of...).notNull(eachNotNull(c.of)) },
	"least":    func(c *call) Column { return merge(c.of...).notNull(eachNotNull(c.of)) },
	"nullif":   func(c *call) Column { return c.of[len(c.of)-1].item().nullable() }, // behind the comparison,
}
