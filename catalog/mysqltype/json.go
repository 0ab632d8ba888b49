package mysqltype

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Document is a JSON value as a row has it: its text, which goes to the client as it is, and which is taken apart when a function asks for it. A
// number in it is exact, where GMS's own documents take every number for a double.
type Document struct {
	text  []byte
	parse sync.Once
	value any
	err   error

	// The parts of a variant, whose dates and binaries are more than their JSON; nil for any other document.
	metadata, variant []byte
}

var (
	_ sql.JSONWrapper = (*Document)(nil)
	_ types.JSONBytes = (*Document)(nil)
)

// NewDocument is the document of a JSON text, which is not checked and belongs to the document from now on.
func NewDocument(text []byte) *Document { return &Document{text: text} }

// ParseDocument is the document of a JSON text as MySQL takes it into a JSON column: another text is an error.
func ParseDocument(text []byte) (*Document, error) {
	if !json.Valid(text) {
		var v any
		return nil, sql.ErrInvalidJson.New(json.Unmarshal(text, &v).Error())
	}
	return NewDocument(bytes.TrimSpace(text)), nil
}

// GetBytes returns the text. The caller does not change it.
func (d *Document) GetBytes(context.Context) ([]byte, error) { return d.text, nil }

// String returns the text.
func (d *Document) String() string { return string(d.text) }

// Clone returns a document that shares nothing that a change could reach.
func (d *Document) Clone(context.Context) sql.JSONWrapper { return NewDocument(d.text) }

// ToInterface returns the value as maps, slices, strings, booleans, nil, int64, uint64, float64, and *apd.Decimal for a number that none of
// them holds.
func (d *Document) ToInterface(context.Context) (any, error) {
	d.parse.Do(func() {
		dec := json.NewDecoder(bytes.NewReader(d.text))
		dec.UseNumber()
		if d.err = dec.Decode(&d.value); d.err != nil {
			d.err = sql.ErrInvalidJson.New(d.err.Error())
			return
		}
		d.value = exactNumbers(d.value)
	})
	return d.value, d.err
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

// exactDigits is how many decimal digits every double keeps.
const exactDigits = 15

// exactNumber is a double where that keeps all digits, because GMS's JSON functions know doubles best.
func exactNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
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
	return x
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
