package vector

import (
	"context"
	"io"

	"lakesql/batch"
)

// limit is LIMIT and OFFSET.
type limit struct {
	Operator
	skip, left int
}

// NewLimit returns an operator without the first rows of child, skip of them, and with at most count of those that follow. It reads no
// further than it must.
func NewLimit(child Operator, skip, count int) Operator {
	return &limit{Operator: child, skip: skip, left: count}
}

func (l *limit) keepColumns(columns []int) { keepColumns(l.Operator, columns) }

func (l *limit) Next(ctx context.Context) (*batch.Batch, error) {
	for l.left > 0 {
		b, err := l.Operator.Next(ctx)
		if err != nil {
			return nil, err
		}
		n := b.Rows()
		if l.skip >= n {
			l.skip -= n
			continue
		}
		lo := l.skip
		hi := lo + min(n-lo, l.left)
		l.skip, l.left = 0, l.left-(hi-lo)
		if hi-lo < n {
			b = firstRows(b, lo, hi)
		}
		return b, nil
	}
	return nil, io.EOF
}

// firstRows selects the rows [lo, hi) of the selected ones; some columns may be nil.
func firstRows(b *batch.Batch, lo, hi int) *batch.Batch {
	out := *b
	out.Sel = make([]int32, hi-lo)
	for i := range out.Sel {
		out.Sel[i] = int32(b.Row(lo + i))
	}
	return &out
}
