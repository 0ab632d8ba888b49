package batch

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ParseType reads a type's name in Delta's spelling (long, decimal(10,2)) or in that of Spark's SQL (BIGINT, NUMERIC(10, 2),
// ARRAY<STRING>, MAP<STRING, INT>, STRUCT<a: INT NOT NULL COMMENT 'text', `b c` DATE>), in any case. A decimal without arguments is decimal(10,0),
// as in Spark. What may be null is, unless it says NOT NULL; a comment is kept in the field's metadata, as Delta does.
func ParseType(text string) (Type, error) {
	p := ddlParser{text: text}
	t, err := p.typ()
	if err == nil && !p.atEnd() {
		err = p.unexpected("the end of the type")
	}
	if err != nil {
		return Type{}, err
	}
	return t, nil
}

// ParseFields reads a list of columns as a struct has them: id BIGINT, `a b` STRING COMMENT 'text', price: DECIMAL(10,2) NOT NULL.
func ParseFields(text string) ([]Field, error) {
	p := ddlParser{text: text}
	fields, err := p.fields(p.atEnd)
	if err == nil && !p.atEnd() {
		err = p.unexpected("a comma")
	}
	return fields, err
}

// maxTypeDepth is how deep types may lie in one another where they are written as text.
const maxTypeDepth = 200

// ddlParser reads Spark's SQL for types from left to right.
type ddlParser struct {
	text  string
	pos   int
	depth int // of the type that is read
}

// rest skips blanks and returns what is not read yet.
func (p *ddlParser) rest() string {
	rest := strings.TrimLeft(p.text[p.pos:], " \t\r\n")
	p.pos = len(p.text) - len(rest)
	return rest
}

func (p *ddlParser) atEnd() bool { return p.rest() == "" }

// take skips c if it comes next.
func (p *ddlParser) take(c byte) bool {
	if rest := p.rest(); rest == "" || rest[0] != c {
		return false
	}
	p.pos++
	return true
}

func (p *ddlParser) unexpected(want string) error {
	found := "the end"
	if rest := p.rest(); rest != "" {
		found = fmt.Sprintf("%.32q", rest)
	}
	return fmt.Errorf("type %q: found %s, expected %s", p.text, found, want)
}

// word reads letters, digits and whatever else ends no word; "" when there are none.
func (p *ddlParser) word() string {
	rest := p.rest()
	end := strings.IndexAny(rest, " \t\r\n:,<>()'\"`")
	if end < 0 {
		end = len(rest)
	}
	p.pos += end
	return rest[:end]
}

// keyword skips a word if it comes next, in any case.
func (p *ddlParser) keyword(word string) bool {
	before := p.pos
	if strings.EqualFold(p.word(), word) {
		return true
	}
	p.pos = before
	return false
}

// quoted reads a text in quotes, of which a doubled one stands for itself; with escapes, a backslash takes the next byte as it is.
func (p *ddlParser) quoted(quote byte, escapes bool) (string, error) {
	rest := p.rest()
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\' && escapes && i+1 < len(rest):
			i++
		case c != quote:
		case i+1 < len(rest) && rest[i+1] == quote:
			i++
		default:
			p.pos += i + 1
			return b.String(), nil
		}
		b.WriteByte(rest[i])
	}
	return "", fmt.Errorf("type %q: %.32q has no closing %c", p.text, rest, quote)
}

// name reads a field's name, plain or in back quotes.
func (p *ddlParser) name() (string, error) {
	if strings.HasPrefix(p.rest(), "`") {
		return p.quoted('`', false)
	}
	if w := p.word(); w != "" {
		return w, nil
	}
	return "", p.unexpected("a name and a type, such as id BIGINT")
}

// fields reads fields with commas between them; end says that there are none.
func (p *ddlParser) fields(end func() bool) ([]Field, error) {
	var fields []Field
	if end() {
		return fields, nil
	}
	for {
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		for _, other := range fields {
			if strings.EqualFold(other.Name, f.Name) {
				return nil, fmt.Errorf("type %q: field %s is there twice", p.text, f.Name)
			}
		}
		fields = append(fields, f)
		if !p.take(',') {
			return fields, nil
		}
	}
}

