package sqlext

import "strings"

// tableWords are the clauses of CREATE TABLE that only we know.
var tableWords = []string{"USING", "PARTITIONED", "CLUSTER", "LOCATION", "TBLPROPERTIES", "OPTIONS"}

// deltaTypes are Delta's and Spark's type names that vitess does not know, with what vitess is given for them.
var deltaTypes = map[string]string{
	"STRING": "LONGTEXT", "LONG": "BIGINT", "BYTE": "TINYINT", "SHORT": "SMALLINT",
	"TIMESTAMP_NTZ": "DATETIME(6)", "TIMESTAMP_LTZ": "TIMESTAMP(6)",
}

// nestedTypes are the types that no column can have yet.
var nestedTypes = map[string]bool{"ARRAY": true, "MAP": true, "STRUCT": true, "VARIANT": true}

// hasTableExtras looks ahead in a CREATE TABLE for a clause or a type of ours. It moves nothing.
func (p *parser) hasTableExtras() bool {
	defer func(pos int) { p.pos, p.err = pos, nil }(p.pos)
	p.tableHead(&CreateTable{})
	if p.peek(0).punct("(") && !p.selectInParens() {
		found := false
		p.columns(func(name, typ token) { found = found || isDeltaType(typ, p.peek(0)) })
		if found {
			return true
		}
	}
	for t := p.peek(0); !isEnd(t) && !isSelect(t); t = p.peek(0) {
		for _, w := range tableWords {
			if t.is(w) {
				return true
			}
		}
		p.skipOption()
	}
	return false
}

func isSelect(t token) bool { return t.is("AS") || t.is("SELECT") || t.is("WITH") || t.is("LIKE") }

// selectInParens reports a parenthesis that holds a SELECT, not columns.
func (p *parser) selectInParens() bool {
	t := p.peek(1)
	return t.is("SELECT") || t.is("WITH") || t.is("LIKE") || t.punct("(")
}

// isDeltaType reports whether typ is a type name of ours; after is the token behind it.
func isDeltaType(typ, after token) bool {
	if typ.kind != tokWord || typ.is("LONG") && (after.is("VARCHAR") || after.is("VARBINARY")) {
		return false
	}
	word := strings.ToUpper(typ.text)
	return deltaTypes[word] != "" || nestedTypes[word]
}

// tableHead parses CREATE [OR REPLACE] TABLE [IF NOT EXISTS] name.
func (p *parser) tableHead(s *CreateTable) {
	p.expect("CREATE")
	s.OrReplace = p.accept("OR REPLACE")
	p.expect("TABLE")
	s.IfNotExists = p.accept("IF NOT EXISTS")
	s.Name = p.name("the name of a table")
}

// columns walks over ( ... ) and calls column for each definition of a column, after its type name.
func (p *parser) columns(column func(name, typ token)) {
	p.expectPunct("(")
	for depth, begin := 1, true; depth > 0 && !isEnd(p.peek(0)); {
		t := p.next()
		switch {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		case begin && p.isName(t) && !isKeyWord(t) && p.peek(0).kind == tokWord:
			column(t, p.next())
		}
		begin = depth == 1 && t.punct(",")
	}
}

// isKeyWord reports whether t begins a key or a constraint, not a column.
func isKeyWord(t token) bool {
	for _, w := range []string{"PRIMARY", "UNIQUE", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "FOREIGN", "CONSTRAINT", "CHECK"} {
		if t.is(w) {
			return true
		}
	}
	return false
}

func (p *parser) createTable() Statement {
	from := p.pos
	s := &CreateTable{Types: map[string]string{}}
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
		p.columns(func(name, typ token) { p.columnType(s, &edits, name, typ) })
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

// columnType replaces a type name that vitess does not know.
func (p *parser) columnType(s *CreateTable, edits *editor, name, typ token) {
	if !isDeltaType(typ, p.peek(0)) {
		return
	}
	word := strings.ToUpper(typ.text)
	if nestedTypes[word] {
		p.refuse(NotSupported, "column "+name.text+": the type "+word+" is not supported yet; a STRING can hold it as JSON")
		return
	}
	edits.replace(typ.start, typ.end, deltaTypes[word])
	s.Types[strings.ToLower(name.text)] = strings.ToLower(typ.text)
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
	case p.accept("CLUSTER BY"):
		s.ClusterBy = p.names("the name of a column")
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
