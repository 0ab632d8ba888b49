package vector

import (
	"fmt"
	"sync/atomic"
)

// Budget bounds the memory that the operators of one query hold between batches, or, as the parent of such budgets, those of all queries.
// Several goroutines may use it; nil bounds nothing.
type Budget struct {
	parent  *Budget // nil: none
	limit   int64
	used    atomic.Int64
	space   *SpillSpace // nil: nothing is spilled
	spilled atomic.Int64

	parted atomic.Bool // a join was cut into parts

	meter bool         // bounds nothing, but counts what one operator holds
	peak  atomic.Int64 // of a meter: the most that was used
}

// NewBudget returns a budget of limit bytes, beyond which operators spill to space. Where that is nil they fail with a *MemoryError, as they do when
// what cannot be spilled is too much.
func NewBudget(limit int64, space *SpillSpace) *Budget { return &Budget{limit: limit, space: space} }

// Child returns the budget of limit bytes of one query. What it holds counts for b, too.
func (b *Budget) Child(limit int64) *Budget {
	return &Budget{parent: b, limit: limit, space: b.space}
}

// Spilled is how many bytes were written to disk so far.
func (b *Budget) Spilled() int64 { return b.spilled.Load() }

// MemoryError says that an operator would hold more than its query, or all queries together, may.
type MemoryError struct {
	What  string // the operator
	Limit int64  // bytes
	All   bool   // the limit is that of all queries
}

func (e *MemoryError) Error() string {
	whose := "a query"
	if e.All {
		whose = "all queries together"
	}
	return fmt.Sprintf("%s needs more than the %d MiB of memory that %s may hold; filter more rows, or take fewer distinct values", e.What, e.Limit>>20, whose)
}

// add counts more bytes, or fewer, and returns the budget that they are too many for; nil: none.
func (b *Budget) add(bytes int64) (full *Budget) {
	for ; b != nil; b = b.parent {
		used := b.used.Add(bytes)
		if b.meter {
			b.measure(used)
		} else if used > b.limit && full == nil {
			full = b
		}
	}
	return full
}

func (b *Budget) measure(used int64) {
	for peak := b.peak.Load(); used > peak && !b.peak.CompareAndSwap(peak, used); peak = b.peak.Load() {
	}
}

// part notes that a join of the budget's query was cut into parts.
func (b *Budget) part() { b.bounding().parted.Store(true) }

// isParted says whether a join was cut into parts, whose rows do not come in the order of its probe side.
func (b *Budget) isParted() bool { return b != nil && b.bounding().parted.Load() }

// bounding is the budget without a meter before it.
func (b *Budget) bounding() *Budget {
	if b.meter {
		return b.parent.bounding()
	}
	return b
}

// share is what one operator, or one of its workers, holds of a budget. It belongs to one goroutine at a time.
type share struct {
	budget *Budget
	what   string
	bytes  int64
}

// set tells how many bytes are held now. The error leaves them counted, until set(0). Where operators spill, they may pass the limit by what comes until
// they have done so; the error then says that one alone holds more than there is.
func (s *share) set(bytes int64) error {
	if s.budget == nil || bytes == s.bytes {
		return nil
	}
	grown := bytes > s.bytes
	full := s.budget.add(bytes - s.bytes)
	if s.bytes = bytes; grown && full != nil && (s.budget.space == nil || bytes > full.limit+spillSlack) {
		return &MemoryError{What: s.what, Limit: full.limit, All: full != s.budget.bounding()}
	}
	return nil
}

const (
	// spillAt is the part of a budget, in quarters, above which its users spill: the rest is for what comes until they have done so, and for
	// operators that have hardly begun.
	spillAt = 3
	// smallShare is the part of a budget, as a divisor, that a user may hold whatever the others do: to spill less would make files of crumbs.
	smallShare = 32
	// spillSlack is by how many bytes more than the limit one may hold that spills: what a batch brings, twice as tables double.
	spillSlack = 4 << 20
)

// mustSpill says, after set, that the operator is to spill what it can: the budget is nearly used, and this is no small part of it.
func (s *share) mustSpill() bool {
	if s.budget == nil || s.budget.space == nil || s.bytes < s.budget.limit/smallShare {
		return false
	}
	return s.budget.isTight()
}

// isTight says that the budget, or one that it is a part of, is nearly used.
func (b *Budget) isTight() bool {
	for ; b != nil; b = b.parent {
		if b.used.Load() > b.limit/4*spillAt {
			return true
		}
	}
	return false
}

// Hold counts bytes that the caller holds from now on, or with a negative number has let go. tight says that the budget is nearly used: let go of
// what can be.
func (b *Budget) Hold(bytes int64) (tight bool) {
	b.add(bytes)
	return b.isTight()
}

// Space is where what the budget has no room for goes; nil: nowhere.
func (b *Budget) Space() *SpillSpace {
	if b == nil {
		return nil
	}
	return b.space
}

// Use is how many bytes are held, of how many. Without a budget both are 0.
func (b *Budget) Use() (held, limit int64) {
	if b == nil {
		return 0, 0
	}
	return b.used.Load(), b.limit
}

// roomy says whether there is room for much that could as well come later.
func (b *Budget) roomy() bool {
	for ; b != nil; b = b.parent {
		if b.used.Load() > b.limit/2 {
			return false
		}
	}
	return true
}
