package catalog

import (
	"context"
	"slices"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
)

// compareOperands has numbers compared as MySQL and batches do it: as DOUBLE where one of them is a FLOAT or DOUBLE, or a text beside a DECIMAL, NaN as
// the greatest, a date as the number of its digits, else exactly. GMS reads dates off numbers, makes a DECIMAL of a DOUBLE beside a DECIMAL, which infinities have no
// place in, finds no order for NaN, and rounds one DECIMAL to the scale of the other. The bits of a date are those of the same number.
func compareOperands(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if b, ok := e.(*expression.BitOp); ok && b.Resolved() {
		out, err := bitOperation(b.Op).NewInstance(ctx, []sql.Expression{summed(ctx, b.LeftChild), summed(ctx, b.RightChild)})
		return out, transform.NewTree, err
	}
	return comparison(ctx, e)
}

func comparison(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if !isComparison(e) {
		return e, transform.SameTree, nil
	}
	if columns := columnwise(e); columns != nil {
		for i, c := range columns {
			var err error
			if columns[i], _, err = comparison(ctx, c); err != nil {
				return nil, transform.SameTree, err
			}
		}
		return expression.JoinAnd(columns...), transform.NewTree, nil
	}
	if members := memberwise(ctx, e); members != nil {
		for i, c := range members {
			var err error
			if members[i], _, err = comparison(ctx, c); err != nil {
				return nil, transform.SameTree, err
			}
		}
		return expression.JoinOr(members...), transform.NewTree, nil
	}
	children, same := comparedAll(ctx, e.Children())
	if same {
		return e, same, nil
	}
	out, err := e.WithChildren(ctx, children...)
	return out, same, err
}

// columnwise are the comparisons of the columns of (a, b) = (c, d), or <=>; nil for any other.
func columnwise(e sql.Expression) []sql.Expression {
	equal := func(l, r sql.Expression) sql.Expression { return expression.NewEquals(l, r) }
	switch e.(type) {
	case *expression.Equals:
	case *expression.NullSafeEquals:
		equal = func(l, r sql.Expression) sql.Expression { return expression.NewNullSafeEquals(l, r) }
	default:
		return nil
	}
	left, okL := e.Children()[0].(expression.Tuple)
	right, okR := e.Children()[1].(expression.Tuple)
	if !okL || !okR || len(left) != len(right) {
		return nil
	}
	out := make([]sql.Expression, len(left))
	for i := range left {
		out[i] = equal(left[i], right[i])
	}
	return out
}

// memberwise are the comparisons of e IN (a, b) whose list has texts and others: each with the type of its own two sides, as in MySQL. nil for any other.
func memberwise(ctx *sql.Context, e sql.Expression) []sql.Expression {
	in, ok := e.(*expression.InTuple)
	if !ok || !in.Resolved() || types.NumColumns(in.Left().Type(ctx)) != 1 {
		return nil
	}
	list, ok := in.Right().(expression.Tuple)
	if !ok {
		return nil
	}
	equal, texts := make([]sql.Expression, len(list)), 0
	for i, member := range list {
		equal[i] = expression.NewEquals(in.Left(), member)
		if types.IsTextOnly(member.Type(ctx)) {
			texts++
		}
	}
	if texts == 0 || texts == len(list) {
		return nil
	}
	return equal
}

// comparedAll are operands, those in the list of an IN too, as they are compared.
func comparedAll(ctx *sql.Context, all []sql.Expression) ([]sql.Expression, transform.TreeIdentity) {
	flat := all
	list, isList := all[len(all)-1].(expression.Tuple)
	if isList {
		flat = append([]sql.Expression{all[0]}, list...)
	}
	wrapped, same := comparedFlat(ctx, flat)
	if same {
		return all, same
	}
	if isList {
		return []sql.Expression{wrapped[0], expression.NewTuple(wrapped[1:]...)}, transform.NewTree
	}
	return wrapped, transform.NewTree
}

// comparedFlat are operands as they are compared.
func comparedFlat(ctx *sql.Context, all []sql.Expression) ([]sql.Expression, transform.TreeIdentity) {
	all, same := datesAsNumbers(ctx, all)
	as, ok := comparedAs(ctx, all)
	if !ok {
		return all, same
	}
	wrapped := make([]sql.Expression, len(all))
	for i, e := range all {
		wrapped[i] = &compared{expression.UnaryExpressionStub{Child: e}, as}
	}
	return wrapped, transform.NewTree
}

