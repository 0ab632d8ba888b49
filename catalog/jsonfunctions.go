package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
)

// jsonFunctions take the place of GMS's functions of these names: GMS's copies of a document have NULL where a DECIMAL was, and its
// JSON_EXTRACT of several paths panics where one of them leads nowhere.
var jsonFunctions = map[string]sql.Function{
	"json_set":            editing("json_set", json.NewJSONSet),
	"json_insert":         editing("json_insert", json.NewJSONInsert),
	"json_replace":        editing("json_replace", json.NewJSONReplace),
	"json_remove":         editing("json_remove", json.NewJSONRemove),
	"json_array_append":   editing("json_array_append", json.NewJSONArrayAppend),
	"json_array_insert":   editing("json_array_insert", json.NewJSONArrayInsert),
	"json_merge":          merging("json_merge", preserveBoth),
	"json_merge_preserve": merging("json_merge_preserve", preserveBoth),
	"json_merge_patch":    merging("json_merge_patch", patch),
	"json_length":         scalarFunction("json_length", 1, 2, jsonLength),
	"json_extract": sql.FunctionN{Name: "json_extract", Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) < 3 {
			return json.NewJSONExtract(ctx, args...)
		}
		return &extractAll{jsonCall{"json_extract", args}}, nil
	}},
}

// castJSON words the error of CAST(text AS JSON) of what is none.
func castJSON(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if c, ok := e.(*expression.Convert); ok && types.IsJSON(c.Type(ctx)) {
		return jsonCast{c}, transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}

// jsonCast is CAST(e AS JSON).
type jsonCast struct{ *expression.Convert }

var (
	_ sql.Expression         = jsonCast{}
	_ sql.CollationCoercible = jsonCast{}
	_ compile.Wrapper        = jsonCast{}
)

// Unwrap returns GMS's.
func (c jsonCast) Unwrap() sql.Expression { return c.Convert }

// Eval is the document.
func (c jsonCast) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Convert.Eval(ctx, row)
	if !sql.ErrInvalidJson.Is(err) {
		return v, err
	}
	text, childErr := c.Child.Eval(ctx, row)
	if childErr == nil {
		text, childErr = sql.UnwrapAny(ctx, text)
	}
	if childErr != nil {
		return nil, childErr
	}
	if bytes, ok := text.([]byte); ok {
		text = string(bytes)
	}
	return nil, sql.ErrInvalidJSONText.New(1, "cast_as_json", text)
}

// WithChildren returns it over another expression.
func (c jsonCast) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.Convert.WithChildren(ctx, children...)
	if convert, ok := e.(*expression.Convert); ok && err == nil {
		return jsonCast{convert}, nil
	}
	return e, err
}

// jsonLength is GMS's function, whose value has not the type that it says.
func jsonLength(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
	body, err := evaluated(ctx, args, json.NewJsonLength)
	gms := body.eval
	body.eval = func(ctx *sql.Context, args []any) (any, error) {
		n, err := gms(ctx, args)
		if n == nil || err != nil {
			return nil, err
		}
		return asInteger(ctx, n)
	}
	return body, err
}

// editing is GMS's function on a document that keeps its decimals.
func editing(name string, build sql.CreateFuncNArgs) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) > 0 {
			args = slices.Clone(args)
			args[0] = exactDocument{args[0]}
		}
		return build(ctx, args...)
	}}
}

// exactDocument is a document with all the digits of its numbers.
type exactDocument struct{ sql.Expression }

// Eval is the document; a text that is none is left to the function, which words the error.
func (d exactDocument) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := d.Expression.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok {
		if doc, err := mysqltype.ParseDocument([]byte(text)); err == nil {
			return doc, nil
		}
	}
	return mysqltype.Exact(v), nil
}

// Children is the document's expression.
func (d exactDocument) Children() []sql.Expression { return []sql.Expression{d.Expression} }

// WithChildren is of another document.
func (d exactDocument) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(d, len(children), 1)
	}
	return exactDocument{children[0]}, nil
}

// jsonCall is what our JSON functions have in common.
type jsonCall struct {
	name string
	args []sql.Expression
}

