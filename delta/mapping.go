package delta

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"lakesql/batch"
	"lakesql/format/parquet"
)

// Column mapping gives every field, nested ones too, an id and a physical name that never change. Files, statistics, partition values
// and clustering columns go by these; the schema and the partition columns of the metadata go by the names that people see.

// The keys of column mapping, in the metadata of a column and among the table's properties.
const (
	mappingID           = "delta.columnMapping.id"
	mappingPhysicalName = "delta.columnMapping.physicalName"
	mappingNestedIDs    = "delta.columnMapping.nested.ids"
	mappingMode         = "delta.columnMapping.mode"
	mappingMaxID        = "delta.columnMapping.maxColumnId"
)

// The modes of column mapping.
const (
	mappingByName = "name"
	mappingByID   = "id"
)

// Mapping is the mode of column mapping: "" for none, "name" or "id".
func (m *Metadata) Mapping() string {
	mode := strings.ToLower(m.Configuration[mappingMode])
	if mode == "none" {
		return ""
	}
	return mode
}

// Naming tells how the table's fields are stored in its files; nil: by their own names. byID: they are to be found by their ids alone.
// A field without an id, such as one of a change file, is found by its name.
func (s *Snapshot) Naming() (naming parquet.Naming, byID bool) { return s.metadata.naming() }

func (m *Metadata) naming() (naming parquet.Naming, byID bool) {
	if m.Mapping() == "" {
		return nil, false
	}
	return storedAs, m.Mapping() == mappingByID
}

// storedAs is the physical name and the id of a field under column mapping.
func storedAs(f batch.Field) (name string, id int32) {
	if json.Unmarshal([]byte(f.Metadata[mappingPhysicalName]), &name) != nil || name == "" {
		name = f.Name
	}
	if json.Unmarshal([]byte(f.Metadata[mappingID]), &id) != nil {
		id = 0
	}
	return name, id
}

// physicalName is what files, statistics and partition values call a field.
func (m *Metadata) physicalName(f batch.Field) string {
	if m.Mapping() == "" {
		return f.Name
	}
	name, _ := storedAs(f)
	return name
}

// checkMapping refuses a mode that is not known, and fields that the mode cannot find.
func checkMapping(m *Metadata, schema *batch.Schema) error {
	switch m.Mapping() {
	case "":
		return nil
	case mappingByName, mappingByID:
	default:
		return &UnsupportedError{Op: "read", Features: []string{"columnMapping"}, Detail: fmt.Sprintf("mode %q is not known", m.Configuration[mappingMode])}
	}
	return eachStructField(schema.Fields, func(path string, f batch.Field) error {
		for _, key := range []string{mappingID, mappingPhysicalName} {
			if f.Metadata[key] == "" {
				return fmt.Errorf("%w: column mapping is on, but column %s has no %s", ErrCorrupt, path, key)
			}
		}
		return nil
	})
}

