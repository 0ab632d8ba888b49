package vector

import (
	"context"
	"fmt"
	"io"

	"lakesql/batch"
)

// filter narrows the selection of its child's batches.
type filter struct {
	child Operator
	tests []Expr // all must be true
	sel   []int32
	out   batch.Batch
}

// NewFilter returns an operator that keeps the rows of child for which predicate is true. It narrows the selection and
// copies nothing. Batches without a selected row are not handed on.
func NewFilter(child Operator, predicate Expr) Operator {
	f := &filter{child: child, tests: []Expr{predicate}}
	if and, ok := predicate.(*logic); ok && !and.stop {
		f.tests = and.args
	}
	return f
}

// Fork implements Forker.
func (f *filter) Fork(n int) []Fork {
	return forkOver(f.child, n, func(child Operator) Operator { return &filter{child: child, tests: cloneAll(f.tests)} })
}

func (f *filter) keepColumns(columns []int) {
	keepColumns(f.child, append(columnsOf(f.tests...), columns...))
}

func (f *filter) Schema() *batch.Schema { return f.child.Schema() }

func (f *filter) Next(ctx context.Context) (*batch.Batch, error) {
	for {
		b, err := f.child.Next(ctx)
		if err != nil {
			return nil, err
		}
		f.out = *b
		for _, test := range f.tests {
			if f.out.Rows() == 0 {
				break
			}
			v, err := test.Eval(ctx, &f.out)
			if err != nil {
				return nil, err
			}
			f.narrow(v)
		}
		if f.out.Rows() > 0 {
			return &f.out, nil
		}
	}
}

// narrow keeps the rows where v is true. It works in place once the selection is the filter's own.
func (f *filter) narrow(v *batch.Vector) {
	f.sel = resize(f.sel, f.out.Len)
	k := 0
	switch {
	case f.out.Sel == nil && v.Valid == nil && v.Dict == nil:
		for i, keep := range v.Bools[:f.out.Len] {
			f.sel[k] = int32(i)
			one := 0 // free of branches: selectivity does not matter
			if keep {
				one = 1
			}
			k += one
		}
	default:
		selected(&f.out, func(i int) {
			if !v.IsNull(i) && boolAt(v, i) {
				f.sel[k] = int32(i)
				k++
			}
		})
	}
	f.out.Sel = f.sel[:k]
}

func (f *filter) Close() error { return f.child.Close() }

// project computes columns.
type project struct {
	child  Operator
	exprs  []Expr
	schema *batch.Schema
	out    batch.Batch
}

// NewProject returns an operator with one column an expression. fields name the columns; their types must be the expressions'.
func NewProject(child Operator, exprs []Expr, fields []batch.Field) Operator {
	keepColumns(child, columnsOf(exprs...))
	return &project{child: child, exprs: exprs, schema: batch.NewSchema(fields...)}
}

// Fork implements Forker.
func (p *project) Fork(n int) []Fork {
	return forkOver(p.child, n, func(child Operator) Operator {
		return &project{child: child, exprs: cloneAll(p.exprs), schema: p.schema}
	})
}

func (p *project) Schema() *batch.Schema { return p.schema }

func (p *project) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := p.child.Next(ctx)
	if err != nil {
		return nil, err
	}
	p.out = batch.Batch{Schema: p.schema, Cols: resize(p.out.Cols, len(p.exprs)), Len: b.Len, Sel: b.Sel}
	for i, e := range p.exprs {
		if e.Type() != p.schema.Fields[i].Type {
			return nil, fmt.Errorf("project column %s: it is declared as %s and its expression is %s", p.schema.Fields[i].Name, p.schema.Fields[i].Type, e.Type())
		}
		if p.out.Cols[i], err = e.Eval(ctx, b); err != nil {
			return nil, err
		}
	}
	return &p.out, nil
}

func (p *project) Close() error { return p.child.Close() }

// memory hands out batches that it has.
type memory struct {
	schema  *batch.Schema
	batches []*batch.Batch
}

// NewBatches returns an operator over batches in memory.
func NewBatches(schema *batch.Schema, batches ...*batch.Batch) Operator {
	return &memory{schema: schema, batches: batches}
}

func (o *memory) Schema() *batch.Schema { return o.schema }

func (o *memory) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(o.batches) == 0 {
		return nil, io.EOF
	}
	b := o.batches[0]
	o.batches = o.batches[1:]
	return b, nil
}

func (o *memory) Close() error {
	o.batches = nil
	return nil
}
