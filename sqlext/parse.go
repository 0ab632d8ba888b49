package sqlext

// Parse parses the first statement of sql when it is one of ours. rest is the text after its ';', "" when nothing follows.
// With ok false the statement is not ours: give Rewrite(sql) to vitess. err is a *SyntaxError or a *RefusedError, and only
// set when ok is true.
func Parse(sql string) (stmt Statement, rest string, ok bool, err error) {
	p := newParser(sql)
	parse := p.claim()
	if parse == nil {
		return nil, "", false, nil
	}
	stmt = parse()
	if p.err == nil {
		p.end()
	}
	if p.err != nil {
		return nil, "", true, p.err
	}
	return stmt, p.rest(), true, nil
}

// claim looks at the first words of the statement and returns what parses it from its first token on; nil when it is not ours.
func (p *parser) claim() func() Statement {
	first := p.peek(0)
	if first.kind != tokWord {
		return nil
	}
	if isOneOf(p.peek(1), accountWords) || p.words("SHOW CREATE USER") {
		if parse := p.claimAccounts(); parse != nil {
			return parse
		}
	}
	if p.words("CREATE") {
		return p.claimCreate()
	}
	if p.words("SHOW") {
		return p.claimShow()
	}
	if p.words("DESCRIBE") || p.words("DESC") || p.words("EXPLAIN") {
		return p.claimDescribe()
	}
	switch {
	case p.words("DROP STREAM"):
		return p.dropStream
	case p.words("ALTER STREAM"):
		return p.alterStream
	case p.words("WAIT FOR STREAM"):
		return p.waitForStream
	case p.words("START STREAM"), p.words("STOP STREAM"), p.words("PAUSE STREAM"), p.words("RESUME STREAM"):
		return p.startOrStop
	case p.words("MERGE INTO"), p.words("MERGE WITH SCHEMA EVOLUTION"):
		return p.merge
	case p.words("INSERT OVERWRITE"):
		return p.insertOverwrite
	case p.words("ALTER TABLE"), p.words("ALTER IGNORE TABLE"):
		return p.claimAlterTable()
	case p.words("CHECKSUM TABLE"), p.words("CHECKSUM TABLES"):
		return p.checksumTable
	case p.words("HELP") && !isEnd(p.peek(1)):
		return p.help
	}
	return p.claimTable()
}

// claimTable takes the statements about tables that one or two words tell.
func (p *parser) claimTable() func() Statement {
	if !isOneOf(p.peek(0), []string{"RENAME", "COMMENT", "COPY", "OPTIMIZE", "VACUUM", "RESTORE", "CONVERT", "ANALYZE", "CHECK"}) {
		return nil // the most statements
	}
	for _, c := range []struct {
		words string
		parse func() Statement
	}{
		{"RENAME TABLE", p.renameTables}, {"RENAME TABLES", p.renameTables}, {"COMMENT ON TABLE", p.commentOn}, {"COMMENT ON COLUMN", p.commentOn},
		{"COPY INTO", p.copyInto}, {"OPTIMIZE", p.optimize}, {"VACUUM", p.vacuum}, {"RESTORE", p.restore},
		{"CONVERT TO DELTA", p.convertToDelta}, {"ANALYZE TABLE", p.analyzeTable}, {"ANALYZE LOCAL TABLE", p.analyzeTable}, {"CHECK TABLE", p.checkTable}, {"CHECK TABLES", p.checkTable},
		{"ANALYZE NO_WRITE_TO_BINLOG TABLE", p.analyzeTable},
	} {
		if p.words(c.words) {
			return c.parse
		}
	}
	return nil
}

func (p *parser) claimCreate() func() Statement {
	switch {
	case p.words("CREATE STREAM"), p.words("CREATE OR REPLACE STREAM"):
		return func() Statement { return p.createStream() }
	case p.words("CREATE STREAMING TABLE"), p.words("CREATE OR REFRESH STREAMING TABLE"), p.words("CREATE OR REPLACE STREAMING TABLE"):
		return p.refusal(WrongForm, "a streaming table is written as a stream here: "+createStreamForm)
	case p.words("CREATE EXTERNAL TABLE"):
		return p.refusal(WrongForm, "a table with a LOCATION is external here: CREATE TABLE t (...) USING DELTA LOCATION 'path'")
	case p.words("CREATE OR REPLACE TABLE"):
		return p.createTable
	case p.words("CREATE TABLE") && p.hasTableExtras():
		return p.createTable
	}
	return nil
}

func (p *parser) claimShow() func() Statement {
	switch {
	case p.words("SHOW STREAMS"):
		return p.showStreams
	case p.words("SHOW STREAM"):
		return p.showStream
	case p.words("SHOW CREATE STREAM"):
		return p.showCreateStream
	case p.words("SHOW TBLPROPERTIES"):
		return p.showProperties
	case p.words("SHOW PARTITIONS"):
		return p.showPartitions
	}
	return p.claimMetadata()
}

// claimDescribe takes DESCRIBE HISTORY t and its kin. A single word after DESCRIBE is MySQL's: a table of that name.
func (p *parser) claimDescribe() func() Statement {
	if p.peek(1).is("CREATE") && (p.peek(2).is("STREAM") || p.peek(2).is("OR") && p.peek(4).is("STREAM")) {
		return p.explainCreateStream
	}
	if p.peek(1).is("MERGE") && (p.peek(2).is("INTO") || p.peek(2).is("WITH")) || p.peek(1).is("INSERT") && p.peek(2).is("OVERWRITE") {
		return p.explainChange
	}
	if p.peek(1).is("FORMAT") && p.peek(2).punct("=") && p.peek(3).kind == tokWord && !p.peek(3).is("TREE") {
		return p.explainFormat
	}
	if !p.isName(p.peek(2)) && p.peek(2).kind != tokString {
		return nil
	}
	switch what := p.peek(1); {
	case what.is("HISTORY"):
		return p.describeHistory
	case what.is("DETAIL"):
		return p.describeDetail
	case what.is("STREAM"):
		return p.describeStream
	}
	return nil
}

func (p *parser) describeHistory() Statement {
	p.pos += 2
	return &DescribeHistory{Table: p.tableName(), Limit: p.limit()}
}

func (p *parser) describeDetail() Statement {
	p.pos += 2
	return &DescribeDetail{Table: p.tableName()}
}

func (p *parser) describeStream() Statement {
	p.pos += 2
	return &DescribeStream{Name: p.streamName()}
}

// limit parses [LIMIT n].
func (p *parser) limit() *Value {
	if !p.accept("LIMIT") {
		return nil
	}
	v := p.count("a number of rows")
	return &v
}

// refusal returns a parse function that refuses the statement.
func (p *parser) refusal(kind RefusalKind, message string) func() Statement {
	return func() Statement {
		p.refuse(kind, message)
		return nil
	}
}
