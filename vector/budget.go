package vector

import (
	"fmt"
	"sync/atomic"
)

// Budget bounds the memory that the operators of one query hold between batches. Several goroutines may use it; nil bounds nothing.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// MemoryError says that an operator would hold more than its query may.
type MemoryError struct {
	What  string // the operator
	Limit int64  // bytes
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s needs more than the %d MiB of memory that a query may hold; filter more rows, or take fewer distinct values", e.What, e.Limit>>20)
}

// share is what one operator, or one of its workers, holds of a budget. It belongs to one goroutine at a time.
type share struct {
	budget *Budget
	what   string
	bytes  int64
}

// set tells how many bytes are held now. The error leaves them counted, until set(0).
func (s *share) set(bytes int64) error {
	if s.budget == nil || bytes == s.bytes {
		return nil
	}
	used := s.budget.used.Add(bytes - s.bytes)
	grown := bytes > s.bytes
	if s.bytes = bytes; grown && used > s.budget.limit {
		return &MemoryError{What: s.what, Limit: s.budget.limit}
	}
	return nil
}
