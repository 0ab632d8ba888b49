package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// joinOperands has the conditions of joins compared as compareOperands has it, those too that GMS makes of IN (SELECT ...) after that; and leaves in the hash tables
// of joins on rows the keys of which equal values have one hash. GMS converts both sides to the type of the left one, and so finds no row where a text is compared with
// a date, or a number with a text, and fails at a DECIMAL that has more digits than its type. The join looks at its whole condition for the rows found, so that a key less costs time alone.
func joinOperands(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.JoinNode:
			return transform.OneNodeExpressions(ctx, n, comparedAsWritten)
		case *plan.HashLookup:
			return hashEqualKeys(ctx, n)
		}
		return n, transform.SameTree, nil
	})
}

// comparedAsWritten is a comparison after the rules for comparisons.
func comparedAsWritten(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	e, same, err := readDates(ctx, e)
	if err != nil {
		return nil, same, err
	}
	out, unchanged, err := comparison(ctx, e)
	return out, same && unchanged, err
}

func hashEqualKeys(ctx *sql.Context, lookup *plan.HashLookup) (sql.Node, transform.TreeIdentity, error) {
	left, okL := lookup.LeftProbeKey.(expression.Tuple)
	right, okR := lookup.RightEntryKey.(expression.Tuple)
	if !okL || !okR || len(left) != len(right) {
		return lookup, transform.SameTree, nil
	}
	var keptLeft, keptRight expression.Tuple
	same := transform.SameTree
	for i := range left {
		pair, unchanged := comparedFlat(ctx, []sql.Expression{left[i], right[i]})
		if types.IsDecimal(pair[0].Type(ctx)) && types.IsDecimal(pair[1].Type(ctx)) {
			pair, unchanged = []sql.Expression{hashedAs(ctx, pair[0]), hashedAs(ctx, pair[1])}, transform.NewTree
		}
		if !hashAlike(pair[0].Type(ctx), pair[1].Type(ctx)) {
			same = transform.NewTree
			continue
		}
		same = same && unchanged
		keptLeft, keptRight = append(keptLeft, pair[0]), append(keptRight, pair[1])
	}
	switch {
	case bool(same):
		return lookup, same, nil
	case len(keptLeft) == 0:
		return plan.NewCachedResults(lookup.Child), same, nil
	}
	return plan.NewHashLookup(ctx, lookup.Child, keptRight, keptLeft, lookup.JoinType), same, nil
}

// hashAlike tells whether equal values of two types have one hash once GMS has made values of the left type of them. GMS hashes the bytes of texts.
func hashAlike(l, r sql.Type) bool {
	if types.IsInteger(l) && types.IsInteger(r) {
		return true
	}
	left, okL := l.(sql.StringType)
	right, okR := r.(sql.StringType)
	if okL && okR {
		c := left.Collation()
		return c == right.Collation() && (c == sql.Collation_Default || c == sql.Collation_binary) && left.MaxCharacterLength() >= right.MaxCharacterLength()
	}
	return l.Equals(r) && !types.IsJSON(l) && !types.IsTuple(l)
}
