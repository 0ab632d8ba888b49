package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// carryCollations has comparisons and LIKE take what functions make of texts with COLLATE as texts of that collation, as MySQL does.
func carryCollations(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if _, isLike := e.(*expression.Like); !isLike && !isComparison(e) {
		return e, transform.SameTree, nil
	}
	operands, same := carriedAll(ctx, e.Children())
	if same {
		return e, same, nil
	}
	out, err := e.WithChildren(ctx, operands...)
	return out, same, err
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
		if with, ok := carriedBy(ctx, e); ok {
			out[i], same = &carriedText{expression.UnaryExpressionStub{Child: compile.NewDateText(e)}, with}, transform.NewTree
		}
	}
	return out, same
}

// carrying are the functions whose text is made of their texts.
var carrying = map[string]bool{
	"concat": true, "concat_ws": true, "ifnull": true, "coalesce": true, "nullif": true, "if": true, "left": true, "right": true, "substring": true, "substr": true, "mid": true, "replace": true,
	"lpad": true, "rpad": true, "repeat": true, "insert": true, "greatest": true, "least": true, "elt": true, "substring_index": true, "trim": true, "ltrim": true, "rtrim": true,
	"upper": true, "ucase": true, "lower": true, "lcase": true, "reverse": true,
}

// carriedBy is the collation of the COLLATE in the operands of an expression; false where there is none, and all texts compare by their bytes.
func carriedBy(ctx *sql.Context, e sql.Expression) (sql.CollationID, bool) {
	from := e.Children()
	switch e := e.(type) {
	case *expression.Case:
		from = nil
		for _, b := range e.Branches {
			from = append(from, b.Value)
		}
		if e.Else != nil {
			from = append(from, e.Else)
		}
	case sql.FunctionExpression:
		if !carrying[strings.ToLower(e.FunctionName())] {
			return 0, false
		}
	default:
		return 0, false
	}
	if !e.Resolved() || !types.IsTextOnly(e.Type(ctx)) {
		return 0, false
	}
	for _, c := range from {
		if written, ok := c.(*compile.DateText); ok {
			c = written.Child
		}
		if collated, ok := c.(*expression.CollatedExpression); ok {
			if with, _ := collated.CollationCoercibility(ctx); !compile.BytesDecide(with) {
				return with, true
			}
		}
		if with, ok := carriedBy(ctx, c); ok {
			return with, true
		}
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
