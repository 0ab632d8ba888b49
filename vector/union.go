package vector

import (
	"context"
	"errors"
	"io"
	"slices"

	"lakesql/batch"
)

// union hands out the rows of several operators, one after the other.
type union struct {
	schema   *batch.Schema
	children []Operator
	at       int // the child that is read
	out      batch.Batch
}

// NewUnion returns an operator with the rows of all children, in order: UNION ALL. schema names the columns, which have the same types in every child.
func NewUnion(schema *batch.Schema, children ...Operator) Operator {
	return &union{schema: schema, children: children}
}

func (u *union) Schema() *batch.Schema { return u.schema }

func (u *union) keepColumns(columns []int) {
	for _, c := range u.children {
		keepColumns(c, slices.Clip(columns))
	}
}

// filterBy implements runtimeFiltered.
func (u *union) filterBy(f *runtimeFilter, values []Expr) bool {
	taken := false
	for _, c := range u.children {
		taken = filterBy(c, f, cloneAll(values)) || taken
	}
	return taken
}

func (u *union) Next(ctx context.Context) (*batch.Batch, error) {
	for u.at < len(u.children) {
		b, err := u.children[u.at].Next(ctx)
		if errors.Is(err, io.EOF) {
			u.at++
			continue
		}
		if err != nil {
			return nil, err
		}
		u.out = *b
		u.out.Schema = u.schema
		return &u.out, nil
	}
	return nil, io.EOF
}

// Close implements Operator.
func (u *union) Close() error {
	var errs []error
	for _, c := range u.children {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// unionMorsels is how many morsels are counted for each child. Where one has more, or is a union itself, its rows and those of the next one may come in
// another order.
const unionMorsels = 1 << 16

// Fork implements Forker: each fork has some of the forks of every child. A child that is no Forker is read by one of them.
func (u *union) Fork(n int) []Fork {
	forks := make([]*unionFork, n)
	for i := range forks {
		forks[i] = &unionFork{union: union{schema: u.schema}}
	}
	used := 0
	for c, child := range u.children {
		below := []Fork{whole{child}}
		if f, ok := child.(Forker); ok {
			below = f.Fork(n)
		}
		for i, b := range below {
			at := i % n
			if len(below) == 1 {
				at = c % n
			}
			f := forks[at]
			f.children, f.below, f.first = append(f.children, b), append(f.below, b), append(f.first, int64(c)*unionMorsels)
			used = max(used, at+1)
		}
	}
	out := make([]Fork, 0, used)
	for _, f := range forks[:max(1, used)] {
		out = append(out, f)
	}
	return out
}

// unionFork is a fork of a union.
type unionFork struct {
	union
	below  []Fork
	first  []int64 // the number of each one's first morsel
	morsel int64
}

// Morsel implements Fork.
func (f *unionFork) Morsel() int64 { return f.morsel }

func (f *unionFork) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := f.union.Next(ctx)
	if err == nil {
		f.morsel = f.first[f.at] + f.below[f.at].Morsel()
	}
	return b, err
}
