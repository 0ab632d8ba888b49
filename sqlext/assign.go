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

// assigned stands behind the expression of AssignFunction.
const assigned = "/*:=*/)"

var rewrittenVariable = regexp.MustCompile(VariableFunction + `\('([^']*)'\)|` + AssignFunction + `\('([^']*)',|/\*:=\*/\)`)

// WithoutAssignments is the text as it was written, for the name of a column.
func WithoutAssignments(text string) string { return rewrittenVariable.ReplaceAllString(text, "$1$2") }

// VariableName is the name of the variable in the first argument of AssignFunction or VariableFunction.
func VariableName(text string) string {
	return strings.Trim(strings.TrimRight(text, ":= \t\r\n")[1:], "`")
}

// assignments writes assignments to variables amid a statement as calls. Those of SET are vitess'; where a variable cannot be
// assigned, in a view, they are left to its error.
func (r *rewriter) assignments() {
	if first := r.at(0); first.is("SET") || first.is("CREATE") || first.is("ALTER") {
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
		case isVariable(t) && !into:
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

// assigns reports whether `@v :=` begins at token i.
func (r *rewriter) assigns(i int) bool { return isVariable(r.at(i)) && r.at(i+1).punct(":=") }

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
	before, behind := r.at(i-1), r.at(i+1)
	value := before.kind == tokNumber || before.kind == tokString || before.kind == tokQuoted || before.kind == tokParam || before.punct(")") || before.is("END") || isPlainWord(before) || isVariable(before)
	last := i+1 == len(r.tokens) || behind.punct(",") || behind.punct(")") || behind.is("FROM")
	return value && last && (t.kind == tokQuoted || isPlainWord(t)) && !r.at(i-2).is("INTERVAL")
}
