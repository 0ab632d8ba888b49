package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// newField is FIELD(value, a, b, ...): a call of the comparisons, so that they are compared as value = a is; as DOUBLEs all where one is a number, and dates as texts. GMS's compares the texts of all,
// in small letters.
func newField(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) < 2 {
		return nil, sql.ErrInvalidArgumentNumber.New("field", "2 or more", len(args))
	}
	of := compile.NewDateText
	args = slices.Clone(args)
	if slices.ContainsFunc(args, func(e sql.Expression) bool { return e.Resolved() && types.IsNumber(e.Type(ctx)) }) {
		args, _ = numbersOf(ctx, args, len(args), toDouble, false)
		of = func(date sql.Expression) sql.Expression { return asNumber(ctx, date) }
	}
	for i, e := range args {
		if e.Resolved() && isDate(ctx, e) {
			args[i] = of(e)
		}
	}
	comparisons := make([]sql.Expression, len(args)-1)
	for i, e := range args[1:] {
		comparisons[i] = expression.NewEquals(args[0], e)
	}
	body, err := firstTrue(ctx, comparisons)
	return &scalarCall{name: "field", args: comparisons, make: firstTrue, scalarBody: body}, err
}

// firstTrue is the place of the first that is true, from 1; 0 where none is.
func firstTrue(*sql.Context, []sql.Expression) (scalarBody, error) {
	return scalarBody{typ: types.Int64, nulls: true, eval: func(_ *sql.Context, args []any) (any, error) {
		return int64(slices.Index(args, any(true)) + 1), nil
	}}, nil
}
