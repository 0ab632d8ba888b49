package store

import (
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
)

// aheadBlocks is how many blocks of a sequence wait for whoever ranges over it.
const aheadBlocks = 4

// Ahead is a sequence that a goroutine of its own goes through, some blocks of so many values ahead of whoever ranges over it: for very many values that are work on both
// sides. It ends at the first error. The goroutine has ended when the range does, and its panic is one of the range.
func Ahead[T any](seq iter.Seq2[T, error], block int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		a := ahead[T]{blocks: make(chan []T, aheadBlocks), left: make(chan struct{})}
		var running sync.WaitGroup
		running.Go(func() { a.run(seq, block) })
		defer running.Wait()
		defer close(a.left)
		for values := range a.blocks {
			for _, v := range values {
				if !yield(v, nil) {
					return
				}
			}
		}
		if a.panicked != "" {
			panic(a.panicked)
		}
		if a.err != nil {
			var none T
			yield(none, a.err)
		}
	}
}

// ahead is one pass of Ahead.
type ahead[T any] struct {
	blocks chan []T
	left   chan struct{} // closed when nobody ranges any more

	// Set before blocks is closed.
	err      error
	panicked string
}

func (a *ahead[T]) run(seq iter.Seq2[T, error], block int) {
	defer close(a.blocks)
	defer func() {
		if p := recover(); p != nil {
			a.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	values := make([]T, 0, block)
	for v, err := range seq {
		if a.err = err; err != nil {
			break
		}
		if values = append(values, v); len(values) == block {
			if !a.give(values) {
				return
			}
			values = make([]T, 0, block)
		}
	}
	a.give(values)
}

// give reports whether somebody still ranges.
func (a *ahead[T]) give(values []T) bool {
	select {
	case a.blocks <- values:
		return true
	case <-a.left:
		return false
	}
}
