package catalog

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// datesAsNumbers are operands of a comparison, dates beside numbers as the numbers that they are written as: 20240229, and 20240229235959 with a time of day. Numbers that
// are constants are dates where they can be, if all are.
func datesAsNumbers(ctx *sql.Context, all []sql.Expression) ([]sql.Expression, transform.TreeIdentity) {
	dates, numbers := 0, 0
	for _, e := range all {
		switch {
		case !e.Resolved():
			return all, transform.SameTree
		case types.IsTime(e.Type(ctx)):
			dates++
		case types.IsNumber(e.Type(ctx)):
			numbers++
		}
	}
	if dates == 0 || numbers == 0 || dates+numbers < len(all) {
		return all, transform.SameTree
	}
	out, constant := make([]sql.Expression, len(all)), 0
	for i, e := range all {
		out[i] = e
		if at, ok := dateOfLiteral(e); ok {
			out[i], constant = expression.NewLiteral(at, types.DatetimeMaxPrecision), constant+1
		}
	}
	if constant == numbers {
		return out, transform.NewTree
	}
	for i, e := range all {
		out[i] = e
		if types.IsTime(e.Type(ctx)) {
			out[i] = &dateNumber{expression.UnaryExpressionStub{Child: e}}
		}
	}
	return out, transform.NewTree
}

// dateOfLiteral is the date that an integer is written as.
func dateOfLiteral(e sql.Expression) (time.Time, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return time.Time{}, false
	}
	var n int64
	switch v := l.Value().(type) {
	case int32:
		n = int64(v)
	case int64:
		n = v
	default:
		return time.Time{}, false
	}
	if n < 1e8 {
		n *= 1e6
	}
	day, clock := n/1e6, n%1e6
	at := time.Date(int(day/10000), time.Month(day/100%100), int(day%100), int(clock/10000), int(clock/100%100), int(clock%100), 0, time.UTC)
	return at, day >= 1e7 && day < 1e8 && numberOfDate(at)*1000000+numberOfClock(at) == n
}

func numberOfDate(at time.Time) int64 {
	return int64(at.Year())*10000 + int64(at.Month())*100 + int64(at.Day())
}

func numberOfClock(at time.Time) int64 {
	return int64(at.Hour())*10000 + int64(at.Minute())*100 + int64(at.Second())
}

// dateNumber is a date as a number: a BIGINT, a time as a DOUBLE.
type dateNumber struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*dateNumber)(nil)
	_ sql.CollationCoercible = (*dateNumber)(nil)
)

// Written is the date or time.
func (e *dateNumber) Written() sql.Expression { return e.Child }

func (e *dateNumber) String() string { return e.Child.String() }

// Type is that of the number.
func (e *dateNumber) Type(ctx *sql.Context) sql.Type {
	if types.IsDateType(e.Child.Type(ctx)) {
		return types.Int64
	}
	return types.Float64
}

// CollationCoercibility is that of a number.
func (e *dateNumber) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren is of another date.
func (e *dateNumber) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &dateNumber{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval is the number.
func (e *dateNumber) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	converted, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
	at, ok := converted.(time.Time)
	switch {
	case err != nil || !ok:
		return nil, err
	case types.IsDateType(e.Child.Type(ctx)):
		return numberOfDate(at), nil
	}
	return float64(numberOfDate(at)*1000000+numberOfClock(at)) + float64(at.Nanosecond())/float64(time.Second), nil
}
