package avro

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/avro"

	"lakesql/batch"
)

// Column is the name of the column of values that are no records.
const Column = "value"

// Schema is how values are written, and the columns that they become. It may be used by several goroutines.
type Schema struct {
	columns *batch.Schema
	top     batch.Type // of the value
	record  bool       // the fields of top are the columns, else it is the one column, value
	read    reader
	null    nullable // of a union with null at the top
}

// Parse reads a schema. One that no column can have is an error that says why.
func Parse(text string) (*Schema, error) {
	parsed, err := avro.Parse(text)
	if err != nil {
		return nil, err
	}
	b := &builder{named: map[string]*avro.SchemaNode{}, open: map[string]bool{}}
	root := parsed.Root()
	s := &Schema{null: noNull}
	if branch, null, ok := optional(root); ok {
		root, s.null = branch, null
	}
	made, err := b.build(root, "")
	if err != nil {
		return nil, err
	}
	s.top, s.read, s.record = made.typ, made.read, root.Type == "record" || root.Type == "error"
	if s.record {
		s.columns = batch.NewSchema(made.typ.Fields()...)
	} else {
		s.columns = batch.NewSchema(batch.Field{Name: Column, Type: made.typ, Nullable: true})
	}
	return s, nil
}

// Columns are those that values become.
func (s *Schema) Columns() *batch.Schema {
	return batch.NewSchema(slices.Clone(s.columns.Fields)...)
}

// nullable is the branch of a union that is null.
type nullable int

const noNull nullable = -1

// optional is the other branch of a union of two with null.
func optional(n *avro.SchemaNode) (branch *avro.SchemaNode, null nullable, ok bool) {
	if n.Type != "union" || len(n.Branches) != 2 {
		return nil, noNull, false
	}
	for i := range n.Branches {
		if n.Branches[i].Type == "null" && n.Branches[1-i].Type != "null" {
			return &n.Branches[1-i], nullable(i), true
		}
	}
	return nil, noNull, false
}

// built is a schema's type, and what reads it.
type built struct {
	typ  batch.Type
	read reader
}

// builder makes readers of a schema's nodes.
type builder struct {
	named map[string]*avro.SchemaNode // by full name
	open  map[string]bool             // the records that are being built, by full name
	nodes int                         // so far
}

// maxNodes bounds what a short schema may grow to whose records hold others more than once.
const maxNodes = 100_000

// primitives are the types without any parts.
var primitives = map[string]built{
	"null":    {batch.Type{Kind: batch.Void}, readNull},
	"boolean": {batch.Type{Kind: batch.Bool}, readBool},
	"int":     {batch.Type{Kind: batch.Int32}, readInt},
	"long":    {batch.Type{Kind: batch.Int64}, readLong(1)},
	"float":   {batch.Type{Kind: batch.Float32}, readFloat},
	"double":  {batch.Type{Kind: batch.Float64}, readDouble},
	"string":  {batch.Type{Kind: batch.String}, readString},
	"bytes":   {batch.Type{Kind: batch.Binary}, readBytes(behindNumber)},
}

// logical are the types that a logical type makes of another, by both names.
var logical = map[[2]string]built{
	{"int", "date"}:                    {batch.Type{Kind: batch.Date}, readInt},
	{"long", "timestamp-millis"}:       {batch.Type{Kind: batch.Timestamp}, readLong(1000)},
	{"long", "timestamp-micros"}:       {batch.Type{Kind: batch.Timestamp}, readLong(1)},
	{"long", "local-timestamp-millis"}: {batch.Type{Kind: batch.TimestampNTZ}, readLong(1000)},
	{"long", "local-timestamp-micros"}: {batch.Type{Kind: batch.TimestampNTZ}, readLong(1)},
}

// build makes a reader of a node. namespace is that of the named type around it.
func (b *builder) build(n *avro.SchemaNode, namespace string) (built, error) {
	if b.nodes++; b.nodes > maxNodes {
		return built{}, fmt.Errorf("the schema has more than %d fields and types", maxNodes)
	}
	if n.LogicalType == "decimal" && n.Precision > 0 {
		return b.decimal(n)
	}
	if made, ok := logical[[2]string{n.Type, n.LogicalType}]; ok {
		return made, nil
	}
	if made, ok := primitives[n.Type]; ok {
		return made, nil
	}
	switch n.Type {
	case "record", "error":
		return b.record(n)
	case "enum":
		b.named[fullName(n)] = n
		return built{batch.Type{Kind: batch.String}, readEnum(n.Symbols)}, nil
	case "fixed":
		b.named[fullName(n)] = n
		return built{batch.Type{Kind: batch.Binary}, readBytes(n.Size)}, nil
	case "array":
		item, err := b.build(n.Items, namespace)
		if err != nil {
			return built{}, fmt.Errorf("items: %w", err)
		}
		return built{batch.ListOf(batch.Field{Type: item.typ, Nullable: true}), readList(item.read)}, nil
	case "map":
		value, err := b.build(n.Values, namespace)
		if err != nil {
			return built{}, fmt.Errorf("values: %w", err)
		}
		text := batch.Field{Type: batch.Type{Kind: batch.String}}
		return built{batch.MapOf(text, batch.Field{Type: value.typ, Nullable: true}), readMap(value.read)}, nil
	case "union":
		return b.union(n, namespace)
	}
	return b.reference(n, namespace)
}

