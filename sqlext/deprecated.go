package sqlext

import "strings"

// Deprecation is what MySQL warns of in a statement: words that it will not take for ever.
type Deprecation struct {
	Word    string // `!`, `&&`, `||`, `:=`, BINARY or SQL_CALC_FOUND_ROWS
	Message string
}

const willBeRemoved = " is deprecated and will be removed in a future release. "

var deprecations = map[string]Deprecation{
	"!":                   {"!", "'!'" + willBeRemoved + "Please use NOT instead"},
	"&&":                  {"&&", "'&&'" + willBeRemoved + "Please use AND instead"},
	"||":                  {"||", "'|| as a synonym for OR'" + willBeRemoved + "Please use OR instead"},
	"BINARY":              {"BINARY", "'BINARY expr'" + willBeRemoved + "Please use CAST instead"},
	"SQL_CALC_FOUND_ROWS": {"SQL_CALC_FOUND_ROWS", "SQL_CALC_FOUND_ROWS" + willBeRemoved + "Consider using two separate queries instead."},
	":=": {":=", "Setting user variables within expressions" + willBeRemoved +
		"Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'."},
}

// Deprecations are those of a SELECT, INSERT, UPDATE or DELETE, in the order in which they stand there.
func Deprecations(sql string) (found []Deprecation) {
	if upper := strings.ToUpper(sql); !strings.ContainsAny(sql, "!&|:") && !strings.Contains(upper, "BINARY") && !strings.Contains(upper, "SQL_CALC_FOUND_ROWS") {
		return nil
	}
	var all []token
	for l := newLexer(sql); ; {
		t := l.next()
		if t.kind == tokEOF || t.kind == tokBad {
			break
		}
		all = append(all, t)
	}
	if len(all) == 0 || !isAny(all[0], "SELECT", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE") && !all[0].punct("(") {
		return nil
	}
	for i, t := range all {
		word := strings.ToUpper(t.text)
		d, ok := deprecations[word]
		if !ok || t.kind != tokWord && t.kind != tokPunct || word == "BINARY" && !isOperator(all, i) {
			continue
		}
		found = append(found, d)
	}
	return found
}

// isOperator tells BINARY before an expression from the type.
func isOperator(all []token, i int) bool {
	if i == 0 || i+1 == len(all) {
		return false
	}
	before, behind := all[i-1], all[i+1]
	switch {
	case behind.kind == tokPunct && behind.text != "(" || behind.punct("(") && before.punct(","):
		return false
	case before.kind == tokPunct:
		return before.text != ")" && before.text != "."
	}
	return isAny(before, "SELECT", "DISTINCT", "ALL", "WHERE", "ON", "AND", "OR", "XOR", "NOT", "BY", "HAVING", "CASE", "WHEN", "THEN", "ELSE", "BETWEEN", "LIKE", "REGEXP", "RLIKE", "IN", "DIV", "MOD")
}

func isAny(t token, words ...string) bool {
	for _, w := range words {
		if t.is(w) {
			return true
		}
	}
	return false
}