// eachStructField calls fn for every column and every field of a struct at any depth, outer ones first.
func eachStructField(fields []batch.Field, fn func(path string, f batch.Field) error) error {
	var walk func(path string, t batch.Type) error
	fieldsOf := func(parent string, fields []batch.Field) error {
		for _, f := range fields {
			path := joinPath(parent, f.Name)
			if err := fn(path, f); err != nil {
				return err
			}
			if err := walk(path, f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	walk = func(path string, t batch.Type) error {
		switch t.Kind {
		case batch.Struct:
			return fieldsOf(path, t.Fields())
		case batch.List, batch.Map:
			for _, f := range t.Fields() {
				if err := walk(path+"."+f.Name, f.Type); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return fieldsOf("", fields)
}

// partitionKey is a partition column, by its name and by that which partition values have.
type partitionKey struct{ column, stored string }

// partitionKeys are the partition columns in their order.
func (m *Metadata) partitionKeys() []partitionKey {
	out := make([]partitionKey, len(m.PartitionColumns))
	for i, c := range m.PartitionColumns {
		out[i] = partitionKey{c, c}
	}
	if m.Mapping() == "" || len(out) == 0 {
		return out
	}
	schema, err := ParseSchema(m.SchemaString)
	if err != nil { // whoever reads the metadata says so
		return out
	}
	for i := range out {
		if at := schema.Index(out[i].column); at >= 0 {
			out[i].stored = m.physicalName(schema.Fields[at])
		}
	}
	return out
}

// storedPartitions are the partition columns in their order, as partition values call them.
func (m *Metadata) storedPartitions() []string {
	var out []string
	for _, k := range m.partitionKeys() {
		out = append(out, k.stored)
	}
	return out
}

// storedPartition returns partition values by the names that files have.
func storedPartition(values map[string]string, partitions []partitionKey) map[string]string {
	out := make(map[string]string, len(values))
	for _, p := range partitions {
		if v, ok := values[p.column]; ok {
			out[p.stored] = v
		}
	}
	return out
}

// partitionNames translates the keys of partition values from physical names to those of the columns.
type partitionNames struct {
	names map[string]string             // physical -> logical; nil: they are the same
	done  map[uintptr]map[string]string // by the map that was translated: files of one partition share it
}

func newPartitionNames(m *Metadata) partitionNames {
	var p partitionNames
	for _, k := range m.partitionKeys() {
		if k.stored != k.column && p.names == nil {
			p.names, p.done = make(map[string]string), make(map[uintptr]map[string]string)
		}
	}
	if p.names != nil {
		for _, k := range m.partitionKeys() {
			p.names[k.stored] = k.column
		}
	}
	return p
}

// logical returns partition values by the names of the columns. The result is shared.
func (p partitionNames) logical(values map[string]string) map[string]string {
	if p.names == nil || len(values) == 0 {
		return values
	}
	key := reflect.ValueOf(values).Pointer()
	if out, ok := p.done[key]; ok {
		return out
	}
	out := make(map[string]string, len(values))
	for physical, v := range values {
		if name, ok := p.names[physical]; ok {
			out[name] = v
		} else {
			out[physical] = v
		}
	}
	p.done[key] = out
	return out
}

// withSchema sets the schema. Under column mapping, fields that have no id and physical name yet get them: ids behind the last one that
// was ever used, and what physical makes of the field.
func (m *Metadata) withSchema(schema *batch.Schema, lastID int, physical func(f batch.Field) string) *Metadata {
	if m.Mapping() != "" {
		next := max(lastID, m.count(mappingMaxID, 0))
		_ = eachStructField(schema.Fields, func(_ string, f batch.Field) error {
			_, id := storedAs(f)
			next = max(next, int(id))
			return nil
		})
		schema = batch.NewSchema(mapFields(schema.Fields, func(f batch.Field) batch.Field {
			f.Metadata = maps.Clone(f.Metadata)
			if f.Metadata == nil {
				f.Metadata = make(map[string]string, 2)
			}
			if f.Metadata[mappingID] == "" {
				next++
				f.Metadata[mappingID] = strconv.Itoa(next)
			}
			if f.Metadata[mappingPhysicalName] == "" {
				f.Metadata[mappingPhysicalName] = string(mustJSON(physical(f)))
			}
			return f
		})...)
		m.Configuration = maps.Clone(m.Configuration)
		m.Configuration[mappingMaxID] = strconv.Itoa(next)
	}
	m.SchemaString = FormatSchema(schema)
	return m
}

// newPhysicalName makes up the name of a field in files, as Spark does.
func newPhysicalName(batch.Field) string { return "col-" + uuid.NewString() }

// mapFields returns the columns with each field of a struct at any depth replaced, outer ones first.
func mapFields(fields []batch.Field, change func(batch.Field) batch.Field) []batch.Field {
	var inside func(t batch.Type) batch.Type
	structFields := func(fields []batch.Field) []batch.Field {
		out := make([]batch.Field, len(fields))
		for i, f := range fields {
			f = change(f)
			f.Type = inside(f.Type)
			out[i] = f
		}
		return out
	}
	inside = func(t batch.Type) batch.Type {
		fields := slices.Clone(t.Fields())
		switch t.Kind {
		case batch.Struct:
			return batch.StructOf(structFields(fields)...)
		case batch.List:
			fields[0].Type = inside(fields[0].Type)
			return batch.ListOf(fields[0])
		case batch.Map:
			fields[0].Type, fields[1].Type = inside(fields[0].Type), inside(fields[1].Type)
			return batch.MapOf(fields[0], fields[1])
		}
		return t
	}
	return structFields(fields)
}
