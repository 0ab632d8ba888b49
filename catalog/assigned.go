package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
)

// assignments are those of one SET, in order: an expression sees what the ones before it have assigned, as in MySQL.
type assignments struct {
	table  string
	ignore bool // UPDATE IGNORE: a value that does not fit becomes the nearest one, with a warning
	made   []*compile.Assigned
}

// expr is the AST of a value that is assigned to a column. address is a column of the table that the column is in, by which the
// table's columns are told from those of others.
func (a *assignments) expr(to batch.Field, value ast.Expr, address *ast.ColName) ast.Expr {
	return ast.InjectedExpr{
		Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, Expression: &assignment{all: a, to: to}, Children: ast.Exprs{value, address},
	}
}

var _ ast.Injectable = (*assignment)(nil)

// assignment makes the Assigned of a resolved value.
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
	out := compile.NewAssigned(value, a.all.table, a.to, a.all.ignore)
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
func (a *assignments) of(f, address *expression.GetField) *compile.Assigned {
	if f.TableId() != address.TableId() {
		return nil
	}
	for i := len(a.made) - 1; i >= 0; i-- {
		if strings.EqualFold(a.made[i].To().Name, f.Name()) {
			return a.made[i]
		}
	}
	return nil
}
