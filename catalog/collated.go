package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
)

// collateTexts gives COLLATE texts of the lake as texts of GMS's own, the only ones that it takes; numbers, dates and documents as their texts. What is of bytes, as NULL is too, has
// no collation but their order: that is an error whatever rows there are, as in MySQL.
func collateTexts(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	collated, ok := e.(*expression.CollatedExpression)
	if !ok || !collated.Resolved() {
		return e, transform.SameTree, nil
	}
	child := collated.Child()
	switch t := child.Type(ctx).(type) {
	case mysqltype.String, sql.DatetimeType:
		child = compile.NewDateText(child)
	case sql.NumberType, sql.DecimalType, types.JsonType:
		child = expression.NewConvert(child, expression.ConvertToChar)
	default:
		with, _ := collated.CollationCoercibility(ctx)
		if _, isNull := t.(sql.NullType); (isNull || types.IsBinaryType(t)) && with.CharacterSet() != sql.CharacterSet_binary {
			return nil, transform.SameTree, sql.ErrCollationInvalidForCharSet.New(with.Name(), sql.CharacterSet_binary.Name())
		}
		return e, transform.SameTree, nil
	}
	out, err := e.WithChildren(ctx, child)
	return out, transform.NewTree, err
}

// castParameters makes a text of a parameter with COLLATE: GMS takes its NULL for one that is written, which is of bytes.
func castParameters(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if c, ok := n.(*ast.CollateExpr); ok {
			if p, ok := c.Expr.(*ast.SQLVal); ok && p.Type == ast.ValArg {
				c.Expr = &ast.ConvertExpr{Name: "cast", Expr: p, Type: &ast.ConvertType{Type: "char"}}
			}
		}
		return true, nil
	}, stmt)
}

// collateMembers writes IN of a list as e = a OR e = b, where texts compare by another collation than by their bytes: GMS looks for equal bytes.
func collateMembers(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	in, ok := e.(*expression.InTuple)
	if !ok || !in.Resolved() {
		return e, transform.SameTree, nil
	}
	list, ok := in.Right().(expression.Tuple)
	if !ok {
		return e, transform.SameTree, nil
	}
	equal, collated := make([]sql.Expression, len(list)), false
	for i, member := range list {
		with, texts := compile.ComparedBy(ctx, in.Left(), member)
		collated = collated || texts && !compile.BytesDecide(with)
		equal[i] = expression.NewEquals(in.Left(), member)
	}
	if !collated {
		return e, transform.SameTree, nil
	}
	return expression.JoinOr(equal...), transform.NewTree, nil
}

// strcmp is STRCMP of texts, which both are computed as in MySQL: GMS's leaves the second one beside a NULL. Their collations are asked for when there
// are values: GMS puts arguments that can only be printed into the call before.
func strcmp(_ *sql.Context, of []sql.Expression) (scalarBody, error) {
	return scalarBody{typ: types.Int8, nulls: true, eval: func(ctx *sql.Context, args []any) (any, error) {
		if args[0] == nil || args[1] == nil {
			return nil, nil
		}
		left, ofLeft := sql.GetCoercibility(ctx, of[0])
		right, ofRight := sql.GetCoercibility(ctx, of[1])
		with, _ := sql.ResolveCoercibility(left, ofLeft, right, ofRight)
		order, err := types.CreateLongText(with).Compare(ctx, args[0], args[1])
		return int8(order), err
	}}, nil
}
