package batch

import (
	"maps"
	"strings"
)

// NewSchema returns a schema of these fields.
func NewSchema(fields ...Field) *Schema { return &Schema{Fields: fields} }

// Index returns the position of the field with that name, or -1. Delta's names are unique ignoring case, so is the search.
func (s *Schema) Index(name string) int {
	for i := range s.Fields {
		if strings.EqualFold(s.Fields[i].Name, name) {
			return i
		}
	}
	return -1
}

// Equal says whether both schemas have the same fields in the same order: name with its case, type, nullability, metadata.
func (s *Schema) Equal(o *Schema) bool {
	if s == nil || o == nil {
		return s == o
	}
	if len(s.Fields) != len(o.Fields) {
		return false
	}
	for i := range s.Fields {
		a, b := &s.Fields[i], &o.Fields[i]
		if a.Name != b.Name || a.Type != b.Type || a.Nullable != b.Nullable || !maps.Equal(a.Metadata, b.Metadata) {
			return false
		}
	}
	return true
}

// Names returns the names of the fields in order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Fields))
	for i := range s.Fields {
		names[i] = s.Fields[i].Name
	}
	return names
}

// Project returns the schema of the columns at these positions.
func (s *Schema) Project(columns []int) *Schema {
	p := &Schema{Fields: make([]Field, len(columns))}
	for i, c := range columns {
		p.Fields[i] = s.Fields[c]
	}
	return p
}

// String renders the schema as `id long not null, name string`.
func (s *Schema) String() string {
	var b strings.Builder
	for i, f := range s.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name + " " + f.Type.String())
		if !f.Nullable {
			b.WriteString(" not null")
		}
	}
	return b.String()
}
