package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lakesql/batch"
)

// The shapes of the protocol's schema serialization format.
type (
	structJSON struct {
		Type   string      `json:"type"`
		Fields []fieldJSON `json:"fields"`
	}
	fieldJSON struct {
		Name     string                     `json:"name"`
		Type     json.RawMessage            `json:"type"`
		Nullable bool                       `json:"nullable"`
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	arrayJSON struct {
		Type         string          `json:"type"`
		ElementType  json.RawMessage `json:"elementType"`
		ContainsNull bool            `json:"containsNull"`
	}
	mapJSON struct {
		Type              string          `json:"type"`
		KeyType           json.RawMessage `json:"keyType"`
		ValueType         json.RawMessage `json:"valueType"`
		ValueContainsNull bool            `json:"valueContainsNull"`
	}
)

// maxSchemaDepth bounds the nesting of types: each level is parsed by itself, and a damaged log must not cost minutes.
const maxSchemaDepth = 64

// ParseSchema reads a schema's JSON. For columns that hold types which are not built (intervals, geometries) it returns an
// *UnsupportedError that names each and its type.
func ParseSchema(schemaString string) (*batch.Schema, error) {
	p := &schemaParser{}
	fields, err := p.structFields(json.RawMessage(schemaString), "", 0)
	if err != nil {
		return nil, fmt.Errorf("%w: schemaString of metaData: %w", ErrCorrupt, err)
	}
	if p.refused != nil {
		return nil, &UnsupportedError{Op: "read", Features: p.refused, Detail: "columns of these types cannot be read"}
	}
	return &batch.Schema{Fields: fields}, nil
}

// schemaParser gathers the columns whose types are not built.
type schemaParser struct{ refused []string }

func (p *schemaParser) structFields(raw json.RawMessage, path string, depth int) ([]batch.Field, error) {
	var in structJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("not a schema: %w", err)
	}
	if in.Type != "struct" {
		return nil, fmt.Errorf("type %q where \"struct\" is expected", in.Type)
	}
	out := make([]batch.Field, 0, len(in.Fields))
	for _, f := range in.Fields {
		t, err := p.parseType(f.Type, joinPath(path, f.Name), depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, batch.Field{Name: f.Name, Type: t, Nullable: f.Nullable, Metadata: rawMetadata(f.Metadata)})
	}
	return out, nil
}

// joinPath is the name of a nested field in messages.
func joinPath(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

func rawMetadata(in map[string]json.RawMessage) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[k] = string(v)
	}
	return out
}

// parseType reads a type at any depth. One that is not built is noted, and reads as void.
func (p *schemaParser) parseType(raw json.RawMessage, path string, depth int) (batch.Type, error) {
	if depth > maxSchemaDepth {
		return batch.Type{}, fmt.Errorf("column %s: types are nested more than %d deep", path, maxSchemaDepth)
	}
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return p.parseFlat(name, path), nil
	}
	var nested struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &nested); err != nil {
		return batch.Type{}, fmt.Errorf("column %s: no type in %.100s", path, raw)
	}
	switch nested.Type {
	case "struct":
		fields, err := p.structFields(raw, path, depth)
		return batch.StructOf(fields...), err
	case "array":
		var in arrayJSON
		if err := json.Unmarshal(raw, &in); err != nil {
			return batch.Type{}, fmt.Errorf("column %s: %w", path, err)
		}
		element, err := p.parseType(in.ElementType, path+".element", depth+1)
		return batch.ListOf(batch.Field{Type: element, Nullable: in.ContainsNull}), err
	case "map":
		var in mapJSON
		if err := json.Unmarshal(raw, &in); err != nil {
			return batch.Type{}, fmt.Errorf("column %s: %w", path, err)
		}
		key, err := p.parseType(in.KeyType, path+".key", depth+1)
		if err != nil {
			return batch.Type{}, err
		}
		value, err := p.parseType(in.ValueType, path+".value", depth+1)
		return batch.MapOf(batch.Field{Type: key}, batch.Field{Type: value, Nullable: in.ValueContainsNull}), err
	case "":
		return batch.Type{}, fmt.Errorf("column %s: no type in %.100s", path, raw)
	}
	return p.refuse(path, nested.Type), nil
}

func (p *schemaParser) parseFlat(name, path string) batch.Type {
	switch {
	case name == "null": // an older name of void
		return batch.Type{Kind: batch.Void}
	case name == "decimal": // Spark's short form of its default decimal
		return batch.DecimalOf(10, 0)
	case strings.HasPrefix(name, "string collate "): // the collation is a matter of comparisons
		return batch.Type{Kind: batch.String}
	}
	t, err := batch.ParseType(name)
	if err != nil || t.Fields() != nil && t.Kind != batch.Variant {
		return p.refuse(path, name)
	}
	return t
}

