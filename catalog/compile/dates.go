package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// foldDates reads a text that is compared with a DATETIME column once, instead of once a row: GMS spends most of such a
// filter's time on it. A text that is no date is left as it is.
func foldDates(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	out, _, err := transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		_, isComparison := compareOp(e)
		if !isComparison {
			return e, transform.SameTree, nil
		}
		children := e.Children()
		folded, same := foldPair(ctx, children[0], children[1])
		if same {
			return e, transform.SameTree, nil
		}
		n, err := e.WithChildren(ctx, folded...)
		return n, transform.NewTree, err
	})
	return out, err
}

func foldPair(ctx *sql.Context, l, r sql.Expression) (out []sql.Expression, same bool) {
	if x, ok := foldText(ctx, r, l); ok {
		return []sql.Expression{l, x}, false
	}
	if x, ok := foldText(ctx, l, r); ok {
		return []sql.Expression{x, r}, false
	}
	return nil, true
}

func foldText(ctx *sql.Context, e, column sql.Expression) (sql.Expression, bool) {
	literal, ok := e.(*expression.Literal)
	if !ok || !types.IsDatetimeType(column.Type(ctx)) {
		return nil, false
	}
	text, ok := literal.Value().(string)
	if !ok {
		return nil, false
	}
	at, _, err := types.DatetimeMaxPrecision.Convert(ctx, text)
	if err != nil || at == nil {
		return nil, false
	}
	return expression.NewLiteral(at, types.DatetimeMaxPrecision), true
}
