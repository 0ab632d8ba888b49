package catalog

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/delta/dv"
	"lakesql/vector"
)

// changeCounts are rows, as MySQL and Delta's history count them, and files.
type changeCounts struct {
	matched, updated, deleted, inserted, copied int64
	addedFiles, removedFiles, vectors           int64
}

// rowChanges applies changes of rows, named by their addresses, to the files of a table. By copy-on-write a file with changes is written
// anew; where the table has deletion vectors, its changed rows are deleted in place and written elsewhere.
//
// Rows come in the order of their addresses (ordered), and then a file is changed as soon as the next one begins; or in any order, and then
// addresses and values are kept until all have come.
type rowChanges struct {
	w       *tableWrite
	out     *changeWriter
	actions []rowAction
	values  []batch.Field // that the SELECT computes
	ordered bool
	compare bool // rows whose values are what they were before do not change
	ignore  bool // rows that a CHECK refuses stay as they are
	// wholeFiles: all rows that the SELECT gives are deleted, so that files may be decided without being read.
	wholeFiles bool
	// source is MERGE's. Then the SELECT has the number of the source's row, and of the action, between address and values; both may be null.
	source  *sourceRows
	used    dv.Bitmap // the rows of the source that match a row of the table
	twiceOK bool      // a row may be changed by several rows of the source
	counts  changeCounts
	started time.Time

	files map[int64]*fileUpdates // by number; one at the most when ordered
	kept  int64                  // bytes of values in files
	next  func() (int64, delta.File, bool)
	stop  func()
}

func newRowChanges(w *tableWrite, actions []rowAction, values []batch.Field) *rowChanges {
	return &rowChanges{w: w, out: newChangeWriter(w.t), actions: actions, values: values, files: make(map[int64]*fileUpdates), started: time.Now()}
}

// mergeFields are the columns between the address and the values in the SELECT of MERGE.
var mergeFields = []batch.Field{
	{Name: sourceNumber, Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	{Name: "_lakesql_action", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
}

// sourceNumber is the column of MERGE's source that has the number of the row.
const sourceNumber = "_lakesql_source"

// schema is that of the SELECT.
func (r *rowChanges) schema() *batch.Schema {
	fields := slices.Clone(addressFields)
	if r.source != nil {
		fields = append(fields, mergeFields...)
	}
	return batch.NewSchema(append(fields, r.values...)...)
}

// run takes all rows of an operator with the columns of schema.
func (r *rowChanges) run(ctx *sql.Context, rows vector.Operator) (err error) {
	if s, ok := ctx.Session.(compile.Rationed); ok && r.ordered {
		rows = vector.NewUnparted(rows, []int{0, 1}, s.StatementBudget(ctx))
		defer func() { err = errors.Join(err, rows.Close()) }()
	}
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r.flush(ctx)
		}
		if err != nil {
			return err
		}
		if err := r.take(ctx, b); err != nil {
			return err
		}
	}
}

// take sorts the rows of a batch by file.
func (r *rowChanges) take(ctx *sql.Context, b *batch.Batch) error {
	numbers, positions := b.Cols[0].Decode(), b.Cols[1].Decode()
	values := b.Cols[len(b.Cols)-len(r.values):]
	if r.source != nil {
		b.Cols[2], b.Cols[3] = b.Cols[2].Decode(), b.Cols[3].Decode()
	}
	var f *fileUpdates
	for i := range b.Rows() {
		row := b.Row(i)
		if number := numbers.I64[row]; f == nil || f.number != number {
			var err error
			if f, err = r.file(ctx, number); err != nil {
				return err
			}
		}
		if err := r.add(f, b, positions.I64[row], row, values); err != nil {
			return err
		}
	}
	return nil
}

// add takes a row of a batch.
func (r *rowChanges) add(f *fileUpdates, b *batch.Batch, at int64, row int, values []*batch.Vector) error {
	first := f.match(at)
	action := 0
	if r.source != nil {
		if number := b.Cols[2]; !number.IsNull(row) {
			r.used.Add(number.I64[row])
		}
		if b.Cols[3].IsNull(row) {
			return nil
		}
		action = int(b.Cols[3].I64[row])
		if first = !f.acted.Contains(at); !first && !r.twiceOK {
			return refuse(KindInvalid, "[DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE] several rows of the source match one row of %s.%s, and which of them shall "+
				"change it is not said; let the source have one row for each, with GROUP BY or a condition", r.w.t.database, r.w.t.name)
		}
		f.acted.Add(at)
	}
	if !first { // a row that a join gives twice is changed once
		return nil
	}
	if r.actions[action].kind == deleteRows {
		f.deleted.Add(at)
		return nil
	}
	u := &f.updates
	u.rows = append(u.rows, at)
	if r.source != nil {
		u.actions = append(u.actions, uint8(action))
		u.sources = append(u.sources, numberAt(b.Cols[2], row))
	}
	for c, v := range u.values {
		v.AppendFrom(values[c], row)
		r.kept += valueBytes(v)
	}
	if r.kept > maxKeptBytes {
		return refuse(KindInvalid, "the statement changes more rows than fit into memory (%d bytes of new values) because a join gives them in no order; "+
			"change them in parts, by a condition on the table", r.kept)
	}
	return nil
}

