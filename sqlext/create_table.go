package sqlext

import "strings"

// CreateTable is a CREATE TABLE with clauses or types that vitess does not know.
type CreateTable struct {
	Name          Name
	IfNotExists   bool
	OrReplace     bool
	Rest          string      // the statement for vitess without what is ours; "" when NoColumns
	NoColumns     bool        // neither columns nor AS SELECT: CREATE TABLE t USING DELTA LOCATION 'existing'
	Columns       []ColumnDef // those with something in them that is not in Rest
	Checks        []Check     // of the table; those of columns are in Columns
	PartitionedBy []string
	ClusterBy     [][]string
	Location      *Value
	Comment       *Value
	Properties    []Option
	Params        int
	SQL           string // the whole statement as written, without a trailing ';'
}

func (*CreateTable) statement() {}

// tableWords are the clauses of CREATE TABLE that only we know.
var tableWords = []string{"USING", "PARTITIONED", "CLUSTER", "LOCATION", "TBLPROPERTIES", "OPTIONS"}

// columnWords are the attributes of a column that only we understand as Delta does.
var columnWords = []string{"DEFAULT", "GENERATED", "CHECK", "AUTO_INCREMENT", "AUTOINCREMENT"}

// hasTableExtras looks ahead in a CREATE TABLE for something that is ours. It moves nothing.
func (p *parser) hasTableExtras() bool {
	defer func(pos int) { p.pos, p.err = pos, nil }(p.pos)
	p.tableHead(&CreateTable{})
	if p.peek(0).punct("(") && !p.selectInParens() && p.columnExtras() {
		return true
	}
	for t := p.peek(0); !isEnd(t) && !isSelect(t); t = p.peek(0) {
		if isOneOf(t, tableWords) {
			return true
		}
		p.skipOption()
	}
	return false
}

// columnExtras goes over ( ... ) and reports a type or an attribute of ours.
func (p *parser) columnExtras() bool {
	p.expectPunct("(")
	for depth, begin := 1, true; depth > 0 && !isEnd(p.peek(0)); {
		t := p.next()
		switch {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		case depth > 1:
		case begin && p.isName(t) && !isKeyWord(t) && isDeltaType(p.peek(0), p.peek(1)):
			return true
		case begin && !t.is("CHECK"):
		case isOneOf(t, columnWords), t.is("DELTA") && p.peek(0).is("TYPE"), t.is("AS") && p.peek(0).punct("("):
			return true
		}
		begin = depth == 1 && t.punct(",")
	}
	return false
}

func isSelect(t token) bool { return t.is("AS") || t.is("SELECT") || t.is("WITH") || t.is("LIKE") }

// selectInParens reports a parenthesis that holds a SELECT, not columns.
func (p *parser) selectInParens() bool {
	t := p.peek(1)
	return t.is("SELECT") || t.is("WITH") || t.is("LIKE") || t.punct("(")
}

// tableHead parses CREATE [OR REPLACE] TABLE [IF NOT EXISTS] name.
func (p *parser) tableHead(s *CreateTable) {
	p.expect("CREATE")
	s.OrReplace = p.accept("OR REPLACE")
	p.expect("TABLE")
	s.IfNotExists = p.accept("IF NOT EXISTS")
	s.Name = p.name("the name of a table")
}

func (p *parser) createTable() Statement {
	from := p.pos
	s := &CreateTable{}
	p.tableHead(s)
	if s.OrReplace && s.IfNotExists {
		p.refuse(WrongForm, "OR REPLACE and IF NOT EXISTS contradict each other; leave one of them out")
	}
	edits := editor{sql: p.lex.sql}
	if s.OrReplace {
		edits.replace(p.tokens[from+1].start, p.tokens[from+3].start, "")
	}
	bare := true
	if p.peek(0).punct("(") && !p.selectInParens() {
		bare = false
		p.tableElements(s, &edits)
	}
	p.tableClauses(s, &edits)
	if isSelect(p.peek(0)) || p.peek(0).punct("(") {
		bare = false
		p.selectOfTable(&edits)
	}
	if p.err != nil {
		return nil
	}
	if s.NoColumns = bare; bare && s.Location == nil {
		p.refuse(WrongForm, "CREATE TABLE without columns takes those of an existing table: add LOCATION 'path of the table', or columns, or AS SELECT")
		return nil
	}
	s.SQL, s.Params = p.text(from), p.lex.params
	if !bare {
		s.Rest = strings.TrimSpace(edits.apply(p.tokens[from].start, p.tokens[p.pos-1].end, p.lex.markers))
	}
	return s
}

