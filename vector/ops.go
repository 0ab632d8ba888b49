package vector

import (
	"context"
	"fmt"
	"io"
	"slices"

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
// copies nothing. Batches without a selected row are not handed on. Over a Scan it is that Scan, which then filters its rows itself.
func NewFilter(child Operator, predicate Expr) Operator {
	if s, ok := scanOf(child); ok {
		s.where(predicate)
		return child
	}
	if b, ok := child.(*before); ok && b.shared.Early {
		b.Operator = NewFilter(b.Operator, predicate)
		return b
	}
	return &filter{child: child, tests: conjuncts(predicate)}
}

// scanOf is the scan that an operator is, observed or not.
func scanOf(op Operator) (*Scan, bool) {
	if o, ok := op.(*observed); ok {
		return scanOf(o.Operator)
	}
	s, ok := op.(*Scan)
	return s, ok
}

// conjuncts are the predicates that must all be true.
func conjuncts(predicate Expr) []Expr {
	if and, ok := predicate.(*logic); ok && !and.stop {
		return and.args
	}
	return []Expr{predicate}
}

// Fork implements Forker.
func (f *filter) Fork(n int) []Fork {
	return ForkOver(f.child, n, func(child Operator) Operator { return &filter{child: child, tests: cloneAll(f.tests)} })
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
			f.sel = narrow(f.sel, &f.out, v)
		}
		if f.out.Rows() > 0 {
			return &f.out, nil
		}
	}
}

// narrow keeps the rows of b selected where v is true. The selection is put into sel's memory, which b's may lie in already.
func narrow(sel []int32, b *batch.Batch, v *batch.Vector) []int32 {
	sel = resize(sel, b.Len)
	k := 0
	switch { // the loops are free of branches: selectivity does not matter
	case v.Dict != nil:
		selected(b, func(i int) {
			if !v.IsNull(i) && boolAt(v, i) {
				sel[k] = int32(i)
				k++
			}
		})
	case b.Sel == nil && v.Valid == nil:
		for i, keep := range v.Bools[:b.Len] {
			sel[k] = int32(i)
			k += one(keep)
		}
	case b.Sel == nil:
		for i, keep := range v.Bools[:b.Len] {
			sel[k] = int32(i)
			k += one(keep) & int(v.Valid[i>>6]>>(uint(i)&63))
		}
	case v.Valid == nil:
		for _, i := range b.Sel {
			sel[k] = i
			k += one(v.Bools[i])
		}
	default:
		for _, i := range b.Sel {
			sel[k] = i
			k += one(v.Bools[i]) & int(v.Valid[i>>6]>>(uint(i)&63))
		}
	}
	b.Sel = sel[:k]
	return sel
}

// one is 1 for true.
func one(b bool) int {
	n := 0
	if b {
		n = 1
	}
	return n
}

// filterBy implements runtimeFiltered.
func (f *filter) filterBy(r *runtimeFilter, values []Expr) bool { return filterBy(f.child, r, values) }

func (f *filter) Close() error { return f.child.Close() }

// project computes columns.
type project struct {
	child  Operator
	exprs  []Expr
	unread []bool // by column: it is only passed on, and nobody above looks at it; nil: none is
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
	return ForkOver(p.child, n, func(child Operator) Operator {
		return &project{child: child, exprs: cloneAll(p.exprs), unread: p.unread, schema: p.schema}
	})
}

// keepColumns leaves out columns that are only passed on. What is computed is computed all the same: it may fail.
func (p *project) keepColumns(columns []int) {
	var kept []Expr
	p.unread = make([]bool, len(p.exprs))
	for i, e := range p.exprs {
		_, passedOn := e.(*column)
		if p.unread[i] = passedOn && !slices.Contains(columns, i); !p.unread[i] {
			kept = append(kept, e)
		}
	}
	keepColumns(p.child, columnsOf(kept...))
}

func (p *project) Schema() *batch.Schema { return p.schema }

func (p *project) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := p.child.Next(ctx)
	if err != nil {
		return nil, err
	}
	p.out = batch.Batch{Schema: p.schema, Cols: resize(p.out.Cols, len(p.exprs)), Len: b.Len, Sel: b.Sel}
	for i, e := range p.exprs {
		if p.unread != nil && p.unread[i] {
			p.out.Cols[i] = nil
			continue
		}
		if e.Type() != p.schema.Fields[i].Type {
			return nil, fmt.Errorf("project column %s: it is declared as %s and its expression is %s", p.schema.Fields[i].Name, p.schema.Fields[i].Type, e.Type())
		}
		if p.out.Cols[i], err = e.Eval(ctx, b); err != nil {
			return nil, err
		}
	}
	return &p.out, nil
}

// filterBy implements runtimeFiltered: for values that are columns of the child, or conversions of them.
func (p *project) filterBy(r *runtimeFilter, values []Expr) bool {
	below := make([]Expr, len(values))
	for i, v := range values {
		var ok bool
		if below[i], ok = substitute(v, p.exprs); !ok {
			return false
		}
	}
	return filterBy(p.child, r, below)
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
