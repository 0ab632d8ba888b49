package files

import (
	"slices"
	"strings"

	"lakesql/batch"
)

// Facts about the file that a row comes from: the fields of Spark's hidden column _metadata. Paths and names are percent-encoded, as there.
var facts = []struct {
	field batch.Field
	add   func(v *batch.Vector, f File)
}{
	{batch.Field{Name: "file_path", Type: batch.Type{Kind: batch.String}}, func(v *batch.Vector, f File) { v.AppendBytes([]byte(f.URI)) }},
	{batch.Field{Name: "file_name", Type: batch.Type{Kind: batch.String}}, func(v *batch.Vector, f File) {
		v.AppendBytes([]byte(f.URI[strings.LastIndexByte(f.URI, '/')+1:]))
	}},
	{batch.Field{Name: "file_size", Type: batch.Type{Kind: batch.Int64}}, func(v *batch.Vector, f File) { v.AppendInt64(f.Size) }},
	{batch.Field{Name: "file_block_start", Type: batch.Type{Kind: batch.Int64}}, func(v *batch.Vector, _ File) { v.AppendInt64(0) }},
	{batch.Field{Name: "file_block_length", Type: batch.Type{Kind: batch.Int64}}, func(v *batch.Vector, f File) { v.AppendInt64(f.Size) }},
	{batch.Field{Name: "file_modification_time", Type: batch.Type{Kind: batch.Timestamp}}, func(v *batch.Vector, f File) { v.AppendInt64(f.ModTime.UnixMicro()) }},
}

// MetadataPrefix begins the names of columns with facts, and is that of a column with all of them, a STRUCT. go-mysql-server leaves columns with !hidden! in
// their names out of SELECT *.
const MetadataPrefix = "_metadata.!hidden!"

// MetadataColumn is the name of the column that has a fact, "" where there is no such fact.
func MetadataColumn(fact string) string {
	for _, known := range facts {
		if strings.EqualFold(known.field.Name, fact) {
			return MetadataPrefix + known.field.Name
		}
	}
	return ""
}

// IsMetadataColumn tells whether a column is one of WithMetadata.
func IsMetadataColumn(name string) bool { return strings.HasPrefix(name, MetadataPrefix) }

// MetadataFacts are the names of the facts.
func MetadataFacts() []string {
	var names []string
	for _, known := range facts {
		names = append(names, known.field.Name)
	}
	return names
}

// WithMetadata adds the columns of the facts, which a reader fills.
func WithMetadata(schema *batch.Schema) *batch.Schema {
	fields := slices.Clone(schema.Fields)
	for _, known := range facts {
		field := known.field
		field.Name = MetadataPrefix + field.Name
		fields = append(fields, field)
	}
	return batch.NewSchema(append(fields, batch.Field{Name: MetadataPrefix, Type: allFacts, Nullable: true})...)
}

// allFacts is the type of the column with all facts.
var allFacts = func() batch.Type {
	var fields []batch.Field
	for _, known := range facts {
		field := known.field
		field.Nullable = true
		fields = append(fields, field)
	}
	return batch.StructOf(fields...)
}()

// factOf is the value of a column of WithMetadata; nil for another column.
func factOf(column batch.Field, f File) *batch.Vector {
	for _, known := range facts {
		if column.Name == MetadataPrefix+known.field.Name {
			one := batch.NewVector(column.Type, 1)
			known.add(one, f)
			return one
		}
	}
	return nil
}
