package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
)

// DateText is a date or time as MySQL writes it.
type DateText struct {
	expression.UnaryExpressionStub
	json bool // as a JSON string
}

// NewDateText is the text of a date, and any other value as it is.
func NewDateText(date sql.Expression) sql.Expression {
	return &DateText{UnaryExpressionStub: expression.UnaryExpressionStub{Child: date}}
}

// NewDateJSON is the text of a date as a JSON string.
func NewDateJSON(date sql.Expression) sql.Expression {
	return &DateText{UnaryExpressionStub: expression.UnaryExpressionStub{Child: date}, json: true}
}

var (
	_ sql.Expression         = (*DateText)(nil)
	_ sql.CollationCoercible = (*DateText)(nil)
)

func (e *DateText) String() string { return e.Child.String() }

// Type is a text, or JSON.
func (e *DateText) Type(*sql.Context) sql.Type {
	if e.json {
		return types.JSON
	}
	return types.LongText
}

// CollationCoercibility is the date's.
func (e *DateText) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.Child)
}

// WithChildren is of another date.
func (e *DateText) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &DateText{UnaryExpressionStub: expression.UnaryExpressionStub{Child: children[0]}, json: e.json}, nil
}

// Eval writes the date.
func (e *DateText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	v = mysqltype.WithText(v, writtenType(ctx, e.Child))
	if e.json {
		return types.JSONDocument{Val: v}, nil
	}
	return v, nil
}

// writtenType is the type of a date or time with the digits behind the point that MySQL's has. GMS's functions say six whatever they are given.
func writtenType(ctx *sql.Context, e sql.Expression) sql.Type {
	t := e.Type(ctx)
	if _, isFunction := e.(sql.FunctionExpression); !isFunction || !t.Equals(types.DatetimeMaxPrecision) {
		return t
	}
	for _, c := range e.Children() {
		if dt, ok := c.Type(ctx).(sql.DatetimeType); ok && dt.Precision() > 0 {
			return t
		}
	}
	return types.Datetime
}
