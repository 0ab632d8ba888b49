package sqlext

import "strings"

// IntervalFunction is the function that Rewrite makes of INTERVAL(n, a, b, ...). Its first argument is the text that it stands for.
const IntervalFunction = "__interval_of"

// forms rewrites, at token i, what MySQL's grammar has and vitess' has not.
func (r *rewriter) forms(i int) {
	switch t := r.at(i); {
	case t.is("ROW"):
		r.row(i)
	case t.is("INTERVAL"):
		r.interval(i)
	case t.is("FOR"):
		r.share(i)
	case t.punct("-"):
		if next := r.at(i + 1); next.punct("-") && next.start == t.end {
			r.edits.replace(t.end, t.end, " ") // no comment without a blank behind it
		}
	case t.is("N"):
		if text := r.at(i + 1); text.kind == tokString && text.start == t.end {
			r.edits.replace(t.start, t.end, "")
		}
	}
}

// row takes the word ROW from before a row: vitess has it in VALUES ROW(...) alone. It stays as a comment, for the name of a column.
func (r *rewriter) row(i int) {
	t, open := r.at(i), r.at(i+1)
	if !open.punct("(") || r.at(i-1).punct(".") {
		return
	}
	for _, other := range r.tokens {
		if other.is("VALUES") || other.is("CREATE") || other.is("ALTER") {
			return
		}
	}
	r.edits.replace(t.start, open.end, "(/*="+r.edits.sql[t.start:open.start]+"*/")
}

// interval rewrites INTERVAL(n, a, b, ...) as a call. INTERVAL (n) DAY has one expression.
func (r *rewriter) interval(i int) {
	open := r.at(i + 1)
	closing := r.closing(i + 1)
	if !open.punct("(") || closing < 0 {
		return
	}
	for j, depth := i+2, 0; j < closing; j++ {
		switch t := r.at(j); {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		case t.punct(",") && depth == 0:
			r.edits.replace(r.at(i).start, open.end, IntervalFunction+"("+QuoteString(r.edits.sql[r.at(i).start:open.end])+",")
			return
		}
	}
}

// share rewrites FOR SHARE [OF t, ...] [NOWAIT | SKIP LOCKED] at token i as LOCK IN SHARE MODE. Nothing waits for locks here.
func (r *rewriter) share(i int) {
	if !r.at(i + 1).is("SHARE") {
		return
	}
	end := i + 2
	if r.at(end).is("OF") {
		for end += 2; r.at(end).punct(",") || r.at(end).punct("."); {
			end += 2
		}
	}
	switch {
	case r.at(end).is("NOWAIT"):
		end++
	case r.at(end).is("SKIP") && r.at(end+1).is("LOCKED"):
		end += 2
	}
	r.edits.replace(r.at(i).start, r.at(end-1).end, "LOCK IN SHARE MODE")
}

// united takes the parentheses at token i from around a query that is ordered or limited behind them, and not in them, or that is all there is.
func (r *rewriter) united(i int) {
	if !r.at(i).punct("(") {
		return
	}
	inner, closing := r.at(i+1), r.closing(i)
	if i > 0 && (!r.at(i-1).punct("(") || r.at(i-2).is("GROUP_CONCAT")) || closing < 0 || !inner.is("SELECT") && !inner.punct("(") {
		return
	}
	behind := r.at(closing + 1)
	whole := i == 0 && behind.kind == tokEOF
	if !whole && !behind.is("ORDER") && !behind.is("LIMIT") {
		return
	}
	for j, depth := i+1, 0; j < closing; j++ {
		switch t := r.at(j); {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		case depth == 0 && !whole && (t.is("ORDER") || t.is("LIMIT") || t.is("INTO") || t.is("FOR") || t.is("LOCK")):
			return
		}
	}
	r.edits.replace(r.at(i).start, r.at(i).end, " ")
	r.edits.replace(r.at(closing).start, r.at(closing).end, " ")
}

// DerivedWithoutAlias reports whether a derived table in the text has no name, which MySQL has an error of its own for.
func DerivedWithoutAlias(sql string) bool {
	for l := newLexer(sql); ; {
		tokens, last := statementTokens(l)
		r := rewriter{tokens: tokens, from: []bool{false}}
		for i, t := range tokens {
			switch {
			case t.punct("("):
				if r.derived(i) {
					return true
				}
				r.from = append(r.from, r.from[len(r.from)-1])
			case t.punct(")") && len(r.from) > 1:
				r.from = r.from[:len(r.from)-1]
			}
			r.scope(t)
		}
		if last {
			return false
		}
	}
}

// derived reports whether the parenthesis at token i, behind FROM, JOIN or a comma, opens a derived table without a name.
func (r *rewriter) derived(i int) bool {
	first, closing := r.at(i+1), r.closing(i)
	if r.at(i-1).punct("(") || !r.tableReference(i) || closing < 0 || !first.is("SELECT") && !first.is("WITH") {
		return false
	}
	next := r.at(closing + 1)
	return next.kind == tokEOF || next.punct(",") || next.punct(")") || next.kind == tokWord && behindDerived[strings.ToUpper(next.text)]
}

// behindDerived are the words that stand behind a derived table and its name.
var behindDerived = map[string]bool{
	"WHERE": true, "GROUP": true, "HAVING": true, "ORDER": true, "LIMIT": true, "ON": true, "USING": true, "JOIN": true, "INNER": true, "CROSS": true, "LEFT": true, "RIGHT": true, "NATURAL": true,
}
