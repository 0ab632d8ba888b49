package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/vector"
)

// floatBuffer is SUM or AVG of FLOATs and DOUBLEs, one group. GMS's adds in the order of the rows, and what overflows on the way stays infinite.
type floatBuffer struct {
	argument sql.Expression
	average  bool
	sum      vector.FloatSum
}

// Update adds a row.
func (b *floatBuffer) Update(ctx *sql.Context, row sql.Row) error {
	return addFloat(ctx, &b.sum, b.argument, row)
}

// Eval is the result.
func (b *floatBuffer) Eval(*sql.Context) (any, error) { return floatTotal(&b.sum, b.average) }

// Dispose releases what the argument holds.
func (b *floatBuffer) Dispose(ctx *sql.Context) { dispose(ctx, b.argument) }

func addFloat(ctx *sql.Context, to *vector.FloatSum, e sql.Expression, row sql.Row) error {
	v, err := e.Eval(ctx, row)
	if err != nil {
		return err
	}
	switch x := v.(type) {
	case float32:
		to.Add(float64(x))
	case float64:
		to.Add(x)
	}
	return nil
}

func floatTotal(of *vector.FloatSum, average bool) (any, error) {
	if of.Count() == 0 {
		return nil, nil
	}
	return of.Total(average), nil
}

// floatWindow is one window. The frames are GMS's, which takes the sum up to the first row of one from that up to its last: digits get lost, an infinity makes
// NaN of all frames behind it, and a frame of NULLs is 0.
type floatWindow struct {
	sql.WindowFunction
	argument sql.Expression
	average  bool

	of  sql.WindowInterval // what sum is of
	sum vector.FloatSum
}

// StartPartition forgets the partition before.
func (w *floatWindow) StartPartition(*sql.Context, sql.WindowInterval, sql.WindowBuffer) error {
	w.of, w.sum = sql.WindowInterval{}, vector.FloatSum{}
	return nil
}

// Compute is the result of a frame. One that begins where the one before did goes on from there.
func (w *floatWindow) Compute(ctx *sql.Context, frame sql.WindowInterval, rows sql.WindowBuffer) (any, error) {
	if frame.End <= frame.Start {
		return nil, nil
	}
	if frame.Start != w.of.Start || frame.End < w.of.End || w.of.End == 0 {
		w.of, w.sum = sql.WindowInterval{Start: frame.Start, End: frame.Start}, vector.FloatSum{}
	}
	for _, row := range rows[w.of.End:frame.End] {
		if err := addFloat(ctx, &w.sum, w.argument, row); err != nil {
			return nil, err
		}
	}
	w.of.End = frame.End
	return floatTotal(&w.sum, w.average)
}
