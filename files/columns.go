package files

import (
	"fmt"
	"strings"

	"lakesql/batch"
)

// parseColumns reads a list of columns such as "id BIGINT, `a b` STRING, price DECIMAL(10,2)". All are nullable: files
// promise nothing.
func parseColumns(text string) (*batch.Schema, error) {
	schema := &batch.Schema{}
	for rest := strings.TrimSpace(text); ; {
		name, after, err := columnName(rest)
		if err != nil {
			return nil, err
		}
		typeText, after := columnType(after)
		if strings.Contains(strings.ToUpper(typeText), "NOT NULL") {
			return nil, fmt.Errorf("column %s: NOT NULL is a matter of the table, not of its files: leave it out", name)
		}
		typ, err := batch.ParseType(strings.TrimPrefix(typeText, ":"))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		if schema.Index(name) >= 0 {
			return nil, fmt.Errorf("column %s is there twice", name)
		}
		schema.Fields = append(schema.Fields, batch.Field{Name: name, Type: typ, Nullable: true})
		if after == "" {
			return schema, nil
		}
		rest = strings.TrimSpace(after[1:])
	}
}

// columnName takes a name, perhaps in backticks, off the front.
func columnName(text string) (name, rest string, err error) {
	if !strings.HasPrefix(text, "`") {
		end := strings.IndexAny(text, " \t\r\n:,")
		if end <= 0 {
			return "", "", fmt.Errorf("%q is no column: write 'name TYPE, name TYPE'", text)
		}
		return text[:end], text[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '`' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '`' {
			b.WriteByte('`')
			i++
			continue
		}
		return b.String(), text[i+1:], nil
	}
	return "", "", fmt.Errorf("%q: a backtick is not closed", text)
}

// columnType takes everything up to the next comma outside of parentheses off the front; rest begins with that comma.
func columnType(text string) (typ, rest string) {
	depth := 0
	for i, c := range []byte(text) {
		switch c {
		case '(', '<':
			depth++
		case ')', '>':
			depth--
		case ',':
			if depth == 0 {
				return strings.TrimSpace(text[:i]), text[i:]
			}
		}
	}
	return strings.TrimSpace(text), ""
}
