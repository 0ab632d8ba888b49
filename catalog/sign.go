package catalog

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
)

// signOf is SIGN(number); 0 for NaN. GMS's rounds the number before.
func signOf(ctx *sql.Context, args []any) (any, error) {
	if d, ok := args[0].(*apd.Decimal); ok {
		return int8(d.Sign()), nil
	}
	converted, _, err := types.Float64.Convert(ctx, args[0])
	if sql.ErrTruncatedIncorrect.Is(err) {
		ctx.Warn(mysqltype.WrongValue, "%s", err.Error())
		err = nil
	}
	switch f, _ := converted.(float64); {
	case f > 0:
		return int8(1), err
	case f < 0:
		return int8(-1), err
	}
	return int8(0), err
}