func (p *ddlParser) field() (Field, error) {
	name, err := p.name()
	if err != nil {
		return Field{}, err
	}
	p.take(':')
	if rest := p.rest(); rest == "" || strings.IndexByte(",>", rest[0]) >= 0 {
		return Field{}, fmt.Errorf("field %s has no type: write %[1]s TYPE", name)
	}
	f := Field{Name: name, Nullable: true}
	if f.Type, err = p.typ(); err != nil {
		return Field{}, fmt.Errorf("field %s: %w", name, err)
	}
	for {
		switch {
		case p.keyword("NOT"):
			if !p.keyword("NULL") {
				return Field{}, p.unexpected("NULL")
			}
			f.Nullable = false
		case p.keyword("COMMENT"):
			rest := p.rest()
			if rest == "" || rest[0] != '\'' && rest[0] != '"' {
				return Field{}, p.unexpected("the comment in quotes")
			}
			comment, err := p.quoted(rest[0], true)
			if err != nil {
				return Field{}, err
			}
			raw, _ := json.Marshal(comment) // a string always marshals
			f.Metadata = map[string]string{"comment": string(raw)}
		default:
			return f, nil
		}
	}
}

// typ reads a type.
func (p *ddlParser) typ() (Type, error) {
	name := p.word()
	kind, ok := kindsByName[strings.ToLower(name)]
	if !ok {
		return Type{}, fmt.Errorf("unknown type %q: use boolean, tinyint, smallint, int, bigint, float, double, decimal(p,s), date, timestamp, timestamp_ntz, string, binary, variant, array<type>, map<type, type> or struct<name: type, ...>", name)
	}
	switch kind {
	case Decimal:
		return p.decimal()
	case List, Map, Struct:
		return p.nested(kind)
	}
	if p.take('(') {
		return Type{}, fmt.Errorf("type %q takes no arguments: write %s", p.text, kindNames[kind])
	}
	return Type{Kind: kind}, nil
}

func (p *ddlParser) decimal() (Type, error) {
	if !p.take('(') {
		return DecimalOf(10, 0), nil
	}
	rest := p.rest()
	end := strings.IndexByte(rest, ')') + 1
	if end == 0 {
		end = len(rest)
	}
	p.pos += end
	return parseDecimalArgs(p.text, rest[:end])
}

func (p *ddlParser) nested(kind Kind) (Type, error) {
	if !p.take('<') {
		return Type{}, p.unexpected("< and what the " + kindNames[kind] + " is of")
	}
	if p.depth++; p.depth > maxTypeDepth {
		return Type{}, fmt.Errorf("type %.64q...: more than %d types within one another", p.text, maxTypeDepth)
	}
	defer func() { p.depth-- }()
	var fields []Field
	var err error
	if kind == Struct {
		fields, err = p.fields(func() bool { return strings.HasPrefix(p.rest(), ">") })
	} else {
		fields, err = p.elements(kind)
	}
	if err != nil {
		return Type{}, err
	}
	if !p.take('>') {
		return Type{}, p.unexpected("a comma or >")
	}
	switch kind {
	case List:
		return ListOf(fields[0]), nil
	case Map:
		return MapOf(fields[0], fields[1]), nil
	}
	return StructOf(fields...), nil
}

// elements reads the one type of an array or the two of a map.
func (p *ddlParser) elements(kind Kind) ([]Field, error) {
	element, err := p.typ()
	if err != nil {
		return nil, err
	}
	fields := []Field{{Type: element, Nullable: true}}
	if kind == List {
		return fields, nil
	}
	if !p.take(',') {
		return nil, p.unexpected("a comma and the type of the map's values")
	}
	value, err := p.typ()
	return append(fields, Field{Type: value, Nullable: true}), err
}
