package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/vector"
)

// floatFold is what an aggregate of DOUBLEs has of one group, as batches have it.
type floatFold interface {
	Add(x float64)
	value() any // nil for NULL
}

// floatTotal is SUM or AVG. GMS's adds in the order of the rows, and what overflows on the way stays infinite.
type floatTotal struct {
	vector.FloatSum
	average bool
}

func (f *floatTotal) value() any {
	if f.Count() == 0 {
		return nil
	}
	return f.Total(f.average)
}

// floatDeviation is VARIANCE or STDDEV. GMS's has digits that hang on the order of the rows, and NaN for what overflows.
type floatDeviation struct {
	vector.FloatVariance
	sample, root bool
}

func (f *floatDeviation) value() any {
	if result, ok := f.Result(f.sample, f.root); ok {
		return result
	}
	return nil
}

// floatBuffer is one group.
type floatBuffer struct {
	argument sql.Expression
	fold     floatFold
}

// Update adds a row.
func (b *floatBuffer) Update(ctx *sql.Context, row sql.Row) error {
	return addFloat(ctx, b.fold, b.argument, row)
}

// Eval is the result.
func (b *floatBuffer) Eval(*sql.Context) (any, error) { return b.fold.value(), nil }

// Dispose releases what the argument holds.
func (b *floatBuffer) Dispose(ctx *sql.Context) { dispose(ctx, b.argument) }

func addFloat(ctx *sql.Context, to floatFold, e sql.Expression, row sql.Row) error {
	v, err := e.Eval(ctx, row)
	if err != nil || v == nil {
		return err
	}
	x, _, err := types.Float64.Convert(ctx, v)
	if err != nil {
		return err
	}
	to.Add(x.(float64))
	return nil
}

// floatWindow is one window. The frames are GMS's, which takes the sum up to the first row of one from that up to its last: digits get lost, an infinity makes
// NaN of all frames behind it, and a frame of NULLs is 0.
type floatWindow struct {
	sql.WindowFunction
	argument sql.Expression
	start    func() floatFold

	of   sql.WindowInterval // what fold is of
	fold floatFold
}

// StartPartition forgets the partition before.
func (w *floatWindow) StartPartition(*sql.Context, sql.WindowInterval, sql.WindowBuffer) error {
	w.of, w.fold = sql.WindowInterval{}, w.start()
	return nil
}

// Compute is the result of a frame. One that begins where the one before did goes on from there.
func (w *floatWindow) Compute(ctx *sql.Context, frame sql.WindowInterval, rows sql.WindowBuffer) (any, error) {
	if frame.End <= frame.Start {
		return nil, nil
	}
	if frame.Start != w.of.Start || frame.End < w.of.End || w.of.End == 0 {
		w.of, w.fold = sql.WindowInterval{Start: frame.Start, End: frame.Start}, w.start()
	}
	for _, row := range rows[w.of.End:frame.End] {
		if err := addFloat(ctx, w.fold, w.argument, row); err != nil {
			return nil, err
		}
	}
	w.of.End = frame.End
	return w.fold.value(), nil
}
