package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// uniteTypes gives columns of UNION and its like MySQL's type where they are dates and times on all sides, or NULL on some and of one type on the others. GMS makes texts of the former, and
// of the latter another type of the kind.
func uniteTypes(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	n, same, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if _, ok := n.(*plan.SetOp); ok || convertsSide(n) {
			return n, transform.SameTree, nil // part of a larger one, or the root
		}
		children, same := slices.Clone(n.Children()), transform.SameTree
		for i, c := range children {
			united, unchanged, err := uniteSides(ctx, c)
			if err != nil {
				return nil, same, err
			}
			children[i], same = united, same && unchanged
		}
		if same {
			return n, same, nil
		}
		out, err := n.WithChildren(ctx, children...)
		return out, same, err
	})
	if err != nil {
		return nil, same, err
	}
	out, unchanged, err := uniteSides(ctx, n)
	return out, same && unchanged, err
}

// uniteSides is uniteTypes of a set operation with all that it is of.
func uniteSides(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	if _, ok := n.(*plan.SetOp); !ok {
		return n, transform.SameTree, nil
	}
	columns := make([][]sql.Type, len(n.Schema(ctx)))
	typesOfSides(ctx, n, columns)
	to := make([]sql.Type, len(columns))
	for i, all := range columns {
		to[i] = unitedType(all)
	}
	if !slices.ContainsFunc(to, func(t sql.Type) bool { return t != nil }) {
		return n, transform.SameTree, nil
	}
	return convertSides(ctx, n, to)
}

// typesOfSides appends the types of the columns of each SELECT.
func typesOfSides(ctx *sql.Context, n sql.Node, columns [][]sql.Type) {
	if _, ok := n.(*plan.SetOp); ok || convertsSide(n) {
		for _, c := range n.Children() {
			typesOfSides(ctx, c, columns)
		}
		return
	}
	for i, c := range n.Schema(ctx) {
		if i < len(columns) {
			columns[i] = append(columns[i], c.Type)
		}
	}
}

// unitedType is nil where GMS's does.
func unitedType(all []sql.Type) sql.Type {
	var first sql.Type
	alike, times, digits := true, true, 0
	for _, t := range all {
		if types.IsNullType(t) {
			continue
		}
		if first == nil {
			first = t
		}
		alike, times = alike && t.Equals(first), times && types.IsTime(t)
		if dt, ok := t.(sql.DatetimeType); ok {
			digits = max(digits, dt.Precision())
		}
	}
	switch {
	case first == nil, !times && !alike, types.IsInteger(first): // GMS's BIGINT is MySQL's for integers that are written
		return nil
	case alike:
		return first
	}
	return types.MustCreateDatetimeType(sqltypes.Datetime, digits)
}

// convertsSide tells whether a node is the projection that GMS puts below a set operation of sides whose types differ.
func convertsSide(n sql.Node) bool {
	p, ok := n.(*plan.Project)
	return ok && len(p.Projections) > 0 && !slices.ContainsFunc(p.Projections, func(e sql.Expression) bool {
		f, ok := fieldOfSide(e)
		return !ok || f.TableId() != 0
	})
}

// fieldOfSide is the column that an expression of such a projection is of.
func fieldOfSide(e sql.Expression) (*expression.GetField, bool) {
	if alias, ok := e.(*expression.Alias); ok {
		e = alias.Child
	}
	if convert, ok := e.(*expression.Convert); ok {
		e = convert.Child
	}
	f, ok := e.(*expression.GetField)
	return f, ok
}

// convertSides converts columns of the sides to the types that are not nil.
func convertSides(ctx *sql.Context, n sql.Node, to []sql.Type) (sql.Node, transform.TreeIdentity, error) {
	_, isSetOp := n.(*plan.SetOp)
	if !isSetOp && !convertsSide(n) {
		return n, transform.SameTree, nil
	}
	children, same := slices.Clone(n.Children()), transform.SameTree
	for i, c := range children {
		converted, unchanged, err := convertSides(ctx, c, to)
		if err != nil {
			return nil, same, err
		}
		children[i], same = converted, same && unchanged
	}
	if p, ok := n.(*plan.Project); ok {
		columns, unchanged := slices.Clone(p.Projections), same
		below := children[0].Schema(ctx)
		for i, t := range to {
			if alias, ok := columns[i].(*expression.Alias); ok && t != nil && !alias.Child.Type(ctx).Equals(t) {
				f, _ := fieldOfSide(alias)
				columns[i], unchanged = expression.NewAlias(ctx, alias.Name(), convertSide(ctx, f, below[i].Type, t)), transform.NewTree
			}
		}
		if unchanged {
			return n, same, nil
		}
		return plan.NewProject(ctx, columns, children[0]), transform.NewTree, nil
	}
	if same {
		return n, same, nil
	}
	out, err := n.WithChildren(ctx, children...)
	return out, same, err
}

// convertSide is a column of one type as one of another.
func convertSide(ctx *sql.Context, f *expression.GetField, from, to sql.Type) sql.Expression {
	column := expression.NewGetFieldWithTable(int(f.Id()), int(f.TableId()), from, f.Database(), f.Table(), f.Name(), f.IsNullable(ctx))
	t, isTime := to.(sql.DatetimeType)
	switch {
	case from.Equals(to):
		return column
	case types.IsNullType(from):
		return expression.NewLiteral(nil, to)
	case isTime && types.IsTime(from):
		return expression.NewConvertWithLengthAndScale(column, expression.ConvertToDatetime, t.Precision(), 0)
	}
	return column
}
