package sqlext

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"
)

// ParseStreamSelect takes the streaming sources out of a stream's SELECT, in Spark's order: that in which FROM names them, a WITH query
// where it is used. The SELECT that it returns reads source i as the table function __stream_source(i), and has been through Rewrite.
// What needs state over batches is refused. err is a *SyntaxError or a *RefusedError.
func ParseStreamSelect(sql string) (rewritten string, sources []StreamSource, err error) {
	l := newLexer(sql)
	tokens, _ := statementTokens(l)
	return parseStreamSelect(l, tokens)
}

// parseStreamSelect works on the tokens of a SELECT within a longer text, so that errors have their place in that.
func parseStreamSelect(l *lexer, tokens []token) (string, []StreamSource, error) {
	tokens = withoutParens(tokens)
	if len(tokens) == 0 {
		return "", nil, SyntaxErrorAt(l.sql, len(l.sql), "SELECT")
	}
	start, end := tokens[0].start, tokens[len(tokens)-1].end
	s := &sourceReader{lex: l, tokens: tokens, edits: editor{sql: l.sql}}
	r := rewriter{tokens: tokens, edits: &s.edits}
	if err := r.run(s.read); err != nil {
		return "", nil, err
	}
	if len(s.sources) == 0 {
		return "", nil, &RefusedError{WrongForm, "the SELECT of a stream reads no stream: write STREAM in front of what it reads, such as FROM STREAM read_files('path', format => 'csv')"}
	}
	text := s.edits.apply(start, end, l.markers)
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return "", nil, s.vitessError(text, start, err)
	}
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return "", nil, SyntaxErrorAt(l.sql, start, "SELECT")
	}
	order, err := sourceOrder(sel, len(s.sources))
	if err != nil {
		return "", nil, err
	}
	return s.edits.apply(start, end, l.markers), s.reorder(order), nil
}

// withoutParens takes the parentheses off that enclose the whole SELECT, which vitess does not read.
func withoutParens(tokens []token) []token {
	for len(tokens) > 1 && tokens[0].punct("(") && tokens[len(tokens)-1].punct(")") {
		depth := 0
		for _, t := range tokens[:len(tokens)-1] {
			if t.punct("(") {
				depth++
			} else if t.punct(")") {
				depth--
			}
			if depth == 0 {
				return tokens
			}
		}
		tokens = tokens[1 : len(tokens)-1]
	}
	return tokens
}

// sourceReader takes streaming sources out of the tokens of a SELECT.
type sourceReader struct {
	lex     *lexer
	tokens  []token
	edits   editor
	sources []StreamSource
	places  []int // for each source the index of its edit
}

// read parses the source whose STREAM is token i, and returns the token behind it.
func (s *sourceReader) read(i int) (int, error) {
	last := s.tokens[len(s.tokens)-1].end
	p := &parser{lex: s.lex, pos: i + 1}
	p.tokens = append(s.tokens[:len(s.tokens):len(s.tokens)], token{kind: tokEOF, start: last, end: last})
	parens := p.acceptPunct("(")
	name := p.name("a table function or a table")
	var source StreamSource
	if p.peek(0).punct("(") && name.Database == "" {
		source.Function = strings.ToLower(name.Name)
		p.known(source.Function)
		p.expectPunct("(")
		p.arguments(&source)
		p.expectPunct(")")
	} else if source.Table = name; parens && p.acceptPunct(",") {
		p.arguments(&source)
	}
	if parens {
		p.expectPunct(")")
	}
	if p.err != nil {
		return 0, p.err
	}
	s.places = append(s.places, len(s.edits.edits))
	s.edits.replace(s.tokens[i].start, p.tokens[p.pos-1].end, placeholder(len(s.sources)))
	s.sources = append(s.sources, source)
	return p.pos, nil
}

func placeholder(i int) string { return fmt.Sprintf("%s(%d)", SourceFunction, i) }

// known refuses functions that are no source.
func (p *parser) known(function string) {
	switch function {
	case "read_files", "kafka", "rate":
	case "read_kafka", "cloud_files":
		p.refuse(WrongForm, "STREAM "+function+"(...) is written STREAM "+map[string]string{"read_kafka": "kafka('brokers', topic => 't')", "cloud_files": "read_files('path', format => 'csv')"}[function])
	default:
		p.refuse(WrongForm, "STREAM "+function+"(...) is no source of a stream; write STREAM read_files('path', format => 'csv'), STREAM kafka('brokers', topic => 't'), STREAM rate(rowsPerSecond => 10), or STREAM and the name of a table")
	}
}

// arguments parses value, ..., key => value, ... up to the closing parenthesis.
func (p *parser) arguments(s *StreamSource) {
	for p.err == nil && !p.peek(0).punct(")") {
		if p.isValue() && p.assignAt(1) == 0 {
			if len(s.Options) > 0 {
				p.fail("a named argument: key => value")
			}
			s.Args = append(s.Args, p.value("a literal"))
		} else {
			o := Option{Key: p.key()}
			if !p.acceptAssign() {
				p.fail("'=>'")
			}
			o.Value = p.optionValue()
			p.once(s.Options, o)
			s.Options = append(s.Options, o)
		}
		if !p.acceptPunct(",") {
			break
		}
	}
}

// vitessError places an error about the rewritten text in the original.
func (s *sourceReader) vitessError(text string, start int, err error) error {
	syntax, ok := vterrors.AsSyntaxError(err)
	if !ok {
		return &SyntaxError{Near: err.Error(), Line: 1}
	}
	at := vitessPosition(text, syntax)
	return SyntaxErrorAt(s.lex.sql, min(s.edits.origin(start, at), len(s.lex.sql)), "")
}

// reorder renumbers the sources: order[i] is the number that source i has so far.
func (s *sourceReader) reorder(order []int) []StreamSource {
	sources := make([]StreamSource, len(order))
	for i, old := range order {
		sources[i] = s.sources[old]
		s.edits.edits[s.places[old]].text = placeholder(i)
	}
	return sources
}

// errStop ends a walk.
var errStop = errors.New("stop")

// contains reports whether visit holds for a part of the nodes outside of their subqueries.
func contains(visit func(sqlparser.SQLNode) bool, nodes ...sqlparser.SQLNode) bool {
	return sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if _, ok := n.(*sqlparser.Subquery); ok {
			return false, nil
		}
		if visit(n) {
			return false, errStop
		}
		return true, nil
	}, nodes...) != nil
}
