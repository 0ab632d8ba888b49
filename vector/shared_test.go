package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// sharedRowsOf are rows of a number and a long text.
func sharedRowsOf(rows int) *dealt {
	schema := batch.NewSchema(long, batch.Field{Name: "t", Type: batch.Type{Kind: batch.String}, Nullable: true})
	var batches []*batch.Batch
	for at := 0; at < rows; at += 1000 {
		b := batch.NewBuilder(schema)
		for i := at; i < min(at+1000, rows); i++ {
			b.Column(0).AppendInt64(int64(i))
			b.Column(1).AppendString(fmt.Sprintf("row %d %s", i, longText))
		}
		batches = append(batches, b.Finish())
	}
	return &dealt{Operator: NewBatches(schema, batches...)}
}

// TestSharedIsReadOnce, by readers of different columns, forked or not, from memory and from disk.
func TestSharedIsReadOnce(t *testing.T) {
	const rows = 50_000
	for _, budget := range []*Budget{nil, spilling(t, 1<<30), spilling(t, 1<<20)} {
		child := sharedRowsOf(rows)
		s := NewShared(child, 2, budget)
		numbers, all, kept := s.Reader([]int{0}), s.Reader([]int{1, 0}), []int{0}
		if budget != nil { // the texts, too
			numbers, kept = s.Reader([]int{0, 1}), []int{0, 1}
			require.NoError(t, s.readers[0].Close())
			s.want++
		}
		sum, err := NewAggregate(all, nil, []Aggregate{{Func: Sum, Args: []Expr{NewColumn(1, long)}, Field: batch.Field{Type: batch.DecimalOf(38, 0), Nullable: true}}}, budget)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d\n", rows*(rows-1)/2), drain(t, sum))
		require.Equal(t, kept, child.kept)
		got, err := rowCount(context.Background(), numbers)
		require.NoError(t, err)
		require.Equal(t, rows, got)
		if budget != nil {
			requireNothingLeft(t, budget)
			require.Equal(t, budget.limit == 1<<20, budget.Spilled() > 0)
		}
	}
}

// TestSharedEndsEarly: its rows are let go although a reader was never opened, or never read.
func TestSharedEndsEarly(t *testing.T) {
	budget := spilling(t, 1<<20)
	s := NewShared(sharedRowsOf(20_000), 2, budget)
	r := s.Reader([]int{0, 1})
	_, err := r.Next(context.Background())
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	requireNothingLeft(t, budget)

	s = NewShared(sharedRowsOf(10), 1, budget)
	require.NoError(t, s.Reader([]int{0}).Close())
	require.NoError(t, s.Close())
}

// TestBefore: a preparation is made once, before the first row or before anything is read, and not where there is no row.
func TestBefore(t *testing.T) {
	ran, closed := 0, 0
	prepare := func(early bool, err error) Preparation {
		ran, closed = 0, 0
		return Preparation{Early: early, Run: func(context.Context) error { ran++; return err }, Close: func() error { closed++; return nil }}
	}
	for _, early := range []bool{false, true} {
		op := NewBefore(sharedRowsOf(10_000), prepare(early, nil))
		got, err := rowCount(context.Background(), op)
		require.NoError(t, err)
		require.Equal(t, 10_000, got)
		require.Equal(t, [2]int{1, 1}, [2]int{ran, closed})

		op = NewBefore(numbers(0, 1), prepare(early, errors.New("two rows")))
		if _, err = op.Next(context.Background()); early {
			require.EqualError(t, err, "two rows")
		} else {
			require.ErrorIs(t, err, io.EOF)
			require.Zero(t, ran)
		}
		require.NoError(t, op.Close())
		require.NoError(t, op.Close())
		require.Equal(t, 1, closed)
	}
}