// tableElements parses ( column or constraint, ... ). Keys are left to vitess.
func (p *parser) tableElements(s *CreateTable, edits *editor) {
	r := columnReader{p, edits}
	p.expectPunct("(")
	for p.err == nil {
		p.tableElement(r, s)
		if !p.acceptPunct(",") {
			break
		}
	}
	p.expectPunct(")")
}

func (p *parser) tableElement(r columnReader, s *CreateTable) {
	from := p.pos
	name := ""
	switch t := p.peek(0); {
	case p.constraintName(&name), p.words("CHECK"):
		s.Checks = append(s.Checks, p.check(name))
		p.cutElement(from, r.edits)
	case isKeyWord(t):
		for !r.atElementEnd() {
			p.skipOption()
		}
	default:
		path := []string{p.ident("the name of a column")}
		if c := r.column(path); p.err == nil && c.isOurs() {
			s.Columns = append(s.Columns, c)
		}
		if p.err == nil && !r.atElementEnd() {
			p.fail("',' or ')'")
		}
	}
}

// cutElement cuts an element out with the comma before it, or else behind it.
func (p *parser) cutElement(from int, edits *editor) {
	if p.err != nil {
		return
	}
	start, end := p.tokens[from].start, p.tokens[p.pos-1].end
	if before := p.tokens[from-1]; before.punct(",") {
		start = before.start
	} else if after := p.peek(0); after.punct(",") {
		end = after.end
	}
	edits.replace(start, end, "")
}

// tableClauses takes our clauses and leaves MySQL's to vitess, up to the SELECT or the end.
func (p *parser) tableClauses(s *CreateTable, edits *editor) {
	seen := map[string]bool{}
	for t := p.peek(0); !isEnd(t) && !isSelect(t) && !t.punct("("); t = p.peek(0) {
		if !p.tableClause(s) {
			p.skipOption()
			continue
		}
		if clause := strings.ToUpper(t.text); seen[clause] {
			p.refuse(WrongForm, "CREATE TABLE has "+clause+" twice; each clause comes once")
		} else {
			seen[clause] = true
		}
		if p.err == nil {
			edits.replace(t.start, p.tokens[p.pos-1].end, "")
		}
	}
}

// skipOption goes over one token of MySQL's table options, with the parenthesis that follows a word.
func (p *parser) skipOption() {
	p.next()
	for depth := 0; p.peek(0).punct("(") || depth > 0 && !isEnd(p.peek(0)); {
		switch t := p.next(); {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		}
	}
}

func (p *parser) tableClause(s *CreateTable) bool {
	switch {
	case p.accept("USING"):
		if format := p.ident("DELTA"); !strings.EqualFold(format, "delta") {
			p.refuse(NotSupported, "USING "+strings.ToUpper(format)+" is not supported; tables here are Delta tables: USING DELTA")
		}
	case p.accept("PARTITIONED BY"):
		s.PartitionedBy = p.names("the name of a column")
	case p.words("CLUSTER BY AUTO"):
		p.refuse(NotSupported, "CLUSTER BY AUTO is not supported; name the columns: CLUSTER BY (a, b)")
	case p.accept("CLUSTER BY"):
		s.ClusterBy = p.paths()
	case p.accept("LOCATION"):
		p.acceptPunct("=")
		v := p.stringValue("the path of the table")
		s.Location = &v
	case p.accept("COMMENT"):
		p.acceptPunct("=")
		v := p.stringValue("a text")
		s.Comment = &v
	case p.accept("TBLPROPERTIES"):
		s.Properties = p.options()
	case p.words("OPTIONS"):
		p.refuse(NotSupported, "OPTIONS of a table are not supported; write TBLPROPERTIES ('key' = 'value')")
	default:
		return false
	}
	return true
}

// paths parses ( path, ... ).
func (p *parser) paths() [][]string {
	var paths [][]string
	p.expectPunct("(")
	for p.err == nil {
		paths = append(paths, p.path())
		if !p.acceptPunct(",") {
			break
		}
	}
	p.expectPunct(")")
	return paths
}

// selectOfTable goes to the end of the statement and rewrites the SELECT on the way.
func (p *parser) selectOfTable(edits *editor) {
	from := p.pos
	for !isEnd(p.peek(0)) {
		p.next()
	}
	if p.err == nil {
		p.err = rewriteTokens(p.tokens[from:p.pos], edits)
	}
}
