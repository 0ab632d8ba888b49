package vector

import (
	"context"

	"lakesql/batch"
)

// keyFilters tell the probe's side of a join, before it is read, which keys the build side has.
type keyFilters struct {
	whole *runtimeFilter   // of all keys at once; nil: nobody below the probe can look at all of them
	each  []*runtimeFilter // by key, where there is no whole; nil: likewise
}

// filterProbe offers the filters to the probe. A probe row that has no match must not matter, nor one with a null in a key.
func filterProbe(probe Operator, j *Join) keyFilters {
	var f keyFilters
	if j.Kind.keepsProbe() || len(j.Probe) == 0 {
		return f
	}
	if all := new(runtimeFilter); filterBy(probe, all, j.Probe) {
		f.whole = all
		return f
	}
	f.each = make([]*runtimeFilter, len(j.Probe))
	for i, e := range j.Probe {
		if one := new(runtimeFilter); !j.nullSafe(i) && filterBy(probe, one, []Expr{e}) {
			f.each[i] = one
		}
	}
	return f
}

// publish makes the keys of the build side known.
func (f *keyFilters) publish(j *Join, t *joinTable) {
	type limits struct{ lo, hi *batch.Vector }
	of := make([]limits, len(j.Build))
	for i, e := range j.Build {
		of[i].lo, of[i].hi = t.keys.limits(i, e.Type())
	}
	if f.whole != nil {
		f.whole.publish(func(values []Expr) (Expr, error) {
			var tests []Expr
			for i, v := range values {
				if of[i].lo == nil {
					continue
				}
				test, err := between(v, of[i].lo, of[i].hi)
				if err != nil {
					return nil, err
				}
				tests = append(tests, test)
			}
			return NewAnd(append(tests, &amongKeys{table: t, values: cloneAll(values)})...)
		})
	}
	for i, one := range f.each {
		if one != nil && of[i].lo != nil {
			one.publish(func(values []Expr) (Expr, error) { return between(values[0], of[i].lo, of[i].hi) })
		}
	}
}

// limits returns the least and the greatest value of a key of the build side, as vectors of one row; nil: they are not known, or do not matter.
func (k *joinKeys) limits(key int, t batch.Type) (lo, hi *batch.Vector) {
	if k.nullSafe[key] {
		return nil, nil
	}
	for _, p := range k.parts {
		if p.column == key && p.what == wholeKey {
			lo, hi = intVector(t, int64(p.base)), intVector(t, int64(p.base+p.span))
		}
	}
	return lo, hi
}

// intVector is a vector of one row; nil where values of the type are no integers.
func intVector(t batch.Type, x int64) *batch.Vector {
	v := batch.NewVector(t, 1)
	switch t.Layout() {
	case batch.LayoutI8:
		v.AppendInt8(int8(x))
	case batch.LayoutI16:
		v.AppendInt16(int16(x))
	case batch.LayoutI32:
		v.AppendInt32(int32(x))
	case batch.LayoutI64:
		v.AppendInt64(x)
	default:
		return nil
	}
	return v
}

// amongKeys says whether values are a key of the build side. It is never null.
type amongKeys struct {
	table   *joinTable
	values  []Expr
	words   *keyWords
	found   finder
	vectors []*batch.Vector
	out     batch.Vector
}

func (e *amongKeys) Type() batch.Type { return boolType }

func (e *amongKeys) children() []Expr { return e.values }

func (e *amongKeys) Clone() Expr { return &amongKeys{table: e.table, values: cloneAll(e.values)} }

func (e *amongKeys) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	if e.words == nil {
		e.words = newKeyWords(e.table.keys)
	}
	var err error
	if e.vectors, err = evalAll(ctx, e.values, e.vectors, b); err != nil {
		return nil, err
	}
	words, rows := e.words.encode(e.vectors, b.Sel, b.Len, e.table.dense != nil)
	n := b.Rows()
	if rows != nil {
		n = len(rows)
	}
	hits, _ := e.table.find(&e.found, words, n)
	reset(&e.out, boolType, b.Len)
	clear(e.out.Bools)
	for _, at := range hits {
		e.out.Bools[rowOf(rows, int(at))] = true
	}
	return &e.out, nil
}

// filterBy implements runtimeFiltered: a filter of the probe's columns goes to the probe, one of the build side's to that, and one of a key of an inner join to both.
func (j *joining) filterBy(f *runtimeFilter, values []Expr) bool {
	b := j.build
	n := len(b.probeSchema.Fields)
	onProbe, onBuild := make([]Expr, n+len(b.buildSchema.Fields)), make([]Expr, n+len(b.buildSchema.Fields))
	for i, field := range b.probeSchema.Fields {
		onProbe[i] = NewColumn(i, field)
	}
	for i, field := range b.buildSchema.Fields {
		onBuild[n+i] = NewColumn(i, field)
	}
	if j.join.Kind == InnerJoin {
		for i, e := range j.join.Probe {
			p, okP := e.(*column)
			q, okQ := j.join.Build[i].(*column)
			if okP && okQ {
				onProbe[n+q.index], onBuild[p.index] = p, q
			}
		}
	}
	passed := false
	if below, ok := substituteAll(values, onProbe); ok && !j.join.Kind.ofBuild() && j.join.Kind != BuildOuterJoin && j.join.Kind != FullJoin {
		passed = filterBy(j.probe.(whole).Operator, f, below)
	}
	switch j.join.Kind {
	case BuildSemiJoin, BuildAntiJoin:
		return filterBy(b.child, f, values)
	case InnerJoin, BuildOuterJoin:
		if below, ok := substituteAll(values, onBuild); ok {
			passed = filterBy(b.child, f, below) || passed
		}
	}
	return passed
}

// substituteAll is substitute for all of the values; false also where a column is nil.
func substituteAll(values, columns []Expr) ([]Expr, bool) {
	out := make([]Expr, len(values))
	for _, i := range columnsOf(values...) {
		if columns[i] == nil {
			return nil, false
		}
	}
	for i, v := range values {
		var ok bool
		if out[i], ok = substitute(v, columns); !ok {
			return nil, false
		}
	}
	return out, true
}
