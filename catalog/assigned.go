package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
)

// assignments are those of one SET, in order: an expression sees what the ones before it have assigned, as in MySQL.
type assignments struct {
	ignore bool // UPDATE IGNORE: a value that does not fit becomes the nearest one, with a warning
	made   []*assigned
}

// expr is the AST of a value that is assigned to a column. address is a column of the table that the column is in, by which the
// table's columns are told from those of others.
func (a *assignments) expr(to batch.Field, value ast.Expr, address *ast.ColName) ast.Expr {
	return ast.InjectedExpr{
		Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, Expression: &assignment{all: a, to: to}, Children: ast.Exprs{value, address},
	}
}

// assignment makes the assigned of a resolved value.
type assignment struct {
	all *assignments
	to  batch.Field
}

// WithResolvedChildren takes the value, and a column of the table.
func (a *assignment) WithResolvedChildren(ctx context.Context, children []any) (any, error) {
	sqlCtx, ok := ctx.(*sql.Context)
	value, isValue := children[0].(sql.Expression)
	address, isColumn := children[1].(*expression.GetField)
	if !ok || !isValue || !isColumn {
		return nil, fmt.Errorf("assign column %s: %T of %T", a.to.Name, children[0], children[1])
	}
	value, err := a.all.substitute(sqlCtx, value, address)
	if err != nil {
		return nil, err
	}
	column := &sql.Column{Name: a.to.Name, Type: mysqltype.OfField(a.to), Nullable: a.to.Nullable}
	out := &assigned{UnaryExpressionStub: expression.UnaryExpressionStub{Child: value}, to: a.to, column: column, ignore: a.all.ignore}
	a.all.made = append(a.all.made, out)
	return out, nil
}

// substitute puts what was assigned so far in the place of the columns.
func (a *assignments) substitute(ctx *sql.Context, value sql.Expression, address *expression.GetField) (sql.Expression, error) {
	if len(a.made) == 0 {
		return value, nil
	}
	out, _, err := transform.Expr(ctx, value, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.GetField:
			if before := a.of(e, address); before != nil {
				return before, transform.NewTree, nil
			}
		case *plan.Subquery:
			query, same, err := transform.NodeExprsWithOpaque(ctx, e.Query, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
				if f, ok := e.(*expression.GetField); ok {
					if before := a.of(f, address); before != nil {
						return before, transform.NewTree, nil
					}
				}
				return e, transform.SameTree, nil
			})
			if err != nil || same {
				return e, transform.SameTree, err
			}
			return e.WithQuery(query), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	return out, err
}

// of is the last assignment to a column; nil when there is none.
func (a *assignments) of(f, address *expression.GetField) *assigned {
	if f.TableId() != address.TableId() {
		return nil
	}
	for i := len(a.made) - 1; i >= 0; i-- {
		if strings.EqualFold(a.made[i].to.Name, f.Name()) {
			return a.made[i]
		}
	}
	return nil
}

// assigned is a value as a column holds it: converted as INSERT converts it, or INSERT's error.
type assigned struct {
	expression.UnaryExpressionStub
	to     batch.Field
	column *sql.Column
	ignore bool
}

var (
	_ sql.Expression         = (*assigned)(nil)
	_ sql.CollationCoercible = (*assigned)(nil)
	_ compile.Assignment     = (*assigned)(nil)
	_ ast.Injectable         = (*assignment)(nil)
)

func (e *assigned) String() string { return e.Child.String() }

// Type is the column's.
func (e *assigned) Type(*sql.Context) sql.Type { return e.column.Type }

// IsNullable says whether the value can be NULL: what the column says of it is checked where the row is written.
func (e *assigned) IsNullable(ctx *sql.Context) bool { return e.Child.IsNullable(ctx) }

// CollationCoercibility is the column's.
func (e *assigned) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return e.column.Type.CollationCoercibility(ctx)
}

// WithChildren returns another value for the same column.
func (e *assigned) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	out := *e
	out.Child = children[0]
	return &out, nil
}

// Assigned are the value and the column that takes it.
func (e *assigned) Assigned() (value sql.Expression, to batch.Field, strict bool) {
	return e.Child, e.to, !e.ignore
}

// Eval converts the value.
func (e *assigned) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v == nil {
		if e.column.Nullable {
			return nil, nil
		}
		return e.unfit(ctx, nil, e.column.Type.Zero(), sql.ErrInsertIntoNonNullableProvidedNull.New(e.column.Name))
	}
	var inRange sql.ConvertInRange
	var converted any
	switch t := e.column.Type.(type) {
	case sql.RoundingNumberType:
		converted, inRange, err = t.ConvertRound(ctx, v)
	case types.JsonType:
		converted, err = mysqltype.ToJSON(ctx, v)
	default:
		converted, inRange, err = t.Convert(ctx, v)
	}
	if err == nil && inRange != sql.InRange {
		err = sql.ErrValueOutOfRange.New(v, e.column.Type)
	}
	switch {
	case err == nil:
		return converted, nil
	case sql.ErrTruncatedIncorrect.Is(err):
		err = sql.ErrInvalidValue.New(v, e.column.Type)
	case types.ErrLengthBeyondLimit.Is(err):
		err = types.ErrLengthBeyondLimit.New(v, e.column.Name)
	}
	return e.unfit(ctx, v, converted, err)
}

// unfit is what becomes of a value that does not fit: an error, or with IGNORE the nearest value and a warning.
func (e *assigned) unfit(ctx *sql.Context, v, nearest any, cause error) (any, error) {
	if !e.ignore || types.IsJSON(e.column.Type) {
		return nil, cause
	}
	ctx.Warn(sql.CastSQLError(cause).Num, "%s", cause.Error())
	text, isText := v.(string)
	if st, ok := e.column.Type.(sql.StringType); ok && isText && types.ErrLengthBeyondLimit.Is(cause) {
		if runes := []rune(text); int64(len(runes)) > st.MaxCharacterLength() {
			return string(runes[:st.MaxCharacterLength()]), nil
		}
	}
	if nearest == nil {
		return e.column.Type.Zero(), nil
	}
	return nearest, nil
}
