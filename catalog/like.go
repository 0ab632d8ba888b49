package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// likeTexts has LIKE match the characters of texts. GMS takes a text that a function makes of a literal and a column of numbers for bytes, of which _ is one. An
// ESCAPE that is not the same for all rows is refused, as MySQL does. A pattern that may have a backslash is given its ESCAPE: of one without, GMS makes
// comparisons with the pattern's text, backslash and all.
func likeTexts(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	l, ok := e.(*expression.Like)
	if !ok || !l.Resolved() {
		return e, transform.SameTree, nil
	}
	if l.Escape != nil && transform.InspectExpr(ctx, l.Escape, isField) {
		return nil, transform.SameTree, sql.ErrInvalidArgument.New("ESCAPE")
	}
	left, okL := ofCharacters(ctx, l.Left())
	right, okR := ofCharacters(ctx, l.Right())
	escape := l.Escape
	if escape == nil && mayEscape(l.Right()) {
		escape = expression.NewLiteral(`\`, types.LongText)
	}
	if !okL && !okR && escape == l.Escape {
		return e, transform.SameTree, nil
	}
	return expression.NewLike(left, right, escape), transform.NewTree, nil
}

// mayEscape says whether a pattern may have a backslash.
func mayEscape(pattern sql.Expression) bool {
	literal, ok := pattern.(*expression.Literal)
	if !ok {
		return true
	}
	text, ok := literal.Value().(string)
	return ok && strings.Contains(text, `\`)
}

func isField(_ *sql.Context, e sql.Expression) bool {
	_, ok := e.(*expression.GetField)
	return ok
}

// ofCharacters is a text that GMS takes for bytes as a characters; false for any other expression.
func ofCharacters(ctx *sql.Context, e sql.Expression) (sql.Expression, bool) {
	if collation, _ := sql.GetCoercibility(ctx, e); collation != sql.Collation_binary || !types.IsTextOnly(e.Type(ctx)) {
		return e, false
	}
	return &characters{expression.UnaryExpressionStub{Child: e}}, true
}

// characters is a text whose collation is that of texts.
type characters struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*characters)(nil)
	_ sql.CollationCoercible = (*characters)(nil)
	_ compile.Wrapper        = (*characters)(nil)
)

// Unwrap returns the expression that compiles: texts of batches are texts.
func (e *characters) Unwrap() sql.Expression { return e.Child }

func (e *characters) String() string { return e.Child.String() }

// Type is the text's.
func (e *characters) Type(ctx *sql.Context) sql.Type { return e.Child.Type(ctx) }

// CollationCoercibility is that of texts, as strong as the text's.
func (e *characters) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	_, coercibility := sql.GetCoercibility(ctx, e.Child)
	return sql.Collation_Default, coercibility
}

// WithChildren is of another text.
func (e *characters) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &characters{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval is the text.
func (e *characters) Eval(ctx *sql.Context, row sql.Row) (any, error) { return e.Child.Eval(ctx, row) }
