package compile

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
)

// Assigned is a value as a column holds it: converted as MySQL does it, or MySQL's error. It belongs to one execution.
type Assigned struct {
	expression.UnaryExpressionStub
	to     batch.Field
	column *sql.Column
	ignore bool
	row    int64 // how many values it had, for messages
}

var (
	_ sql.Expression         = (*Assigned)(nil)
	_ sql.CollationCoercible = (*Assigned)(nil)
)

// NewAssigned is a value for a column of a table. ignore: as with IGNORE, a value that does not fit becomes the nearest one, with a warning. A date has no
// nearest one, as there is no zero date: it becomes NULL, and where the column does not take that, the row is left out by the error of a NULL.
func NewAssigned(value sql.Expression, table string, to batch.Field, ignore bool) *Assigned {
	column := &sql.Column{Source: table, Name: to.Name, Type: mysqltype.OfField(to), Nullable: to.Nullable}
	return &Assigned{UnaryExpressionStub: expression.UnaryExpressionStub{Child: value}, to: to, column: column, ignore: ignore}
}

func (e *Assigned) String() string { return e.Child.String() }

// To is the column.
func (e *Assigned) To() batch.Field { return e.to }

// Type is the column's.
func (e *Assigned) Type(*sql.Context) sql.Type { return e.column.Type }

// IsNullable says whether the value can be NULL: what the column says of it is checked where the row is written.
func (e *Assigned) IsNullable(ctx *sql.Context) bool { return e.Child.IsNullable(ctx) }

// CollationCoercibility is the column's.
func (e *Assigned) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return e.column.Type.CollationCoercibility(ctx)
}

// WithChildren returns another value for the same column.
func (e *Assigned) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	out := *e
	out.Child = children[0]
	return &out, nil
}

// Eval converts the value.
func (e *Assigned) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	e.row++
	v, err := e.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if err != nil {
		return nil, err
	}
	if v == nil {
		if e.column.Nullable {
			return nil, nil
		}
		return e.unfit(ctx, nil, e.column.Type.Zero(), sql.ErrInsertIntoNonNullableProvidedNull.New(e.column.Name))
	}
	converted, err := e.convert(ctx, v)
	if err == nil {
		return converted, nil
	}
	switch {
	case types.IsTime(e.column.Type):
		err = &mysqltype.DateError{Type: e.column.Type, Value: v, Column: e.column.Name, Row: e.row}
	case types.ErrLengthBeyondLimit.Is(err) && e.ignore:
		ctx.Warn(mysqltype.Truncated, "Data truncated for column '%s' at row %d", e.column.Name, e.row)
		return e.cut(mysqltype.WithText(v, e.Child.Type(ctx))), nil
	default:
		err = mysqltype.NewColumnError(e.column, e.row, v, err)
	}
	return e.unfit(ctx, v, converted, err)
}

func (e *Assigned) convert(ctx *sql.Context, v any) (converted any, err error) {
	inRange := sql.InRange
	if text, ok := v.(string); ok && strings.TrimSpace(text) == "" && (types.IsInteger(e.column.Type) || types.IsFloat(e.column.Type)) {
		return e.column.Type.Zero(), sql.ErrInvalidValue.New(v, e.column.Type) // to GMS it is 0
	}
	switch t := e.column.Type.(type) {
	case sql.RoundingNumberType:
		converted, inRange, err = t.ConvertRound(ctx, v)
	case sql.DecimalType:
		converted, err = mysqltype.IntoDecimal(ctx, t, v)
		if wrong, ok := err.(*mysqltype.DecimalError); ok {
			wrong.Column, wrong.Row = e.column.Name, e.row
		}
		return converted, err
	case types.JsonType:
		return toJSON(ctx, v, e.Child.Type(ctx))
	case sql.StringType:
		converted, inRange, err = t.Convert(ctx, mysqltype.WithText(v, e.Child.Type(ctx)))
		if types.ErrBadCharsetString.Is(err) { // once more, to be told where
			where := context.WithValue(context.WithValue(ctx.Context, types.ColumnNameKey, e.column.Name), types.RowNumberKey, e.row)
			converted, inRange, err = t.Convert(ctx.WithContext(where), v)
		}
	case sql.DatetimeType:
		converted, inRange, err = t.Convert(ctx, v)
		if err == nil && mysqltype.IsZeroDate(converted) {
			err = types.ErrConvertingToTime.New(v)
		}
	default:
		converted, inRange, err = t.Convert(ctx, v)
	}
	if err == nil && inRange != sql.InRange {
		err = sql.ErrValueOutOfRange.New(v, e.column.Type)
	}
	return converted, err
}

// toJSON is a value of a type as a JSON column takes it: a date is a string.
func toJSON(ctx *sql.Context, v any, t sql.Type) (any, error) {
	if types.IsTime(t) {
		return types.JSONDocument{Val: mysqltype.WithText(v, t)}, nil
	}
	return mysqltype.ToJSON(ctx, v)
}

// cut is what the column takes of a text that is too long.
func (e *Assigned) cut(v any) any {
	t, isText := e.column.Type.(sql.StringType)
	if text, ok := v.(string); ok && isText {
		if runes := []rune(text); int64(len(runes)) > t.MaxCharacterLength() {
			return string(runes[:t.MaxCharacterLength()])
		}
	}
	return e.column.Type.Zero()
}

// unfit is what becomes of a value that does not fit: an error, or with IGNORE the nearest value and a warning.
func (e *Assigned) unfit(ctx *sql.Context, v, nearest any, cause error) (any, error) {
	if !e.ignore || types.IsJSON(e.column.Type) {
		return nil, cause
	}
	if types.IsTime(e.column.Type) {
		if !e.column.Nullable {
			return nil, sql.ErrInsertIntoNonNullableProvidedNull.New(e.column.Name)
		}
		ctx.Warn(mysqltype.WrongValue, "%s", cause.Error())
		return nil, nil
	}
	if wrong, ok := cause.(*mysqltype.DecimalError); ok {
		wrong.Warn(ctx)
		return nearest, nil
	}
	if wrong, ok := cause.(*mysqltype.ColumnError); ok {
		ctx.Warn(wrong.Number, "%s", wrong.Text)
	} else {
		ctx.Warn(sql.CastSQLError(cause).Num, "%s", cause.Error())
	}
	if nearest == nil {
		return e.column.Type.Zero(), nil
	}
	return nearest, nil
}
