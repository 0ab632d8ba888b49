package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/sqlext"
)

// evaluator evaluates the expressions in a table's metadata: planned by the engine as the SELECT of a stream is, over a source that has
// the columns which they read.
type evaluator struct{ c *Catalog }

var _ delta.Evaluator = evaluator{}

// Compile plans the expressions, which are Spark's SQL.
func (e evaluator) Compile(ctx context.Context, schema *batch.Schema, exprs []delta.Expression) (delta.Evaluation, error) {
	out := &evaluation{}
	sel := &ast.Select{}
	types := make([]batch.Type, len(exprs))
	for i, x := range exprs {
		types[i] = x.Type
		parsed, err := sqlext.SparkExpression(x.SQL)
		if err != nil {
			return nil, err
		}
		if err := out.read(parsed, schema, x.SQL); err != nil {
			return nil, err
		}
		sel.SelectExprs = append(sel.SelectExprs, &ast.AliasedExpr{Expr: parsed, As: ast.NewColIdent(x.SQL)})
	}
	input := &streamInput{schema: out.schema()}
	sel.From = ast.TableExprs{&ast.TableFuncExpr{Name: sqlext.SourceFunction, Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewIntVal([]byte("0"))}}}}
	out.ctx = e.c.background(context.WithValue(ctx, streamInputsKey{}, []*streamInput{input}), defaultDatabase, "")
	if statement, ok := ctx.(*sql.Context); ok {
		out.ctx.SetQueryTime(statement.QueryTime())
	}
	node, err := analyzeWith(out.ctx, e.c.plain, sel, "SELECT")
	if err != nil {
		return nil, fmt.Errorf("expressions of the table (%s): %w", texts(exprs), err)
	}
	out.computation, err = compile.Compute(out.ctx, node, types)
	return out, err
}

func texts(exprs []delta.Expression) string {
	all := make([]string, len(exprs))
	for i, x := range exprs {
		all[i] = x.SQL
	}
	return strings.Join(all, "; ")
}

// evaluation is compiled expressions over the columns that they read.
type evaluation struct {
	ctx         *sql.Context // of a session of its own
	columns     []readColumn
	computation *compile.Computation
}

// readColumn is a column that expressions read, or a field of one that is a struct.
type readColumn struct {
	field batch.Field
	path  []int // position in the table's schema, then in the structs
}

// read adds the columns that an expression reads.
func (e *evaluation) read(x ast.Expr, schema *batch.Schema, text string) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		c, ok := n.(*ast.ColName)
		if !ok {
			return true, nil
		}
		name := c.Name.String()
		for _, have := range e.columns {
			if strings.EqualFold(have.field.Name, name) {
				return true, nil
			}
		}
		field, path, ok := findField(schema.Fields, name)
		if !ok {
			return false, refuse(KindInvalid, "the expression %s reads the column %s, which the table does not have; its columns are (%s)", text, name, schema)
		}
		e.columns = append(e.columns, readColumn{field: field, path: path})
		return true, nil
	}, x)
}

// findField finds a column by its name, or the field of a struct by the way to it. What is in a struct is null where the struct is.
func findField(fields []batch.Field, name string) (batch.Field, []int, bool) {
	for i, f := range fields {
		if strings.EqualFold(f.Name, name) {
			return batch.Field{Name: name, Type: f.Type, Nullable: f.Nullable}, []int{i}, true
		}
		rest, inside := cutPrefixFold(name, f.Name+".")
		if !inside || f.Type.Kind != batch.Struct {
			continue
		}
		if inner, path, ok := findField(f.Type.Fields(), rest); ok {
			return batch.Field{Name: name, Type: inner.Type, Nullable: true}, append([]int{i}, path...), true
		}
	}
	return batch.Field{}, nil, false
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func (e *evaluation) schema() *batch.Schema {
	out := &batch.Schema{Fields: make([]batch.Field, len(e.columns))}
	for i, c := range e.columns {
		out.Fields[i] = c.field
	}
	return out
}

// Eval computes the expressions for the selected rows.
func (e *evaluation) Eval(ctx context.Context, b *batch.Batch) ([]*batch.Vector, error) {
	in := &batch.Batch{Schema: e.schema(), Len: b.Len, Sel: b.Sel, Cols: make([]*batch.Vector, len(e.columns))}
	for i, c := range e.columns {
		in.Cols[i] = vectorAt(b, c.path)
	}
	return e.computation.Eval(e.ctx.WithContext(ctx), in)
}

// vectorAt is a column, or the field of a struct, null where the struct is.
func vectorAt(b *batch.Batch, path []int) *batch.Vector {
	v := b.Cols[path[0]]
	for _, i := range path[1:] {
		v = under(v.Children[i], v)
	}
	return v
}

// under is the field of a struct, null where the struct is.
func under(field, of *batch.Vector) *batch.Vector {
	if of.Valid == nil {
		return field
	}
	out := *field
	out.Valid = slices.Clone(of.Valid)
	for i := range out.Valid {
		if field.Valid != nil {
			out.Valid[i] &= field.Valid[i]
		}
	}
	return &out
}
