package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/vector"
)

// exactNumbers gives arithmetic and choices over integers and DECIMALs MySQL's types and digits, and the columns that refer to them too.
func exactNumbers(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	r := exactRule{increment: divPrecisionIncrement(ctx), types: make(map[sql.ColumnId]sql.Type)}
	return transform.NodeWithOpaque(ctx, n, r.node)
}

// exactRule goes through a plan from its leaves up.
type exactRule struct {
	increment uint8
	types     map[sql.ColumnId]sql.Type // of columns that learn theirs
}

const defaultDivPrecisionIncrement = 4

func divPrecisionIncrement(ctx *sql.Context) uint8 {
	v, err := ctx.GetSessionVariable(ctx, "div_precision_increment")
	if err != nil {
		return defaultDivPrecisionIncrement
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if i, ok := n.(int64); ok && err == nil && 0 <= i && i <= types.DecimalTypeMaxScale {
		return uint8(i)
	}
	return defaultDivPrecisionIncrement
}

func (r exactRule) node(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	same := transform.SameTree
	if u, ok := n.(*plan.SetOp); ok {
		united, unchanged, err := uniteDecimals(ctx, u)
		if err != nil {
			return nil, same, err
		}
		n, same = united, unchanged
		r.learn(ctx, n.(plan.TableIdNode)) // ORDER BY refers to its columns
	}
	if exprs, ok := n.(sql.Expressioner); ok {
		after, unchanged, err := r.expressions(ctx, n, exprs.Expressions())
		if err != nil {
			return nil, same, err
		}
		if !unchanged {
			if n, err = exprs.WithExpressions(ctx, after...); err != nil {
				return nil, same, err
			}
			same = transform.NewTree
		}
	}
	if table, ok := n.(plan.TableIdNode); ok {
		r.learn(ctx, table)
	}
	return n, same, nil
}

// expressions are those of a node, each with the digits that it shows.
func (r exactRule) expressions(ctx *sql.Context, n sql.Node, before []sql.Expression) ([]sql.Expression, transform.TreeIdentity, error) {
	after, same := slices.Clone(before), transform.SameTree
	_, isProjector := n.(sql.Projector)
	for i, old := range before {
		e, unchanged, err := transform.Expr(ctx, old, r.expression)
		if err != nil {
			return nil, same, err
		}
		if alias, ok := e.(*expression.Alias); ok {
			if shown, more := showDigits(ctx, alias.Child); more {
				e, unchanged = expression.NewAlias(ctx, alias.Name(), shown), transform.NewTree
			}
		} else if shown, more := showDigits(ctx, e); more {
			e, unchanged = shown, transform.NewTree
		}
		id, hasID := old.(sql.IdExpression)
		if alias, ok := e.(*expression.Alias); ok && hasID && !bool(unchanged) {
			e = alias.WithId(id.Id()).(*expression.Alias)
		}
		if isProjector && hasID && isLearned(e.Type(ctx)) {
			r.types[id.Id()] = e.Type(ctx)
		}
		after[i], same = e, same && unchanged
	}
	return after, same, nil
}

// isLearned is true of the types that columns learn: those that count the digits behind the point, DECIMAL and DATETIME, and texts that do not compare by their bytes.
func isLearned(t sql.Type) bool {
	text, isText := t.(sql.StringType)
	return types.IsDecimal(t) || types.IsTime(t) || isText && !compile.BytesDecide(text.Collation())
}

// learn keeps the types of the columns of a derived table; of a set operation those that both sides have to say.
func (r exactRule) learn(ctx *sql.Context, n plan.TableIdNode) {
	schema, i := n.Schema(ctx), 0
	sides := []sql.Schema{schema}
	if u, ok := n.(*plan.SetOp); ok {
		sides = append(sides, u.Left().Schema(ctx), u.Right().Schema(ctx))
	}
	lacks := func(side sql.Schema) bool { return i >= len(side) || !isLearned(side[i].Type) }
	n.Columns().ForEach(func(id sql.ColumnId) {
		if !slices.ContainsFunc(sides, lacks) {
			r.types[id] = schema[i].Type
		}
		i++
	})
}

func (r exactRule) expression(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case *expression.GetField:
		if t, ok := r.types[e.Id()]; ok && e.Id() != 0 && !t.Equals(e.Type(ctx)) {
			f := expression.NewGetFieldWithTable(e.Index(), int(e.TableId()), t, e.Database(), e.Table(), e.Name(), e.IsNullable(ctx))
			return f.WithId(e.Id()).(sql.Expression), transform.NewTree, nil
		}
	case *plan.Subquery:
		query, same, err := transform.NodeWithOpaque(ctx, e.Query, r.node)
		if err != nil || same {
			return e, transform.SameTree, err
		}
		return e.WithQuery(query), transform.NewTree, nil
	case *expression.Arithmetic:
		if op, ok := exactOps[e.Op]; ok {
			return r.arithmetic(ctx, op, e)
		}
	case *expression.Div:
		return r.arithmetic(ctx, vector.Divide, e)
	case *expression.IntDiv:
		return r.arithmetic(ctx, vector.IntDivide, e)
	case *expression.Mod:
		if out, same, err := r.arithmetic(ctx, vector.Modulo, e); !same || err != nil {
			return out, same, err
		}
		out := newMod(ctx, e)
		return out, transform.TreeIdentity(out == sql.Expression(e)), nil
	case *expression.Convert:
		if types.IsDecimal(e.Type(ctx)) {
			return newDecimalCast(ctx, e), transform.NewTree, nil
		}
		if t := e.Type(ctx); t == types.Int64 || t == types.Uint64 {
			return &integerCast{Convert: e}, transform.NewTree, nil
		}
	case *expression.Case, *function.If, *function.IfNull, *function.Coalesce:
		if c, ok := newExactChoice(ctx, e); ok {
			return c, transform.NewTree, nil
		}
	}
	sameWindow := transform.SameTree
	if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		var err error
		if e, sameWindow, err = withWindowKeys(ctx, w, showAllDigits); err != nil {
			return nil, sameWindow, err
		}
	}
	if _, ok := e.(*aggregation.CountDistinct); !ok && !takesText(ctx, e) {
		return e, sameWindow, nil
	}
	children, same := showAllDigits(ctx, e.Children())
	if same {
		return e, sameWindow, nil
	}
	out, err := e.WithChildren(ctx, children...)
	return out, same, err
}

// showAllDigits is showDigits for expressions.
func showAllDigits(ctx *sql.Context, all []sql.Expression) ([]sql.Expression, transform.TreeIdentity) {
	out, same := slices.Clone(all), transform.SameTree
	for i, e := range all {
		if !e.Resolved() {
			continue
		}
		if shown, more := showDigits(ctx, e); more {
			out[i], same = shown, transform.NewTree
		}
	}
	return out, same
}

var exactOps = map[string]vector.ArithOp{"+": vector.Add, "-": vector.Subtract, "*": vector.Multiply}

func (r exactRule) arithmetic(ctx *sql.Context, op vector.ArithOp, e expression.BinaryExpression) (sql.Expression, transform.TreeIdentity, error) {
	if out, ok := newExactArith(ctx, op, e.Left(), e.Right(), r.increment); ok {
		return out, transform.NewTree, nil
	}
	return e.(sql.Expression), transform.SameTree, nil
}
