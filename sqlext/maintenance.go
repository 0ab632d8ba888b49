package sqlext

import "strings"

// Optimize is OPTIMIZE t [FULL] [WHERE e] [ZORDER BY (c, ...)], or MySQL's OPTIMIZE TABLE t, ...
type Optimize struct {
	Tables   []Name // one, but for MySQL's form
	Full     bool
	Where    string // the condition as written; "" when it was not given
	ZOrderBy []string
	MySQL    bool // OPTIMIZE TABLE: the answer has MySQL's columns
}

// Vacuum is VACUUM t [LITE | FULL] [RETAIN n HOURS] [DRY RUN].
type Vacuum struct {
	Table  Name
	Lite   bool   // look only at files that the log names
	Retain *Value // in hours; nil: the table's retention
	DryRun bool
}

// Restore is RESTORE [TABLE] t [TO] { VERSION | TIMESTAMP } AS OF x. One of Version and Timestamp is set.
type Restore struct {
	Table     Name
	Version   *Value
	Timestamp *Value
}

// ConvertToDelta is CONVERT TO DELTA parquet.`path` [NO STATISTICS] [PARTITIONED BY (col type, ...)].
type ConvertToDelta struct {
	Path          string
	NoStatistics  bool
	PartitionedBy []ColumnDef // name and type
}

// AnalyzeTable is ANALYZE TABLE t, ... and Spark's ANALYZE TABLE t COMPUTE STATISTICS ...
type AnalyzeTable struct{ Tables []Name }

// CheckTable is CHECK TABLE t, ... [FOR UPGRADE | QUICK | FAST | MEDIUM | EXTENDED | CHANGED] ...
type CheckTable struct {
	Tables []Name
	Quick  bool // QUICK, FAST, CHANGED or FOR UPGRADE: no file is opened
}

func (*CheckTable) statement()     {}
func (*Optimize) statement()       {}
func (*Vacuum) statement()         {}
func (*Restore) statement()        {}
func (*ConvertToDelta) statement() {}
func (*AnalyzeTable) statement()   {}

// tableName parses the name of a table, or a text: the path of one.
func (p *parser) tableName() Name {
	if t := p.peek(0); t.kind == tokString && p.lex.sql[t.start] == '\'' {
		return Name{Database: "delta", Name: p.next().text}
	}
	return p.name("the name of a table")
}

// tableNames parses t, ...
func (p *parser) tableNames() []Name {
	names := []Name{p.tableName()}
	for p.acceptPunct(",") {
		names = append(names, p.tableName())
	}
	return names
}

// restText goes over the tokens up to one of the words outside of parentheses, or the end, and returns their text.
func (p *parser) restText(what string, until ...string) string {
	from := p.pos
	for depth := 0; !isEnd(p.peek(0)); {
		t := p.peek(0)
		switch {
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		case depth == 0 && isOneOf(t, until):
			return p.textOf(from, what)
		}
		p.next()
	}
	return p.textOf(from, what)
}

func (p *parser) textOf(from int, what string) string {
	if p.pos == from {
		p.fail(what)
	}
	return p.text(from)
}

func isOneOf(t token, words []string) bool {
	for _, w := range words {
		if t.is(w) {
			return true
		}
	}
	return false
}

// withoutBinlog goes over MySQL's words about replication, of which there is none.
func (p *parser) withoutBinlog() {
	if !p.accept("NO_WRITE_TO_BINLOG") {
		p.accept("LOCAL")
	}
}

func (p *parser) optimize() Statement {
	p.expect("OPTIMIZE")
	if p.words("TABLE") || p.words("NO_WRITE_TO_BINLOG TABLE") || p.words("LOCAL TABLE") {
		p.withoutBinlog()
		p.expect("TABLE")
		return &Optimize{Tables: p.tableNames(), MySQL: true}
	}
	s := &Optimize{Tables: []Name{p.tableName()}, Full: p.accept("FULL")}
	if p.accept("WHERE") {
		s.Where = p.restText("a condition", "ZORDER")
	}
	if p.accept("ZORDER BY") {
		s.ZOrderBy = p.columnList()
	}
	return s
}

