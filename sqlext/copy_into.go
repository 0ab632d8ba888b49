package sqlext

// CopyInto is COPY INTO t FROM 'path' FILEFORMAT = f [FORMAT_OPTIONS (...)] [COPY_OPTIONS (...)].
type CopyInto struct {
	Table         Name
	Columns       []string // COPY INTO t (a, b)
	Path          Value
	Select        [2]string // FROM (SELECT ... FROM 'path' ...): the SELECT before and behind the path; empty: SELECT *
	Format        string
	Files         []string
	Pattern       *Value
	FormatOptions []Option
	CopyOptions   []Option
	SQL           string // the whole statement as written, without a trailing ';'
}

func (*CopyInto) statement() {}

func (p *parser) copyInto() Statement {
	from := p.pos
	p.expect("COPY INTO")
	s := &CopyInto{Table: p.tableName()}
	if p.words("BY POSITION") {
		p.refuse(NotSupported, "COPY INTO ... BY POSITION is not supported; name the columns: COPY INTO t (a, b) FROM ...")
	}
	if p.peek(0).punct("(") {
		s.Columns = p.names("the name of a column")
	}
	p.expect("FROM")
	if p.acceptPunct("(") {
		p.copySelect(s)
		p.expectPunct(")")
	} else {
		s.Path = p.stringValue("the path of the files")
	}
	p.expect("FILEFORMAT")
	p.acceptPunct("=")
	s.Format = p.key()
	for p.err == nil && p.copyClause(s) {
	}
	s.SQL = p.text(from)
	return s
}

// copySelect parses SELECT ... FROM 'path' ...
func (p *parser) copySelect(s *CopyInto) {
	from := p.pos
	if !p.words("SELECT") {
		p.fail("SELECT")
	}
	for depth := 0; !isEnd(p.peek(0)) && !(depth == 0 && p.words("FROM")); p.next() {
		depth += p.depth()
	}
	p.expect("FROM")
	s.Select[0] = p.text(from)
	s.Path = p.stringValue("the path of the files")
	from = p.pos
	for depth := 0; !isEnd(p.peek(0)) && !(depth == 0 && p.peek(0).punct(")")); p.next() {
		depth += p.depth()
	}
	s.Select[1] = p.text(from)
}

// depth is by how much the next token opens parentheses.
func (p *parser) depth() int {
	switch t := p.peek(0); {
	case t.punct("("):
		return 1
	case t.punct(")"):
		return -1
	}
	return 0
}

func (p *parser) copyClause(s *CopyInto) bool {
	switch {
	case p.accept("FILES"):
		p.acceptPunct("=")
		p.expectPunct("(")
		for p.err == nil {
			s.Files = append(s.Files, p.stringValue("the name of a file").Text)
			if !p.acceptPunct(",") {
				break
			}
		}
		p.expectPunct(")")
	case p.accept("PATTERN"):
		p.acceptPunct("=")
		v := p.stringValue("a glob")
		s.Pattern = &v
	case p.accept("FORMAT_OPTIONS"):
		s.FormatOptions = p.options()
	case p.accept("COPY_OPTIONS"):
		s.CopyOptions = p.options()
	case p.words("VALIDATE"):
		p.refuse(NotSupported, "COPY INTO ... VALIDATE is not supported; SELECT * FROM read_files('path', format => 'csv') shows what the files hold")
	default:
		return false
	}
	return true
}