func (p *schemaParser) refuse(path, name string) batch.Type {
	p.refused = append(p.refused, fmt.Sprintf("column %s: %s", path, name))
	return batch.Type{Kind: batch.Void}
}

// FormatSchema writes a schema's JSON in Spark's order of keys.
func FormatSchema(schema *batch.Schema) string { return string(mustJSON(structOf(schema.Fields))) }

func structOf(fields []batch.Field) structJSON {
	out := structJSON{Type: "struct", Fields: make([]fieldJSON, len(fields))}
	for i, f := range fields {
		meta := make(map[string]json.RawMessage, len(f.Metadata))
		for k, v := range f.Metadata {
			meta[k] = json.RawMessage(v)
		}
		out.Fields[i] = fieldJSON{Name: f.Name, Type: formatType(f.Type), Nullable: f.Nullable, Metadata: meta}
	}
	return out
}

func formatType(t batch.Type) json.RawMessage {
	switch fields := t.Fields(); t.Kind {
	case batch.Struct:
		return mustJSON(structOf(fields))
	case batch.List:
		return mustJSON(arrayJSON{Type: "array", ElementType: formatType(fields[0].Type), ContainsNull: fields[0].Nullable})
	case batch.Map:
		return mustJSON(mapJSON{Type: "map", KeyType: formatType(fields[0].Type), ValueType: formatType(fields[1].Type), ValueContainsNull: fields[1].Nullable})
	}
	return appendJSONString(nil, t.String())
}

// mustJSON writes a value without HTML escapes and without the final newline. Its arguments are this package's own
// structs, which always marshal.
func mustJSON(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("delta: cannot marshal %T: %v", v, err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// appendJSONString appends s as a JSON string.
func appendJSONString(dst []byte, s string) []byte { return append(dst, mustJSON(s)...) }

// checkNewSchema refuses schemas that no engine could read back.
func checkNewSchema(schema *batch.Schema, meta *Metadata) error {
	if len(schema.Fields) == 0 {
		return errors.New("a table needs at least one column")
	}
	c := schemaCheck{anyName: meta.Mapping() != ""}
	if err := c.fields("", schema.Fields); err != nil {
		return err
	}
	return checkPartitioning(schema, meta.PartitionColumns)
}

// schemaCheck goes through the fields at every level.
type schemaCheck struct{ anyName bool } // column mapping is on, so that names are not those in the files

func (c schemaCheck) fields(parent string, fields []batch.Field) error {
	seen := make(map[string]string, len(fields))
	for _, f := range fields {
		path := joinPath(parent, f.Name)
		if f.Name == "" || !c.anyName && strings.ContainsAny(f.Name, " ,;{}()\n\t=") {
			return fmt.Errorf("[DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES] column name %q has one of the characters ' ,;{}()\\n\\t='; rename it, for example with AS, "+
				"or set the table property delta.columnMapping.mode to name", path)
		}
		if other, ok := seen[strings.ToLower(f.Name)]; ok {
			return fmt.Errorf("[DELTA_DUPLICATE_COLUMNS_FOUND] columns %q and %q differ only by case; rename one of them", joinPath(parent, other), path)
		}
		seen[strings.ToLower(f.Name)] = f.Name
		for k, v := range f.Metadata {
			if !json.Valid([]byte(v)) {
				return fmt.Errorf("metadata %s of column %s is not JSON: %.100s", k, path, v)
			}
		}
		if err := c.inside(path, f.Type); err != nil {
			return err
		}
	}
	return nil
}

func (c schemaCheck) inside(path string, t batch.Type) error {
	switch t.Kind {
	case batch.Struct:
		if len(t.Fields()) == 0 {
			return fmt.Errorf("column %s is a struct without fields, which Parquet cannot store", path)
		}
		return c.fields(path, t.Fields())
	case batch.List, batch.Map:
		for _, f := range t.Fields() {
			if err := c.inside(path+"."+f.Name, f.Type); err != nil {
				return err
			}
		}
	case batch.Invalid:
		return fmt.Errorf("column %s has no type", path)
	}
	return nil
}

func checkPartitioning(schema *batch.Schema, partitionBy []string) error {
	for i, p := range partitionBy {
		at := slices.Index(schema.Names(), p)
		if at < 0 {
			return fmt.Errorf("partition column %q is not a column of the table; columns are %s", p, strings.Join(schema.Names(), ", "))
		}
		if t := schema.Fields[at].Type; t.Fields() != nil || t.Kind == batch.Void {
			return fmt.Errorf("[INVALID_PARTITION_COLUMN_DATA_TYPE] a table cannot be partitioned by column %s, which is %s", p, t)
		}
		if slices.Contains(partitionBy[:i], p) {
			return fmt.Errorf("partition column %q is named twice", p)
		}
	}
	if len(partitionBy) == len(schema.Fields) {
		return errors.New("[DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION] a table cannot be partitioned by all of its columns")
	}
	return nil
}

// sortedKeys is for deterministic output.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
