package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/delta/dv"
	"lakesql/format/parquet"
)

// fileChanges are the changes of the rows of one file.
type fileChanges struct {
	number  int64
	file    delta.File
	last    int64     // row that came
	matched dv.Bitmap // all rows that came
	deleted dv.Bitmap
	updates rowUpdates
}

// rowUpdates are the new values of rows, in the order in which they came until sort.
type rowUpdates struct {
	rows   []int64         // positions in the file
	values []*batch.Vector // of all actions
}

func newFileChanges(number int64, values []batch.Field) *fileChanges {
	f := &fileChanges{number: number, last: -1}
	for _, v := range values {
		f.updates.values = append(f.updates.values, batch.NewVector(v.Type, 0))
	}
	return f
}

// add takes the row in place i of a batch whose columns are an address and values. false: the row has come before.
func (f *fileChanges) add(act rowAction, at int64, values []*batch.Vector, i int) bool {
	if at <= f.last && f.matched.Contains(at) {
		return false
	}
	f.last = max(f.last, at)
	f.matched.Add(at)
	if act.kind == deleteRows {
		f.deleted.Add(at)
		return true
	}
	f.updates.rows = append(f.updates.rows, at)
	for c, v := range f.updates.values {
		v.AppendFrom(values[c], i)
	}
	return true
}

// sort puts the updates in the order of their rows.
func (u *rowUpdates) sort() {
	if slices.IsSorted(u.rows) {
		return
	}
	order := make([]int32, len(u.rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(u.rows[a], u.rows[b]) })
	u.keep(order)
}

// keep leaves the updates at these places, in that order.
func (u *rowUpdates) keep(places []int32) {
	rows := make([]int64, len(places))
	for i, p := range places {
		rows[i] = u.rows[p]
	}
	u.rows = rows
	for c, v := range u.values {
		u.values[c] = v.Gather(places)
	}
}

// within are the places of the updates of the rows [from, to).
func (u *rowUpdates) within(from, to int64) (lo, hi int) {
	lo, _ = slices.BinarySearch(u.rows, from)
	hi, _ = slices.BinarySearch(u.rows, to)
	return lo, hi
}

// rangeGap is how many rows between two wanted ones are read and dropped, rather than begun anew behind.
const rangeGap = 512

// ranges are the rows of the file that have updates, with what lies in small gaps between them.
func (u *rowUpdates) ranges() []parquet.RowRange {
	var out []parquet.RowRange
	for _, at := range u.rows {
		if n := len(out); n > 0 && at-out[n-1].End <= rangeGap {
			out[n-1].End = at + 1
		} else {
			out = append(out, parquet.RowRange{Start: at, End: at + 1})
		}
	}
	return out
}

// apply changes a file whose rows have all come.
func (r *rowChanges) apply(ctx *sql.Context, f *fileChanges) error {
	r.counts.matched += f.matched.Cardinality()
	f.updates.sort()
	if r.compare && len(f.updates.rows) > 0 {
		if err := r.dropUnchanged(ctx, f); err != nil {
			return fmt.Errorf("compare rows of %s: %w", f.file.Path, err)
		}
	}
	gone := f.deleted.Cardinality()
	if gone == 0 && len(f.updates.rows) == 0 {
		return nil
	}
	r.counts.deleted += gone
	r.counts.updated += int64(len(f.updates.rows))
	var err error
	switch live, known := f.file.NumLiveRecords(); {
	case known && live == gone:
		r.remove(f.file)
	case r.w.canDeleteRows(f.file):
		err = r.moveRows(ctx, f)
	default:
		r.remove(f.file)
		err = r.rewrite(ctx, f)
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", f.file.Path, err)
	}
	return nil
}

// remove takes a file out of the table.
func (r *rowChanges) remove(f delta.File) {
	r.counts.removedFiles++
	r.w.removes = append(r.w.removes, f)
}

// moveRows deletes the changed rows in the file by its deletion vector, and writes the updated ones elsewhere.
func (r *rowChanges) moveRows(ctx *sql.Context, f *fileChanges) error {
	gone := f.deleted.Clone()
	for _, at := range f.updates.rows {
		gone.Add(at)
	}
	r.counts.vectors++
	r.w.deleted = append(r.w.deleted, fileRows{f.file, gone})
	if len(f.updates.rows) == 0 {
		return nil
	}
	in, err := r.open(ctx, f.file, r.w.t.snap.Schema().Fields)
	if err != nil {
		return err
	}
	in.Restrict(f.updates.ranges())
	return each(ctx, in, func(b *batch.Batch) error {
		start := in.Position()
		lo, hi := f.updates.within(start, start+int64(b.Len))
		out := &batch.Batch{Schema: b.Schema, Cols: r.updated(f, b, start, lo, hi), Len: b.Len, Sel: make([]int32, 0, hi-lo)}
		for _, at := range f.updates.rows[lo:hi] {
			out.Sel = append(out.Sel, int32(at-start))
		}
		return r.write(ctx, out)
	})
}

