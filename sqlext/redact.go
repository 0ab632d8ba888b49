package sqlext

import "strings"

// redacted stands where a password was.
const redacted = "'<secret>'"

// Redact returns a statement, or several, as they may be shown and kept: passwords in statements about accounts are replaced, and values
// of options that are a secret where they do not name it (env:, file:). Where it is not sure, it replaces too much.
func Redact(sql string) string {
	if upper := strings.ToUpper(sql); !strings.Contains(upper, "IDENTIFIED") && !strings.Contains(upper, "PASSWORD") && !strings.Contains(upper, "JAAS") && !strings.Contains(upper, "USER") {
		return sql
	}
	edits := editor{sql: sql}
	tokens := allTokens(sql)
	for start := 0; start < len(tokens); {
		end := start
		for end < len(tokens) && !tokens[end].punct(";") {
			end++
		}
		redactStatement(&edits, tokens[start:end])
		start = end + 1
	}
	return edits.apply(0, len(sql), nil)
}

func allTokens(sql string) []token {
	l := newLexer(sql)
	var tokens []token
	for t := l.next(); t.kind != tokEOF; t = l.next() {
		tokens = append(tokens, t)
	}
	return tokens
}

// redactStatement replaces what may be a password in one statement.
func redactStatement(edits *editor, tokens []token) {
	accounts := isAboutAccounts(tokens)
	for i, t := range tokens {
		secret := accounts && (t.kind == tokBad || isBits(t) || t.kind == tokString && !isAccountPart(tokens, i))
		if secret || t.kind == tokString && isSecretOption(tokens[:i], t.text) {
			edits.replace(t.start, t.end, redacted)
		}
	}
}

// isAboutAccounts says whether any text of the statement may be a password.
func isAboutAccounts(tokens []token) bool {
	if len(tokens) < 2 || !isOneOf(tokens[0], []string{"CREATE", "ALTER", "SET", "GRANT", "PREPARE"}) {
		return false
	}
	return tokens[1].is("USER") || !isOneOf(tokens[0], []string{"CREATE", "ALTER"})
}

// isSecretOption says whether the tokens end in `name =>` of an option that is a secret, and the value is that and not its name.
func isSecretOption(before []token, value string) bool {
	at := len(before) - 3
	if at < 0 || !before[at+1].punct("=") || !before[at+2].punct(">") || strings.HasPrefix(value, "env:") || strings.HasPrefix(value, "file:") {
		return false
	}
	name := strings.ToLower(before[at].text)
	jaas := name == "config" && at > 1 && before[at-2].is("jaas")
	return jaas || strings.HasSuffix(name, "password") || strings.HasSuffix(name, "jaas.config")
}

// isBits says whether a token is a text in another form: 0x7077, x'7077', b'01'.
func isBits(t token) bool { return t.kind == tokNumber && strings.ContainsAny(t.text, "xXbB") }

// isAccountPart says whether a text in a statement about accounts is the name of a user, a host or a plugin.
func isAccountPart(tokens []token, i int) bool {
	if i+1 < len(tokens) && tokens[i+1].punct("@") {
		return true
	}
	before := tokens[i-1]
	if before.is("TO") {
		return !tokens[0].is("SET") // SET PASSWORD TO 'pw'
	}
	return before.punct("@") || before.punct(",") || isOneOf(before, []string{"USER", "EXISTS", "FOR", "WITH"})
}

// WithoutComments returns the first tokens of a statement, apart by blanks.
func WithoutComments(sql string, tokens int) string {
	l := newLexer(sql)
	var words []string
	for t := l.next(); t.kind != tokEOF && len(words) < tokens; t = l.next() {
		words = append(words, t.text)
	}
	return strings.Join(words, " ")
}
