package vector

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"lakesql/batch"
)

// Preparation is what is done once before expressions are evaluated over the rows of an operator: it sets their parameters. It belongs to one operator and
// its forks.
type Preparation struct {
	// Early: before anything is read, so that a scan can leave out files by what is set; else when there is a first row, and never when there is none.
	Early bool
	Run   func(ctx context.Context) error
	Close func() error // also when Run was not called
}

// before is an operator whose rows come after a preparation.
type before struct {
	Operator
	below  Fork // nil: it is not a fork
	shared *prepared
	closed bool
}

// prepared is a preparation that forks share.
type prepared struct {
	Preparation
	once  sync.Once
	err   error
	users atomic.Int32 // that are not closed
}

func (p *prepared) run(ctx context.Context) error {
	p.once.Do(func() {
		p.err = errors.New("a preparation ended by a panic")
		p.err = p.Run(ctx)
	})
	return p.err
}

// NewBefore returns an operator with the rows of child that makes the preparation before it hands them out.
func NewBefore(child Operator, p Preparation) Operator {
	out := &before{Operator: child, shared: &prepared{Preparation: p}}
	out.shared.users.Store(1)
	return out
}

// Fork implements Forker.
func (o *before) Fork(n int) []Fork {
	f, ok := o.Operator.(Forker)
	if !ok {
		return []Fork{whole{o}}
	}
	forks := f.Fork(n)
	o.shared.users.Store(int32(len(forks)))
	for i, below := range forks {
		forks[i] = &before{Operator: below, below: below, shared: o.shared}
	}
	return forks
}

// Morsel implements Fork.
func (o *before) Morsel() int64 { return o.below.Morsel() }

func (o *before) keepColumns(columns []int) { keepColumns(o.Operator, columns) }

// filterBy implements runtimeFiltered.
func (o *before) filterBy(f *runtimeFilter, values []Expr) bool {
	return filterBy(o.Operator, f, values)
}

// Next implements Operator.
func (o *before) Next(ctx context.Context) (*batch.Batch, error) {
	if o.shared.Early {
		if err := o.shared.run(ctx); err != nil {
			return nil, err
		}
	}
	b, err := o.Operator.Next(ctx)
	if err != nil || b.Rows() == 0 {
		return b, err
	}
	return b, o.shared.run(ctx)
}

// Close implements Operator.
func (o *before) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	err := o.Operator.Close()
	if o.shared.users.Add(-1) == 0 {
		err = errors.Join(err, o.shared.Close())
	}
	return err
}
