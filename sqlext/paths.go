package sqlext

// ResolveStreamPaths returns the SELECT of a stream with the path of each STREAM read_files('path', ...) replaced by what resolve
// makes of it. A path that is no literal is left alone. The error is resolve's.
func ResolveStreamPaths(sql string, resolve func(path string) (string, error)) (string, error) {
	l := newLexer(sql)
	tokens, _ := statementTokens(l)
	edits := editor{sql: sql}
	for i, t := range tokens {
		if !t.is("STREAM") {
			continue
		}
		path, ok := pathArgument(tokens[i+1:])
		if !ok {
			continue
		}
		resolved, err := resolve(path.text)
		if err != nil {
			return "", err
		}
		edits.replace(path.start, path.end, QuoteString(resolved))
	}
	return edits.apply(0, len(sql), nil), nil
}

// pathArgument finds the path in the tokens behind STREAM: read_files('path' or (read_files('path'.
func pathArgument(tokens []token) (token, bool) {
	if len(tokens) > 0 && tokens[0].punct("(") {
		tokens = tokens[1:]
	}
	if len(tokens) < 3 || !tokens[0].is("read_files") || !tokens[1].punct("(") || tokens[2].kind != tokString {
		return token{}, false
	}
	return tokens[2], true
}
