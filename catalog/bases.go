package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
)

// baseFunctions write integers in other bases. GMS's take a number for another one where it has a point or a date's dashes, and have too few bits of a negative one.
var baseFunctions = map[string]sql.Function{
	"conv": scalarFunction("conv", 3, 3, fixedType(types.LongText, func(ctx *sql.Context, args []any) (any, error) {
		from, err := asInteger(ctx, args[1])
		if err != nil {
			return nil, err
		}
		to, err := asInteger(ctx, args[2])
		if err != nil {
			return nil, err
		}
		return inBase(ctx, args[0], from, to)
	})),
	"bin": ofBase("bin", 2),
	"oct": ofBase("oct", 8),
}

func ofBase(name string, base int64) sql.Function {
	return scalarFunction(name, 1, 1, fixedType(types.LongText, func(ctx *sql.Context, args []any) (any, error) {
		return inBase(ctx, args[0], 10, base)
	}))
}

// inBase is CONV(v, from, to): the digits that a text begins with, read with a sign where from is negative, written with one where to is.
func inBase(ctx *sql.Context, v any, from, to int64) (any, error) {
	least, most := min(abs(from), abs(to)), max(abs(from), abs(to))
	text, err := asText(ctx, v)
	if err != nil || text == "" || least < 2 || most > 36 {
		return nil, err
	}
	n, ok := digitsIn(strings.TrimSpace(text), int(abs(from)), from < 0)
	if !ok {
		ctx.Warn(mysqltype.WrongValue, "Truncated incorrect DECIMAL value: '%s'", mysqltype.ShownText(text))
	}
	if to < 0 {
		return strings.ToUpper(strconv.FormatInt(int64(n), int(-to))), nil
	}
	return strings.ToUpper(strconv.FormatUint(n, int(to))), nil
}

// digitsIn is the number at the beginning of a text, 0 and false where there is none; a greater one than there is is the greatest.
func digitsIn(text string, base int, signed bool) (uint64, bool) {
	digits := strings.TrimPrefix(text, "-")
	negative := digits != text
	digits = strings.TrimPrefix(digits, "+")
	end := 0
	for end < len(digits) {
		if _, err := strconv.ParseUint(digits[end:end+1], base, 64); err != nil {
			break
		}
		end++
	}
	n, err := strconv.ParseUint(digits[:end], base, 64)
	switch {
	case end == 0:
		return 0, false
	case signed && negative && (err != nil || n > 1<<63):
		return 1 << 63, true
	case signed && !negative && (err != nil || n > math.MaxInt64):
		return math.MaxInt64, true
	case err != nil:
		return math.MaxUint64, true
	case negative:
		return -n, true
	}
	return n, true
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
