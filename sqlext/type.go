package sqlext

import (
	"fmt"
	"strings"
)

// Type is a column's type as it was written.
type Type struct {
	Name string // the first word in capitals, such as INT, STRING, ARRAY; "" when there is no type
	Text string // all of it
}

// IsDelta reports a type that Delta has and MySQL's grammar has not.
func (t Type) IsDelta() bool { return deltaTypes[t.Name] != "" }

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

// DeltaType says in the definition of a column, behind the type that MySQL gives it, what it is to Delta. Only we read it. It is false for a type whose text ends the comment.
func DeltaType(text string) (string, bool) {
	return fmt.Sprintf("/*!%d %s %s */", deltaVersion, deltaType, text), !strings.Contains(text, "*/")
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
	case t.Name == "ARRAY" || t.Name == "MAP" || t.Name == "STRUCT":
		p.angles()
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

// angles goes over <...>, whose last '>' may be one half of the token '>>'.
func (p *parser) angles() {
	if !p.peek(0).punct("<") {
		p.fail("'<' and what the type is of")
	}
	for depth := 0; p.err == nil; {
		switch t := p.next(); {
		case isEnd(t):
			p.fail("'>'")
		case t.punct("<"):
			depth++
		case t.punct(">"):
			depth--
		case t.punct(">>"):
			depth -= 2
		case t.punct("<>"):
			p.pos--
			p.fail("a type")
		}
		if depth <= 0 {
			break
		}
	}
}
