package compile

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// rowSort is ORDER BY of rows. GMS's own evaluates both keys anew whenever it compares two rows, and cannot be killed.
type rowSort struct {
	by    sql.SortConditions
	types []sql.Type
	child sql.RowIter
	rows  []sortedRow // nil until the child is read
	next  int
	calls int
}

// sortedRow is a row, its place among the child's rows, and its value of each key.
type sortedRow struct {
	row  sql.Row
	at   int
	keys []any
}

// buildSort sorts what does not compile row by row.
func (b *Builder) buildSort(ctx *sql.Context, n *plan.Sort, outer sql.Row) (sql.RowIter, error) {
	if whole, err := b.buildWhole(ctx, n, outer); whole != nil || err != nil {
		return whole, err
	}
	child, err := b.base.Build(ctx, n.Child, outer)
	if err != nil {
		return nil, err
	}
	s := &rowSort{by: n.SortConditions, child: child}
	for _, condition := range n.SortConditions {
		s.types = append(s.types, condition.Expr.Type(ctx))
	}
	return s, nil
}

// Next returns the next row.
func (s *rowSort) Next(ctx *sql.Context) (sql.Row, error) {
	if s.rows == nil {
		if err := s.readAll(ctx); err != nil {
			return nil, err
		}
	}
	if s.next == len(s.rows) {
		return nil, io.EOF
	}
	s.next++
	return s.rows[s.next-1].row, nil
}

// Close closes the child.
func (s *rowSort) Close(ctx *sql.Context) error {
	s.rows = nil
	return s.child.Close(ctx)
}

func (s *rowSort) readAll(ctx *sql.Context) error {
	cache, dispose := ctx.Memory.NewRowsCache(ctx)
	defer dispose()
	for {
		row, err := s.child.Next(ctx)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = cache.Add(row)
		}
		if err != nil {
			return err
		}
	}
	rows := cache.Get()
	values := make([]any, len(rows)*len(s.by))
	s.rows = make([]sortedRow, len(rows))
	for i, row := range rows {
		s.rows[i] = sortedRow{row: row, at: i, keys: values[i*len(s.by):][:len(s.by)]}
		for k, condition := range s.by {
			v, err := condition.Expr.Eval(ctx, row)
			if err != nil {
				return sql.ErrUnableSort.Wrap(err)
			}
			s.rows[i].keys[k] = v
		}
	}
	return s.sort(ctx)
}

// sort leaves rows alone that come in the order that is asked for, as those of metadata do.
func (s *rowSort) sort(ctx *sql.Context) error {
	var failed error
	order := func(a, b sortedRow) int {
		if failed != nil {
			return 0
		}
		var n int
		n, failed = s.compare(ctx, a, b)
		return n
	}
	if !slices.IsSortedFunc(s.rows, order) && failed == nil {
		slices.SortFunc(s.rows, order)
	}
	return failed
}

// compare orders rows whose keys are equal as the child has them.
func (s *rowSort) compare(ctx *sql.Context, a, b sortedRow) (int, error) {
	if s.calls++; s.calls%cancelInterval == 0 && ctx.Err() != nil {
		return 0, ctx.Err()
	}
	for k, condition := range s.by {
		x, y := a.keys[k], b.keys[k]
		if condition.Order == sql.Descending {
			x, y = y, x
		}
		if n, err := compareKeys(ctx, s.types[k], x, y); n != 0 || err != nil {
			return n, err
		}
	}
	return a.at - b.at, nil
}
