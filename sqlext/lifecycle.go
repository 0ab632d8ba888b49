package sqlext

import "strings"

// explainCreateStream parses EXPLAIN CREATE STREAM.
func (p *parser) explainCreateStream() Statement {
	p.next()
	return &ExplainCreateStream{Create: p.createStream()}
}

// explainChange parses EXPLAIN of a statement of ours that changes rows.
func (p *parser) explainChange() Statement {
	p.next()
	from := p.pos
	for !isEnd(p.peek(0)) {
		p.next()
	}
	return &ExplainChange{SQL: p.text(from)}
}

// explainFormat parses EXPLAIN FORMAT = word statement. FORMAT=TREE is vitess' own.
func (p *parser) explainFormat() Statement {
	p.next()
	p.expect("FORMAT")
	p.expectPunct("=")
	e := &ExplainFormat{Format: strings.ToUpper(p.next().text)}
	from := p.pos
	for !isEnd(p.peek(0)) {
		p.next()
	}
	e.SQL = p.text(from)
	return e
}

func (p *parser) dropStream() Statement {
	p.expect("DROP STREAM")
	s := &DropStream{IfExists: p.accept("IF EXISTS")}
	s.Name = p.streamName()
	s.PurgeCheckpoint = p.accept("PURGE CHECKPOINT")
	return s
}

// startOrStop parses START, STOP, PAUSE and RESUME STREAM.
func (p *parser) startOrStop() Statement {
	from := p.pos
	verb := p.next()
	p.expect("STREAM")
	action := AlterStart
	if verb.is("STOP") || verb.is("PAUSE") {
		action = AlterStop
		if p.words("ALL") && isEnd(p.peek(1)) {
			p.next()
			return &StopAllStreams{}
		}
	}
	if action == AlterStart && p.words("ALL") && isEnd(p.peek(1)) {
		p.refuse(WrongForm, "ALL stands only in STOP STREAM ALL; START STREAM takes one name (`ALL` in backquotes is a stream of that name)")
		return nil
	}
	s := &AlterStream{Action: action, Name: p.streamName()}
	s.SQL = p.text(from)
	return s
}

func (p *parser) alterStream() Statement {
	from := p.pos
	p.expect("ALTER STREAM")
	s := &AlterStream{Name: p.streamName()}
	switch {
	case p.accept("PAUSE"), p.accept("STOP"):
		s.Action = AlterStop
	case p.accept("RESUME"), p.accept("START"):
		s.Action = AlterStart
	case p.accept("SET OPTIONS"):
		s.Action = AlterSetOptions
		s.Options = p.options()
	case p.accept("SET TRIGGER"):
		s.Action = AlterSetTrigger
		s.Trigger = p.trigger()
	case p.accept("RENAME TO"):
		s.Action = AlterRename
		s.NewName = p.streamName()
	case p.accept("SKIP FILE"):
		s.Action = AlterSkipFile
		s.File = p.stringValue("the path of a file")
	case p.accept("RETRY ALL"):
		s.Action = AlterRetryAll
	case p.accept("RETRY FILE"):
		s.Action = AlterRetryFile
		s.File = p.stringValue("the path of a file")
	case p.accept("RESET"):
		s.Action = AlterReset
		s.Reset, s.Value = p.resetTo()
	case p.words("AS"):
		s.Action = AlterSelect
		s.Select = p.streamSelect()
	default:
		p.fail("PAUSE, RESUME, SET OPTIONS (...), SET TRIGGER, RENAME TO, SKIP FILE, RETRY ALL, RETRY FILE, RESET or AS SELECT")
	}
	s.SQL = p.text(from)
	return s
}

func (p *parser) resetTo() (ResetTo, Value) {
	none := Value{Param: -1}
	if !p.accept("TO") {
		return ResetAsDefined, none
	}
	switch {
	case p.accept("BEGINNING"):
		return ResetBeginning, none
	case p.accept("LATEST"):
		return ResetLatest, none
	case p.accept("VERSION"):
		return ResetVersion, p.count("a version")
	case p.accept("TIMESTAMP"):
		return ResetTimestamp, p.stringValue("a timestamp")
	}
	p.fail("BEGINNING, LATEST, VERSION n or TIMESTAMP 't'")
	return ResetBeginning, none
}

func (p *parser) showStreams() Statement {
	p.expect("SHOW STREAMS")
	s := &ShowStreams{}
	if p.accept("FROM") || p.accept("IN") {
		s.Database = p.ident("the name of a database")
	}
	s.Like, s.Where = p.likeOrWhere()
	return s
}

// showStream parses SHOW STREAM STATUS, PROGRESS, FILES and ERRORS.
func (p *parser) showStream() Statement {
	p.expect("SHOW STREAM")
	switch {
	case p.accept("STATUS"):
		return &ShowStreamStatus{Name: p.forStream()}
	case p.accept("ERRORS"):
		return &ShowStreamErrors{Name: p.forStream(), Limit: p.limit()}
	case p.accept("PROGRESS"):
		p.expect("FOR")
		return &ShowStreamProgress{Name: p.streamName(), Limit: p.limit()}
	case p.accept("FILES"):
		p.expect("FOR")
		return &ShowStreamFiles{Name: p.streamName(), Limit: p.limit()}
	}
	p.fail("STATUS, PROGRESS FOR name, FILES FOR name or ERRORS")
	return nil
}

func (p *parser) forStream() *Name {
	if !p.accept("FOR") {
		return nil
	}
	n := p.streamName()
	return &n
}

func (p *parser) showCreateStream() Statement {
	p.expect("SHOW CREATE STREAM")
	return &ShowCreateStream{Name: p.streamName(), Spark: p.accept("FOR SPARK")}
}

func (p *parser) waitForStream() Statement {
	p.expect("WAIT FOR STREAM")
	s := &WaitForStream{Name: p.streamName()}
	if p.accept("UNTIL") && !p.accept("CAUGHT UP") {
		if !p.accept("BATCH") {
			p.fail("CAUGHT UP or BATCH n")
		}
		v := p.count("the number of a batch")
		s.Batch = &v
	}
	if p.accept("TIMEOUT") {
		v := p.count("a number of seconds")
		s.Timeout = &v
		if !p.accept("SECOND") {
			p.expect("SECONDS")
		}
	}
	return s
}
