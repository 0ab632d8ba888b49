package batch

import (
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"weak"
)

// shape is what a nested type is made of. There is one of each content as long as somebody holds it, so that types compare with ==.
type shape struct {
	id     uint64 // never used again for another content
	fields []Field
}

// variantFields are the two columns that a variant is kept in.
var variantFields = []Field{{Name: "metadata", Type: Type{Kind: Binary}}, {Name: "value", Type: Type{Kind: Binary}}}

// StructOf returns the type of a struct of these fields.
func StructOf(fields ...Field) Type { return nestedOf(Struct, fields) }

// ListOf returns the type of a list. The element's Name is of no matter and becomes "element"; its Nullable is Delta's containsNull.
func ListOf(element Field) Type {
	element.Name = "element"
	return nestedOf(List, []Field{element})
}

// MapOf returns the type of a map. The names become "key" and "value", and the key is never null; the value's Nullable is Delta's
// valueContainsNull.
func MapOf(key, value Field) Type {
	key.Name, key.Nullable, value.Name = "key", false, "value"
	return nestedOf(Map, []Field{key, value})
}

// Fields returns the children of a nested type: a struct's fields, {element} of a list, {key, value} of a map, {metadata, value} of a
// variant, both Binary; nil for a flat type. The caller does not change them.
func (t Type) Fields() []Field {
	switch {
	case t.shape != nil:
		return t.shape.fields
	case t.Kind == Variant:
		return variantFields
	}
	return nil
}

// Alike says whether values of one type are values of the other: they differ at most in the case of names, and in the nullability and
// metadata of fields.
func (t Type) Alike(o Type) bool {
	if t == o {
		return true
	}
	a, b := t.Fields(), o.Fields()
	if t.Kind != o.Kind || t.Precision != o.Precision || t.Scale != o.Scale || len(a) != len(b) {
		return false
	}
	for i := range a {
		if !strings.EqualFold(a[i].Name, b[i].Name) || !a[i].Type.Alike(b[i].Type) {
			return false
		}
	}
	return true
}

// WithoutMetadata returns the type with no field metadata at any depth, so that == compares what the types hold.
func (t Type) WithoutMetadata() Type {
	if t.shape == nil {
		return t
	}
	fields := slices.Clone(t.shape.fields)
	for i := range fields {
		fields[i].Type, fields[i].Metadata = fields[i].Type.WithoutMetadata(), nil
	}
	return nestedOf(t.Kind, fields)
}

// shapes holds each shape that is in use, weakly: a type that nobody holds any more takes no memory.
var shapes = struct {
	mu   sync.Mutex
	last uint64
	held map[string]weak.Pointer[shape]
}{held: map[string]weak.Pointer[shape]{}}

func nestedOf(kind Kind, fields []Field) Type {
	key := shapeKey(kind, fields)
	shapes.mu.Lock()
	defer shapes.mu.Unlock()
	if s := shapes.held[key].Value(); s != nil {
		return Type{Kind: kind, shape: s}
	}
	shapes.last++
	s := &shape{id: shapes.last, fields: make([]Field, len(fields))}
	for i, f := range fields {
		s.fields[i] = f
		s.fields[i].Metadata = maps.Clone(f.Metadata)
	}
	shapes.held[key] = weak.Make(s)
	runtime.AddCleanup(s, forgetShape, key)
	return Type{Kind: kind, shape: s}
}

// forgetShape drops the entry of a shape that nobody holds; another of the same content may have come meanwhile.
func forgetShape(key string) {
	shapes.mu.Lock()
	defer shapes.mu.Unlock()
	if shapes.held[key].Value() == nil {
		delete(shapes.held, key)
	}
}

// shapeKey is equal for equal contents alone. Nested fields enter by their shape's id.
func shapeKey(kind Kind, fields []Field) string {
	b := []byte{byte(kind)}
	number := func(n uint64) { b = append(strconv.AppendUint(b, n, 10), ' ') }
	text := func(s string) {
		number(uint64(len(s)))
		b = append(b, s...)
	}
	for _, f := range fields {
		text(f.Name)
		number(uint64(f.Type.Kind))
		number(uint64(f.Type.Precision))
		number(uint64(f.Type.Scale))
		if f.Type.shape != nil {
			number(f.Type.shape.id)
		}
		if f.Nullable {
			b = append(b, '?')
		}
		number(uint64(len(f.Metadata)))
		for _, k := range slices.Sorted(maps.Keys(f.Metadata)) {
			text(k)
			text(f.Metadata[k])
		}
	}
	return string(b)
}
