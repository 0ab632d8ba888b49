package sqlext

import "fmt"

// Bind puts literals, as SQL texts in order, in the place of the parameters of the first statement of sql.
func Bind(sql string, literals []string) (string, error) {
	edits := editor{sql: sql}
	l := newLexer(sql)
	tokens, _ := statementTokens(l)
	for _, t := range tokens {
		if t.kind != tokParam {
			continue
		}
		if t.param >= len(literals) {
			return "", fmt.Errorf("bind parameters: the statement has more than the %d that were given", len(literals))
		}
		edits.replace(t.start, t.end, literals[t.param])
	}
	if n := len(edits.edits); n != len(literals) {
		return "", fmt.Errorf("bind parameters: %d were given and the statement has %d", len(literals), n)
	}
	return edits.apply(0, len(sql), nil), nil
}