func numberAt(v *batch.Vector, row int) int64 {
	if v.IsNull(row) {
		return -1
	}
	return v.I64[row]
}

// maxKeptBytes bounds the new values that wait for their files to be complete.
const maxKeptBytes = 2 << 30

// valueBytes is about what the last row of a vector holds.
func valueBytes(v *batch.Vector) int64 {
	if v.Type.Layout() == batch.LayoutBytes && v.Dict == nil {
		return int64(v.Off[v.Len]-v.Off[v.Len-1]) + 4
	}
	return 8
}

// file are the changes of a file. When rows are ordered, the changes of the file before are applied.
func (r *rowChanges) file(ctx *sql.Context, number int64) (*fileUpdates, error) {
	if f := r.files[number]; f != nil {
		return f, nil
	}
	if r.ordered {
		if err := r.flush(ctx); err != nil {
			return nil, err
		}
	}
	f := newFileUpdates(number, r.values)
	r.files[number] = f
	return f, nil
}

// flush applies the changes that are kept.
func (r *rowChanges) flush(ctx *sql.Context) error {
	for _, number := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[number]
		delete(r.files, number)
		var err error
		if f.file, err = r.fileAt(number); err != nil {
			return err
		}
		if err := r.apply(ctx, f); err != nil {
			return err
		}
	}
	r.kept = 0
	return nil
}

// fileAt goes on to the file of a number: they are asked for in ascending order.
func (r *rowChanges) fileAt(number int64) (delta.File, error) {
	if r.next == nil {
		r.next, r.stop = iter.Pull2(vector.Numbered(r.w.t.snap))
	}
	for {
		n, f, ok := r.next()
		switch {
		case !ok || n > number:
			return f, fmt.Errorf("change %s.%s: the rows do not come in the order of their addresses: file %d", r.w.t.database, r.w.t.name, number)
		case n == number:
			return f, nil
		}
	}
}

// finish makes what was written durable.
func (r *rowChanges) finish(ctx *sql.Context) error {
	adds, changes, err := r.out.close(ctx)
	r.w.adds, r.w.changes = append(r.w.adds, adds...), append(r.w.changes, changes...)
	r.counts.addedFiles += int64(len(adds))
	return err
}

// close drops what was not finished.
func (r *rowChanges) close() error {
	if r.stop != nil {
		r.stop()
	}
	return r.out.abort()
}

// operation is the statement in the table's history.
func (r *rowChanges) operation(name string, parameters map[string]string) delta.Operation {
	n, ms := r.counts, time.Since(r.started).Milliseconds()
	metrics := map[string]int64{
		"numAddedFiles": n.addedFiles, "numRemovedFiles": n.removedFiles, "numCopiedRows": n.copied,
		"numDeletionVectorsAdded": n.vectors, "numAddedChangeFiles": int64(len(r.w.changes)), "executionTimeMs": ms,
	}
	switch name {
	case "UPDATE":
		metrics["numUpdatedRows"] = n.updated
	case "DELETE":
		metrics["numDeletedRows"] = n.deleted
	case "MERGE":
		metrics = map[string]int64{
			"numSourceRows": r.source.rows, "numTargetRowsInserted": n.inserted, "numTargetRowsUpdated": n.updated, "numTargetRowsDeleted": n.deleted,
			"numTargetRowsCopied": n.copied, "numOutputRows": n.inserted + n.updated + n.copied, "numTargetFilesAdded": n.addedFiles,
			"numTargetFilesRemoved": n.removedFiles, "numTargetChangeFilesAdded": int64(len(r.w.changes)),
			"numTargetDeletionVectorsAdded": n.vectors, "executionTimeMs": ms,
		}
	}
	op := delta.Operation{Name: name, Parameters: parameters, Metrics: make(map[string]string)}
	for k, v := range metrics {
		op.Metrics[k] = strconv.FormatInt(v, 10)
	}
	return op
}
