package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
)

// timeFormat is TIME_FORMAT(time, format). GMS's ends at hour 23 and has letters of its own.
var timeFormat = scalarFunction("time_format", 2, 2, func(_ *sql.Context, args []sql.Expression) (scalarBody, error) {
	return scalarBody{typ: types.LongText, eval: func(ctx *sql.Context, values []any) (any, error) {
		c, _, ok, err := momentOf(ctx, args[0], values[0])
		if err != nil || !ok {
			return nil, err
		}
		format, err := asText(ctx, values[1])
		if err != nil {
			return nil, err
		}
		if text, ok := formattedTime(c, format); ok {
			return text, nil
		}
		return nil, nil
	}}, nil
})

// formattedTime is a time in a format; false where it asks for what a date alone has.
func formattedTime(c mysqltype.Civil, format string) (string, bool) {
	var b strings.Builder
	seconds, micros := span(c)/batch.MicrosPerSecond, span(c)%batch.MicrosPerSecond
	hour, minute, second := seconds/3600, seconds/60%60, seconds%60
	half, noon := (hour%24+11)%12+1, "AM"
	if hour%24 >= 12 {
		noon = "PM"
	}
	if c.Clock < 0 {
		b.WriteByte('-')
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 'H':
			fmt.Fprintf(&b, "%02d", hour)
		case 'k':
			fmt.Fprintf(&b, "%d", hour)
		case 'h', 'I':
			fmt.Fprintf(&b, "%02d", half)
		case 'l':
			fmt.Fprintf(&b, "%d", half)
		case 'i':
			fmt.Fprintf(&b, "%02d", minute)
		case 's', 'S':
			fmt.Fprintf(&b, "%02d", second)
		case 'f':
			fmt.Fprintf(&b, "%06d", micros)
		case 'p':
			b.WriteString(noon)
		case 'r':
			fmt.Fprintf(&b, "%02d:%02d:%02d %s", half, minute, second, noon)
		case 'T':
			fmt.Fprintf(&b, "%02d:%02d:%02d", hour, minute, second)
		case 'Y':
			b.WriteString("0000")
		case 'y', 'm', 'd':
			b.WriteString("00")
		case 'c', 'e':
			b.WriteByte('0')
		case 'M', 'b', 'W', 'a', 'j', 'U', 'u', 'V', 'v', 'X', 'x', 'w', 'D':
			return "", false
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String(), true
}
