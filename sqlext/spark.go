package sqlext

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// The functions that SparkExpression puts where MySQL has none that does what Spark's does.
const (
	SparkCast       = "__spark_cast"        // (value, 'type')
	SparkDivide     = "__spark_divide"      // (a, b)
	SparkDateFormat = "__spark_date_format" // (time, 'pattern'), a pattern of Java's
	SparkDateTrunc  = "__spark_date_trunc"  // ('unit', time)
	SparkTrunc      = "__spark_trunc"       // (date, 'unit')
	SparkDateAdd    = "__spark_date_add"    // (date, days)
	SparkAddMonths  = "__spark_add_months"  // (date, months)
	SparkAddTime    = "__spark_add_time"    // (date or time, n, 'unit')
	SparkSubstring  = "__spark_substring"   // (text, position [, length])
	SparkGreatest   = "__spark_greatest"    // (a, b, ...), NULLs left out
	SparkLeast      = "__spark_least"       // (a, b, ...), NULLs left out
)

// SparkExpression reads an expression of Spark's SQL, as the metadata of Delta tables hold them in constraints, generation
// expressions and defaults, and returns it as one that has the same value in MySQL's SQL. A column of a struct, s.x, becomes a column that is
// named so: `s.x`. What has another meaning in MySQL is mapped; what is not known to mean the same is refused by name. The error is a
// *RefusedError or a *SyntaxError.
func SparkExpression(text string) (sqlparser.Expr, error) {
	mapped, err := sparkTokens(text)
	if err != nil {
		return nil, err
	}
	stmt, err := sqlparser.ParseWithOptions(context.Background(), "SELECT "+mapped, sqlparser.ParserOptions{PipesAsConcat: true})
	if err != nil {
		return nil, refuseSpark(text, "it cannot be read: "+vitessNear(err))
	}
	sel, ok := stmt.(*sqlparser.Select)
	if !ok || len(sel.SelectExprs) != 1 || sel.Where != nil || sel.GroupBy != nil || sel.Limit != nil || !fromNothing(sel) {
		return nil, refuseSpark(text, "it is not one expression")
	}
	column, ok := sel.SelectExprs[0].(*sqlparser.AliasedExpr)
	if !ok || !column.As.IsEmpty() {
		return nil, refuseSpark(text, "it is not one expression")
	}
	m := sparkMapper{text: text}
	out := m.expr(column.Expr)
	return out, m.err
}

// SparkColumns returns the columns that an expression of Spark's SQL reads, each once, in order. A column of a struct is named s.x.
func SparkColumns(text string) ([]string, error) {
	e, err := SparkExpression(text)
	if err != nil {
		return nil, err
	}
	var out []string
	err = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		c, ok := n.(*sqlparser.ColName)
		if ok && !slices.ContainsFunc(out, func(have string) bool { return strings.EqualFold(have, c.Name.String()) }) {
			out = append(out, c.Name.String())
		}
		return true, nil
	}, e)
	return out, err
}

func refuseSpark(text, why string) error {
	return &RefusedError{NotSupported, fmt.Sprintf("the expression %s is not supported: %s", text, why)}
}

func vitessNear(err error) string {
	if e, ok := FromVitess(err); ok {
		return "near '" + e.Near + "'"
	}
	return err.Error()
}

func fromNothing(sel *sqlparser.Select) bool {
	if len(sel.From) != 1 {
		return len(sel.From) == 0
	}
	t, ok := sel.From[0].(*sqlparser.AliasedTableExpr)
	if !ok {
		return false
	}
	name, ok := t.Expr.(sqlparser.TableName)
	return ok && strings.EqualFold(name.Name.String(), "dual")
}

// Numbers with a letter for their type, which the lexer takes for names.
var (
	sparkInt     = regexp.MustCompile(`^([0-9]+)[lLsSyY]$`)
	sparkDouble  = regexp.MustCompile(`^([0-9]+)[dDfF]$`)
	sparkDecimal = regexp.MustCompile(`^([0-9]+)[bB][dD]$`)
)

// sparkTokens maps what vitess does not read, or reads as something else.
func sparkTokens(text string) (string, error) {
	l := newLexer(text)
	tokens, last := statementTokens(l)
	if !last {
		return "", SyntaxErrorAt(text, tokenEnd(tokens), "one expression")
	}
	edits := editor{sql: text}
	for i, t := range tokens {
		next := token{}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch {
		case t.kind == tokBad && strings.HasPrefix(text[t.start:], "["):
			return "", refuseSpark(text, "elements of arrays and maps are not supported")
		case t.kind == tokBad:
			return "", SyntaxErrorAt(text, t.start, "")
		case t.kind == tokParam:
			return "", refuseSpark(text, "a parameter has no value in a table's metadata")
		case t.is("SELECT"), t.is("EXISTS"):
			return "", refuseSpark(text, "a subquery reads other rows")
		case t.punct(":"):
			return "", refuseSpark(text, "write CAST(x AS type)")
		case t.punct("=") && next.punct("=") && next.start == t.end:
			edits.replace(t.start, t.end, "")
		case t.punct("!"):
			edits.replace(t.start, t.end, " NOT ")
		case t.kind == tokWord && isDigit(t.text[0]):
			edits.replace(t.start, t.end, sparkNumber(t.text))
		case isOneOf(t, []string{"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"}) && next.kind == tokString:
			edits.replace(t.start, next.end, SparkCast+"("+QuoteString(next.text)+", '"+strings.ToLower(t.text)+"')")
		case (t.is("CAST") || t.is("TRY_CAST")) && next.punct("("):
			if err := sparkCast(text, tokens, i, &edits); err != nil {
				return "", err
			}
		case t.is("INTERVAL") && i+2 < len(tokens) && strings.HasSuffix(strings.ToUpper(tokens[i+2].text), "S") && tokens[i+2].kind == tokWord:
			edits.replace(tokens[i+2].end-1, tokens[i+2].end, "")
		}
	}
	slices.SortStableFunc(edits.edits, func(a, b edit) int { return a.start - b.start })
	return edits.apply(0, len(text), l.markers), nil
}

func tokenEnd(tokens []token) int {
	if len(tokens) == 0 {
		return 0
	}
	return tokens[len(tokens)-1].end
}

func sparkNumber(text string) string {
	if m := sparkInt.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := sparkDouble.FindStringSubmatch(text); m != nil {
		return m[1] + "e0"
	}
	if m := sparkDecimal.FindStringSubmatch(text); m != nil {
		return m[1] + "."
	}
	return text
}

// sparkCast turns CAST(x AS type), whose CAST is token i, into a call of SparkCast.
func sparkCast(text string, tokens []token, i int, edits *editor) error {
	as, end := -1, -1
	depth := 0
	for j := i + 1; j < len(tokens) && end < 0; j++ {
		switch t := tokens[j]; {
		case t.punct("("):
			depth++
		case t.punct(")"):
			if depth--; depth == 0 {
				end = j
			}
		case depth == 1 && t.is("AS"):
			as = j
		}
	}
	if as < 0 || end < as+2 {
		return SyntaxErrorAt(text, tokens[i].start, "CAST(x AS type)")
	}
	typ := strings.ToLower(text[tokens[as+1].start:tokens[end-1].end])
	edits.replace(tokens[i].start, tokens[i].end, SparkCast)
	edits.replace(tokens[as].start, tokens[end-1].end, ", "+QuoteString(strings.Join(strings.Fields(typ), "")))
	return nil
}
