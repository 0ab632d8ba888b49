package vector

import (
	"context"
	"sync/atomic"
	"time"

	"lakesql/batch"
)

// Observation counts what an operator does while it is executed. An operator that nobody observes pays nothing. Several goroutines may use it.
type Observation struct {
	scan   *Scan   // nil: it is none
	memory *Budget // a meter; nil: the operator holds nothing of a budget

	nanos, rows, batches atomic.Int64
	readers              atomic.Int64
}

// Observed is what an operator has done so far.
type Observed struct {
	Time    time.Duration // within the operator and those below it, that of all who read it together
	Rows    int64         // that it has handed out
	Batches int64
	Readers int64      // how many have read it at once
	Memory  int64      // bytes that it has held at most, as budgets count
	Spilled int64      // bytes that it has written to disk
	Scan    *ScanStats // of a Scan; else nil
}

// Observe returns the operator with an Observation of it. It is called before the operator is put below another one.
func Observe(op Operator) (Operator, *Observation) {
	o := &Observation{}
	o.scan, _ = scanOf(op)
	if s, ok := op.(spender); ok {
		o.meter(s.budgets())
	}
	o.readers.Store(1)
	return &observed{Operator: op, to: o}, o
}

// Seen tells what was counted so far.
func (o *Observation) Seen() Observed {
	out := Observed{
		Time: time.Duration(o.nanos.Load()), Rows: o.rows.Load(), Batches: o.batches.Load(), Readers: o.readers.Load(),
	}
	if o.memory != nil {
		out.Memory, out.Spilled = o.memory.peak.Load(), o.memory.Spilled()
	}
	if o.scan != nil {
		stats := o.scan.Stats()
		out.Scan = &stats
	}
	return out
}

// spender is an operator that holds memory of a budget.
type spender interface {
	// budgets are the places that the budget is in, before Next.
	budgets() []**Budget
}

// meter puts a budget that counts in between.
func (o *Observation) meter(places []**Budget) {
	of := *places[0]
	if of == nil {
		return
	}
	o.memory = &Budget{parent: of, limit: of.limit, space: of.space, meter: true}
	for _, place := range places {
		*place = o.memory
	}
}

// observed is an operator that is observed. To those above it it looks like the operator, whatever that can do.
type observed struct {
	Operator
	to *Observation
}

// Next implements Operator.
func (o *observed) Next(ctx context.Context) (*batch.Batch, error) {
	began := time.Now()
	b, err := o.Operator.Next(ctx)
	o.to.nanos.Add(int64(time.Since(began)))
	if err == nil {
		o.to.rows.Add(int64(b.Rows()))
		o.to.batches.Add(1)
	}
	return b, err
}

func (o *observed) keepColumns(columns []int) { keepColumns(o.Operator, columns) }

func (o *observed) filterBy(f *runtimeFilter, values []Expr) bool {
	return filterBy(o.Operator, f, values)
}

// Fork implements Forker.
func (o *observed) Fork(n int) []Fork {
	forks := []Fork{whole{o.Operator}}
	if f, ok := o.Operator.(Forker); ok {
		forks = f.Fork(n)
	}
	o.to.readers.Store(int64(len(forks)))
	for i, f := range forks {
		forks[i] = over{Operator: &observed{Operator: f, to: o.to}, below: f}
	}
	return forks
}
