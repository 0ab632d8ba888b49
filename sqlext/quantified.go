package sqlext

import (
	"slices"
	"strings"
)

// The functions that Rewrite makes of a quantifier, whose first argument is its text and whose second one the subquery, and of WITH ROLLUP, which
// becomes the last expression of GROUP BY.
const (
	QuantifiedFunction = "__quantified"
	RollupFunction     = "__rollup"
)

// Quantifies reports whether the text of a quantifier says ALL; ANY and SOME are the same.
func Quantifies(text string) (all bool) { return strings.HasPrefix(strings.ToUpper(text), "ALL") }

// quantified rewrites `ALL (SELECT ...)` behind a comparison, at token i, as a call.
func (r *rewriter) quantified(i int) {
	t, open := r.at(i), r.at(i+1)
	if !t.is("ALL") && !t.is("ANY") && !t.is("SOME") || !open.punct("(") || !r.compares(i-1) {
		return
	}
	inner := i + 2
	for r.at(inner).punct("(") {
		inner++
	}
	if first := r.at(inner); !first.is("SELECT") && !first.is("WITH") && !first.is("TABLE") && !first.is("VALUES") {
		return
	}
	closing := r.closing(i + 1)
	if closing < 0 {
		return
	}
	r.edits.replace(t.start, open.end, QuantifiedFunction+"("+QuoteString(r.edits.sql[t.start:open.end])+",(")
	end := r.tokens[closing].end
	r.edits.replace(end, end, assigned)
}

// compares reports whether token i is a comparison that takes a quantifier: each but <=>.
func (r *rewriter) compares(i int) bool {
	t := r.at(i)
	return t.kind == tokPunct && slices.Contains([]string{"=", "<", ">", "<=", ">=", "<>", "!="}, t.text)
}

// closing is the token that closes the parenthesis at token i; -1 where none does.
func (r *rewriter) closing(i int) int {
	depth := 0
	for ; i < len(r.tokens); i++ {
		if t := r.tokens[i]; t.punct("(") {
			depth++
		} else if t.punct(")") {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// rollup rewrites WITH ROLLUP at token i.
func (r *rewriter) rollup(i int) {
	if t, next := r.at(i), r.at(i+1); t.is("WITH") && next.is("ROLLUP") {
		r.edits.replace(t.start, next.end, ", "+RollupFunction+"("+QuoteString(r.edits.sql[t.start:next.end])+")")
	}
}

// refuseQualify refuses QUALIFY at token i, which stands behind a table or a condition and before one over windows. Elsewhere it is a name.
func (r *rewriter) refuseQualify(i int) error {
	before, next := r.at(i-1), r.at(i+1)
	named := before.kind == tokWord && !behindExpression[strings.ToUpper(before.text)] && !before.is("SELECT") // a table, of whatever name
	if !r.at(i).is("QUALIFY") || !named && !r.endsValue(i-1) || next.kind != tokWord || behindExpression[strings.ToUpper(next.text)] || !r.hasBehind(i, "OVER") {
		return nil
	}
	return &RefusedError{Kind: NotSupported, Message: "QUALIFY is not supported: name the window in a subquery and ask for it outside, " +
		"as in SELECT * FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) AS n FROM t) q WHERE n = 1"}
}

// hasBehind reports whether the word stands behind token i.
func (r *rewriter) hasBehind(i int, word string) bool {
	for i++; i < len(r.tokens); i++ {
		if r.tokens[i].is(word) {
			return true
		}
	}
	return false
}
