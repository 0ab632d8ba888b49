package sqlext

import "strings"

// Type is a column's type as it was written.
type Type struct {
	Name   string      // the first word in capitals, such as INT, STRING, ARRAY
	Text   string      // all of it as written, for MySQL's types
	Nested []ColumnDef // STRUCT: the fields; ARRAY: the element; MAP: key and value
}

// IsDelta reports a type that Delta has and MySQL's grammar has not. A type of another name is MySQL's, whose Text says all.
func (t Type) IsDelta() bool { return t.Nested != nil || deltaTypes[t.Name] != "" }

// deltaTypes are Delta's and Spark's type names that vitess does not know, with what vitess is given for them.
var deltaTypes = map[string]string{
	"STRING": "LONGTEXT", "LONG": "BIGINT", "BYTE": "TINYINT", "SHORT": "SMALLINT",
	"TIMESTAMP_NTZ": "DATETIME(6)", "TIMESTAMP_LTZ": "TIMESTAMP(6)",
	"VARIANT": "JSON", "ARRAY": "JSON", "MAP": "JSON", "STRUCT": "JSON",
}

// isDeltaType reports whether typ is a type name of ours; after is the token behind it.
func isDeltaType(typ, after token) bool {
	if typ.kind != tokWord || typ.is("LONG") && (after.is("VARCHAR") || after.is("VARBINARY")) {
		return false
	}
	return deltaTypes[strings.ToUpper(typ.text)] != ""
}

// columnType parses a type.
func (p *parser) columnType() Type {
	from := p.pos
	first := p.peek(0)
	if first.kind != tokWord || first.text[0] == '@' {
		p.fail("the type of a column")
		return Type{}
	}
	p.next()
	t := Type{Name: strings.ToUpper(first.text)}
	switch {
	case !isDeltaType(first, p.peek(0)):
		if t.Name == "LONG" {
			t.Name += " " + strings.ToUpper(p.peek(0).text) // LONG VARCHAR and LONG VARBINARY
		}
		p.mysqlType(first)
	case t.Name == "ARRAY":
		t.Nested = p.typeArguments("element")
	case t.Name == "MAP":
		t.Nested = p.typeArguments("key", "value")
	case t.Name == "STRUCT":
		t.Nested = p.structFields()
	}
	t.Text = p.text(from)
	return t
}

// mysqlType goes over what follows the first word of a type of MySQL's.
func (p *parser) mysqlType(first token) {
	switch {
	case first.is("DOUBLE"):
		p.accept("PRECISION")
	case first.is("LONG"):
		p.next()
	case first.is("NATIONAL"):
		p.ident("CHAR or VARCHAR")
	}
	if first.is("CHAR") || first.is("CHARACTER") || first.is("NATIONAL") {
		p.accept("VARYING")
	}
	if p.peek(0).punct("(") {
		p.parens()
	}
	for {
		switch {
		case p.accept("UNSIGNED"), p.accept("SIGNED"), p.accept("ZEROFILL"), p.accept("BINARY"), p.accept("ASCII"), p.accept("UNICODE"):
		case p.accept("CHARACTER SET"), p.accept("CHARSET"), p.accept("COLLATE"):
			p.acceptPunct("=")
			p.next()
		default:
			return
		}
	}
}

// parens goes over a parenthesis and what it holds.
func (p *parser) parens() {
	p.expectPunct("(")
	for depth := 1; depth > 0 && p.err == nil; {
		switch t := p.next(); {
		case isEnd(t):
			p.fail("')'")
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		}
	}
}

// typeArguments parses <type, ...>, one type a name.
func (p *parser) typeArguments(names ...string) []ColumnDef {
	p.openAngle()
	out := make([]ColumnDef, len(names))
	for i, name := range names {
		if i > 0 {
			p.expectPunct(",")
		}
		out[i] = ColumnDef{Path: []string{name}, Type: p.columnType()}
	}
	p.closeAngle()
	return out
}

// structFields parses <name[:] type [NOT NULL] [COMMENT 'text'], ...>.
func (p *parser) structFields() []ColumnDef {
	p.openAngle()
	out := []ColumnDef{}
	for p.err == nil {
		f := ColumnDef{Path: []string{p.ident("the name of a field")}}
		p.acceptPunct(":")
		f.Type = p.columnType()
		if p.accept("NOT NULL") {
			f.Null = NotNull
		}
		if p.accept("COMMENT") {
			v := p.stringValue("a text")
			f.Comment = &v
		}
		out = append(out, f)
		if !p.acceptPunct(",") {
			break
		}
	}
	p.closeAngle()
	return out
}

func (p *parser) openAngle() {
	if t := p.peek(0); t.punct("<>") {
		p.fail("'<' and a type") // STRUCT<> has no field that could be stored
	}
	p.expectPunct("<")
}

// closeAngle goes over a '>', which may be one half of the token '>>'.
func (p *parser) closeAngle() {
	t := p.peek(0)
	if !t.punct(">>") {
		p.expectPunct(">")
		return
	}
	first, second := t, t
	first.text, first.end = ">", t.start+1
	second.text, second.start = ">", t.start+1
	p.tokens = append(p.tokens[:p.pos], append([]token{first, second}, p.tokens[p.pos+1:]...)...)
	p.next()
}
