package sqlext

// Parse parses the first statement of sql when it is one of ours. rest is the text after its ';'. With ok false the
// statement is not ours: give Rewrite(sql) to vitess. err is a *SyntaxError or a *RefusedError.
func Parse(sql string) (stmt Statement, rest string, ok bool, err error) {
	return nil, "", false, nil
}

// Rewrite turns what vitess cannot parse into what it can: named arguments `fn(a => b)` into `fn('a=>', b)`, and
// `VERSION AS OF 3` into `AS OF 'v:3'`. Everything else stays byte for byte. The only error is a *RefusedError.
func Rewrite(sql string) (string, error) { return sql, nil }

// ParseStreamSelect takes the streaming sources out of a stream's SELECT, in the order of FROM. The SELECT that it returns
// reads source i as the table function __stream_source(i), and has been through Rewrite.
func ParseStreamSelect(sql string) (rewritten string, sources []StreamSource, err error) {
	return sql, nil, nil
}

// Bind puts literals in the place of the parameters of sql, as SQL texts in order.
func Bind(sql string, literals []string) (string, error) { return sql, nil }

func isPlainName(string) bool { return false }
