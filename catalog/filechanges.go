package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/delta"
)

// apply changes a file whose rows have all come.
func (r *rowChanges) apply(ctx *sql.Context, f *fileUpdates) error {
	r.counts.matched += f.matched.Cardinality()
	f.updates.sort()
	if r.compare && len(f.updates.rows) > 0 {
		if err := r.dropUnchanged(ctx, f); err != nil {
			return fmt.Errorf("compare rows of %s: %w", f.file.Path, err)
		}
	}
	if r.ignore && len(f.updates.rows) > 0 {
		if err := r.dropRefused(ctx, f); err != nil {
			return fmt.Errorf("check rows of %s: %w", f.file.Path, err)
		}
	}
	gone := f.deleted.Cardinality()
	if left := f.matched.Clone(); r.source != nil {
		left.AndNot(&f.acted)
		r.w.reads.rows = append(r.w.reads.rows, fileRows{f.file, left})
	}
	if gone == 0 && len(f.updates.rows) == 0 {
		return nil
	}
	r.counts.deleted += gone
	r.counts.updated += int64(len(f.updates.rows))
	var err error
	switch live, known := f.file.NumLiveRecords(); {
	case known && live == gone:
		r.remove(f.file, true)
	case r.w.canDeleteRows(f.file):
		err = r.moveRows(ctx, f)
	default:
		r.remove(f.file, false)
		err = r.rewrite(ctx, f)
	}
	if errors.Is(err, delta.ErrConstraint) {
		return err
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", f.file.Path, err)
	}
	return nil
}

// remove takes a file out of the table. untold: no change file says so.
func (r *rowChanges) remove(f delta.File, untold bool) {
	r.counts.removedFiles++
	r.w.removes = append(r.w.removes, f)
	if untold {
		r.w.untold.removes = append(r.w.untold.removes, f)
	}
}

// open opens a file of the version that the statement sees.
func (r *rowChanges) open(ctx *sql.Context, f delta.File, opts delta.FileReaderOptions) (*delta.FileReader, error) {
	opts.Cache = r.w.t.c.dataFiles
	return r.w.t.handle.OpenFile(ctx, r.w.t.snap, f, opts)
}

// openRows opens a file for rows that are written elsewhere.
func (r *rowChanges) openRows(ctx *sql.Context, f delta.File) (*delta.FileReader, error) {
	return r.open(ctx, f, delta.FileReaderOptions{Columns: r.w.t.snap.Schema().Fields, RowIDs: r.out.tracks})
}

