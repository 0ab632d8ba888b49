package parquet

import (
	"errors"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
	"lakesql/format/variant"
)

// The names of a variant's columns.
const (
	variantMetadata = "metadata"
	variantValue    = "value"
	variantTyped    = "typed_value"
)

// shredded puts variants together again whose values are spread over typed columns: https://github.com/apache/parquet-format/blob/master/VariantShredding.md
type shredded struct {
	reader   *columnReader // of the group, as a struct of its columns
	rows     *batch.Vector // what it has read
	metadata int           // of the struct's children
	value    shreddedValue
	builder  variant.Builder
}

// shreddedValue is a pair of columns that hold one value: as a variant, or in its own type, or some fields of an object here and the others there.
type shreddedValue struct {
	value   int // of the children of the struct that holds the pair; -1: there is no such column
	typed   int // likewise
	scalar  func(b *variant.Builder, v *batch.Vector, row int)
	element *shreddedValue // the typed values are arrays
	fields  []shreddedField
}

// shreddedField is a field of an object that has columns of its own.
type shreddedField struct {
	name  []byte
	value shreddedValue
}

// child returns the child of exactly that name, or nil.
func (n *element) child(name string) *element {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// variant makes c read a variant from a group of metadata and value, and of a typed value where it is shredded.
func (r *resolver) variant(c *columnReader, n *element) error {
	wrong := &Error{File: r.file.uri, Column: c.path, Err: damaged("a variant needs columns metadata and value, or typed_value")}
	if n.child(variantMetadata) == nil || n.child(variantValue) == nil && n.child(variantTyped) == nil {
		return wrong
	}
	inner := &resolver{file: r.file}
	if n.child(variantTyped) == nil {
		if err := inner.structure(c, batch.Type{Kind: batch.Variant}, n); err != nil {
			return err
		}
		r.leaves = append(r.leaves, inner.leaves...)
		return nil
	}
	s := &shredded{metadata: 0}
	value, pair, err := shreddedOf(n, r.file.uri, c.path)
	if err != nil {
		return err
	}
	s.value = value
	s.value.value, s.value.typed = shift(value.value), shift(value.typed)
	fields := append([]batch.Field{{Name: variantMetadata, Type: batch.Type{Kind: batch.Binary}}}, pair.Fields()...)
	whole := batch.StructOf(fields...)
	s.reader = &columnReader{file: r.file, path: c.path, slot: c.slot, def: c.def}
	if err := inner.structure(s.reader, whole, plainCopy(n)); err != nil {
		return err
	}
	s.rows = batch.NewVector(whole, 0)
	c.shape, c.variant, c.leaf = variantShape, s, s.reader.leaf
	r.leaves = append(r.leaves, inner.leaves...)
	return nil
}

// shift makes room for the metadata in front.
func shift(at int) int {
	if at < 0 {
		return at
	}
	return at + 1
}

// plainCopy returns a node and those below it as the group of columns that they are, with leaves in the types that shredded values are read in.
func plainCopy(n *element) *element {
	c := *n
	if n.leaf != nil {
		l := *n.leaf
		if l.exact {
			l.typ, l.problem = batch.Type{Kind: batch.Int64}, ""
		}
		c.leaf = &l
		return &c
	}
	if c.kind == variantKind {
		c.kind = plainKind
	}
	c.children = nil
	for _, child := range n.children {
		c.children = append(c.children, plainCopy(child))
	}
	return &c
}

// shreddedOf describes the pair of columns that a group has, and returns the type of a struct of the two.
func shreddedOf(group *element, file, path string) (shreddedValue, batch.Type, error) {
	s := shreddedValue{value: -1, typed: -1}
	var fields []batch.Field
	if group.child(variantValue) != nil {
		s.value = 0
		fields = append(fields, batch.Field{Name: variantValue, Type: batch.Type{Kind: batch.Binary}, Nullable: true})
	}
	if typed := group.child(variantTyped); typed != nil {
		s.typed = len(fields)
		typ, err := s.describe(typed, file, path+"."+variantTyped)
		if err != nil {
			return s, typ, err
		}
		fields = append(fields, batch.Field{Name: variantTyped, Type: typ, Nullable: true})
	}
	if len(fields) == 0 {
		return s, batch.Type{}, &Error{File: file, Column: path, Err: damaged("a shredded variant without columns value and typed_value")}
	}
	return s, batch.StructOf(fields...), nil
}

// describe fills in how the typed values are kept, and returns their type.
func (s *shreddedValue) describe(typed *element, file, path string) (batch.Type, error) {
	if typed.leaf != nil {
		typ, scalar := scalarOf(typed.leaf)
		if scalar == nil {
			return typ, &Error{File: file, Column: path, Err: errors.Join(ErrUnsupported, errors.New(typed.typeText()))}
		}
		s.scalar = scalar
		return typ, nil
	}
	if repeated := typed.onlyRepeated(); repeated != nil {
		element, _ := elementOf(typed, repeated, batch.Type{})
		value, typ, err := shreddedOf(element, file, path+".element")
		s.element = &value
		return batch.ListOf(batch.Field{Type: typ}), err
	}
	var fields []batch.Field
	s.fields = []shreddedField{}
	for _, child := range typed.children {
		value, typ, err := shreddedOf(child, file, path+"."+child.name)
		if err != nil {
			return typ, err
		}
		s.fields = append(s.fields, shreddedField{name: []byte(child.name), value: value})
		fields = append(fields, batch.Field{Name: child.name, Type: typ})
	}
	return batch.StructOf(fields...), nil
}

// scalarOf returns the type that a leaf of typed values is read in, and how a row becomes a variant; nil: it is no type of a variant.
func scalarOf(l *leaf) (batch.Type, func(b *variant.Builder, v *batch.Vector, row int)) {
	int64s := batch.Type{Kind: batch.Int64}
	moment := func(kind variant.Kind) func(*variant.Builder, *batch.Vector, int) {
		return func(b *variant.Builder, v *batch.Vector, row int) { b.Moment(kind, v.I64[row]) }
	}
	switch {
	case l.exact && l.typ.Kind == batch.Timestamp:
		return int64s, moment(variant.Nanos)
	case l.exact && l.typ.Kind == batch.TimestampNTZ:
		return int64s, moment(variant.NanosNTZ)
	case l.exact:
		return int64s, moment(variant.Time)
	case l.problem != "":
		return l.typ, nil
	case l.uuid:
		return l.typ, func(b *variant.Builder, v *batch.Vector, row int) { b.UUID([16]byte(v.BytesAt(row))) }
	}
	switch l.typ.Kind {
	case batch.Timestamp:
		return l.typ, moment(variant.Timestamp)
	case batch.TimestampNTZ:
		return l.typ, moment(variant.TimestampNTZ)
	case batch.Bool:
		return l.typ, func(b *variant.Builder, v *batch.Vector, row int) { b.Bool(v.Bools[row]) }
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64:
		return int64s, func(b *variant.Builder, v *batch.Vector, row int) { b.Int(v.I64[row]) }
	case batch.Float32:
		return l.typ, func(b *variant.Builder, v *batch.Vector, row int) { b.Float32(v.F32[row]) }
	case batch.Float64:
		return l.typ, func(b *variant.Builder, v *batch.Vector, row int) { b.Float64(v.F64[row]) }
	case batch.Decimal:
		return l.typ, func(b *variant.Builder, v *batch.Vector, row int) { b.Decimal(v.DecimalAt(row), l.typ.Scale) }
	case batch.Date:
		return l.typ, func(b *variant.Builder, v *batch.Vector, row int) { b.Date(v.I32[row]) }
	case batch.String:
		return l.typ, func(b *variant.Builder, v *batch.Vector, row int) { b.String(v.BytesAt(row)) }
	case batch.Binary:
		return l.typ, func(b *variant.Builder, v *batch.Vector, row int) { b.Binary(v.BytesAt(row)) }
	}
	return l.typ, nil
}

// load reads the columns.
func (s *shredded) load(from int64, n int) error {
	s.rows.Reset()
	return s.reader.load(s.rows, from, n)
}

// fillVariant puts the rows' variants together.
func (c *columnReader) fillVariant(dst *batch.Vector, rows int) error {
	s := c.variant
	if err := s.reader.fill(s.rows, rows); err != nil {
		return err
	}
	metadata := s.rows.Children[s.metadata]
	for row := range rows {
		if s.rows.IsNull(row) {
			dst.AppendNull()
			continue
		}
		if metadata.IsNull(row) {
			return damaged("a variant without metadata")
		}
		if err := s.append(dst, metadata.BytesAt(row), row); err != nil {
			return err
		}
	}
	return checkVariants(dst)
}

// checkVariants refuses damaged variants: who takes a batch reads them without a check.
func checkVariants(v *batch.Vector) error {
	metadata, value := v.Children[0], v.Children[1]
	for row := range v.Len {
		if v.IsNull(row) {
			continue
		}
		if metadata.IsNull(row) || value.IsNull(row) {
			return damaged("a variant without metadata or value")
		}
		if err := variant.Check(metadata.BytesAt(row), value.BytesAt(row)); err != nil {
			return damaged("%v", err)
		}
	}
	return nil
}

// append adds a row that is not null.
func (s *shredded) append(dst *batch.Vector, metadata []byte, row int) error {
	if err := s.builder.ResetTo(metadata); err != nil {
		return damaged("%v", err)
	}
	names, err := variant.ParseMetadata(metadata)
	if err != nil {
		return damaged("%v", err)
	}
	found, err := s.value.build(&s.builder, s.rows, row, names)
	if err == nil && !found {
		s.builder.Null()
	}
	if err == nil {
		var value []byte
		if metadata, value, err = s.builder.Finish(); err == nil {
			for i, part := range [][]byte{metadata, value} {
				if err := roomFor(dst.Children[i], len(part)); err != nil {
					return err
				}
				dst.Children[i].AppendBytes(part)
			}
			dst.EndRow()
			return nil
		}
	}
	return damaged("a shredded variant: %v", err)
}

// build adds the value of a row of a struct that holds the pair; found is false when it has none.
func (s *shreddedValue) build(b *variant.Builder, pair *batch.Vector, row int, names variant.Metadata) (found bool, err error) {
	var rest *variant.Value
	if s.value >= 0 && !pair.Children[s.value].IsNull(row) {
		v, err := names.Parse(pair.Children[s.value].BytesAt(row))
		if err != nil {
			return false, err
		}
		rest = &v
	}
	if s.typed < 0 || pair.Children[s.typed].IsNull(row) {
		if rest != nil {
			b.Value(*rest)
		}
		return rest != nil, nil
	}
	typed := pair.Children[s.typed]
	switch {
	case s.fields != nil:
		return true, s.buildObject(b, typed, row, rest, names)
	case rest != nil:
		return false, errors.New("it has a value and a typed value that is no object")
	case s.scalar != nil:
		s.scalar(b, plainRow(typed, &row), row)
		return true, b.Err()
	}
	b.BeginArray()
	for at := typed.Off[row]; at < typed.Off[row+1]; at++ {
		found, err := s.element.build(b, typed.Children[0], int(at), names)
		if err != nil {
			return false, err
		}
		if !found {
			b.Null()
		}
	}
	b.EndArray()
	return true, b.Err()
}

// plainRow returns the vector that has the row's value, which may be the dictionary, and puts the row's position in it into row.
func plainRow(v *batch.Vector, row *int) *batch.Vector {
	if v.Dict == nil {
		return v
	}
	*row = int(v.Codes[*row])
	return v.Dict
}

// buildObject adds an object of the fields that have columns and of those in rest, which may be nil.
func (s *shreddedValue) buildObject(b *variant.Builder, typed *batch.Vector, row int, rest *variant.Value, names variant.Metadata) error {
	b.BeginObject()
	for i := range s.fields {
		f := &s.fields[i]
		pair := typed.Children[i]
		if pair.IsNull(row) || !f.value.has(pair, row) {
			continue
		}
		b.Key(f.name)
		if _, err := f.value.build(b, pair, row, names); err != nil {
			return err
		}
	}
	if rest != nil {
		if rest.Kind() != variant.Object {
			return errors.New("it has fields in columns of their own and a value that is no object")
		}
		if err := b.Fields(*rest); err != nil {
			return err
		}
	}
	b.EndObject()
	return b.Err()
}

// has says whether the row has a value.
func (s *shreddedValue) has(pair *batch.Vector, row int) bool {
	return s.value >= 0 && !pair.Children[s.value].IsNull(row) || s.typed >= 0 && !pair.Children[s.typed].IsNull(row)
}

// isExact says whether the values of a shredded variant are read as the numbers that they are, because no batch type holds them: nanoseconds,
// and times of day.
func isExact(l *leaf, e *format.SchemaElement) bool {
	if l.physical != format.Int64 {
		return false
	}
	switch t := e.LogicalType.Value.(type) {
	case *format.TimestampType:
		_, nanos := t.Unit.Value.(*format.NanoSeconds)
		return nanos
	case *format.TimeType:
		_, micros := t.Unit.Value.(*format.MicroSeconds)
		return micros
	}
	return false
}
