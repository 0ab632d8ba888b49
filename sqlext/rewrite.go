package sqlext

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// editor collects replacements of pieces of a text, in order.
type editor struct {
	sql   string
	edits []edit
}

type edit struct {
	span
	text string
}

func (e *editor) replace(start, end int, text string) {
	e.edits = append(e.edits, edit{span{start, end}, text})
}

// apply returns the text from start to end with the replacements, and without the markers in it that are given.
func (e *editor) apply(start, end int, markers []span) string {
	var b strings.Builder
	for _, r := range e.edits {
		for len(markers) > 0 && markers[0].start < r.start {
			start = copyUpTo(&b, e.sql, start, &markers)
		}
		if r.start >= start && r.end <= end {
			b.WriteString(e.sql[start:r.start])
			b.WriteString(r.text)
			start = r.end
		}
	}
	for len(markers) > 0 && markers[0].end <= end {
		start = copyUpTo(&b, e.sql, start, &markers)
	}
	b.WriteString(e.sql[start:end])
	return b.String()
}

// copyUpTo copies the text before the first marker, and drops that.
func copyUpTo(b *strings.Builder, sql string, start int, markers *[]span) int {
	m := (*markers)[0]
	*markers = (*markers)[1:]
	if m.start < start {
		return start
	}
	b.WriteString(sql[start:m.start])
	return m.end
}

// origin returns where the byte at position i of the text that apply made from start on, without markers, comes from.
func (e *editor) origin(start, i int) int {
	for _, r := range e.edits {
		if n := r.start - start; i < n {
			break
		} else if i -= n; i < len(r.text) {
			return r.start
		} else {
			i -= len(r.text)
			start = r.end
		}
	}
	return start + i
}

