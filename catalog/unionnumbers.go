package catalog

import (
	"slices"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
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
		return uniteColumns(ctx, u, func(l, r sql.Expression) func(sql.Expression) sql.Expression {
			switch {
			case types.IsFloat(l.Type(ctx)) || types.IsFloat(r.Type(ctx)):
				return func(column sql.Expression) sql.Expression {
					return expression.NewConvert(column, expression.ConvertToDouble)
				}
			case l.Type(ctx) == types.Uint64 && types.IsSigned(r.Type(ctx)), r.Type(ctx) == types.Uint64 && types.IsSigned(l.Type(ctx)):
				return asDecimal(types.MustCreateDecimalType(unsignedDigits, 0))
			}
			return nil
		})
	})
}

// uniteColumns converts the columns of both sides that are numbers to what convert gives for the two; nil leaves them as GMS has them.
func uniteColumns(
	ctx *sql.Context, u *plan.SetOp, convert func(l, r sql.Expression) func(sql.Expression) sql.Expression,
) (sql.Node, transform.TreeIdentity, error) {
	left, okL := u.Left().(*plan.Project)
	right, okR := u.Right().(*plan.Project)
	if !okL || !okR {
		return u, transform.SameTree, nil
	}
	ls, rs, same := slices.Clone(left.Projections), slices.Clone(right.Projections), transform.SameTree
	for i := range ls {
		l, okL := convertedNumber(ctx, left, i)
		r, okR := convertedNumber(ctx, right, i)
		if !okL || !okR {
			continue
		}
		to := convert(l, r)
		if to == nil {
			continue
		}
		ls[i], rs[i] = expression.NewAlias(ctx, ls[i].(*expression.Alias).Name(), to(l)), expression.NewAlias(ctx, rs[i].(*expression.Alias).Name(), to(r))
		same = transform.NewTree
	}
	if same {
		return u, same, nil
	}
	out, err := u.WithChildren(ctx, plan.NewProject(ctx, ls, left.Child), plan.NewProject(ctx, rs, right.Child))
	return out, same, err
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
	if cast, ok := e.(decimalCast); ok {
		e = cast.Convert
	}
	if convert, ok := e.(*expression.Convert); ok {
		e = convert.Child
	}
	f, isField := e.(*expression.GetField)
	if !isField || f.TableId() != 0 || !types.IsNumber(below[i].Type) {
		return nil, false
	}
	return expression.NewGetFieldWithTable(int(f.Id()), int(f.TableId()), below[i].Type, f.Database(), f.Table(), f.Name(), f.IsNullable(ctx)), true
}

// uniteDecimals makes columns of a set operation that are DECIMALs, or a DECIMAL beside an integer, one of all digits that either side has. GMS converts
// them to a DECIMAL without a scale, which leaves each value its own.
func uniteDecimals(ctx *sql.Context, u *plan.SetOp) (sql.Node, transform.TreeIdentity, error) {
	return uniteColumns(ctx, u, func(l, r sql.Expression) func(sql.Expression) sql.Expression {
		if !types.IsDecimal(l.Type(ctx)) && !types.IsDecimal(r.Type(ctx)) {
			return nil
		}
		a, okA := exactDigits(ctx, l)
		b, okB := exactDigits(ctx, r)
		if !okA || !okB {
			return nil
		}
		scale := max(a.scale, b.scale)
		digits := min(max(a.precision-a.scale, b.precision-b.scale)+scale, types.DecimalTypeMaxPrecision)
		return asDecimal(types.MustCreateDecimalType(digits, scale))
	})
}

// unsignedDigits is how many digits the largest unsigned BIGINT has.
const unsignedDigits = 20

// asDecimal converts columns to a DECIMAL.
func asDecimal(to sql.DecimalType) func(sql.Expression) sql.Expression {
	return func(column sql.Expression) sql.Expression {
		return &unitedDecimal{expression.UnaryExpressionStub{Child: column}, to}
	}
}

// unitedDecimal is an integer or a DECIMAL as a DECIMAL that has room for it.
type unitedDecimal struct {
	expression.UnaryExpressionStub
	typ sql.DecimalType
}

var (
	_ sql.Expression         = (*unitedDecimal)(nil)
	_ sql.CollationCoercible = (*unitedDecimal)(nil)
	_ compile.Caster         = (*unitedDecimal)(nil)
)

// CastTo is how batches have it.
func (e *unitedDecimal) CastTo(*sql.Context) (sql.Expression, batch.Type, bool) {
	if e.typ.Precision() > mysqltype.MaxDecimalPrecision {
		return nil, batch.Type{}, false
	}
	return e.Child, batch.DecimalOf(e.typ.Precision(), e.typ.Scale()), true
}

// Type is the DECIMAL.
func (e *unitedDecimal) Type(*sql.Context) sql.Type { return e.typ }

// CollationCoercibility is that of a number.
func (e *unitedDecimal) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

func (e *unitedDecimal) String() string {
	return "convert(" + e.Child.String() + ", " + e.typ.String() + ")"
}

// Eval is the number with all digits of the type.
func (e *unitedDecimal) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	n, err := numberOf(ctx, v)
	if err != nil || n == nil {
		return nil, err
	}
	out := new(apd.Decimal)
	_, err = exactContext.Quantize(out, n, -int32(e.typ.Scale()))
	return out, err
}

// WithChildren returns it over another number.
func (e *unitedDecimal) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &unitedDecimal{expression.UnaryExpressionStub{Child: children[0]}, e.typ}, nil
}
