package batch

import (
	"fmt"
	"slices"
	"strings"
)

// integerDigits are the decimal digits that hold every value of an integer type, as Delta's protocol counts them.
var integerDigits = map[Kind]uint8{Int8: 10, Int16: 10, Int32: 10, Int64: 20}

// Widens tells whether a flat type may become another without loss of a value, by the rules of Delta's feature typeWidening.
func Widens(from, to Type) bool {
	integer := integerDigits[from.Kind] > 0
	switch to.Kind {
	case Int16, Int32, Int64:
		return integer && from.Kind < to.Kind
	case Float64:
		return from.Kind == Float32 || integer && from.Kind != Int64
	case TimestampNTZ:
		return from.Kind == Date
	case Decimal:
		if integer {
			return grows(DecimalOf(integerDigits[from.Kind], 0), to)
		}
		return from.Kind == Decimal && from != to && grows(from, to)
	}
	return false
}

// grows tells whether a decimal has room for another on both sides of the point.
func grows(from, to Type) bool {
	return from.Scale <= to.Scale && from.Precision <= to.Precision && to.Precision-from.Precision >= to.Scale-from.Scale
}

// MergeFields returns the fields of both lists, those of a first, by their names in any case: with types that hold the values of both,
// nullable at every level, and without metadata. Types that have no such type in common are an error that names the field.
func MergeFields(a, b []Field) ([]Field, error) {
	out := slices.Clone(a)
	for i, f := range out {
		out[i] = Field{Name: f.Name, Type: loose(f.Type), Nullable: true}
	}
	for _, f := range b {
		at := slices.IndexFunc(out, func(have Field) bool { return strings.EqualFold(have.Name, f.Name) })
		if at < 0 {
			out = append(out, Field{Name: f.Name, Type: loose(f.Type), Nullable: true})
			continue
		}
		merged, err := mergeTypes(out[at].Type, loose(f.Type))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out[at].Type = merged
	}
	return out, nil
}

// mergeTypes works on loose types.
func mergeTypes(a, b Type) (Type, error) {
	switch {
	case a == b, b.Kind == Void, Widens(b, a):
		return a, nil
	case a.Kind == Void, Widens(a, b):
		return b, nil
	case a.Kind == b.Kind && (a.Kind == Struct || a.Kind == List || a.Kind == Map):
		fields, err := MergeFields(a.Fields(), b.Fields())
		return nestedType(a.Kind, fields), err
	}
	return Type{}, fmt.Errorf("%s in one place and %s in another", a, b)
}

// loose is a type whose fields are nullable at every level, without metadata.
func loose(t Type) Type {
	if t.shape == nil {
		return t
	}
	fields := slices.Clone(t.Fields())
	for i, f := range fields {
		fields[i] = Field{Name: f.Name, Type: loose(f.Type), Nullable: true}
	}
	return nestedType(t.Kind, fields)
}

// nestedType is a type of these fields, as Type.Fields gives them.
func nestedType(kind Kind, fields []Field) Type {
	switch kind {
	case List:
		return ListOf(fields[0])
	case Map:
		return MapOf(fields[0], fields[1])
	}
	return StructOf(fields...)
}
