package sqlext

import "strings"

const createStreamForm = "CREATE STREAM name INTO table WITH CHECKPOINT 'path' AS SELECT ... FROM STREAM read_files('path', format => 'csv')"

func (p *parser) streamName() Name { return p.name("the name of a stream") }

// clauses remembers which clauses were there.
type clauses map[string]bool

// once refuses a clause that comes twice.
func (c clauses) once(p *parser, clause string) {
	if c[clause] {
		p.refuse(WrongForm, "CREATE STREAM has "+clause+" twice; each clause comes once")
	}
	c[clause] = true
}

// createStream parses from CREATE on.
func (p *parser) createStream() *CreateStream {
	from := p.pos
	s := &CreateStream{Checkpoint: Value{Param: -1}}
	p.expect("CREATE")
	s.OrReplace = p.accept("OR REPLACE")
	p.expect("STREAM")
	s.IfNotExists = p.accept("IF NOT EXISTS")
	if s.OrReplace && s.IfNotExists {
		p.refuse(WrongForm, "OR REPLACE and IF NOT EXISTS contradict each other; leave one of them out")
	}
	s.Name = p.streamName()
	p.refuseForeignForms()
	seen := clauses{}
	for p.err == nil && !p.words("AS") {
		p.streamClause(s, seen)
	}
	p.checkpointOption(s, seen)
	switch {
	case p.err != nil:
	case !seen["INTO"]:
		p.refuse(WrongForm, "a stream needs the table that it writes: "+createStreamForm)
	case !seen["CHECKPOINT"]:
		p.refuse(MissingCheckpoint, "a stream needs a checkpoint, a folder of its own that records what was read: add WITH CHECKPOINT 'path' before AS SELECT")
	}
	s.Select = p.streamSelect()
	s.SQL = p.text(from)
	s.Params = p.lex.params
	return s
}

// refuseForeignForms names what Snowflake and ksqlDB call a stream.
func (p *parser) refuseForeignForms() {
	switch t := p.peek(0); {
	case p.words("ON TABLE"), p.words("ON VIEW"), p.words("ON STAGE"):
		p.refuse(WrongForm, "CREATE STREAM ... ON TABLE is another system's change stream; a stream here reads with STREAM and writes a table: "+createStreamForm)
	case t.punct("("):
		p.refuse(WrongForm, "a stream has no column list, its columns are those of its SELECT: "+createStreamForm)
	case t.is("WITH") && p.peek(1).punct("("):
		p.refuse(WrongForm, "a stream has no WITH ( ... ), its options are OPTIONS ( key = value, ... ): "+createStreamForm)
	}
}

func (p *parser) streamClause(s *CreateStream, seen clauses) {
	switch {
	case p.accept("INTO"):
		seen.once(p, "INTO")
		p.accept("TABLE")
		s.Target = p.name("the name of a table")
		if p.peek(0).punct("(") {
			s.Columns = p.names("the name of a column")
		}
	case p.accept("PARTITIONED BY"):
		seen.once(p, "PARTITIONED BY")
		s.PartitionedBy = p.names("the name of a column")
	case p.accept("WITH CHECKPOINT"), p.accept("CHECKPOINT"):
		seen.once(p, "CHECKPOINT")
		p.accept("LOCATION")
		p.acceptPunct("=")
		s.Checkpoint = p.stringValue("the path of the checkpoint")
	case p.accept("TRIGGER"):
		seen.once(p, "TRIGGER")
		s.Trigger = p.trigger()
	case p.accept("OUTPUT MODE"):
		seen.once(p, "OUTPUT MODE")
		p.outputMode()
	case p.accept("ON ERROR"):
		seen.once(p, "ON ERROR")
		s.OnError = p.onError()
	case p.accept("ON SCHEMA CHANGE"):
		seen.once(p, "ON SCHEMA CHANGE")
		s.OnSchemaChange = p.onSchemaChange()
	case p.accept("OPTIONS"):
		seen.once(p, "OPTIONS")
		s.Options = p.options()
	case p.accept("COMMENT"):
		seen.once(p, "COMMENT")
		p.acceptPunct("=")
		v := p.stringValue("a text")
		s.Comment = &v
	case p.words("ENABLE"), p.words("DISABLE"):
		seen.once(p, "ENABLE or DISABLE")
		s.Disabled = p.next().is("DISABLE")
	default:
		p.fail("INTO, PARTITIONED BY, WITH CHECKPOINT, TRIGGER, OUTPUT MODE, ON ERROR, ON SCHEMA CHANGE, OPTIONS, COMMENT, ENABLE, DISABLE or AS SELECT")
	}
}

// checkpointOption takes Spark's checkpointLocation out of the options.
func (p *parser) checkpointOption(s *CreateStream, seen clauses) {
	for i, o := range s.Options {
		if !strings.EqualFold(strings.TrimPrefix(strings.ToLower(o.Key), "cloudfiles."), "checkpointLocation") {
			continue
		}
		seen.once(p, "CHECKPOINT")
		s.Checkpoint = o.Value
		s.Options = append(s.Options[:i:i], s.Options[i+1:]...)
		return
	}
}

func (p *parser) outputMode() {
	t := p.next()
	switch word := strings.ToUpper(t.text); {
	case t.kind != tokWord && t.kind != tokString:
	case word == "APPEND":
		return
	case word == "COMPLETE", word == "UPDATE":
		p.refuse(NotSupported, "OUTPUT MODE "+word+" is not supported yet; a stream appends: leave the clause out, let the stream write the plain rows, "+
			"and put what is to be aggregated into a SELECT or a view over the table")
		return
	}
	p.pos--
	p.fail("APPEND, COMPLETE or UPDATE")
}

func (p *parser) onError() OnError {
	e := OnError{}
	switch {
	case p.accept("PERMISSIVE"):
		e.Mode = ErrorPermissive
	case p.accept("FAIL"):
		e.Mode = ErrorFail
	case p.accept("SKIP ROW"):
		e.Mode = ErrorSkipRow
	case p.accept("SKIP FILE"):
		e.Mode = ErrorSkipFile
	case p.accept("DEAD LETTER INTO"):
		e.Mode = ErrorDeadLetter
		n := p.name("the name of a table")
		e.DeadLetter = &n
	default:
		p.fail("PERMISSIVE, FAIL, SKIP ROW, SKIP FILE or DEAD LETTER INTO a table")
	}
	if p.accept("MAX") {
		v := p.count("a number of rows")
		e.Max = &v
		if !p.accept("ROW") {
			p.expect("ROWS")
		}
	}
	return e
}

func (p *parser) onSchemaChange() SchemaChange {
	switch {
	case p.accept("FAIL"):
		return SchemaChangeFail
	case p.accept("ADD COLUMNS"):
		return SchemaChangeAddColumns
	case p.accept("RESCUE"):
		return SchemaChangeRescue
	case p.accept("IGNORE"):
		return SchemaChangeIgnore
	}
	p.fail("FAIL, ADD COLUMNS, RESCUE or IGNORE")
	return SchemaChangeDefault
}

// streamSelect parses AS and the SELECT to the end of the statement, and returns the SELECT as written.
func (p *parser) streamSelect() string {
	p.expect("AS")
	from := p.pos
	if !p.words("SELECT") && !p.words("WITH") && !p.peek(0).punct("(") {
		p.fail("SELECT")
	}
	for !isEnd(p.peek(0)) {
		p.next()
	}
	if p.err != nil {
		return ""
	}
	if _, _, err := parseStreamSelect(p.lex, p.tokens[from:p.pos]); err != nil {
		p.err = err
	}
	return p.text(from)
}
