package sqlext

import "strings"

// InsertOverwrite is INSERT OVERWRITE.
type InsertOverwrite struct {
	Table     Name
	Partition []Partition // PARTITION (...); nil: the whole table is replaced
	Insert    string      // the statement for vitess: INSERT INTO t (cols) SELECT ..., without PARTITION
	SQL       string      // the whole statement as written, without a trailing ';'
}

// Partition is a column of PARTITION (a = 1, b).
type Partition struct {
	Column string
	Value  *Value // nil: the values are those of the rows that are written
}

func (*InsertOverwrite) statement() {}

func (p *parser) insertOverwrite() Statement {
	for !isEnd(p.peek(0)) {
		p.next()
	}
	edits := editor{sql: p.lex.sql}
	end := p.pos
	p.pos = 0
	p.expect("INSERT OVERWRITE")
	p.accept("INTO")
	p.accept("TABLE")
	if p.words("DIRECTORY") || p.words("LOCAL DIRECTORY") {
		p.refuse(NotSupported, "INSERT OVERWRITE DIRECTORY is not supported; write a table: INSERT OVERWRITE t SELECT ...")
	}
	s := &InsertOverwrite{}
	into := p.pos
	s.Table = p.name("the name of a table")
	if p.err != nil {
		return nil
	}
	edits.replace(p.tokens[1].start, p.tokens[into].start, "INTO ")
	from := p.pos
	if p.accept("PARTITION") {
		s.Partition = p.partition()
		if p.err != nil {
			return nil
		}
		edits.replace(p.tokens[from].start, p.tokens[p.pos-1].end, "")
	}
	if isEnd(p.peek(0)) {
		p.fail("SELECT or VALUES")
		return nil
	}
	rest := p.pos
	p.pos = end
	if p.err = rewriteTokens(p.tokens[rest:end], &edits); p.err != nil {
		return nil
	}
	s.SQL = p.text(0)
	s.Insert = strings.TrimSpace(edits.apply(p.tokens[0].start, p.tokens[end-1].end, p.lex.markers))
	return s
}

// partition parses ( column [= value], ... ).
func (p *parser) partition() []Partition {
	var out []Partition
	p.expectPunct("(")
	for p.err == nil {
		one := Partition{Column: p.ident("the name of a partition column")}
		if p.acceptPunct("=") {
			v := p.optionValue()
			one.Value = &v
		}
		out = append(out, one)
		if !p.acceptPunct(",") {
			break
		}
	}
	p.expectPunct(")")
	return out
}
