package vector

import (
	"context"

	"lakesql/batch"
)

// firsts is the value in the first row of each group, or in the first in which it is not null.
type firsts struct {
	notNull bool
	values  *batch.Vector // those that were the first at some time
	states  []firstRow
	rows    []int32
	valid   []int32
}

// firstRow is where the value of a group is.
type firstRow struct {
	at       int32 // in values, plus one; 0: there is none
	position int64 // of the row
}

func newFirsts(t batch.Type, notNull bool) *firsts {
	return &firsts{notNull: notNull, values: batch.NewVector(t, 0)}
}

func (f *firsts) size() int64 { return vectorSize(f.values) + 16*int64(cap(f.states)) }

func (f *firsts) add(in *grouped) error {
	f.states = extend(f.states, in.groups)
	f.rows = f.rows[:0]
	rows := in.rows
	if f.notNull {
		rows = in.valid(in.args[0], &f.valid)
	}
	eachGroup(in, rows, func(g uint32, i int) { f.offer(g, int32(i), in.positions[i]) })
	f.take(in.args[0])
	return nil
}

// offer notes a row that is before that of its group.
func (f *firsts) offer(g uint32, row int32, position int64) {
	s := &f.states[g]
	if s.at == 0 || position < s.position {
		f.rows = append(f.rows, row)
		*s = firstRow{int32(f.values.Len + len(f.rows)), position}
	}
}

// take copies the rows that were noted.
func (f *firsts) take(from *batch.Vector) {
	if len(f.rows) > 0 { // nil would be all rows
		f.values.AppendRows(from, f.rows)
	}
}

func (f *firsts) merge(_ context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	o := from.(*firsts)
	f.states = extend(f.states, total)
	f.rows = f.rows[:0]
	for k, g := range groups {
		if s := at(o.states, g); s.at != 0 {
			f.offer(of[k], s.at-1, s.position)
		}
	}
	f.take(o.values)
	return nil
}

func (f *firsts) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	out := batch.NewVector(f.values.Type, hi-lo)
	rows := make([]int32, 0, hi-lo)
	for _, s := range within(f.states, lo, hi) {
		if s.at != 0 {
			rows = append(rows, s.at-1)
			continue
		}
		if len(rows) > 0 { // nil would be all rows
			out.AppendRows(f.values, rows)
			rows = rows[:0]
		}
		out.AppendNull()
	}
	if len(rows) > 0 {
		out.AppendRows(f.values, rows)
	}
	return out, nil
}

// vectorSize is about how many bytes a vector takes.
func vectorSize(v *batch.Vector) int64 {
	n := int64(0)
	for _, child := range v.Children {
		n += vectorSize(child)
	}
	return n + int64(cap(v.Bools)+cap(v.I8)+cap(v.Bytes)) + 2*int64(cap(v.I16)) + 4*int64(cap(v.I32)+cap(v.F32)+cap(v.Off)+cap(v.Codes)) +
		8*int64(cap(v.I64)+cap(v.F64)+cap(v.Valid)) + 16*int64(cap(v.Dec))
}
