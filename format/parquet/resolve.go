package parquet

import (
	"fmt"
	"strings"

	"lakesql/batch"
)

// slot is where the rows of a column at some depth are in the levels of a leaf below it: entries whose definition level is at least def, and
// whose repetition level is at most rep. The zero slot is that of columns below the root: each entry that begins a row of the file.
type slot struct{ def, rep uint8 }

// resolver finds wanted fields in a file.
type resolver struct {
	file   *File
	naming Naming
	byID   bool
	leaves []*leafReader // of all columns found so far
}

// find returns the child that a field is read from, or nil: by its id, or by its name, ignoring case when no name is the same.
func (r *resolver) find(field batch.Field, parent *element) *element {
	name, id := r.naming.of(field)
	var found *element
	for _, n := range parent.children {
		switch {
		case r.byID && id != 0:
			if n.id == id {
				return n
			}
		case r.byID && n.id != 0:
		case n.name == name:
			return n
		case found == nil && strings.EqualFold(n.name, name):
			found = n
		}
	}
	return found
}

// column returns the reader of a column below the root.
func (r *resolver) column(field batch.Field) (*columnReader, error) {
	if _, id := r.naming.of(field); r.byID && id != 0 && !r.file.hasIDs {
		return nil, &Error{File: r.file.uri, Column: field.Name, Err: fmt.Errorf("%w: it is wanted by its field id, and the file has none", ErrUnsupported)}
	}
	c, err := r.child(field, r.file.root, field.Name, slot{})
	if err != nil {
		return nil, err
	}
	c.leaves = r.leaves
	r.leaves = nil
	return c, nil
}

// child returns the reader of a field of a struct. path is its name for errors.
func (r *resolver) child(field batch.Field, parent *element, path string, s slot) (*columnReader, error) {
	if n := r.find(field, parent); n != nil {
		return r.resolve(field.Type, n, path, s, false)
	}
	return &columnReader{path: path, shape: missingShape}, nil
}

// resolve returns the reader of an element as the wanted type. It may be the repeated element of a list itself, where the list has no element
// below that.
func (r *resolver) resolve(want batch.Type, n *element, path string, s slot, isElement bool) (*columnReader, error) {
	c := &columnReader{file: r.file, path: path, slot: s, def: n.maxDef}
	switch {
	case want.Kind == batch.Void || n.leaf != nil && n.leaf.typ.Kind == batch.Void:
		c.shape = missingShape
		return c, nil
	case n.repeated && !isElement:
		if want.Kind == batch.List {
			c.def-- // a repeated field without a list around it is never null
			return c, r.list(c, want, n, n, true)
		}
	case want.Kind == batch.Struct:
		if n.leaf == nil && n.kind == plainKind {
			return c, r.structure(c, want, n)
		}
	case want.Kind == batch.List:
		if repeated := n.onlyRepeated(); repeated != nil && n.kind != mapKind {
			element, isRepeated := elementOf(n, repeated, want.Fields()[0].Type)
			return c, r.list(c, want, repeated, element, isRepeated)
		}
	case want.Kind == batch.Map:
		if pairs := n.onlyRepeated(); pairs != nil && n.kind != listKind && len(pairs.children) == 2 {
			return c, r.pairs(c, want, pairs)
		}
	case want.Kind == batch.Variant:
		if n.leaf == nil && (n.kind == plainKind || n.kind == variantKind) {
			return c, r.variant(c, n)
		}
	case n.leaf != nil:
		c.shape = leafShape
		leaf, err := newLeafReader(r.file, n.leaf, want, path)
		c.leaf, r.leaves = leaf, append(r.leaves, leaf)
		return c, err
	}
	return nil, &Error{File: r.file.uri, Column: path, Err: fmt.Errorf("%w: the file has %s, the table says %s", ErrType, n.typeText(), want)}
}

// structure makes c read a struct.
func (r *resolver) structure(c *columnReader, want batch.Type, n *element) error {
	c.shape = structShape
	for _, f := range want.Fields() {
		child, err := r.child(f, n, c.path+"."+f.Name, c.slot)
		if err != nil {
			return err
		}
		c.children = append(c.children, child)
	}
	return r.levels(c, n)
}

// list makes c read a list whose elements repeated holds: each is element, or repeated itself.
func (r *resolver) list(c *columnReader, want batch.Type, repeated, element *element, isRepeated bool) error {
	c.shape = listShape
	c.elements = slot{repeated.maxDef, repeated.maxRep}
	child, err := r.resolve(want.Fields()[0].Type, element, c.path+".element", c.elements, isRepeated)
	if err != nil {
		return err
	}
	c.children = []*columnReader{child}
	return r.levels(c, repeated)
}