func (c *jsonCall) Type(*sql.Context) sql.Type   { return types.JSON }
func (c *jsonCall) IsNullable(*sql.Context) bool { return true }
func (c *jsonCall) Children() []sql.Expression   { return c.args }
func (c *jsonCall) FunctionName() string         { return c.name }
func (c *jsonCall) Description() string          { return "as MySQL's, with exact numbers." }
func (c *jsonCall) Resolved() bool               { return !slices.ContainsFunc(c.args, unresolved) }
func unresolved(e sql.Expression) bool           { return !e.Resolved() }
func (c *jsonCall) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_utf8mb4_bin, 2
}

func (c *jsonCall) String() string {
	parts := make([]string, len(c.args))
	for i, a := range c.args {
		parts[i] = a.String()
	}
	return fmt.Sprintf("%s(%s)", c.name, strings.Join(parts, ","))
}

// document is an argument's document; nil for NULL.
func (c *jsonCall) document(ctx *sql.Context, row sql.Row, i int) (sql.JSONWrapper, error) {
	v, err := exactDocument{c.args[i]}.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if doc, ok := v.(sql.JSONWrapper); ok {
		return doc, nil
	}
	if text, ok := v.(string); ok {
		return nil, sql.ErrInvalidJSONText.New(i+1, c.name, text)
	}
	return nil, sql.ErrInvalidJSONArgument.New(i+1, c.name)
}

// extractAll is JSON_EXTRACT of several paths: an array of what they lead to, NULL when that is nothing.
type extractAll struct{ jsonCall }

// WithChildren is of other arguments.
func (e *extractAll) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return &extractAll{jsonCall{e.name, children}}, nil
}

// Eval looks up each path.
func (e *extractAll) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	doc, err := e.document(ctx, row, 0)
	if err != nil || doc == nil {
		return nil, err
	}
	found := []any{}
	for _, path := range e.args[1:] {
		p, err := path.Eval(ctx, row)
		if err != nil || p == nil {
			return nil, err
		}
		if p, _, err = types.LongText.Convert(ctx, p); err != nil {
			return nil, err
		}
		part, err := types.LookupJSONValue(ctx, doc, p.(string))
		if err != nil {
			return nil, err
		}
		if part == nil || part == types.SearchableJSON(nil) {
			continue
		}
		v, err := part.ToInterface(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return types.JSONDocument{Val: found}, nil
}

// merge is JSON_MERGE_PATCH or JSON_MERGE_PRESERVE: its arguments put together from the left to the right.
type merge struct {
	jsonCall
	two func(a, b any) any
}

func merging(name string, two func(a, b any) any) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) < 2 {
			return nil, sql.ErrInvalidArgumentNumber.New(name, "2 or more", len(args))
		}
		return &merge{jsonCall{name, args}, two}, nil
	}}
}

// WithChildren is of other arguments.
func (m *merge) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return &merge{jsonCall{m.name, children}, m.two}, nil
}

// Eval merges the arguments; it is NULL where one of them is.
func (m *merge) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	var merged any
	for i := range m.args {
		doc, err := m.document(ctx, row, i)
		if err != nil || doc == nil {
			return nil, err
		}
		v, err := doc.ToInterface(ctx)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			v = m.two(merged, v)
		}
		merged = v
	}
	return types.JSONDocument{Val: merged}, nil
}

// patch is RFC 7396: the fields of b replace those of a, a null takes one away, and what is no object replaces all.
func patch(a, b any) any {
	changes, ok := b.(map[string]any)
	if !ok {
		return b
	}
	old, _ := a.(map[string]any)
	out := maps.Clone(old)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range changes {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = patch(out[k], v)
		}
	}
	return out
}

// preserveBoth merges objects field by field, and puts everything else behind one another in an array.
func preserveBoth(a, b any) any {
	left, isLeft := a.(map[string]any)
	right, isRight := b.(map[string]any)
	if !isLeft || !isRight {
		return append(slices.Clone(asArray(a)), asArray(b)...)
	}
	out := maps.Clone(left)
	for k, v := range right {
		if old, both := out[k]; both {
			v = preserveBoth(old, v)
		}
		out[k] = v
	}
	return out
}

// asArray is an array itself, and an array of anything else.
func asArray(v any) []any {
	if array, ok := v.([]any); ok {
		return array
	}
	return []any{v}
}