// Rewrite turns what vitess cannot parse into what it can: named arguments `fn(a => b)` into `fn('a=>', b)`, and
// `VERSION AS OF 3` into `AS OF 'v:3'`, `TIMESTAMP AS OF 't'` into `AS OF 't:t'`, `AS OF ?` into a call of AsOfFunction, and the unit of
// `INTERVAL '1:1' HOUR_MINUTE` into a quoted one, `@v := e` amid a statement into a call of AssignFunction, `> ALL (SELECT ...)` into `> ` and a call of QuantifiedFunction, WITH ROLLUP into a call of RollupFunction, `DATE '2024-02-29'` into one of LiteralFunction, INTERVAL(n, a) into one of IntervalFunction, ROW(a, b) into (a, b), FOR SHARE into LOCK IN SHARE MODE, `(SELECT ... UNION SELECT ...) ORDER BY a` into that without the parentheses, N'a' into 'a', `'a\_b'` into `'a\\' '_b'`; and comments that vitess would execute and MySQL not, MariaDB's and those of newer versions, into a blank. Everything else stays byte for byte, and so do the statements of sql that Parse takes. Rewriting a rewritten text changes
// nothing. The error is a *RefusedError: STREAM outside of a stream statement, or QUALIFY.
func Rewrite(sql string) (string, error) {
	if !mayNeedRewrite(sql) {
		return sql, nil
	}
	edits := editor{sql: sql}
	for l := newLexer(sql); ; {
		tokens, last := statementTokens(l)
		if !claimed(sql, tokens) {
			if err := rewriteTokens(tokens, &edits); err != nil {
				return "", err
			}
		}
		if last {
			for _, comment := range l.foreign {
				edits.replace(comment.start, comment.end, " ")
			}
			slices.SortStableFunc(edits.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
			return edits.apply(0, len(sql), nil), nil
		}
	}
}

// mayNeedRewrite is a cheap test that most statements fail.
func mayNeedRewrite(sql string) bool {
	if strings.Contains(sql, "--") || strings.Contains(sql, "=>") || strings.Contains(sql, "/*!") || strings.Contains(sql, "/*M!") || strings.Contains(sql, ":=") || strings.Contains(sql, `\_`) || strings.Contains(sql, `\%`) || mayHaveTypedLiteral(sql) {
		return true
	}
	if strings.HasPrefix(strings.TrimSpace(sql), "(") || strings.Contains(sql, "((") {
		return true
	}
	lower := strings.ToLower(sql)
	for _, word := range []string{"of", "stream", "read_files", "table_changes", "interval", "purge", "delete", "columns", "fields", "all", "any", "some", "rollup", "qualify", "binary", "row", "share", "n'"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// statementTokens returns the tokens up to a ';', and whether the text ends there.
func statementTokens(l *lexer) (tokens []token, last bool) {
	for {
		t := l.next()
		if isEnd(t) {
			return tokens, t.kind == tokEOF
		}
		tokens = append(tokens, t)
	}
}

// claimed reports whether Parse takes the statement.
func claimed(sql string, tokens []token) bool {
	if len(tokens) == 0 {
		return true
	}
	p := newParser(sql)
	p.tokens = append(tokens[:len(tokens):len(tokens)], token{kind: tokEOF, start: len(sql), end: len(sql)})
	return p.claim() != nil
}

// rewriteTokens adds the replacements for a statement that is not ours.
func rewriteTokens(tokens []token, edits *editor) error {
	r := rewriter{tokens: tokens, edits: edits}
	r.statement()
	r.typedLiterals()
	r.wildcards()
	r.assignments()
	return r.run(nil)
}

// tableFunctions are the functions whose arguments can be named by = as well as by =>.
var tableFunctions = map[string]bool{"read_files": true, "table_changes": true, "kafka": true, "rate": true, SourceFunction: true}

// statement rewrites words at the beginning or the end of statements: IN of SHOW COLUMNS is FROM; DROP TABLE t PURGE is what DROP TABLE
// does anyway; DELETE FROM t a is DELETE a FROM t a; SET character_set_client = BINARY names a character set, and for vitess begins an expression.
func (r *rewriter) statement() {
	last := len(r.tokens) - 1
	switch first := r.at(0); {
	case first.is("SHOW"):
		i := 1
		for r.at(i).is("FULL") || r.at(i).is("EXTENDED") {
			i++
		}
		if !r.at(i).is("COLUMNS") && !r.at(i).is("FIELDS") {
			return
		}
		for j := i + 1; j <= last && !r.at(j).is("WHERE") && !r.at(j).is("LIKE"); j++ {
			if r.at(j).is("IN") {
				r.edits.replace(r.tokens[j].start, r.tokens[j].end, "FROM")
			}
		}
	case first.is("DROP") && r.at(1).is("TABLE") && last > 2 && r.at(last).is("PURGE"):
		if before := r.at(last - 1); !before.is("EXISTS") && (before.kind == tokWord || before.kind == tokQuoted) {
			r.edits.replace(before.end, r.tokens[last].end, "")
		}
	case first.is("DELETE") && r.at(1).is("FROM"):
		r.deleteAlias()
	case first.is("SET"):
		for i, t := range r.tokens {
			if next := r.at(i + 1); t.is("BINARY") && r.at(i-1).punct("=") && !isVariable(r.at(i-2)) && (i == last || next.punct(",")) {
				r.edits.replace(t.start, t.end, "'binary'")
			}
		}
	}
}

// deleteAlias names the alias of the one table of a DELETE as what is deleted from.
func (r *rewriter) deleteAlias() {
	i := 3
	for r.at(i).punct(".") {
		i += 2
	}
	if r.at(i).is("AS") {
		i++
	}
	alias, next := r.at(i), r.at(i+1)
	if alias.kind != tokQuoted && !isPlainWord(alias) || !next.is("WHERE") && i+1 < len(r.tokens) {
		return
	}
	r.edits.replace(r.tokens[1].start, r.tokens[1].start, r.edits.sql[alias.start:alias.end]+" ")
}

// longUnits are the units of INTERVAL that vitess takes for words that cannot be one, unless they are quoted.
var longUnits = map[string]bool{
	"SECOND_MICROSECOND": true, "MINUTE_MICROSECOND": true, "MINUTE_SECOND": true, "HOUR_MICROSECOND": true, "HOUR_SECOND": true, "HOUR_MINUTE": true,
	"DAY_MICROSECOND": true, "DAY_SECOND": true, "DAY_MINUTE": true, "DAY_HOUR": true, "YEAR_MONTH": true,
}

// rewriter walks over the tokens of one statement.
type rewriter struct {
	tokens []token
	edits  *editor
	named  []bool // for each open parenthesis: it holds the arguments of one of tableFunctions
	from   []bool // for each open parenthesis, and outside of them: in the table references of a FROM
}

func (r *rewriter) at(i int) token {
	if i < 0 || i >= len(r.tokens) {
		return token{}
	}
	return r.tokens[i]
}

// run rewrites all tokens. source takes the streaming source that begins at token i and returns the token behind it; nil refuses them.
func (r *rewriter) run(source func(i int) (int, error)) error {
	r.from = []bool{false}
	for i := 0; i < len(r.tokens); i++ {
		t := r.tokens[i]
		switch {
		case t.punct("("):
			r.named = append(r.named, r.callOf(i))
			r.from = append(r.from, r.from[len(r.from)-1])
		case t.punct(")") && len(r.named) > 0:
			r.named = r.named[:len(r.named)-1]
			r.from = r.from[:len(r.from)-1]
		}
		r.scope(t)
		if t.is("STREAM") && r.tableReference(i) && r.isSource(i, source != nil) {
			if source == nil {
				return &RefusedError{Kind: StreamOutside, Message: "STREAM reads a stream and belongs into CREATE STREAM, ALTER STREAM or EXPLAIN CREATE STREAM; to read once, leave STREAM out"}
			}
			next, err := source(i)
			if err != nil {
				return err
			}
			i = next - 1
			continue
		}
		if longUnits[strings.ToUpper(t.text)] && t.kind == tokWord && !r.at(i-1).punct("(") && !r.at(i-1).punct(".") {
			r.edits.replace(t.start, t.end, QuoteName(t.text))
		}
		if err := r.refuseQualify(i); err != nil {
			return err
		}
		r.forms(i)
		if source == nil {
			r.united(i)
		}
		r.quantified(i)
		r.rollup(i)
		if n := r.namedArgument(i); n > 0 {
			i += n - 1
		} else if n := r.asOf(i); n > 0 {
			i += n - 1
		}
	}
	return nil
}

// callOf reports whether the parenthesis at i opens the arguments of one of tableFunctions.
func (r *rewriter) callOf(i int) bool {
	f := r.at(i - 1)
	return f.kind == tokWord && tableFunctions[strings.ToLower(f.text)]
}

// scope follows FROM clauses.
func (r *rewriter) scope(t token) {
	if t.kind != tokWord {
		return
	}
	switch strings.ToUpper(t.text) {
	case "FROM", "JOIN":
		r.from[len(r.from)-1] = true
	case "SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "WINDOW", "SET", "VALUES":
		r.from[len(r.from)-1] = false
	}
}

// tableReference reports whether a table reference can begin at token i.
func (r *rewriter) tableReference(i int) bool {
	before := r.at(i - 1)
	if before.is("FROM") || before.is("JOIN") {
		return true
	}
	return r.from[len(r.from)-1] && (before.punct(",") || before.punct("(") && !r.isCall(i-1))
}

// isCall reports whether the parenthesis at i opens the arguments of a function.
func (r *rewriter) isCall(i int) bool {
	f := r.at(i - 1)
	return f.kind == tokQuoted || f.kind == tokWord && !isKeyword(f.text)
}

// isSource reports whether STREAM at i is followed by what it reads. `FROM stream t` reads t in the SELECT of a stream, and a table
// named stream with an alias elsewhere.
func (r *rewriter) isSource(i int, inStream bool) bool {
	a, b := r.at(i+1), r.at(i+2)
	if inStream && (isPlainWord(a) || a.kind == tokQuoted) {
		return true
	}
	return a.punct("(") || isPlainWord(a) && (b.punct("(") || b.punct(".")) || a.kind == tokQuoted && b.punct(".")
}

func isPlainWord(t token) bool { return t.kind == tokWord && t.text[0] != '@' && !isKeyword(t.text) }

// namedArgument rewrites `key =>` at token i and returns how many tokens that are.
func (r *rewriter) namedArgument(i int) int {
	if before := r.at(i - 1); !before.punct("(") && !before.punct(",") {
		return 0
	}
	if before := r.at(i - 2); before.kind == tokString && strings.HasSuffix(before.text, "=>") {
		return 0 // the value of an argument that is rewritten already
	}
	key, n := "", 0
	for {
		t := r.at(i + n)
		if t.kind != tokQuoted && (t.kind != tokString || n > 0) && (t.kind != tokWord || t.text[0] == '@') {
			return 0
		}
		key += t.text
		n++
		if !r.at(i + n).punct(".") {
			break
		}
		key += "."
		n++
	}
	eq, gt := r.at(i+n), r.at(i+n+1)
	switch {
	case !eq.punct("="):
		return 0
	case gt.punct(">") && gt.start == eq.end:
		n += 2
	case len(r.named) > 0 && r.named[len(r.named)-1]:
		n++
	default:
		return 0
	}
	r.edits.replace(r.tokens[i].start, r.tokens[i+n-1].end, QuoteString(key+"=>")+",")
	return n
}

// afterTable reports whether a table's name ends before token i. Words of time travel are names only where a name must stand.
func (r *rewriter) afterTable(i int) bool {
	t, before := r.at(i-1), r.at(i-2)
	mustBeName := before.is("FROM") || before.is("JOIN") || before.punct(",") || before.punct(".")
	switch {
	case t.kind == tokQuoted || t.kind == tokString || t.kind == tokNumber: // no table, but a text that has been rewritten stays as it is
		return true
	case t.kind != tokWord || t.is("FROM") || t.is("JOIN"):
		return false
	case t.is("FOR") || t.is("VERSION") || t.is("TIMESTAMP") || t.is("SYSTEM_TIME"):
		return mustBeName
	}
	return true
}

// asOf rewrites [FOR] [VERSION | TIMESTAMP | SYSTEM_TIME] AS OF x at token i and returns how many tokens that are.
func (r *rewriter) asOf(i int) int {
	n, prefix, function := 0, "", AsOfFunction
	if r.at(i).is("FOR") {
		n++
	}
	switch t := r.at(i + n); {
	case t.is("AS") && n == 0:
	case !r.afterTable(i):
		return 0
	case t.is("VERSION"):
		prefix, function = AsOfVersionPrefix, AsOfVersionFunction
		n++
	case t.is("TIMESTAMP"), t.is("SYSTEM_TIME"):
		prefix, function = AsOfTimestampPrefix, AsOfTimestampFunction
		n++
	default:
		return 0
	}
	if !r.at(i+n).is("AS") || !r.at(i+n+1).is("OF") {
		return 0
	}
	n += 2
	start := r.tokens[i].start
	v := r.at(i + n)
	switch {
	case v.kind == tokParam:
		r.edits.replace(start, v.end, fmt.Sprintf("AS OF %s(?)", function))
	case v.kind == tokNumber || v.kind == tokString:
		if prefix == "" && v.kind == tokString && isAsOfText(v.text) {
			return 0
		}
		if prefix == "" {
			prefix = AsOfVersionPrefix
			if v.kind == tokString {
				prefix = AsOfTimestampPrefix
			}
		}
		r.edits.replace(start, v.end, "AS OF "+QuoteString(prefix+v.text))
	case v.kind == tokWord && r.at(i+n+1).punct("(") && n > 2:
		r.edits.replace(start, v.start, "AS OF ")
		return n
	default:
		return 0
	}
	return n + 1
}

// isAsOfText reports a text that Rewrite made.
func isAsOfText(text string) bool {
	return strings.HasPrefix(text, AsOfVersionPrefix) || strings.HasPrefix(text, AsOfTimestampPrefix)
}
