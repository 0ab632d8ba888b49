package sqlext

import "slices"

// ShowMetadata is a SHOW of MySQL's that lists what tables of system databases have. What says which, in capitals: DATABASES, TABLE STATUS, INDEX,
// OPEN TABLES, PLUGINS or ENGINES.
type ShowMetadata struct {
	What     string
	Table    Name   // of INDEX
	Database string // "" when none is named
	Like     *Value
	Where    string // the condition as written; "" when it was not given
}

// ShowDiagnostics is SHOW ERRORS, SHOW COUNT(*) ERRORS and SHOW COUNT(*) WARNINGS.
type ShowDiagnostics struct {
	Warnings bool
	Count    bool
	Offset   *Value
	Limit    *Value
}

// ShowProfiles is SHOW PROFILES.
type ShowProfiles struct{}

// ShowProfile is SHOW PROFILE [type, ...] [FOR QUERY n].
type ShowProfile struct {
	Types []string // in capitals
	Query *Value   // nil: the last statement
}

// ChecksumTable is CHECKSUM TABLE t, ... [QUICK | EXTENDED].
type ChecksumTable struct {
	Tables []Name
	Quick  bool
}

// Help is HELP 'topic'.
type Help struct{ Topic Value }

func (*ShowMetadata) statement()    {}
func (*ShowDiagnostics) statement() {}
func (*ShowProfiles) statement()    {}
func (*ShowProfile) statement()     {}
func (*ChecksumTable) statement()   {}
func (*Help) statement()            {}

// claimMetadata takes the forms of SHOW that list metadata.
func (p *parser) claimMetadata() func() Statement {
	for _, form := range []struct{ words, what string }{
		{"SHOW DATABASES", "DATABASES"}, {"SHOW SCHEMAS", "DATABASES"}, {"SHOW TABLE STATUS", "TABLE STATUS"}, {"SHOW OPEN TABLES", "OPEN TABLES"}, {"SHOW PLUGINS", "PLUGINS"},
		{"SHOW ENGINES", "ENGINES"}, {"SHOW STORAGE ENGINES", "ENGINES"},
		{"SHOW INDEX", "INDEX"}, {"SHOW INDEXES", "INDEX"}, {"SHOW KEYS", "INDEX"}, {"SHOW EXTENDED INDEX", "INDEX"}, {"SHOW EXTENDED INDEXES", "INDEX"}, {"SHOW EXTENDED KEYS", "INDEX"},
	} {
		if p.words(form.words) {
			return func() Statement { return p.showMetadata(form.words, form.what) }
		}
	}
	switch {
	case p.words("SHOW ERRORS"), p.words("SHOW COUNT") && p.peek(2).punct("(") && p.peek(3).punct("*") && (p.peek(5).is("ERRORS") || p.peek(5).is("WARNINGS")):
		return p.showDiagnostics
	case p.words("SHOW PROFILES"):
		return func() Statement {
			p.expect("SHOW PROFILES")
			return &ShowProfiles{}
		}
	case p.words("SHOW PROFILE"):
		return p.showProfile
	}
	return nil
}

func (p *parser) showMetadata(words, what string) Statement {
	p.expect(words)
	s := &ShowMetadata{What: what}
	switch what {
	case "INDEX":
		if !p.accept("FROM") && !p.accept("IN") {
			p.fail("FROM")
		}
		s.Table = p.name("the name of a table")
		if p.accept("FROM") || p.accept("IN") {
			s.Table.Database = p.ident("the name of a database")
		}
	case "TABLE STATUS", "OPEN TABLES":
		if p.accept("FROM") || p.accept("IN") {
			s.Database = p.ident("the name of a database")
		}
	}
	s.Like, s.Where = p.likeOrWhere()
	return s
}

// likeOrWhere parses [LIKE 'pattern' | WHERE condition] at the end of a SHOW.
func (p *parser) likeOrWhere() (like *Value, where string) {
	switch {
	case p.accept("LIKE"):
		v := p.stringValue("a pattern")
		return &v, ""
	case p.accept("WHERE"):
		from := p.pos
		if isEnd(p.peek(0)) {
			p.fail("a condition")
		}
		for !isEnd(p.peek(0)) {
			p.next()
		}
		return nil, p.text(from)
	}
	return nil, ""
}

func (p *parser) showDiagnostics() Statement {
	p.expect("SHOW")
	s := &ShowDiagnostics{}
	if p.accept("COUNT") {
		p.expectPunct("(")
		p.expectPunct("*")
		p.expectPunct(")")
		s.Count = true
		if s.Warnings = p.accept("WARNINGS"); !s.Warnings {
			p.expect("ERRORS")
		}
		return s
	}
	p.expect("ERRORS")
	if p.accept("LIMIT") {
		v := p.count("a number of rows")
		s.Limit = &v
		if p.acceptPunct(",") {
			v := p.count("a number of rows")
			s.Offset, s.Limit = s.Limit, &v
		}
	}
	return s
}

// profileTypes are what SHOW PROFILE can be asked for.
var profileTypes = []string{"ALL", "BLOCK IO", "CONTEXT SWITCHES", "CPU", "IPC", "MEMORY", "PAGE FAULTS", "SOURCE", "SWAPS"}

func (p *parser) showProfile() Statement {
	p.expect("SHOW PROFILE")
	s := &ShowProfile{}
	for !isEnd(p.peek(0)) && !p.peek(0).is("FOR") && !p.peek(0).is("LIMIT") {
		if len(s.Types) > 0 {
			p.expectPunct(",")
		}
		at := slices.IndexFunc(profileTypes, p.words)
		if at < 0 {
			p.fail("ALL, BLOCK IO, CONTEXT SWITCHES, CPU, IPC, PAGE FAULTS, SOURCE, SWAPS or FOR QUERY")
			return s
		}
		p.expect(profileTypes[at])
		s.Types = append(s.Types, profileTypes[at])
	}
	if p.accept("FOR") {
		p.expect("QUERY")
		v := p.count("the number of a statement, as SHOW PROFILES has it")
		s.Query = &v
	}
	return s
}

func (p *parser) checksumTable() Statement {
	p.expect("CHECKSUM")
	if !p.accept("TABLE") && !p.accept("TABLES") {
		p.fail("TABLE")
	}
	s := &ChecksumTable{Tables: p.tableNames()}
	if s.Quick = p.accept("QUICK"); !s.Quick {
		p.accept("EXTENDED")
	}
	return s
}

func (p *parser) help() Statement {
	p.expect("HELP")
	if t := p.peek(0); t.kind == tokWord {
		return &Help{Topic: Value{Text: p.next().text}}
	}
	return &Help{Topic: p.stringValue("a topic")}
}
