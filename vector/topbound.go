package vector

import (
	"math"
	"sync"

	"lakesql/batch"
)

// topBound is the first key of the last row that a sort with a limit still takes, as far as its workers know. Scans leave out what is behind it.
type topBound struct {
	descending bool
	filter     runtimeFilter

	mu    sync.Mutex
	value *batch.Vector // one row; nil: none yet
}

// offer takes the first key's value of the last among the first limit rows of a worker: no row behind it is among the first ones of all workers.
func (b *topBound) offer(v *batch.Vector, row int, key Expr) {
	if v.IsNull(row) {
		return // all rows that are still to come may be needed, or hardly any: it saves little
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.value != nil {
		if o := batch.Compare(v, row, b.value, 0); o == 0 || (o > 0) != b.descending {
			return
		}
	}
	value := v.Gather([]int32{int32(row)}).Decode()
	if f, ok := floatAt(value); ok && math.IsNaN(f) {
		return
	}
	b.value = value
	before := func(values []Expr) (Expr, error) {
		if b.descending { // nulls come last
			return between(values[0], value, nil)
		}
		test, err := between(values[0], nil, value)
		if err != nil {
			return nil, err
		}
		return NewOr(NewIsNull(values[0].Clone()), test)
	}
	if _, err := before([]Expr{key}); err != nil {
		return // not every type that has an order can be compared with a constant
	}
	b.filter.publish(before)
}
