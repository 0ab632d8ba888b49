package compile

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/vector"
)

// size is how many rows a pipeline is thought to have, and what is thought of its columns. Only costs are reckoned by it.
type size struct {
	rows    float64
	columns []vector.ColumnEstimate
}

// What is assumed of sources that have no statistics, and of values that nothing is known about.
const (
	unknownRows     = 100_000
	unknownDistinct = 0.1 // of rows, as keys of GROUP BY
)

// sizeOf asks a source's statistics.
func sizeOf(ctx *sql.Context, s Source) size {
	fields := s.Columns()
	out := size{rows: unknownRows, columns: make([]vector.ColumnEstimate, len(fields))}
	known, ok := s.(Statistics)
	if !ok {
		return out
	}
	var asked []int
	for i, f := range fields {
		switch f.Type.Layout() {
		case batch.LayoutI8, batch.LayoutI16, batch.LayoutI32, batch.LayoutI64, batch.LayoutF64, batch.LayoutDec:
			asked = append(asked, i)
		}
	}
	rows, exact, err := known.Exact(ctx, nil, asked)
	if err != nil {
		return out // a scan says what is wrong
	}
	out.rows = float64(rows)
	for i, c := range exact {
		e := vector.ColumnEstimate{Min: c.Min, Max: c.Max}
		e.Distinct = min(e.Span(), out.rows)
		out.columns[asked[i]] = e
	}
	return out
}

// filtered is the size after a filter.
func (s size) filtered(predicate vector.Expr) size {
	share := vector.Selectivity(predicate, func(i int) vector.ColumnEstimate { return s.columns[i] })
	return s.limited(s.rows * share)
}

// limited is the size of so many of the rows.
func (s size) limited(rows float64) size {
	out := size{rows: min(rows, s.rows), columns: make([]vector.ColumnEstimate, len(s.columns))}
	for i, c := range s.columns {
		c.Distinct = min(c.Distinct, math.Ceil(out.rows))
		out.columns[i] = c
	}
	return out
}

// distinct is how many values a column is thought to have, as a key that rows are joined by.
func (s size) distinct(column int) float64 {
	if d := s.columns[column].Distinct; d >= 1 {
		return d
	}
	return max(1, s.rows)
}

// grouped is how many groups there are by keys.
func (s size) grouped(keys []vector.Expr) float64 {
	groups := 1.0
	for _, k := range keys {
		d := max(1, s.rows*unknownDistinct)
		if i, ok := vector.ColumnOf(k); ok && s.columns[i].Distinct >= 1 {
			d = s.columns[i].Distinct
		}
		groups = min(groups*d, s.rows)
	}
	return groups
}

// computed is what is thought of columns that are computed from those of a size: known where they are passed on.
func (s size) computed(exprs []vector.Expr) []vector.ColumnEstimate {
	out := make([]vector.ColumnEstimate, len(exprs))
	for i, e := range exprs {
		if c, ok := vector.ColumnOf(e); ok {
			out[i] = s.columns[c]
		}
	}
	return out
}

// size is how many rows a join is thought to have.
func (j *joining) size(join vector.Join) size {
	probe, build := j.probe.p.size(), j.build.p.size()
	pairs, found := probe.rows*build.rows, 1.0
	if len(join.Probe) > 0 {
		p, b := 1.0, 1.0
		for i := range join.Probe {
			p, b = p*probe.keys(join.Probe[i]), b*build.keys(join.Build[i])
		}
		p, b = min(p, probe.rows), min(b, build.rows)
		pairs /= max(1, p, b)
		found = min(1, b/max(1, p))
		if j.kind == vector.BuildSemiJoin || j.kind == vector.BuildAntiJoin {
			found = min(1, p/max(1, b))
		}
	}
	var out size
	switch j.kind {
	case vector.SemiJoin, vector.BuildSemiJoin:
	case vector.AntiJoin, vector.NotInJoin, vector.BuildAntiJoin:
		found = max(0.1, 1-found)
	case vector.LeftJoin:
		pairs = max(pairs, probe.rows)
	case vector.BuildOuterJoin:
		pairs = max(pairs, build.rows)
	case vector.FullJoin:
		pairs = max(pairs, probe.rows, build.rows)
	}
	switch j.kind {
	case vector.SemiJoin, vector.AntiJoin, vector.NotInJoin:
		return probe.limited(probe.rows * found)
	case vector.BuildSemiJoin, vector.BuildAntiJoin:
		return build.limited(build.rows * found)
	}
	out.columns = append(probe.columns[:len(probe.columns):len(probe.columns)], build.columns...)
	out.rows = pairs
	return out.limited(pairs)
}

// keys is how many values a key of a join is thought to have.
func (s size) keys(e vector.Expr) float64 {
	if c, ok := vector.ColumnOf(e); ok {
		return s.distinct(c)
	}
	return max(1, s.rows)
}