// pairs makes c read a map. Key and value are known by their names, or else the key is the first.
func (r *resolver) pairs(c *columnReader, want batch.Type, pairs *element) error {
	c.shape = listShape
	c.elements = slot{pairs.maxDef, pairs.maxRep}
	key, value := pairs.children[0], pairs.children[1]
	if key.name == "value" && value.name == "key" {
		key, value = value, key
	}
	for i, n := range []*element{key, value} {
		field := want.Fields()[i]
		child, err := r.resolve(field.Type, n, c.path+"."+field.Name, c.elements, false)
		if err != nil {
			return err
		}
		c.children = append(c.children, child)
	}
	return r.levels(c, pairs)
}

// levels gives c a leaf below n whose levels tell nulls and lengths: one that is read anyway, or the one that is cheapest to read.
func (r *resolver) levels(c *columnReader, n *element) error {
	for _, child := range c.children {
		if l := child.leaf; l != nil && (c.leaf == nil || l.leaf.maxRep < c.leaf.leaf.maxRep) {
			c.leaf = l
		}
	}
	if c.leaf != nil || c.shape == structShape && c.def == c.slot.def {
		return nil
	}
	var best *leaf
	for _, l := range n.leaves {
		if best == nil || l.maxRep < best.maxRep || l.maxRep == best.maxRep && r.file.leafBytes(l) < r.file.leafBytes(best) {
			best = l
		}
	}
	if best == nil {
		return &Error{File: r.file.uri, Column: c.path, Err: damaged("a group without columns")}
	}
	l, err := newLeafReader(r.file, best, batch.Type{Kind: batch.Void}, c.path)
	c.leaf, c.alone, r.leaves = l, true, append(r.leaves, l)
	return err
}

// leafBytes returns the compressed size of a leaf in the file.
func (f *File) leafBytes(l *leaf) int64 {
	size := int64(0)
	for i := range f.meta.RowGroups {
		size += f.meta.RowGroups[i].Columns[l.index].MetaData.TotalCompressedSize
	}
	return size
}

// onlyRepeated returns the repeated child that a list or a map is made of, or nil.
func (n *element) onlyRepeated() *element {
	if n.leaf == nil && len(n.children) == 1 && n.children[0].repeated {
		return n.children[0]
	}
	return nil
}

// elementOf returns the element of a list: the only child of the repeated node, or that node itself, as the rules for files of early writers say
// (LogicalTypes.md, backward-compatibility rules of lists). Where they leave a choice, the wanted type makes it; it may be invalid.
func elementOf(list, repeated *element, want batch.Type) (element *element, isRepeated bool) {
	if repeated.leaf != nil || len(repeated.children) != 1 || repeated.children[0].repeated {
		return repeated, true
	}
	child := repeated.children[0]
	single := child.leaf != nil || child.kind != plainKind // no struct: then the repeated group is the one that is wanted
	switch {
	case want.Kind == batch.Struct && single:
		return repeated, true
	case want.Kind == batch.Struct:
		return child, false
	case want.Kind != batch.Invalid:
		return child, false
	case repeated.name == "array" || repeated.name == list.name+"_tuple":
		return repeated, true
	}
	return child, false
}

// field returns the element as a field of its own type; ok is false when there is no batch type for it, or for something below it.
func (n *element) field(isElement bool) (f batch.Field, ok bool) {
	f = batch.Field{Name: n.name, Nullable: n.optional}
	if n.repeated && !isElement {
		element, ok := n.field(true)
		f.Type = batch.ListOf(element)
		return f, ok
	}
	repeated := n.onlyRepeated()
	switch {
	case n.leaf != nil:
		f.Type, ok = n.leaf.typ, n.leaf.problem == ""
	case n.kind == variantKind:
		f.Type, ok = batch.Type{Kind: batch.Variant}, true
	case n.kind == listKind && repeated != nil:
		child, isRepeated := elementOf(n, repeated, batch.Type{})
		element, fits := child.field(isRepeated)
		f.Type, ok = batch.ListOf(element), fits
	case n.kind == mapKind && repeated != nil && len(repeated.children) == 2:
		key, keyFits := repeated.children[0].field(false)
		value, valueFits := repeated.children[1].field(false)
		f.Type, ok = batch.MapOf(key, value), keyFits && valueFits
	case n.kind == plainKind && len(n.children) > 0:
		fields := make([]batch.Field, len(n.children))
		ok = true
		for i, child := range n.children {
			var fits bool
			fields[i], fits = child.field(false)
			ok = ok && fits
		}
		f.Type = batch.StructOf(fields...)
	}
	return f, ok
}

// typeText tells the type for errors.
func (n *element) typeText() string {
	if f, ok := n.field(false); ok {
		return f.Type.String()
	}
	if n.leaf != nil {
		return n.leaf.problem
	}
	return "a group of another shape"
}