// columnList parses ( name, ... ) or name, ...
func (p *parser) columnList() []string {
	if p.peek(0).punct("(") {
		return p.names("the name of a column")
	}
	list := []string{p.ident("the name of a column")}
	for p.acceptPunct(",") {
		list = append(list, p.ident("the name of a column"))
	}
	return list
}

func (p *parser) vacuum() Statement {
	p.expect("VACUUM")
	s := &Vacuum{Table: p.tableName()}
	if s.Lite = p.accept("LITE"); !s.Lite {
		p.accept("FULL")
	}
	if p.accept("RETAIN") {
		if !p.isValue() {
			p.fail("a number of hours")
		}
		v := p.value("a number of hours")
		s.Retain = &v
		if !p.accept("HOUR") {
			p.expect("HOURS")
		}
	}
	s.DryRun = p.accept("DRY RUN")
	return s
}

func (p *parser) restore() Statement {
	p.expect("RESTORE")
	p.accept("TABLE")
	s := &Restore{Table: p.tableName()}
	p.accept("TO")
	switch {
	case p.accept("VERSION AS OF"):
		v := p.count("a version")
		s.Version = &v
	case p.accept("TIMESTAMP AS OF"):
		v := p.stringValue("a timestamp")
		s.Timestamp = &v
	default:
		p.fail("TO VERSION AS OF n or TO TIMESTAMP AS OF 't'")
	}
	return s
}

func (p *parser) convertToDelta() Statement {
	p.expect("CONVERT TO DELTA")
	n := p.tableName()
	if !strings.EqualFold(n.Database, "parquet") && !(n.Database == "delta" && p.tokens[p.pos-1].kind == tokString) {
		p.refuse(WrongForm, "CONVERT TO DELTA takes a folder of Parquet files: CONVERT TO DELTA parquet.`/path` [PARTITIONED BY (col type, ...)]")
	}
	s := &ConvertToDelta{Path: n.Name, NoStatistics: p.accept("NO STATISTICS")}
	if p.accept("PARTITIONED BY") {
		p.expectPunct("(")
		for p.err == nil {
			s.PartitionedBy = append(s.PartitionedBy, ColumnDef{Path: []string{p.ident("the name of a column")}, Type: p.columnType()})
			if !p.acceptPunct(",") {
				break
			}
		}
		p.expectPunct(")")
	}
	return s
}

func (p *parser) checkTable() Statement {
	p.expect("CHECK")
	if !p.accept("TABLE") && !p.accept("TABLES") {
		p.fail("TABLE")
	}
	s := &CheckTable{Tables: p.tableNames()}
	for {
		switch {
		case p.accept("QUICK"), p.accept("FAST"), p.accept("CHANGED"), p.accept("FOR UPGRADE"):
			s.Quick = true
		case p.accept("MEDIUM"), p.accept("EXTENDED"):
			s.Quick = false
		default:
			return s
		}
	}
}

func (p *parser) analyzeTable() Statement {
	p.expect("ANALYZE")
	p.withoutBinlog()
	p.expect("TABLE")
	s := &AnalyzeTable{Tables: p.tableNames()}
	switch {
	case p.accept("COMPUTE STATISTICS"), p.accept("COMPUTE DELTA STATISTICS"):
		if p.accept("FOR COLUMNS") {
			p.columnList()
		} else if !p.accept("NOSCAN") {
			p.accept("FOR ALL COLUMNS")
		}
	case p.words("UPDATE HISTOGRAM"), p.words("DROP HISTOGRAM"):
		p.refuse(NotSupported, "histograms are not supported; the planner goes by the statistics of the table's files: ANALYZE TABLE t")
	}
	return s
}
