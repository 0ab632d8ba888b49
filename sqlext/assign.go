package sqlext

import (
	"regexp"
	"strings"
)

// The functions that Rewrite makes of `@v := e` and, in a statement that has such, of `@v` elsewhere. Their first argument is the text that they stand for.
const (
	AssignFunction   = "__assign"
	VariableFunction = "__variable"
)

// assigned stands behind the expression of AssignFunction, and the subquery of QuantifiedFunction: an argument that nobody writes, and no comment, as it may stand in one that is executed.
const assigned = ", 0x3A3D5F)"

var rewritten = regexp.MustCompile(VariableFunction + `\('([^']*)'\)|` + `(?:` + AssignFunction + `|` + IntervalFunction + `)\('([^']*)',|` +
	QuantifiedFunction + `\('([^']*)',\(|, ` + RollupFunction + `\('([^']*)'\)|` + regexp.QuoteMeta(assigned) +
	`|` + LiteralFunction + `\('(\w+)'(\s*),('(?:[^'\\]|\\.|'')*')\)` + `|(\\)\\(?:' '|" ")([%_])` + `|(\()/\*=((?i:row)\s*)\*/`)

// AsWritten is a text before Rewrite made calls of assignments, quantifiers, WITH ROLLUP and literals of dates and of INTERVAL(...) in it, and two texts of one, for the name of a column, a view and errors.
func AsWritten(text string) string {
	return rewritten.ReplaceAllString(text, "$1$2$3$4$5$6$7$8$9${11}${10}")
}

// VariableName is the name of the variable in the first argument of AssignFunction or VariableFunction.
func VariableName(text string) string {
	return strings.Trim(strings.TrimRight(text, ":= \t\r\n")[1:], "`")
}

// assignments writes assignments to variables amid a statement as calls. What SET sets is vitess'; where a variable cannot be
// assigned, in a view, they are left to its error.
func (r *rewriter) assignments() {
	if first := r.at(0); first.is("CREATE") || first.is("ALTER") {
		return
	}
	var found bool
	for i := range r.tokens {
		found = found || r.assigns(i)
	}
	if !found {
		return
	}
	var open, nesting []int // of each assignment that has not ended, how deep it is; of each parenthesis and CASE, how many were open
	into := false
	for i := 0; i < len(r.tokens); i++ {
		t := r.tokens[i]
		closes := t.punct(")") || t.is("END")
		for len(open) > 0 && open[len(open)-1] == len(nesting) && (closes || r.endsExpression(i)) {
			open = open[:len(open)-1]
			r.edits.replace(r.tokens[i-1].end, r.tokens[i-1].end, assigned)
		}
		switch {
		case t.punct("(") || t.is("CASE"):
			nesting = append(nesting, i)
		case closes && len(nesting) > 0:
			nesting = nesting[:len(nesting)-1]
		case t.is("INTO"):
			into = true
		case t.is("FROM"):
			into = false
		case r.assigns(i):
			r.edits.replace(t.start, r.tokens[i+1].end, AssignFunction+"("+QuoteString(r.edits.sql[t.start:r.tokens[i+1].end])+",")
			open = append(open, len(nesting))
			i++
		case isVariable(t) && !into && !r.isSet(i):
			r.edits.replace(t.start, t.end, VariableFunction+"("+QuoteString(t.text)+")")
		}
	}
	for range open {
		end := r.tokens[len(r.tokens)-1].end
		r.edits.replace(end, end, assigned)
	}
}

func isVariable(t token) bool {
	return t.kind == tokWord && strings.HasPrefix(t.text, "@") && !strings.HasPrefix(t.text, "@@") && !strings.Contains(t.text, "'")
}

// assigns reports whether `@v :=` begins at token i, amid a statement.
func (r *rewriter) assigns(i int) bool {
	return isVariable(r.at(i)) && r.at(i+1).punct(":=") && !r.isSet(i)
}

// isSet reports whether token i is what a SET sets: it stands behind the word, or behind a comma that is in no parentheses.
func (r *rewriter) isSet(i int) bool {
	if !r.at(0).is("SET") {
		return false
	}
	if i == 1 {
		return true
	}
	depth := 0
	for _, t := range r.tokens[:i] {
		if t.punct("(") {
			depth++
		} else if t.punct(")") {
			depth--
		}
	}
	return depth == 0 && r.at(i-1).punct(",")
}

// behindExpression are the words that stand behind an expression.
var behindExpression = map[string]bool{
	"AS": true, "WHEN": true, "THEN": true, "ELSE": true, "FROM": true, "WHERE": true, "GROUP": true, "HAVING": true, "WINDOW": true, "ORDER": true, "LIMIT": true, "UNION": true, "EXCEPT": true, "INTERSECT": true, "INTO": true, "FOR": true,
	"LOCK": true, "ASC": true, "DESC": true, "JOIN": true, "INNER": true, "CROSS": true, "STRAIGHT_JOIN": true, "NATURAL": true, "ON": true, "USING": true, "SEPARATOR": true,
}

// endsExpression reports whether token i ends the expression before it: a comma, a word that goes on with the statement, or an alias without AS.
func (r *rewriter) endsExpression(i int) bool {
	t := r.at(i)
	switch {
	case t.punct(","):
		return true
	case (t.is("LEFT") || t.is("RIGHT")) && !r.at(i+1).punct("("):
		return true
	case t.kind == tokWord && behindExpression[strings.ToUpper(t.text)]:
		return true
	}
	return r.endsValue(i-1) && (t.kind == tokQuoted || isPlainWord(t) || t.kind == tokString && !introduces(r.at(i-1)))
}

// valueWords are the keywords that end an expression: values, and units of an INTERVAL.
var valueWords = map[string]bool{
	"END": true, "NULL": true, "TRUE": true, "FALSE": true, "CURRENT_DATE": true, "CURRENT_TIME": true, "CURRENT_TIMESTAMP": true, "CURRENT_USER": true, "LOCALTIME": true, "LOCALTIMESTAMP": true,
	"UTC_DATE": true, "UTC_TIME": true, "UTC_TIMESTAMP": true,
	"MICROSECOND": true, "SECOND": true, "MINUTE": true, "HOUR": true, "DAY": true, "WEEK": true, "MONTH": true, "QUARTER": true, "YEAR": true,
}

// endsValue reports whether an expression may end with token i.
func (r *rewriter) endsValue(i int) bool {
	t := r.at(i)
	switch t.kind {
	case tokNumber, tokString, tokQuoted, tokParam:
		return true
	case tokWord:
		word := strings.ToUpper(t.text)
		return valueWords[word] || longUnits[word] || isPlainWord(t) || isVariable(t)
	}
	return t.punct(")")
}

// introduces reports whether a string behind the token is a value with it: N'x', _utf8mb4'x'.
func introduces(t token) bool {
	return t.kind == tokWord && (strings.HasPrefix(t.text, "_") || t.is("N"))
}
