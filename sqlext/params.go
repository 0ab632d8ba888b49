package sqlext

// Params returns how many parameters the first statement of sql has.
func Params(sql string) int {
	n := 0
	tokens, _ := statementTokens(newLexer(sql))
	for _, t := range tokens {
		if t.kind == tokParam {
			n++
		}
	}
	return n
}