// each calls visit with the batches of a file, and closes it.
func each(ctx context.Context, in *delta.FileReader, visit func(b *batch.Batch) error) error {
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
func (r *rowChanges) dropUnchanged(ctx *sql.Context, f *fileUpdates) error {
	var columns []batch.Field
	var values []int
	for c, from := range r.actions[0].columns {
		if from.kind == fromValue {
			columns = append(columns, r.w.t.snap.Schema().Fields[c])
			values = append(values, from.at)
		}
	}
	in, err := r.open(ctx, f.file, delta.FileReaderOptions{Columns: columns})
	if err != nil {
		return err
	}
	in.Restrict(ranges(slices.Values(f.updates.rows)))
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

// dropRefused leaves the updates whose rows meet the table's conditions. The others are told in warnings.
func (r *rowChanges) dropRefused(ctx *sql.Context, f *fileUpdates) error {
	if checks, err := r.out.checks(); err != nil || !checks {
		return err
	}
	in, err := r.openRows(ctx, f.file)
	if err != nil {
		return err
	}
	in.Restrict(ranges(slices.Values(f.updates.rows)))
	var kept []int32
	err = each(ctx, in, func(b *batch.Batch) error {
		start := in.Position()
		p := r.part(f, b, start)
		lo, _ := f.updates.within(start, start+int64(b.Len))
		for i, row := range p.updated {
			one := *p.after
			one.Sel = []int32{row}
			err := r.out.check(ctx, &one)
			switch {
			case err == nil:
				kept = append(kept, int32(lo+i))
			case errors.Is(err, delta.ErrCheck):
				ctx.Warn(checkViolated, "%s", err.Error())
			default:
				return err
			}
		}
		return nil
	})
	if err == nil && len(kept) < len(f.updates.rows) {
		f.updates.keep(kept)
	}
	return err
}

// moveRows deletes the changed rows in the file by its deletion vector, and writes the updated ones elsewhere.
func (r *rowChanges) moveRows(ctx *sql.Context, f *fileUpdates) error {
	gone := f.deleted.Clone()
	for _, at := range f.updates.rows {
		gone.Add(at)
	}
	r.counts.vectors++
	r.w.deleted = append(r.w.deleted, fileRows{f.file, gone})
	told := r.out.changes != nil && len(f.updates.rows) > 0
	if !told {
		r.w.untold.deleted = append(r.w.untold.deleted, fileRows{f.file, gone})
	}
	if len(f.updates.rows) == 0 {
		return nil
	}
	in, err := r.openRows(ctx, f.file)
	if err != nil {
		return err
	}
	in.Restrict(ranges(gone.All()))
	return each(ctx, in, func(b *batch.Batch) error {
		p := r.part(f, b, in.Position())
		out := *p.after
		out.Sel = p.updated
		if err := r.tell(ctx, p); err != nil {
			return err
		}
		return r.out.keep(ctx, &out, p.updated)
	})
}

// rewrite writes a file anew, with its changes.
func (r *rowChanges) rewrite(ctx *sql.Context, f *fileUpdates) error {
	in, err := r.openRows(ctx, f.file)
	if err != nil {
		return err
	}
	return each(ctx, in, func(b *batch.Batch) error {
		p := r.part(f, b, in.Position())
		r.counts.copied += int64(p.after.Rows() - len(p.updated))
		if err := r.tell(ctx, p); err != nil {
			return err
		}
		return r.out.keep(ctx, p.after, p.updated)
	})
}

// changedPart is a batch of a file before and after its changes.
type changedPart struct {
	before, after    *batch.Batch // after has no row selected that is deleted
	updated, deleted []int32
}

// part works out what becomes of a batch of a file, whose first row has the position start.
func (r *rowChanges) part(f *fileUpdates, b *batch.Batch, start int64) changedPart {
	p := changedPart{before: b, after: &batch.Batch{Schema: b.Schema, Cols: b.Cols, Len: b.Len, Sel: b.Sel}}
	lo, hi := f.updates.within(start, start+int64(b.Len))
	p.updated = make([]int32, 0, hi-lo) // as a selection, nil would be all rows
	for _, at := range f.updates.rows[lo:hi] {
		p.updated = append(p.updated, int32(at-start))
	}
	if f.deleted.Cardinality() > 0 {
		live := make([]int32, 0, b.Rows())
		for i := range b.Rows() {
			if row := b.Row(i); f.deleted.Contains(start + int64(row)) {
				p.deleted = append(p.deleted, int32(row))
			} else {
				live = append(live, int32(row))
			}
		}
		p.after.Sel = live
	}
	if lo == hi {
		return p
	}
	p.after.Cols = slices.Clone(b.Cols)
	for c := range r.w.t.snap.Schema().Fields {
		p.after.Cols[c] = r.column(c, b.Cols[c], &f.updates, start, lo, hi)
	}
	if r.out.tracks {
		version := len(b.Cols) - 1
		p.after.Cols[version] = withNulls(b.Cols[version], p.updated)
	}
	return p
}

// tell writes what rows were before to the change data feed. What they are afterwards is told where they are written.
func (r *rowChanges) tell(ctx *sql.Context, p changedPart) error {
	if err := r.out.changes.add(ctx, p.before, p.updated, delta.ChangeUpdateFrom); err != nil {
		return err
	}
	return r.out.changes.add(ctx, p.before, p.deleted, delta.ChangeDelete)
}

// column is a column of a batch with the updates [lo, hi), whose rows are counted from start; nil when it is to be recomputed.
func (r *rowChanges) column(c int, old *batch.Vector, u *rowUpdates, start int64, lo, hi int) *batch.Vector {
	out := batch.NewVector(old.Type, 0)
	done := 0
	for place := lo; place < hi; {
		from := r.actions[u.action(place)].columns[c]
		row, n := int(u.rows[place]-start), 1
		switch from.kind {
		case recomputed:
			return nil
		case asBefore:
			place++
			continue
		}
		out.AppendRows(old.Slice(done, row), nil)
		if from.kind == fromSource {
			r.source.appendTo(out, from.at, u.sources[place])
		} else {
			for place+n < hi && u.rows[place+n] == u.rows[place]+int64(n) && u.action(place+n) == u.action(place) {
				n++
			}
			out.AppendRows(u.values[from.at].Slice(place, place+n), nil)
		}
		done, place = row+n, place+n
	}
	if done == 0 {
		return old
	}
	out.AppendRows(old.Slice(done, old.Len), nil)
	return out
}

// withNulls is a column that is null at some rows, which are in ascending order.
func withNulls(v *batch.Vector, rows []int32) *batch.Vector {
	out := batch.NewVector(v.Type, v.Len)
	done := 0
	for _, row := range rows {
		out.AppendRows(v.Slice(done, int(row)), nil)
		out.AppendNull()
		done = int(row) + 1
	}
	out.AppendRows(v.Slice(done, v.Len), nil)
	return out
}