// open opens a file of the version that the statement sees.
func (r *rowChanges) open(ctx *sql.Context, f delta.File, columns []batch.Field) (*delta.FileReader, error) {
	return r.w.t.handle.OpenFile(ctx, r.w.t.snap, f, delta.FileReaderOptions{Columns: columns, Cache: r.w.t.c.dataFiles})
}

// each calls visit with the batches of a file.
func each(ctx *sql.Context, in *delta.FileReader, visit func(b *batch.Batch) error) error {
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			return in.Close()
		}
		if err == nil {
			err = visit(b)
		}
		if err != nil {
			return errors.Join(err, in.Close())
		}
	}
}

// dropUnchanged leaves the updates that change a value of their row.
func (r *rowChanges) dropUnchanged(ctx *sql.Context, f *fileChanges) error {
	act := r.actions[0]
	var columns []batch.Field
	var values []int
	for c, source := range act.sources {
		switch {
		case source == recomputed:
			return nil
		case source != unchanged:
			columns = append(columns, r.w.t.snap.Schema().Fields[c])
			values = append(values, source)
		}
	}
	in, err := r.open(ctx, f.file, columns)
	if err != nil {
		return err
	}
	in.Restrict(f.updates.ranges())
	var changed []int32
	err = each(ctx, in, func(b *batch.Batch) error {
		start := in.Position()
		lo, hi := f.updates.within(start, start+int64(b.Len))
		for place := lo; place < hi; place++ {
			at := int(f.updates.rows[place] - start)
			for c, old := range b.Cols {
				if !sameValue(old, at, f.updates.values[values[c]], place) {
					changed = append(changed, int32(place))
					break
				}
			}
		}
		return nil
	})
	if err == nil && len(changed) < len(f.updates.rows) {
		f.updates.keep(changed)
	}
	return err
}

// rewrite writes a file anew, with its changes.
func (r *rowChanges) rewrite(ctx *sql.Context, f *fileChanges) error {
	in, err := r.open(ctx, f.file, r.w.t.snap.Schema().Fields)
	if err != nil {
		return err
	}
	var live []int32
	return each(ctx, in, func(b *batch.Batch) error {
		start := in.Position()
		out := &batch.Batch{Schema: b.Schema, Cols: b.Cols, Len: b.Len, Sel: b.Sel}
		if f.deleted.Cardinality() > 0 {
			live = live[:0]
			for i := range b.Rows() {
				if row := b.Row(i); !f.deleted.Contains(start + int64(row)) {
					live = append(live, int32(row))
				}
			}
			out.Sel = live
		}
		lo, hi := f.updates.within(start, start+int64(b.Len))
		r.counts.copied += int64(out.Rows() - (hi - lo))
		if lo < hi {
			out.Cols = r.updated(f, b, start, lo, hi)
		}
		return r.write(ctx, out)
	})
}

// updated are the columns of a batch with the updates [lo, hi), whose rows are counted from start.
func (r *rowChanges) updated(f *fileChanges, b *batch.Batch, start int64, lo, hi int) []*batch.Vector {
	out := slices.Clone(b.Cols)
	for c, source := range r.actions[0].sources {
		switch source {
		case unchanged:
		case recomputed:
			out[c] = nil
		default:
			out[c] = replaced(b.Cols[c], f.updates.values[source], f.updates.rows[lo:hi], start, lo)
		}
	}
	return out
}

// replaced is a column with other values at some rows: row rows[i]-start takes value at+i.
func replaced(old, values *batch.Vector, rows []int64, start int64, at int) *batch.Vector {
	out := batch.NewVector(old.Type, old.Len)
	done := 0
	for i := 0; i < len(rows); {
		row := int(rows[i] - start)
		n := 1
		for i+n < len(rows) && rows[i+n] == rows[i]+int64(n) {
			n++
		}
		out.AppendRows(old.Slice(done, row), nil)
		out.AppendRows(values.Slice(at+i, at+i+n), nil)
		done, i = row+n, i+n
	}
	out.AppendRows(old.Slice(done, old.Len), nil)
	return out
}
