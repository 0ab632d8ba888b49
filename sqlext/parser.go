package sqlext

import (
	"strconv"
	"strings"
)

// parser walks over the tokens of one statement. Its first error sticks: from then on every token is the end of the
// statement, so that loops end and callers look at err once.
type parser struct {
	lex    *lexer
	tokens []token // read so far
	pos    int     // the next token
	err    error
}

func newParser(sql string) *parser { return &parser{lex: newLexer(sql)} }

// peek returns the token i ahead. After the end of the statement it is the end.
func (p *parser) peek(i int) token {
	if p.err != nil {
		return token{kind: tokEOF, start: len(p.lex.sql), end: len(p.lex.sql)}
	}
	for len(p.tokens) <= p.pos+i {
		if n := len(p.tokens); n > 0 && isEnd(p.tokens[n-1]) {
			return p.tokens[n-1]
		}
		p.tokens = append(p.tokens, p.lex.next())
	}
	return p.tokens[p.pos+i]
}

func isEnd(t token) bool { return t.kind == tokEOF || t.punct(";") }

func (p *parser) next() token {
	t := p.peek(0)
	if !isEnd(t) {
		p.pos++
	}
	return t
}

// words reports whether the next tokens are these unquoted words, given with blanks between.
func (p *parser) words(words string) bool {
	for i, w := range strings.Fields(words) {
		if !p.peek(i).is(w) {
			return false
		}
	}
	return true
}

// accept goes over the words if they are next.
func (p *parser) accept(words string) bool {
	if !p.words(words) {
		return false
	}
	p.pos += len(strings.Fields(words))
	return true
}

// expect goes over the words, which must be next.
func (p *parser) expect(words string) {
	for _, w := range strings.Fields(words) {
		if !p.accept(w) {
			p.fail(words)
			return
		}
	}
}

