package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"lakesql/batch"
)

// Forker is an operator that several goroutines can read at once.
type Forker interface {
	Operator
	// Fork returns at most n operators, and at least one, that hand out the batches of this one between them. It is called instead of Next; the
	// forks are closed instead of this one, each by its own user.
	Fork(n int) []Fork
}

// Fork is one reader of a Forker's batches.
type Fork interface {
	Operator
	// Morsel is the number of the part of the rows that the last batch is of. The numbers follow the order of the Forker's rows. Those of one fork
	// ascend, and no other fork has them.
	Morsel() int64
}

// forksOf forks an operator for all cores. One that is no Forker is its own fork.
func forksOf(op Operator) []Fork {
	if f, ok := op.(Forker); ok {
		return f.Fork(runtime.GOMAXPROCS(0))
	}
	return []Fork{whole{op}}
}

// whole is an operator as its one fork.
type whole struct{ Operator }

func (whole) Morsel() int64 { return 0 }

// over is an operator on top of a fork.
type over struct {
	Operator
	below Fork
}

func (o over) Morsel() int64 { return o.below.Morsel() }

// ForkOver puts an operator over each fork of child; one that is the only one stays itself.
func ForkOver(child Operator, n int, on func(Operator) Operator) []Fork {
	f, ok := child.(Forker)
	if !ok {
		return []Fork{whole{on(child)}}
	}
	forks := f.Fork(n)
	for i, below := range forks {
		forks[i] = over{Operator: on(below), below: below}
	}
	return forks
}

// worker takes in the batches of one fork. It belongs to one goroutine at a time.
type worker interface {
	add(ctx context.Context, b *batch.Batch, morsel int64) error
	// finish is called after the last batch.
	finish(ctx context.Context) error
}

// drainForks reads all forks to their ends, at once. Fork i is read by worker i. The first error ends them all; so does the end of ctx, at the latest with
// the next batch.
func drainForks[W worker](ctx context.Context, forks []Fork, workers []W) error {
	return InParallel(ctx, len(forks), func(ctx context.Context, i int) error { return drainFork(ctx, forks[i], workers[i]) })
}

// InParallel does n things, each on a goroutine of its own when there are several, and waits for all. The first error, which a panic is too, ends the
// context of all.
func InParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	one := func(ctx context.Context, i int) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic in a worker: %v", r)
			}
		}()
		return do(ctx, i)
	}
	if n == 1 {
		return one(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := one(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func drainFork(ctx context.Context, f Fork, w worker) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := f.Next(ctx)
		if errors.Is(err, io.EOF) {
			return w.finish(ctx)
		}
		if err != nil {
			return err
		}
		if err := w.add(ctx, b, f.Morsel()); err != nil {
			return err
		}
	}
}

func closeForks(forks []Fork) error {
	var errs []error
	for _, f := range forks {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
