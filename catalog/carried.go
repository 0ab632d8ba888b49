package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// carryCollations has comparisons, LIKE and aggregates take what functions make of texts with COLLATE as texts of that collation, and compares all operands by the one that COLLATE
// gives to any of them, as MySQL does. Two COLLATEs that differ are an error.
func carryCollations(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if err := checkMix(ctx, e); err != nil {
		return nil, transform.SameTree, err
	}
	switch e := e.(type) {
	case *plan.InSubquery:
		return collateLeft(ctx, e)
	case *expression.Like, *aggregation.Max, *aggregation.Min, *aggregation.CountDistinct:
	default:
		if !isComparison(e) {
			return e, transform.SameTree, nil
		}
	}
	operands, same := carriedAll(ctx, e.Children())
	if at, with := collatedOperand(ctx, e, operands); at >= 0 {
		operands[at], same = collate(operands[at], with), transform.NewTree
	}
	if same {
		return e, same, nil
	}
	out, err := e.WithChildren(ctx, operands...)
	return out, same, err
}

func collate(e sql.Expression, with sql.CollationID) sql.Expression {
	return expression.NewCollatedExpression(compile.NewDateText(e), with)
}

// collatedOperand is the operand of a comparison that is to have the COLLATE of another one, and this: the first one of BETWEEN and IN, whose others are compared with it one by one,
// and what is beside a subquery, whose own COLLATE GMS does not see. -1: there is none.
func collatedOperand(ctx *sql.Context, comparison sql.Expression, operands []sql.Expression) (at int, with sql.CollationID) {
	if !isComparison(comparison) {
		return -1, 0
	}
	with, ok := firstExplicit(ctx, operands)
	if !ok || compile.BytesDecide(with) {
		return -1, 0
	}
	_, isList := operands[1].(expression.Tuple)
	several := len(operands) > 2 || isList
	at = 0
	for i, e := range operands {
		if _, isSubquery := e.(*plan.Subquery); isSubquery {
			several = several || i > 0 || len(operands) == 2
			if i == 0 && len(operands) == 2 {
				at = 1
			}
		}
	}
	if _, given := explicit(ctx, operands[at]); given || !several || !isText(ctx, operands[at]) {
		return -1, 0
	}
	return at, with
}

// collateLeft gives the left side of IN (SELECT ...) the COLLATEs that the columns of the SELECT have.
func collateLeft(ctx *sql.Context, in *plan.InSubquery) (sql.Expression, transform.TreeIdentity, error) {
	rows, ok := in.RightChild.(*plan.Subquery)
	if !ok {
		return in, transform.SameTree, nil
	}
	lefts, isTuple := in.LeftChild.(expression.Tuple)
	if !isTuple {
		lefts = expression.Tuple{in.LeftChild}
	}
	out, same := slices.Clone(lefts), transform.SameTree
	for i, l := range lefts {
		with, ok := explicitColumn(ctx, rows.Query, i)
		left, given := explicit(ctx, l)
		switch {
		case ok && given && with != left:
			return nil, same, mixOf("=", []operandCollation{{left, explicitly}, {with, explicitly}})
		case ok && !given && !compile.BytesDecide(with) && isText(ctx, l):
			out[i], same = collate(l, with), transform.NewTree
		}
	}
	if same {
		return in, same, nil
	}
	left := out[0]
	if isTuple {
		left = expression.NewTuple(out...)
	}
	e, err := in.WithChildren(ctx, left, in.RightChild)
	return e, transform.NewTree, err
}

// carryColumns is carryCollations for what is ordered, grouped and selected by.
func carryColumns(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	n, sameWindows, err := transform.NodeExprsWithOpaque(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if w, ok := e.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
			return withWindowKeys(ctx, w, carriedAll)
		}
		return e, transform.SameTree, nil
	})
	if err != nil {
		return nil, sameWindows, err
	}
	n, same, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		from := 0
		switch n := n.(type) {
		case *plan.Sort, *plan.Project:
		case *plan.GroupBy:
			from = len(n.SelectDeps)
		case *plan.SetOp:
			return n, transform.SameTree, checkSides(ctx, n)
		default:
			return n, transform.SameTree, nil
		}
		exprs := n.(sql.Expressioner)
		all := slices.Clone(exprs.Expressions())
		carried, same := carriedAll(ctx, all[from:])
		if same {
			return n, same, nil
		}
		out, err := exprs.WithExpressions(ctx, append(all[:from:from], carried...)...)
		return out, same, err
	})
	return n, same && sameWindows, err
}

// checkSides refuses a set operation to a column of which two COLLATEs give two collations.
func checkSides(ctx *sql.Context, u *plan.SetOp) error {
	for i := range u.Schema(ctx) {
		left, okL := explicitColumn(ctx, u.Left(), i)
		right, okR := explicitColumn(ctx, u.Right(), i)
		if okL && okR && left != right {
			return mixOf("UNION", []operandCollation{{left, explicitly}, {right, explicitly}})
		}
	}
	return nil
}

