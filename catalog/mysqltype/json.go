package mysqltype

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Document is a JSON value as a row has it: its text, which goes to the client as it is, and in which a path is found without taking the rest
// apart. A number in it is exact, where GMS's own documents take every number for a double.
type Document struct {
	text []byte

	// The parts of a variant, whose dates and binaries are more than their JSON; nil for any other document.
	metadata, variant []byte
}

var (
	_ sql.JSONWrapper      = (*Document)(nil)
	_ types.JSONBytes      = (*Document)(nil)
	_ types.SearchableJSON = (*Document)(nil)
)

// NewDocument is the document of a JSON text, which is not checked and belongs to the document from now on.
func NewDocument(text []byte) *Document { return &Document{text: text} }

// ParseDocument is the document of a JSON text as MySQL takes it into a JSON column: another text is an error.
func ParseDocument(text []byte) (*Document, error) {
	if !json.Valid(text) {
		return nil, sql.ErrInvalidJson.New(JSONFault(string(text)))
	}
	return NewDocument(bytes.TrimSpace(text)), nil
}

// ToJSON is a value as a JSON column takes it: a text is read as a document, exactly; anything else is converted as GMS does.
func ToJSON(ctx context.Context, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return ParseDocument([]byte(v))
	case []byte:
		return ParseDocument(v)
	}
	converted, _, err := types.JSON.Convert(ctx, v)
	return converted, err
}

// GetBytes returns the text. The caller does not change it.
func (d *Document) GetBytes(context.Context) ([]byte, error) { return d.text, nil }

// String returns the text.
func (d *Document) String() string { return string(d.text) }

// Lookup returns what lies at a path of MySQL's, nil for nothing.
func (d *Document) Lookup(ctx context.Context, path string) (sql.JSONWrapper, error) {
	if part, found, ok := lookup(d.text, path); ok {
		if !found {
			return nil, nil
		}
		return NewDocument(part), nil
	}
	v, err := d.ToInterface(ctx)
	if err != nil {
		return nil, err
	}
	return types.JSONDocument{Val: v}.Lookup(ctx, path)
}

// Clone returns a document whose value can be changed.
func (d *Document) Clone(ctx context.Context) sql.JSONWrapper {
	v, err := d.ToInterface(ctx)
	if err != nil {
		return NewDocument(d.text) // whose ToInterface has the error
	}
	return edited{types.JSONDocument{Val: v}}
}

// ToInterface returns the value as maps, slices, strings, booleans, nil, float64, and int64, uint64 or *apd.Decimal for a number that a double
// does not hold exactly. It is a new one each time: GMS's functions change what they are given.
func (d *Document) ToInterface(context.Context) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(d.text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, sql.ErrInvalidJson.New(err.Error())
	}
	return exactNumbers(v), nil
}

// exactNumbers replaces each json.Number, in place.
func exactNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return exactNumber(string(v))
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exactNumbers(v[k])
		}
	}
	return v
}

const (
	exactDigits  = 15      // how many decimal digits every double keeps
	exactInteger = 1 << 53 // up to which every integer is a double
)

// exactNumber is a double where that keeps all digits, because GMS's JSON functions know doubles best.
func exactNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if -exactInteger <= n && n <= exactInteger {
			return float64(n)
		}
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	x, err := strconv.ParseFloat(text, 64)
	digits := len(strings.TrimLeft(strings.Replace(text, ".", "", 1), "-0"))
	if err == nil && (digits <= exactDigits || strings.ContainsAny(text, "eE")) {
		return x
	}
	if d, _, err := apd.NewFromString(text); err == nil {
		return d
	}
	return json.Number(text) // beyond all of them: what looks into it says so
}

// Exact returns a document of GMS's as one that keeps its decimals when it is copied, and any other value as it is.
func Exact(v any) any {
	if doc, ok := v.(types.JSONDocument); ok {
		return edited{doc}
	}
	return v
}

// edited is a document that JSON_SET and its like have changed or are about to.
type edited struct{ types.JSONDocument }

var _ types.MutableJSON = edited{}

// Clone copies everything that an edit could reach.
func (d edited) Clone(context.Context) sql.JSONWrapper {
	return edited{types.JSONDocument{Val: copied(d.Val)}}
}

// copied is a deep copy of a document's value.
func copied(v any) any {
	switch v := v.(type) {
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = copied(v[i])
		}
		return v
	case map[string]any:
		v = maps.Clone(v)
		for k := range v {
			v[k] = copied(v[k])
		}
		return v
	}
	return v
}

// keep makes the result of an edit one that keeps its decimals.
func keep(doc types.MutableJSON, changed bool, err error) (types.MutableJSON, bool, error) {
	if plain, ok := doc.(types.JSONDocument); ok {
		doc = edited{plain}
	}
	return doc, changed, err
}

func (d edited) Insert(ctx context.Context, path string, v sql.JSONWrapper) (types.MutableJSON, bool, error) {
	return keep(d.JSONDocument.Insert(ctx, path, v))
}

func (d edited) Remove(ctx context.Context, path string) (types.MutableJSON, bool, error) {
	return keep(d.JSONDocument.Remove(ctx, path))
}

func (d edited) Set(ctx context.Context, path string, v sql.JSONWrapper) (types.MutableJSON, bool, error) {
	return keep(d.JSONDocument.Set(ctx, path, v))
}

func (d edited) Replace(ctx context.Context, path string, v sql.JSONWrapper) (types.MutableJSON, bool, error) {
	return keep(d.JSONDocument.Replace(ctx, path, v))
}

func (d edited) ArrayInsert(ctx context.Context, path string, v sql.JSONWrapper) (types.MutableJSON, bool, error) {
	return keep(d.JSONDocument.ArrayInsert(ctx, path, v))
}

func (d edited) ArrayAppend(ctx context.Context, path string, v sql.JSONWrapper) (types.MutableJSON, bool, error) {
	return keep(d.JSONDocument.ArrayAppend(ctx, path, v))
}

// jsonText is the JSON text of a value that MySQL takes for a JSON column: a document, a text that is JSON, or another scalar.
func jsonText(ctx *sql.Context, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	case types.JSONBytes:
		return v.GetBytes(ctx)
	}
	converted, _, err := types.JSON.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	return types.JsonToMySqlBytes(ctx, converted.(sql.JSONWrapper))
}