// fullName is that of a named type. A name with dots has its namespace in it.
func fullName(n *avro.SchemaNode) string {
	if n.Namespace == "" || strings.Contains(n.Name, ".") {
		return n.Name
	}
	return n.Namespace + "." + n.Name
}

// namespaceOf is what names without dots are in, inside a named type.
func namespaceOf(n *avro.SchemaNode) string {
	name := fullName(n)
	return name[:max(0, strings.LastIndexByte(name, '.'))]
}

// reference is a named type that stands before in the schema.
func (b *builder) reference(n *avro.SchemaNode, namespace string) (built, error) {
	for _, name := range []string{namespace + "." + n.Type, n.Type} {
		if b.open[name] {
			return built{}, fmt.Errorf("record %s holds itself, and a column cannot be so deep: leave that field out where the values are written", name)
		}
		if found, ok := b.named[name]; ok {
			return b.build(found, namespaceOf(found))
		}
	}
	return built{}, fmt.Errorf("type %s is not known", n.Type)
}

func (b *builder) record(n *avro.SchemaNode) (built, error) {
	name := fullName(n)
	if len(n.Fields) == 0 {
		return built{}, fmt.Errorf("record %s has no fields", name)
	}
	b.named[name], b.open[name] = n, true
	defer delete(b.open, name)
	fields, readers := make([]batch.Field, len(n.Fields)), make([]reader, len(n.Fields))
	for i := range n.Fields {
		made, err := b.build(&n.Fields[i].Type, namespaceOf(n))
		if err != nil {
			return built{}, fmt.Errorf("field %s: %w", n.Fields[i].Name, err)
		}
		fields[i] = batch.Field{Name: n.Fields[i].Name, Type: made.typ, Nullable: true}
		readers[i] = made.read
	}
	return built{batch.StructOf(fields...), readRecord(fields, readers)}, nil
}

// union is one branch where null is the only other, a wider number, or a struct with a field a branch.
func (b *builder) union(n *avro.SchemaNode, namespace string) (built, error) {
	if len(n.Branches) == 0 {
		return built{}, errors.New("a union has no branches")
	}
	branches := make([]branch, len(n.Branches))
	var kinds []string
	var fields []batch.Field
	for i := range n.Branches {
		node := &n.Branches[i]
		if node.Type == "null" {
			branches[i].field = -1
			continue
		}
		made, err := b.build(node, namespace)
		if err != nil {
			return built{}, err
		}
		branches[i] = branch{made.read, len(fields)}
		fields = append(fields, batch.Field{Name: "member" + strconv.Itoa(len(fields)), Type: made.typ, Nullable: true})
		kinds = append(kinds, node.Type)
	}
	slices.Sort(kinds)
	same := func(typ batch.Type, reads map[string]reader) built {
		for i := range branches {
			if read, ok := reads[n.Branches[i].Type]; ok {
				branches[i].read = read
			}
		}
		return built{typ, readBranch(branches)}
	}
	switch {
	case len(fields) == 0:
		return same(batch.Type{Kind: batch.Void}, nil), nil
	case len(fields) == 1:
		return same(fields[0].Type, nil), nil
	case slices.Equal(kinds, []string{"int", "long"}):
		return same(batch.Type{Kind: batch.Int64}, map[string]reader{"int": readIntAsLong, "long": readLong(1)}), nil
	case slices.Equal(kinds, []string{"double", "float"}):
		return same(batch.Type{Kind: batch.Float64}, map[string]reader{"float": readFloatAsDouble}), nil
	}
	return built{batch.StructOf(fields...), readMember(branches)}, nil
}

// maxPrecision is a column's.
const maxPrecision = 38

func (b *builder) decimal(n *avro.SchemaNode) (built, error) {
	size := behindNumber
	if n.Type == "fixed" {
		b.named[fullName(n)], size = n, n.Size
	}
	if n.Precision > maxPrecision {
		return built{}, fmt.Errorf("decimal(%d,%d) has more than %d digits, and a column has not", n.Precision, n.Scale, maxPrecision)
	}
	return built{batch.Type{Kind: batch.Decimal, Precision: uint8(n.Precision), Scale: uint8(n.Scale)}, readDecimal(size)}, nil
}