// carriedAll are operands, those in the list of an IN too, with the collations that they carry.
func carriedAll(ctx *sql.Context, of []sql.Expression) ([]sql.Expression, transform.TreeIdentity) {
	out, same := slices.Clone(of), transform.SameTree
	for i, e := range of {
		if list, ok := e.(expression.Tuple); ok {
			if items, unchanged := carriedAll(ctx, list); !unchanged {
				out[i], same = expression.NewTuple(items...), transform.NewTree
			}
			continue
		}
		if alias, ok := e.(*expression.Alias); ok {
			if with, ok := carriedBy(ctx, alias.Child); ok {
				text := &carriedText{expression.UnaryExpressionStub{Child: compile.NewDateText(alias.Child)}, with}
				out[i], same = expression.NewAlias(ctx, alias.Name(), text).WithId(alias.Id()).(sql.Expression), transform.NewTree
			}
			continue
		}
		if with, ok := carriedBy(ctx, e); ok {
			out[i], same = &carriedText{expression.UnaryExpressionStub{Child: compile.NewDateText(e)}, with}, transform.NewTree
		}
	}
	return out, same
}

// carrying are the functions whose text is made of their texts.
var carrying = map[string]bool{
	"concat": true, "concat_ws": true, "ifnull": true, "coalesce": true, "nullif": true, "if": true, "left": true, cutCharacters: true, "right": true, "substring": true, "substr": true, "mid": true, "replace": true,
	"lpad": true, "rpad": true, "repeat": true, "insert": true, "greatest": true, "least": true, "elt": true, "substring_index": true, "trim": true, "ltrim": true, "rtrim": true,
	"upper": true, "ucase": true, "lower": true, "lcase": true, "reverse": true,
}

// carriedFrom are the operands of an expression of which it has the collation of its text.
func carriedFrom(e sql.Expression) []sql.Expression {
	switch e := e.(type) {
	case *expression.Case:
		var from []sql.Expression
		for _, b := range e.Branches {
			from = append(from, b.Value)
		}
		if e.Else != nil {
			from = append(from, e.Else)
		}
		return from
	case sql.FunctionExpression:
		if carrying[strings.ToLower(e.FunctionName())] {
			return e.Children()
		}
	}
	return nil
}

// carriedBy is the collation of the COLLATE in the operands of an expression; false where there is none, and all texts compare by their bytes.
func carriedBy(ctx *sql.Context, e sql.Expression) (sql.CollationID, bool) {
	from := carriedFrom(e)
	if from == nil || !isText(ctx, e) {
		return 0, false
	}
	with, ok := firstExplicit(ctx, from)
	return with, ok && !compile.BytesDecide(with)
}

func isText(ctx *sql.Context, e sql.Expression) bool {
	return e.Resolved() && types.IsTextOnly(e.Type(ctx))
}

// firstExplicit is the collation of the first expression that has one by COLLATE; those in a list, too.
func firstExplicit(ctx *sql.Context, all []sql.Expression) (sql.CollationID, bool) {
	for _, e := range all {
		if with, ok := explicit(ctx, e); ok {
			return with, true
		}
		if list, ok := e.(expression.Tuple); ok {
			if with, ok := firstExplicit(ctx, list); ok {
				return with, true
			}
		}
	}
	return 0, false
}

// explicit is the collation that COLLATE gives to an expression, directly or in what it makes its text of.
func explicit(ctx *sql.Context, e sql.Expression) (sql.CollationID, bool) {
	switch e := e.(type) {
	case *compile.DateText:
		return explicit(ctx, e.Child)
	case *expression.Alias:
		return explicit(ctx, e.Child)
	case *carriedText:
		return e.with, true
	case *expression.CollatedExpression:
		if !e.Resolved() {
			return 0, false
		}
		with, _ := e.CollationCoercibility(ctx)
		return with, true
	case *plan.Subquery:
		return explicitColumn(ctx, e.Query, 0)
	}
	if from := carriedFrom(e); from != nil && isText(ctx, e) {
		return firstExplicit(ctx, from)
	}
	return 0, false
}

// explicitColumn is explicit of a column of a query.
func explicitColumn(ctx *sql.Context, n sql.Node, i int) (sql.CollationID, bool) {
	if convertsSide(n) {
		return explicitColumn(ctx, n.Children()[0], i)
	}
	switch n := n.(type) {
	case *plan.Project:
		return explicit(ctx, n.Projections[i])
	case *plan.SetOp:
		if with, ok := explicitColumn(ctx, n.Left(), i); ok {
			return with, true
		}
		return explicitColumn(ctx, n.Right(), i)
	case *plan.Sort, *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Having:
		return explicitColumn(ctx, n.Children()[0], i)
	}
	return 0, false
}

// carriedText is a text of a function, with the collation that it has of an operand.
type carriedText struct {
	expression.UnaryExpressionStub
	with sql.CollationID
}

var (
	_ sql.Expression         = (*carriedText)(nil)
	_ sql.CollationCoercible = (*carriedText)(nil)
)

func (e *carriedText) String() string { return e.Child.String() }

// Type is a text of the collation.
func (e *carriedText) Type(*sql.Context) sql.Type { return types.CreateLongText(e.with) }

// CollationCoercibility is that of COLLATE.
func (e *carriedText) CollationCoercibility(*sql.Context) (sql.CollationID, byte) { return e.with, 0 }

// WithChildren is of another text.
func (e *carriedText) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &carriedText{expression.UnaryExpressionStub{Child: children[0]}, e.with}, nil
}

// Eval is the text.
func (e *carriedText) Eval(ctx *sql.Context, row sql.Row) (any, error) { return e.Child.Eval(ctx, row) }
