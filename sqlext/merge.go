package sqlext

import (
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// MergeMatch says for which rows a clause of MERGE is.
type MergeMatch uint8

// The matches of MERGE.
const (
	Matched            MergeMatch = iota // a row of the target with one of the source
	NotMatched                           // a row of the source without one of the target
	NotMatchedBySource                   // a row of the target without one of the source
)

// MergeAction is what a clause of MERGE does with its rows.
type MergeAction uint8

// The actions of MERGE.
const (
	MergeUpdate MergeAction = iota
	MergeDelete
	MergeInsert
)

// Merge is MERGE INTO. Expressions and the source are SQL for vitess: they have been through Rewrite.
type Merge struct {
	Target      Name
	TargetAlias string // the table's name when none was given
	Source      string // a table, a (SELECT ...) or a call of a table function, without its alias
	SourceAlias string // the table's name when none was given; mergeSource for a SELECT without one
	On          string
	Clauses     []MergeClause // in order: the first that holds for a row is the row's
	SQL         string        // the whole statement as written, without a trailing ';'
}

// MergeClause is one WHEN ... THEN ... .
type MergeClause struct {
	Match     MergeMatch
	Condition string // "": none
	Action    MergeAction
	Star      bool              // UPDATE SET *, INSERT *
	Set       []MergeAssignment // of UPDATE, and of INSERT with a column list
	Values    []string          // of INSERT VALUES without a column list
}

// MergeAssignment gives a column a value.
type MergeAssignment struct {
	Qualifier string // the alias before the column; "" without one
	Column    string
	Value     string // an expression; DEFAULT stands for the column's default
}

func (*Merge) statement() {}

// mergeSource is the alias of a source that has none.
const mergeSource = "source"

const mergeForm = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED [AND e] THEN {UPDATE SET c = e, ... | UPDATE SET * | DELETE} " +
	"WHEN NOT MATCHED [AND e] THEN {INSERT (c, ...) VALUES (e, ...) | INSERT *} WHEN NOT MATCHED BY SOURCE [AND e] THEN {UPDATE SET ... | DELETE}"

// mergeParser parses a MERGE. Pieces of it are kept as places in the text until all of it was rewritten.
type mergeParser struct {
	*parser
	edits editor
}

func (p *parser) merge() Statement {
	if p.words("MERGE WITH SCHEMA EVOLUTION") {
		p.refuse(NotSupported, "MERGE WITH SCHEMA EVOLUTION is not supported yet; ALTER TABLE t ADD COLUMN first, then MERGE INTO")
		return nil
	}
	for !isEnd(p.peek(0)) {
		p.next()
	}
	m := mergeParser{parser: p, edits: editor{sql: p.lex.sql}}
	if p.err == nil {
		p.err = rewriteTokens(p.tokens[:p.pos], &m.edits)
	}
	p.pos = 0
	p.expect("MERGE INTO")
	out := &Merge{Target: p.name("the name of a table")}
	out.TargetAlias = m.alias(out.Target.Name, "USING")
	p.expect("USING")
	m.source(out)
	p.expect("ON")
	out.On = m.expression("a condition", "WHEN")
	for p.err == nil && !isEnd(p.peek(0)) {
		out.Clauses = append(out.Clauses, m.clause())
	}
	if p.err == nil && len(out.Clauses) == 0 {
		p.fail("WHEN MATCHED or WHEN NOT MATCHED: " + mergeForm)
	}
	m.order(out.Clauses)
	if p.err != nil {
		return nil
	}
	out.SQL = p.text(0)
	return out
}

// alias parses [[AS] alias] before one of the words that may follow.
func (m *mergeParser) alias(name string, before string) string {
	if m.accept("AS") || !m.peek(0).is(before) && m.isName(m.peek(0)) {
		return m.ident("an alias")
	}
	return name
}

// source parses what follows USING: a table with its version, a SELECT or a function, and the alias.
func (m *mergeParser) source(out *Merge) {
	from := m.pos
	name := mergeSource
	if m.peek(0).punct("(") {
		m.group()
	} else {
		n := m.name("a table, or (SELECT ...)")
		name = n.Name
		if m.peek(0).punct("(") {
			m.group()
		}
		m.version()
	}
	if m.err != nil {
		return
	}
	out.Source = m.piece(from, m.pos)
	out.SourceAlias = m.alias(name, "ON")
	if m.peek(0).punct("(") {
		m.refuse(WrongForm, "MERGE: give the columns of the source their names in its SELECT: USING (SELECT a AS x, ...) AS "+out.SourceAlias)
	}
}

// group goes over ( ... ).
func (m *mergeParser) group() {
	m.expectPunct("(")
	for depth := 1; depth > 0 && m.err == nil; {
		switch t := m.next(); {
		case isEnd(t):
			m.fail("')'")
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		}
	}
}

// version goes over [FOR] [VERSION | TIMESTAMP | SYSTEM_TIME] AS OF x.
func (m *mergeParser) version() {
	n := 0
	if m.peek(n).is("FOR") {
		n++
	}
	if t := m.peek(n); t.is("VERSION") || t.is("TIMESTAMP") || t.is("SYSTEM_TIME") {
		n++
	}
	if !m.peek(n).is("AS") || !m.peek(n+1).is("OF") {
		return
	}
	m.pos += n + 2
	if m.next(); m.peek(0).punct("(") {
		m.group()
	}
}

// clause parses WHEN ... THEN ... .
func (m *mergeParser) clause() MergeClause {
	c := MergeClause{}
	m.expect("WHEN")
	not := m.accept("NOT")
	m.expect("MATCHED")
	switch {
	case not && m.accept("BY SOURCE"):
		c.Match = NotMatchedBySource
	case not:
		m.accept("BY TARGET")
		c.Match = NotMatched
	}
	if m.accept("AND") {
		c.Condition = m.expression("a condition", "THEN")
	}
	m.expect("THEN")
	switch {
	case c.Match == NotMatched:
		if !m.words("INSERT") {
			m.fail("INSERT: a row of the source that matches none can only be inserted")
			return c
		}
		m.insert(&c)
	case m.accept("UPDATE"):
		m.expect("SET")
		m.update(&c)
	case m.accept("DELETE"):
		c.Action = MergeDelete
	default:
		m.fail("UPDATE SET or DELETE")
	}
	return c
}

func (m *mergeParser) update(c *MergeClause) {
	c.Action = MergeUpdate
	if c.Star = m.acceptPunct("*"); c.Star {
		if c.Match == NotMatchedBySource {
			m.refuse(WrongForm, "MERGE: UPDATE SET * takes the source's columns, and WHEN NOT MATCHED BY SOURCE has none; name the columns: UPDATE SET c = e")
		}
		return
	}
	for m.err == nil {
		a := MergeAssignment{Column: m.ident("the name of a column")}
		if m.acceptPunct(".") {
			a.Qualifier, a.Column = a.Column, m.ident("the name of a column")
		}
		if m.peek(0).punct(".") {
			m.refuse(NotSupported, "MERGE: assigning a field of a struct is not supported yet; assign the whole column "+a.Column)
		}
		m.expectPunct("=")
		a.Value = m.expression("an expression", ",", "WHEN")
		c.Set = append(c.Set, a)
		if !m.acceptPunct(",") {
			return
		}
	}
}

func (m *mergeParser) insert(c *MergeClause) {
	c.Action = MergeInsert
	m.expect("INSERT")
	if c.Star = m.acceptPunct("*"); c.Star {
		return
	}
	listed := m.peek(0).punct("(")
	var columns []string
	if listed {
		columns = m.mergeColumns()
	}
	at := m.peek(0)
	m.expect("VALUES")
	m.expectPunct("(")
	for m.err == nil {
		c.Values = append(c.Values, m.expression("an expression", ",", ")"))
		if !m.acceptPunct(",") {
			break
		}
	}
	m.expectPunct(")")
	if m.err != nil || !listed {
		return
	}
	if len(columns) != len(c.Values) {
		m.err = SyntaxErrorAt(m.lex.sql, at.start, fmt.Sprintf("as many values as columns: there are %d columns and %d values", len(columns), len(c.Values)))
		return
	}
	for i, column := range columns {
		c.Set = append(c.Set, MergeAssignment{Column: column, Value: c.Values[i]})
	}
	c.Values = nil
}

// mergeColumns parses ( column, ... ); Spark takes an alias before a column.
func (m *mergeParser) mergeColumns() []string {
	var out []string
	m.expectPunct("(")
	for m.err == nil {
		column := m.ident("the name of a column")
		if m.acceptPunct(".") {
			column = m.ident("the name of a column")
		}
		out = append(out, column)
		if !m.acceptPunct(",") {
			break
		}
	}
	m.expectPunct(")")
	return out
}

// expression goes to the first of the ends that stands outside of parentheses and of CASE, and returns what is before it.
func (m *mergeParser) expression(what string, ends ...string) string {
	from := m.pos
	depth, cases := 0, 0
	for ; !isEnd(m.peek(0)); m.next() {
		t := m.peek(0)
		if depth == 0 && cases == 0 && endsAt(t, ends) {
			break
		}
		switch {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		case t.is("CASE"):
			cases++
		case t.is("END") && cases > 0:
			cases--
		}
	}
	if m.err != nil || from == m.pos {
		m.fail(what)
		return ""
	}
	text := m.piece(from, m.pos)
	if strings.EqualFold(text, "DEFAULT") {
		return "DEFAULT"
	}
	if _, err := sqlparser.Parse("SELECT " + text); err != nil {
		m.misplaced(from, err)
		return ""
	}
	return text
}

func endsAt(t token, ends []string) bool {
	for _, e := range ends {
		if t.is(e) || t.punct(e) {
			return true
		}
	}
	return false
}

// misplaced reports an error of vitess about an expression where the expression begins.
func (m *mergeParser) misplaced(from int, err error) {
	if syntax, ok := FromVitess(err); ok {
		m.err = SyntaxErrorAt(m.lex.sql, m.tokens[from].start, "an expression; it ends near '"+syntax.Near+"'")
		return
	}
	m.err = SyntaxErrorAt(m.lex.sql, m.tokens[from].start, "an expression")
}

// piece is the rewritten text of the tokens [from, to).
func (m *mergeParser) piece(from, to int) string {
	return strings.TrimSpace(m.edits.apply(m.tokens[from].start, m.tokens[to-1].end, m.lex.markers))
}

// order refuses clauses that no row can reach.
func (m *mergeParser) order(clauses []MergeClause) {
	names := map[MergeMatch]string{Matched: "WHEN MATCHED", NotMatched: "WHEN NOT MATCHED", NotMatchedBySource: "WHEN NOT MATCHED BY SOURCE"}
	open := map[MergeMatch]bool{}
	for _, c := range clauses {
		if open[c.Match] {
			m.refuse(WrongForm, "[NON_LAST_"+strings.ReplaceAll(strings.TrimPrefix(names[c.Match], "WHEN "), " ", "_")+
				"_CLAUSE_OMIT_CONDITION] MERGE: only the last "+names[c.Match]+" may be without AND condition")
		}
		open[c.Match] = open[c.Match] || c.Condition == ""
	}
}
