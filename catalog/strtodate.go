package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
)

// strToDate is STR_TO_DATE(text, format): a DATE, a TIME or a DATETIME by what is in a format that is written in the statement. NULL, with MySQL's warning, is a text that has not the
// format, and a date of which a part is missing. GMS's is a day of another month or year where a day or month is missing, and knows no weeks.
var strToDate = scalarFunction("str_to_date", 2, 2, func(_ *sql.Context, args []sql.Expression) (scalarBody, error) {
	t := sql.Type(types.DatetimeMaxPrecision)
	if format, ok := textOfLiteral(args[1]); ok {
		switch date, clock, fraction := mysqltype.FormatParts(format); {
		case !clock:
			t = types.Date
		case clock && !date:
			t = types.Time
		case !fraction:
			t = types.Datetime
		}
	}
	return scalarBody{typ: t, eval: func(ctx *sql.Context, values []any) (any, error) {
		text, err := asText(ctx, values[0])
		if err != nil {
			return nil, err
		}
		format, err := asText(ctx, values[1])
		if err != nil {
			return nil, err
		}
		c, exact, ok := mysqltype.DateFormatted(text, format)
		isTime := t == types.Time
		if ok = ok && c.Possible() && (isTime || c.Whole() && c.Year > 0); !ok {
			ctx.Warn(wrongArgument, "Incorrect datetime value: '%s' for function str_to_date", mysqltype.ShownText(text))
			return nil, nil
		}
		if !exact {
			ctx.Warn(mysqltype.WrongValue, "Truncated incorrect %s value: '%s'", map[bool]string{true: "time", false: "date"}[isTime], mysqltype.ShownText(text))
		}
		if isTime {
			return types.Timespan(int64(c.Day)*batch.MicrosPerDay + c.Clock), nil
		}
		return c.Time(), nil
	}}, nil
})

// wrongArgument is the number of MySQL's warning of a value that a function does not take.
const wrongArgument = 1411
