package parquet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// Names of the groups and fields of lists and maps, by the specification's three-level layout.
const (
	listGroup   = "list"
	listElement = "element"
	mapGroup    = "key_value"
	mapKey      = "key"
	mapValue    = "value"
)

// treeBuilder turns a batch's schema into the file's: elements in depth-first order, a node a field, a columnWriter a leaf.
//
// Types are those that Spark writes. A variant is a group of the required binaries value and metadata without the annotation VARIANT,
// as Spark 4.0 writes it and every reader of variants accepts it: releases of parquet-java before 1.16 cannot open a file with that
// annotation. Void columns are left out.
type treeBuilder struct {
	naming    Naming
	codec     codec
	pageBytes int
	elements  []format.SchemaElement
	leaves    []*columnWriter
}

// place is where a field is to be put.
type place struct {
	stored   []string // path of the parent in the file
	text     string   // path of the parent for people, with a dot behind it
	def, rep uint8    // levels of the parent when it has a value
}

// root builds the tree of the whole schema. Its fields have no node where they are void.
func (b *treeBuilder) root(s *batch.Schema) ([]*node, error) {
	b.elements = []format.SchemaElement{{Name: "schema"}}
	nodes, err := b.fields(0, s.Fields, place{})
	if err == nil && len(b.leaves) == 0 {
		err = errors.New("the schema has no columns")
	}
	if err != nil {
		return nil, fmt.Errorf("write Parquet: %w", err)
	}
	return nodes, nil
}

// fields builds the fields of a struct, or the columns of the file, below the group element at that position.
func (b *treeBuilder) fields(group int, fields []batch.Field, at place) ([]*node, error) {
	nodes := make([]*node, len(fields))
	seen := make(map[string]string, len(fields))
	children := int32(0)
	for i, f := range fields {
		if f.Type.Kind == batch.Void {
			continue
		}
		name, id := b.naming.of(f)
		if other, ok := seen[strings.ToLower(name)]; ok {
			return nil, fmt.Errorf("two columns are named %s in the file: %s%s and %s%s", name, at.text, other, at.text, f.Name)
		}
		seen[strings.ToLower(name)] = f.Name
		var err error
		if nodes[i], err = b.field(f, name, id, at); err != nil {
			return nil, err
		}
		children++
	}
	b.elements[group].NumChildren = thrift.New(children)
	return nodes, nil
}

// field builds one field under its stored name.
func (b *treeBuilder) field(f batch.Field, name string, id int32, at place) (*node, error) {
	n := &node{field: f, path: at.text + f.Name, def: at.def, rep: at.rep}
	if at.def > maxLevel {
		return nil, fmt.Errorf("column %.200s is nested too deep", n.path)
	}
	e := format.SchemaElement{Name: name, RepetitionType: thrift.New(format.Required)}
	if f.Nullable {
		n.def++
		e.RepetitionType = thrift.New(format.Optional)
	}
	if id > 0 {
		e.FieldID = id
	}
	annotate(&e, f.Type)
	group := len(b.elements)
	b.elements = append(b.elements, e)
	at = place{stored: append(slices.Clip(at.stored), name), text: n.path + ".", def: n.def, rep: n.rep}
	var err error
	switch f.Type.Kind {
	case batch.Struct:
		n.children, err = b.fields(group, f.Type.Fields(), at)
		if err == nil && b.elements[group].NumChildren.V == 0 {
			err = fmt.Errorf("column %s is a struct without a field that can be stored", n.path)
		}
	case batch.Variant:
		err = b.variant(n, group, at)
	case batch.List:
		err = b.repeated(n, group, listGroup, []string{listElement}, at)
	case batch.Map:
		err = b.repeated(n, group, mapGroup, []string{mapKey, mapValue}, at)
	case batch.Invalid, batch.Void: // a void list element: there is no column to keep the lengths in
		err = fmt.Errorf("column %s has type %s, which a file cannot hold", n.path, f.Type)
	default:
		b.leaf(n, group, at)
	}
	return n, err
}

// repeated builds the children of a list or map, below the repeated group between.
func (b *treeBuilder) repeated(n *node, group int, name string, children []string, at place) error {
	b.elements[group].NumChildren = thrift.New(int32(1))
	b.elements = append(b.elements, format.SchemaElement{Name: name, RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(int32(len(children)))})
	at.stored = append(at.stored, name)
	at.def, at.rep = at.def+1, at.rep+1
	for i, f := range n.field.Type.Fields() {
		_, id := b.naming.of(f)
		child, err := b.field(f, children[i], id, at)
		if err != nil {
			return err
		}
		n.children = append(n.children, child)
	}
	return nil
}

// variant builds the two binaries of a variant, in Spark's order.
func (b *treeBuilder) variant(n *node, group int, at place) error {
	b.elements[group].NumChildren = thrift.New(int32(2))
	fields := n.field.Type.Fields()
	n.children = make([]*node, len(fields))
	for i := range slices.Backward(fields) {
		var err error
		if n.children[i], err = b.field(fields[i], fields[i].Name, 0, at); err != nil {
			return err
		}
	}
	return nil
}

func (b *treeBuilder) leaf(n *node, at int, p place) {
	physical, length := physicalType(n.field.Type)
	e := &b.elements[at]
	e.Type = thrift.New(physical)
	if length > 0 {
		e.TypeLength = thrift.New(int32(length))
	}
	n.leaf = newColumnWriter(n, p.stored, b.codec, b.pageBytes)
	b.leaves = append(b.leaves, n.leaf)
}

// maxLevel is the greatest level of a parent: a field adds up to two, and levels are bytes.
const maxLevel = math.MaxUint8 - 2

// annotate sets the logical type, and the converted type for readers of the first version of the format.
func annotate(e *format.SchemaElement, t batch.Type) {
	micros := format.TimeUnit{Value: &format.MicroSeconds{}}
	switch t.Kind {
	case batch.Int8:
		e.LogicalType.Value, e.ConvertedType = &format.IntType{BitWidth: 8, IsSigned: true}, thrift.New(deprecated.Int8)
	case batch.Int16:
		e.LogicalType.Value, e.ConvertedType = &format.IntType{BitWidth: 16, IsSigned: true}, thrift.New(deprecated.Int16)
	case batch.Date:
		e.LogicalType.Value, e.ConvertedType = &format.DateType{}, thrift.New(deprecated.Date)
	case batch.String:
		e.LogicalType.Value, e.ConvertedType = &format.StringType{}, thrift.New(deprecated.UTF8)
	case batch.Timestamp:
		e.LogicalType.Value, e.ConvertedType = &format.TimestampType{IsAdjustedToUTC: true, Unit: micros}, thrift.New(deprecated.TimestampMicros)
	case batch.TimestampNTZ: // the converted type would mean an instant
		e.LogicalType.Value = &format.TimestampType{Unit: micros}
	case batch.Decimal:
		e.LogicalType.Value = &format.DecimalType{Precision: int32(t.Precision), Scale: int32(t.Scale)}
		e.ConvertedType = thrift.New(deprecated.Decimal)
		e.Precision, e.Scale = thrift.New(int32(t.Precision)), thrift.New(int32(t.Scale))
	case batch.List:
		e.LogicalType.Value, e.ConvertedType = &format.ListType{}, thrift.New(deprecated.List)
	case batch.Map:
		e.LogicalType.Value, e.ConvertedType = &format.MapType{}, thrift.New(deprecated.Map)
	}
}
