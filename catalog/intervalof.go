package catalog

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/sqlext"
)

// intervalFunctions are INTERVAL(n, a, b, ...): how many of a, b, ..., which are in order, are no larger than n; -1 for NULL.
var intervalFunctions = map[string]sql.Function{
	sqlext.IntervalFunction: scalarFunction(sqlext.IntervalFunction, 3, math.MaxInt, func(*sql.Context, []sql.Expression) (scalarBody, error) {
		return scalarBody{typ: types.Int64, nulls: true, eval: intervalOf}, nil
	}),
}

func intervalOf(ctx *sql.Context, args []any) (any, error) {
	args = args[1:] // behind the text that was written
	if args[0] == nil {
		return int64(-1), nil
	}
	n, err := decimalValue(ctx, args[0])
	if err != nil {
		return nil, err
	}
	for i, bound := range args[1:] {
		if bound == nil {
			continue
		}
		b, err := decimalValue(ctx, bound)
		if err != nil {
			return nil, err
		}
		if n.Cmp(b) < 0 {
			return int64(i), nil
		}
	}
	return int64(len(args) - 1), nil
}
