package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// uniteNumbers makes columns of UNION and its like that are numbers of two types what MySQL makes of them. GMS converts a DOUBLE beside a DECIMAL to
// DECIMAL, where 1e300 and 1e-35 are 0, and an unsigned BIGINT beside a signed one to a signed one, which cuts it off.
func uniteNumbers(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		u, ok := n.(*plan.SetOp)
		if !ok {
			return n, transform.SameTree, nil
		}
		left, okL := u.Left().(*plan.Project)
		right, okR := u.Right().(*plan.Project)
		if !okL || !okR {
			return n, transform.SameTree, nil
		}
		ls, rs, same := slices.Clone(left.Projections), slices.Clone(right.Projections), transform.SameTree
		for i := range ls {
			l, okL := convertedNumber(ctx, left, i)
			r, okR := convertedNumber(ctx, right, i)
			if !okL || !okR {
				continue
			}
			to := func(column sql.Expression) sql.Expression {
				return expression.NewConvert(column, expression.ConvertToDouble)
			}
			switch {
			case types.IsFloat(l.Type(ctx)) || types.IsFloat(r.Type(ctx)):
			case l.Type(ctx) == types.Uint64 && types.IsSigned(r.Type(ctx)), r.Type(ctx) == types.Uint64 && types.IsSigned(l.Type(ctx)):
				to = func(column sql.Expression) sql.Expression {
					return expression.NewConvertWithLengthAndScale(column, expression.ConvertToDecimal, 20, 0)
				}
			default:
				continue
			}
			ls[i], rs[i] = expression.NewAlias(ctx, ls[i].(*expression.Alias).Name(), to(l)), expression.NewAlias(ctx, rs[i].(*expression.Alias).Name(), to(r))
			same = transform.NewTree
		}
		if same {
			return n, same, nil
		}
		out, err := u.WithChildren(ctx, plan.NewProject(ctx, ls, left.Child), plan.NewProject(ctx, rs, right.Child))
		return out, same, err
	})
}

// convertedNumber is the column below the alias, and the conversion where one is needed, that GMS has put over column i of one side of a set operation
// whose types differ; of the type that it has there. False where it is no number.
func convertedNumber(ctx *sql.Context, side *plan.Project, i int) (column *expression.GetField, ok bool) {
	alias, isAlias := side.Projections[i].(*expression.Alias)
	below := side.Child.Schema(ctx)
	if !isAlias || len(below) != len(side.Projections) {
		return nil, false
	}
	e := alias.Child
	if convert, ok := e.(*expression.Convert); ok {
		e = convert.Child
	}
	f, isField := e.(*expression.GetField)
	if !isField || !types.IsNumber(below[i].Type) {
		return nil, false
	}
	return expression.NewGetFieldWithTable(int(f.Id()), int(f.TableId()), below[i].Type, f.Database(), f.Table(), f.Name(), f.IsNullable(ctx)), true
}
