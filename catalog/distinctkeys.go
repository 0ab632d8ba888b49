package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// countKeys has COUNT(DISTINCT) tell values apart as GROUP BY does. GMS's puts texts with commas between them, which takes no bytes, and no account
// of collations and of -0.
func countKeys(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if _, ok := e.(*aggregation.CountDistinct); !ok || slices.ContainsFunc(e.Children(), isNoKey) {
		return e, transform.SameTree, nil
	}
	children := slices.Clone(e.Children())
	for i, c := range e.Children() {
		children[i] = &distinctKey{Child: c, behind: e.Children()[i+1:]}
	}
	out, err := e.WithChildren(ctx, children...)
	return out, transform.NewTree, err
}

// isNoKey is true of what a distinctKey is not put around.
func isNoKey(e sql.Expression) bool {
	switch e.(type) {
	case *distinctKey, *expression.Star:
		return true
	}
	return !e.Resolved()
}

// distinctKey is a number that stands for a value: values that are equal have one. GMS does not ask for the keys behind one that is NULL, while MySQL computes
// all: a value may fail.
type distinctKey struct {
	Child  sql.Expression
	behind []sql.Expression
}

var (
	_ sql.Expression         = (*distinctKey)(nil)
	_ sql.CollationCoercible = (*distinctKey)(nil)
	_ compile.Wrapper        = (*distinctKey)(nil)
)

// Unwrap returns the expression that compiles: batches have keys of their own.
func (e *distinctKey) Unwrap() sql.Expression { return e.Child }

func (e *distinctKey) String() string { return e.Child.String() }

// Type is a BIGINT UNSIGNED.
func (e *distinctKey) Type(*sql.Context) sql.Type { return types.Uint64 }

// CollationCoercibility is that of a number.
func (e *distinctKey) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Resolved tells whether all values are.
func (e *distinctKey) Resolved() bool { return expression.ExpressionsResolved(e.Children()...) }

// IsNullable is the value's.
func (e *distinctKey) IsNullable(ctx *sql.Context) bool { return e.Child.IsNullable(ctx) }

// Children are the value and those behind it.
func (e *distinctKey) Children() []sql.Expression {
	return append([]sql.Expression{e.Child}, e.behind...)
}

// WithChildren is of other values.
func (e *distinctKey) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1+len(e.behind) {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1+len(e.behind))
	}
	return &distinctKey{Child: children[0], behind: children[1:]}, nil
}

// Eval is the key.
func (e *distinctKey) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v == nil {
		for _, b := range e.behind {
			if _, err := b.Eval(ctx, row); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return hash.HashOf(ctx, sql.Schema{{Type: e.Child.Type(ctx)}}, sql.Row{v})
}
