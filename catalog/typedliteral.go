package catalog

import (
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/catalog/mysqltype"
	"lakesql/sqlext"
)

// literalFunctions are the literals of dates and times: DATE '2024-02-29' and TIMESTAMP '2024-02-29 10:00:00'.
var literalFunctions = map[string]sql.Function{
	sqlext.LiteralFunction: sql.FunctionN{Name: sqlext.LiteralFunction, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) == 2 {
			word, okWord := textOfLiteral(args[0])
			text, okText := textOfLiteral(args[1])
			if okWord && okText {
				return typedLiteral(ctx, strings.ToUpper(word), text)
			}
		}
		return nil, sql.ErrFunctionNotFound.New(sqlext.LiteralFunction)
	}},
}

func textOfLiteral(e sql.Expression) (string, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return "", false
	}
	text, ok := l.Value().(string)
	return text, ok
}

// wrongValue is the number of MySQL's error for a literal that is none of its type.
const wrongValue = 1525

func typedLiteral(ctx *sql.Context, word, text string) (sql.Expression, error) {
	switch word {
	case "DATE":
		if day, ok := mysqltype.DateLiteral(text); ok {
			return expression.NewLiteral(day, types.Date), nil
		}
	case "TIMESTAMP":
		word = "DATETIME"
		if at, digits, ok := timestampLiteral(ctx, text); ok {
			t, err := types.CreateDatetimeType(sqltypes.Datetime, digits)
			return expression.NewLiteral(at, t), err
		}
	}
	return nil, mysql.NewSQLError(wrongValue, mysql.SSUnknownSQLState, "Incorrect %s value: '%s'", word, text)
}

// timestampLiteral is a moment in the time zone of the session.
func timestampLiteral(ctx *sql.Context, text string) (at time.Time, digits int, ok bool) {
	at, digits, zone, ok := mysqltype.TimestampLiteral(text)
	if !ok || zone == "" {
		return at, digits, ok
	}
	at, ok, err := inSession(ctx, at, zone)
	return at, digits, ok && err == nil
}

// inSession is a moment of a zone in the time zone of the session; false where the zone is none, or the year there none of MySQL's.
func inSession(ctx *sql.Context, at time.Time, zone string) (time.Time, bool, error) {
	v, err := ctx.GetSessionVariable(ctx, "time_zone")
	if err != nil {
		return at, false, err
	}
	to := fmt.Sprint(v)
	if strings.EqualFold(to, "SYSTEM") {
		to = sql.SystemTimezoneOffset()
	}
	at, ok := sql.ConvertTimeZone(at, zone, to)
	return at, ok && inYears(at), nil
}

// inYears tells whether a moment's year is one that a date can have.
func inYears(at time.Time) bool { return 0 <= at.Year() && at.Year() <= 9999 }