// comparedAs is the type by which operands are compared; false where GMS does it right, or that is done.
func comparedAs(ctx *sql.Context, all []sql.Expression) (sql.Type, bool) {
	texts, numbers, floats, decimals := 0, 0, false, false
	literals, plain := 0, 0 // texts, too; plain ones are numbers, which GMS reads right
	for _, e := range all {
		if _, done := e.(*compared); done || !e.Resolved() {
			return nil, false
		}
		t := e.Type(ctx)
		literal, isLiteral := e.(*expression.Literal)
		switch {
		case types.IsNumber(t):
			numbers++
			floats, decimals = floats || types.IsFloat(t), decimals || types.IsDecimal(t)
		case types.IsTextOnly(t) && isLiteral:
			literals++
			if plainNumber(literal) {
				plain++
			}
		case types.IsTextOnly(t):
			texts++
		default:
			return nil, false
		}
	}
	switch {
	case literals > 0 && (numbers == 0 || texts == 0 && plain == literals):
		return nil, false
	case texts == len(all):
		return comparedTexts(ctx, all)
	case texts+literals > 0:
		return nanOrder{types.Float64}, numbers > 0
	case floats:
		return nanOrder{types.Float64}, true
	}
	first := all[0].Type(ctx)
	differ := slices.ContainsFunc(all, func(e sql.Expression) bool { return !types.TypesEqual(first, e.Type(ctx)) })
	return exactOrder{types.InternalDecimalType}, decimals && differ
}

// plainNumber tells whether a text is a number and nothing else, which GMS reads as MySQL does.
func plainNumber(text *expression.Literal) bool {
	s, ok := text.Value().(string)
	if !ok {
		return true
	}
	_, exact := mysqltype.DoubleOf(s)
	return exact
}

// comparedTexts is the type of texts of one collation and several lengths: for the keys of joins, GMS cuts those of one side to the length of the other.
func comparedTexts(ctx *sql.Context, all []sql.Expression) (sql.Type, bool) {
	lengths := make(map[int64]bool)
	collation := all[0].Type(ctx).(sql.StringType).Collation()
	for _, e := range all {
		t := e.Type(ctx).(sql.StringType)
		if t.Collation() != collation {
			return nil, false
		}
		lengths[t.MaxCharacterLength()] = true
	}
	return types.CreateLongText(collation), len(lengths) > 1
}

// compared is an operand as it is compared: a float64 for a nanOrder, a decimal for an exactOrder.
type compared struct {
	expression.UnaryExpressionStub
	as sql.Type
}

var (
	_ sql.Expression         = (*compared)(nil)
	_ sql.CollationCoercible = (*compared)(nil)
	_ compile.Wrapper        = (*compared)(nil)
)

// Unwrap returns the expression that compiles: batches compare so.
func (e *compared) Unwrap() sql.Expression { return e.Child }

func (e *compared) String() string { return e.Child.String() }

// Type is the one that compares.
func (e *compared) Type(*sql.Context) sql.Type { return e.as }

// CollationCoercibility is the operand's.
func (e *compared) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.Child)
}

// WithChildren is of another operand.
func (e *compared) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &compared{expression.UnaryExpressionStub{Child: children[0]}, e.as}, nil
}

// Eval is the value.
func (e *compared) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if text, ok := v.(string); ok {
		switch e.as.(type) {
		case nanOrder:
			return doubleNumber(ctx, text), nil
		case exactOrder:
			return exactNumber(ctx, text), nil
		}
	}
	out, _, err := e.as.Convert(ctx, v)
	if sql.ErrTruncatedIncorrect.Is(err) {
		ctx.Warn(mysqltype.WrongValue, "%s", err.Error())
		err = nil
	}
	return out, err
}

// exactOrder is DECIMAL that compares numbers of any size and scale.
type exactOrder struct{ sql.DecimalType }

// Convert is a number as a decimal that has one form for one value, as the keys of joins need it.
func (t exactOrder) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	if v == nil {
		return nil, sql.InRange, nil
	}
	n, ok := v.(*apd.Decimal)
	if !ok {
		converted, inRange, err := t.DecimalType.Convert(ctx, v)
		if n, ok = converted.(*apd.Decimal); err != nil || !ok {
			return converted, inRange, err
		}
	}
	out := new(apd.Decimal)
	out.Reduce(n)
	out.Negative = out.Negative && !out.IsZero()
	return out, sql.InRange, nil
}

// Promote is itself.
func (t exactOrder) Promote() sql.Type { return t }

// Compare compares two decimals.
func (t exactOrder) Compare(ctx context.Context, a, b any) (int, error) {
	x, okX := a.(*apd.Decimal)
	y, okY := b.(*apd.Decimal)
	if !okX || !okY {
		return t.DecimalType.Compare(ctx, a, b)
	}
	return x.Cmp(y), nil
}

// Equals is true of another exactOrder.
func (t exactOrder) Equals(other sql.Type) bool {
	_, ok := other.(exactOrder)
	return ok
}