func (p *parser) acceptPunct(text string) bool {
	if !p.peek(0).punct(text) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expectPunct(text string) {
	if !p.acceptPunct(text) {
		p.fail("'" + text + "'")
	}
}

// fail reports the next token as the one that does not fit.
func (p *parser) fail(expected string) {
	if p.err == nil {
		p.err = SyntaxErrorAt(p.lex.sql, p.peek(0).start, expected)
	}
}

func (p *parser) refuse(kind RefusalKind, message string) {
	if p.err == nil {
		p.err = &RefusedError{Kind: kind, Message: message}
	}
}

// end checks that the statement is over.
func (p *parser) end() {
	if !isEnd(p.peek(0)) {
		p.fail("the end of the statement")
	}
}

// rest returns the text behind the statement, "" when there is nothing but blanks, comments and semicolons.
func (p *parser) rest() string {
	for !isEnd(p.peek(0)) {
		p.next()
	}
	after := p.peek(0).end
	l := newLexer(p.lex.sql[after:])
	t := l.next()
	for t.punct(";") {
		t = l.next()
	}
	if t.kind == tokEOF {
		return ""
	}
	return p.lex.sql[after:]
}

// text returns the text from the token with index from up to the one before the next, as written but for the marks of
// executable comments: what is inside of them is SQL.
func (p *parser) text(from int) string {
	if from >= p.pos {
		return ""
	}
	start, end := p.tokens[from].start, p.tokens[p.pos-1].end
	var b strings.Builder
	for _, m := range p.lex.markers {
		if m.start >= start && m.end <= end {
			b.WriteString(p.lex.sql[start:m.start])
			start = m.end
		}
	}
	b.WriteString(p.lex.sql[start:end])
	return b.String()
}

// isName reports whether t can be a name. A text in double quotes can: it is a name under ANSI_QUOTES.
func (p *parser) isName(t token) bool {
	switch t.kind {
	case tokWord:
		return t.text[0] != '@'
	case tokString:
		return p.lex.sql[t.start] == '"' && t.text != ""
	default:
		return t.kind == tokQuoted && t.text != ""
	}
}

func (p *parser) ident(what string) string {
	if !p.isName(p.peek(0)) {
		p.fail(what)
		return ""
	}
	return p.next().text
}

// name parses name or db.name.
func (p *parser) name(what string) Name {
	n := Name{Name: p.ident(what)}
	if p.acceptPunct(".") {
		n.Database, n.Name = n.Name, p.ident(what)
	}
	return n
}

// names parses ( name, ... ).
func (p *parser) names(what string) []string {
	var names []string
	p.expectPunct("(")
	for p.err == nil {
		names = append(names, p.ident(what))
		if !p.acceptPunct(",") {
			break
		}
	}
	p.expectPunct(")")
	return names
}

// isValue reports whether a value begins at the next token: a literal or a parameter, without bare words.
func (p *parser) isValue() bool {
	t := p.peek(0)
	if t.punct("-") || t.punct("+") {
		t = p.peek(1)
		return t.kind == tokNumber
	}
	return t.kind == tokString || t.kind == tokNumber || t.kind == tokParam
}

// value parses a literal or a parameter.
func (p *parser) value(what string) Value {
	if !p.isValue() {
		p.fail(what)
		return Value{Param: -1}
	}
	sign := ""
	if t := p.peek(0); t.kind == tokPunct {
		sign = strings.TrimPrefix(p.next().text, "+")
	}
	t := p.next()
	switch t.kind {
	case tokParam:
		return Value{Kind: ParamValue, Param: t.param}
	case tokString:
		return Value{Kind: StringValue, Text: t.text, Param: -1}
	default:
		return Value{Kind: NumberValue, Text: sign + t.text, Param: -1}
	}
}

// stringValue parses a string literal or a parameter.
func (p *parser) stringValue(what string) Value {
	if k := p.peek(0).kind; k != tokString && k != tokParam {
		p.fail(what)
	}
	return p.value(what)
}

// count parses a whole number from 0, or a parameter.
func (p *parser) count(what string) Value {
	t := p.peek(0)
	if t.kind != tokParam {
		if _, err := strconv.ParseInt(t.text, 10, 64); t.kind != tokNumber || err != nil {
			p.fail(what)
		}
	}
	return p.value(what)
}

// optionValue parses the value of an option: a literal, a parameter, or a bare word such as true.
func (p *parser) optionValue() Value {
	if t := p.peek(0); t.kind == tokWord && t.text[0] != '@' {
		return Value{Kind: WordValue, Text: p.next().text, Param: -1}
	}
	return p.value("a literal")
}

// options parses ( key = value, ... ), keys as key says.
func (p *parser) options() []Option {
	var options []Option
	p.expectPunct("(")
	for p.err == nil && !p.peek(0).punct(")") {
		o := Option{Key: p.key()}
		if !p.acceptAssign() {
			p.fail("'=' or '=>'")
		}
		o.Value = p.optionValue()
		p.once(options, o)
		options = append(options, o)
		if !p.acceptPunct(",") {
			break
		}
	}
	p.expectPunct(")")
	return options
}

// once refuses an option that is there already.
func (p *parser) once(options []Option, o Option) {
	for _, before := range options {
		if strings.EqualFold(before.Key, o.Key) {
			p.refuse(WrongForm, "the option "+o.Key+" is given twice; leave one of them out")
		}
	}
}

// key parses the name of an option: a word or dotted words, reserved or not, or a quoted text.
func (p *parser) key() string {
	if p.peek(0).kind == tokString {
		return p.next().text
	}
	key := p.ident("the name of an option")
	for p.acceptPunct(".") {
		key += "." + p.ident("the name of an option")
	}
	return key
}

// assignAt returns the number of tokens of the = or => that begins i tokens ahead, 0 when there is none.
func (p *parser) assignAt(i int) int {
	eq, gt := p.peek(i), p.peek(i+1)
	switch {
	case !eq.punct("="):
		return 0
	case gt.punct(">") && gt.start == eq.end:
		return 2
	default:
		return 1
	}
}

func (p *parser) acceptAssign() bool {
	n := p.assignAt(0)
	p.pos += n
	return n > 0
}
