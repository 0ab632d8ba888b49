package compile

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Narrowed is a table that makes its rows when they are read, and need not make those that a WHERE leaves out.
type Narrowed interface {
	sql.Table
	// NarrowedBy says whether the table can keep to rows whose column is one of some texts, as the column's collation compares.
	NarrowedBy(column int) bool
	// NarrowedRows are the rows of which each of the columns is one of its texts.
	NarrowedRows(ctx *sql.Context, to map[int][]string) (sql.RowIter, error)
}

// buildNarrowed runs a filter right above a Narrowed table; nil, nil when it is none, or the filter does not narrow it.
func buildNarrowed(ctx *sql.Context, n *plan.Filter) (sql.RowIter, error) {
	t, ok := narrowedBelow(n.Child)
	if !ok {
		return nil, nil
	}
	to := make(map[int][]string)
	var rest []sql.Expression
	for _, e := range expression.SplitConjunction(ctx, n.Expression) {
		column, texts, ok := equalToTexts(ctx, e)
		if _, twice := to[column]; ok && !twice && t.NarrowedBy(column) {
			to[column] = texts
		} else {
			rest = append(rest, e)
		}
	}
	if len(to) == 0 {
		return nil, nil
	}
	rows, err := t.NarrowedRows(ctx, to)
	if err != nil || len(rest) == 0 {
		return rows, err
	}
	return plan.NewFilterIter(expression.JoinAnd(rest...), rows), nil
}

func narrowedBelow(n sql.Node) (Narrowed, bool) {
	if alias, ok := n.(*plan.TableAlias); ok {
		n = alias.Child
	}
	resolved, ok := n.(*plan.ResolvedTable)
	if !ok {
		return nil, false
	}
	table := resolved.Table
	if w, ok := table.(sql.TableWrapper); ok {
		table = w.Underlying()
	}
	t, ok := table.(Narrowed)
	return t, ok
}

// equalToTexts takes column = text, column LIKE text without wildcards, and an OR of such about one column, apart.
func equalToTexts(ctx *sql.Context, e sql.Expression) (column int, texts []string, ok bool) {
	switch e := e.(type) {
	case *expression.Or:
		left, some, ok := equalToTexts(ctx, e.LeftChild)
		if !ok {
			return 0, nil, false
		}
		right, more, ok := equalToTexts(ctx, e.RightChild)
		return left, append(some, more...), ok && left == right
	case *expression.Equals:
		if column, text, ok := columnAndText(ctx, e.Left(), e.Right()); ok {
			return column, []string{text}, true
		}
		column, text, ok := columnAndText(ctx, e.Right(), e.Left())
		return column, []string{text}, ok
	case *expression.Like:
		column, text, ok := columnAndText(ctx, e.Left(), e.Right())
		return column, []string{text}, ok && e.Escape == nil && !strings.ContainsAny(text, `%_\`)
	}
	return 0, nil, false
}

// columnAndText evaluates the other side of a comparison with a column: it must be a text, and the same one for all rows. Texts that compare by
// another collation than the column's are left to the filter.
func columnAndText(ctx *sql.Context, column, other sql.Expression) (int, string, bool) {
	f, ok := column.(*expression.GetField)
	if !ok || !types.IsText(other.Type(ctx)) {
		return 0, "", false
	}
	with, ok := ComparedBy(ctx, column, other)
	if of, is := f.Type(ctx).(sql.TypeWithCollation); !ok || !is || of.Collation() != with {
		return 0, "", false
	}
	varies := transform.InspectExpr(ctx, other, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField, *plan.Subquery:
			return true
		case sql.NonDeterministicExpression:
			return e.IsNonDeterministic()
		}
		return false
	})
	if varies {
		return 0, "", false
	}
	v, err := other.Eval(ctx, nil)
	text, ok := v.(string)
	return f.Index(), text, ok && err == nil
}
