package sqlext

import (
	"fmt"
	"slices"
)

// ResolveStreamPaths returns the SELECT of a stream with the paths that a STREAM names replaced by what resolve makes of them: that of
// read_files('path', ...) and of delta.`path`, and the values of the named arguments of read_files for which isPath is true, given as they are written. A path
// that is no literal is left alone. The error is resolve's.
func ResolveStreamPaths(sql string, isPath func(argument string) bool, resolve func(path string) (string, error)) (string, error) {
	l := newLexer(sql)
	tokens, _ := statementTokens(l)
	edits := editor{sql: sql}
	for i, t := range tokens {
		if !t.is("STREAM") {
			continue
		}
		source := tokens[i+1:]
		if len(source) > 0 && source[0].punct("(") {
			source = source[1:]
		}
		if path, ok := tablePath(source); ok {
			resolved, err := resolve(path.text)
			if err != nil {
				return "", err
			}
			edits.replace(path.start, path.end, QuoteName(resolved))
			continue
		}
		for _, a := range filesArguments(source) {
			if a.name != "" && !isPath(a.name) {
				continue
			}
			resolved, err := resolve(a.value.text)
			if err != nil && a.name != "" {
				err = fmt.Errorf("option %s: %w", a.name, err)
			}
			if err != nil {
				return "", err
			}
			edits.replace(a.value.start, a.value.end, QuoteString(resolved))
		}
	}
	return edits.apply(0, len(sql), nil), nil
}

// tablePath finds the path in the tokens of a source: delta.`path`.
func tablePath(tokens []token) (token, bool) {
	if len(tokens) < 3 || !tokens[0].is("delta") || !tokens[1].punct(".") || tokens[2].kind != tokQuoted {
		return token{}, false
	}
	return tokens[2], true
}

// textArgument is an argument that is a text.
type textArgument struct {
	name  string // "" where it has none
	value token
}

// filesArguments finds the arguments that are texts in the tokens of a source: read_files('path', name => 'value', ...).
func filesArguments(tokens []token) []textArgument {
	if len(tokens) < 2 || !tokens[0].is("read_files") || !tokens[1].punct("(") {
		return nil
	}
	var out []textArgument
	tokens = tokens[2:]
	for {
		end := slices.IndexFunc(tokens, func(t token) bool { return t.punct(",") || t.punct(")") })
		if end < 0 {
			return out
		}
		if a, ok := readTextArgument(tokens[:end]); ok {
			out = append(out, a)
		}
		if tokens[end].punct(")") {
			return out
		}
		tokens = tokens[end+1:]
	}
}

func readTextArgument(tokens []token) (a textArgument, ok bool) {
	if len(tokens) == 0 || tokens[len(tokens)-1].kind != tokString {
		return a, false
	}
	a.value = tokens[len(tokens)-1]
	assign := slices.IndexFunc(tokens, func(t token) bool { return t.punct("=") })
	for _, t := range tokens[:max(assign, 0)] {
		a.name += t.text
	}
	return a, assign > 0 || len(tokens) == 1
}
