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

// schemaJSON and fieldJSON are the shapes of the protocol's schema serialization format.
type schemaJSON struct {
	Type   string      `json:"type"`
	Fields []fieldJSON `json:"fields"`
}

type fieldJSON struct {
	Name     string                     `json:"name"`
	Type     json.RawMessage            `json:"type"`
	Nullable bool                       `json:"nullable"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// ParseSchema reads a schema's JSON. For columns of types that are not built (nested ones, variant, void, intervals) it
// returns an *UnsupportedError that names each column and its type.
func ParseSchema(schemaString string) (*batch.Schema, error) {
	var in schemaJSON
	if err := json.Unmarshal([]byte(schemaString), &in); err != nil {
		return nil, fmt.Errorf("%w: schemaString of metaData is not a schema: %w", ErrCorrupt, err)
	}
	if in.Type != "struct" {
		return nil, fmt.Errorf("%w: schemaString of metaData has type %q, not \"struct\"", ErrCorrupt, in.Type)
	}
	out := &batch.Schema{Fields: make([]batch.Field, 0, len(in.Fields))}
	var refused []string
	for _, f := range in.Fields {
		t, err := parseType(f.Type)
		var unsupported unsupportedType
		switch {
		case errors.As(err, &unsupported):
			refused = append(refused, fmt.Sprintf("column %s: %s", f.Name, string(unsupported)))
			continue
		case err != nil:
			return nil, fmt.Errorf("%w: column %q of schemaString: %w", ErrCorrupt, f.Name, err)
		}
		out.Fields = append(out.Fields, batch.Field{Name: f.Name, Type: t, Nullable: f.Nullable, Metadata: rawMetadata(f.Metadata)})
	}
	if refused != nil {
		return nil, &UnsupportedError{Op: "read", Features: refused, Detail: "columns of these types cannot be read yet"}
	}
	return out, nil
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

// unsupportedType is a type of the protocol that has no batch.Type.
type unsupportedType string

func (t unsupportedType) Error() string { return "type " + string(t) + " is not supported yet" }

func parseType(raw json.RawMessage) (batch.Type, error) {
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		var nested struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(raw, &nested); err != nil || nested.Type == "" {
			return batch.Type{}, fmt.Errorf("no type in %.100s", raw)
		}
		return batch.Type{}, unsupportedType(nested.Type)
	}
	switch {
	case name == "void" || name == "null" || name == "variant" || strings.HasPrefix(name, "interval"):
		return batch.Type{}, unsupportedType(name)
	case name == "decimal": // Spark's short form of its default decimal
		return batch.DecimalOf(10, 0), nil
	}
	t, err := batch.ParseType(name)
	if err != nil {
		return batch.Type{}, unsupportedType(name)
	}
	return t, nil
}

// FormatSchema writes a schema's JSON in Spark's order of keys.
func FormatSchema(schema *batch.Schema) string {
	out := schemaJSON{Type: "struct", Fields: make([]fieldJSON, len(schema.Fields))}
	for i, f := range schema.Fields {
		meta := make(map[string]json.RawMessage, len(f.Metadata))
		for k, v := range f.Metadata {
			meta[k] = json.RawMessage(v)
		}
		out.Fields[i] = fieldJSON{Name: f.Name, Type: appendJSONString(nil, f.Type.String()), Nullable: f.Nullable, Metadata: meta}
	}
	return string(mustJSON(out))
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
func checkNewSchema(schema *batch.Schema, partitionBy []string) error {
	if len(schema.Fields) == 0 {
		return errors.New("a table needs at least one column")
	}
	seen := make(map[string]string, len(schema.Fields))
	for _, f := range schema.Fields {
		if strings.ContainsAny(f.Name, " ,;{}()\n\t=") || f.Name == "" {
			return fmt.Errorf("[DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES] column name %q has one of the characters ' ,;{}()\\n\\t='; rename it, for example with AS", f.Name)
		}
		if other, ok := seen[strings.ToLower(f.Name)]; ok {
			return fmt.Errorf("[DELTA_DUPLICATE_COLUMNS_FOUND] columns %q and %q differ only by case; rename one of them", other, f.Name)
		}
		seen[strings.ToLower(f.Name)] = f.Name
		for k, v := range f.Metadata {
			if !json.Valid([]byte(v)) {
				return fmt.Errorf("metadata %s of column %s is not JSON: %.100s", k, f.Name, v)
			}
		}
	}
	for i, p := range partitionBy {
		if !slices.Contains(schema.Names(), p) {
			return fmt.Errorf("partition column %q is not a column of the table; columns are %s", p, strings.Join(schema.Names(), ", "))
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
