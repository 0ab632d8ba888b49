package resultmeta

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
)

// sumDigits and averageDigits are how many digits SUM and AVG add.
const (
	sumDigits     = 22
	averageDigits = 4
)

// aggregateRules are those of aggregate functions, as GMS names them.
var aggregateRules = map[string]rule{
	"count": certainly(integerLength), "countdistinct": certainly(integerLength),
	"sum": func(c *call) Column {
		n := c.of[0].number()
		if n.real {
			return double(false)
		}
		return decimal(n.precision+sumDigits, n.scale, false)
	},
	"avg": func(c *call) Column {
		n := c.of[0].number()
		if n.real {
			return double(false)
		}
		return decimal(n.precision+averageDigits, n.scale+averageDigits, false)
	},
	"min": kept, "max": kept, "anyvalue": func(c *call) Column { return c.of[0].item() },
	"stddevpop": realOrNull, "stddevsamp": realOrNull, "varpop": realOrNull, "varsamp": realOrNull,
	"bitand": bits, "bitor": bits, "bitxor": bits,
	"group_concat": func(c *call) Column {
		made := text(groupLength, false)
		made.Type = sqltypes.Text
		for _, of := range c.of {
			made.Bytewise = made.Bytewise || of.asText().Bytewise
		}
		return made
	},
	"jsonarray": documents, "json_arrayagg": documents, "json_objectagg": documents,
	"row_number": ranks, "rank": ranks, "dense_rank": ranks, "ntile": ranks,
	"percent_rank": func(*call) Column { return double(true) }, "cume_dist": func(*call) Column { return double(true) },
	"first_value": kept, "last_value": kept, "nth_value": kept, "lag": kept, "lead": kept,
}

// kept is a value of the argument.
func kept(c *call) Column { return c.of[0].item().nullable() }

func bits(*call) Column { return unsigned(integerLength, true) }

func ranks(*call) Column { return unsigned(integerLength, true) }

// windowed is the column of an aggregate, or of a window function, whose values come from a temporary table.
func windowed(e sql.WindowAdaptableExpression, c *call) Column {
	name, _, _ := strings.Cut(c.name, " ")
	make, ok := aggregateRules[name]
	if !ok {
		return Column{}
	}
	for _, of := range c.of {
		if !of.Known {
			return Column{}
		}
	}
	if len(c.of) == 0 && (name == "sum" || name == "avg") {
		return Column{}
	}
	made := make(c)
	if e.Window() == nil || !made.Known {
		return made
	}
	if made = made.stored(); made.Type == sqltypes.TypeJSON {
		return Column{} // as a table's
	}
	if sqltypes.IsSigned(made.Type) && made.Length < 11 && integerLengths[made.Type] < integerLengths[sqltypes.Int32] {
		made.Type = sqltypes.Int32
	} else if sqltypes.IsSigned(made.Type) && made.Length >= 11 {
		made.Type = sqltypes.Int64
	}
	return made
}
