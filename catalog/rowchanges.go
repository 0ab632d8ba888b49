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
	"lakesql/delta"
	"lakesql/vector"
)

// actionKind is what happens to a row.
type actionKind uint8

const (
	updateRows actionKind = iota
	deleteRows
)

// What a row of an update takes a column from, besides a value's position.
const (
	unchanged  = -1 - iota
	recomputed // by the writer: generated columns
)

// rowAction is what happens to the rows of one SET, or of one WHEN of MERGE.
type rowAction struct {
	kind    actionKind
	sources []int         // for each column of the table: the position of its value, or unchanged, or recomputed
	fields  []batch.Field // of the values
}

// changeCounts are rows, as MySQL and Delta's history count them.
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
	actions []rowAction
	ordered bool
	compare bool // rows whose values are what they were before do not change
	// wholeFiles: all rows that the SELECT gives are deleted, so that files may be decided without being read.
	wholeFiles bool
	counts     changeCounts
	started    time.Time

	files  map[int64]*fileChanges // by number; one at the most when ordered
	next   func() (int64, delta.File, bool)
	stop   func()
	writer *tableWriter // of rewritten rows; nil until there are some
}

func newRowChanges(w *tableWrite, actions []rowAction) *rowChanges {
	return &rowChanges{w: w, actions: actions, files: make(map[int64]*fileChanges), started: time.Now()}
}

// valueFields are the columns of the rows behind the address.
func (r *rowChanges) valueFields() []batch.Field {
	var out []batch.Field
	for _, a := range r.actions {
		out = append(out, a.fields...)
	}
	return out
}

// run takes all rows of an operator, whose columns are the address, with several actions the number of the action, and the values.
func (r *rowChanges) run(ctx *sql.Context, rows vector.Operator) error {
	defer r.close()
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := r.take(ctx, b); err != nil {
			return err
		}
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	return r.finish(ctx)
}

// take sorts the rows of a batch by file.
func (r *rowChanges) take(ctx *sql.Context, b *batch.Batch) error {
	numbers, positions, values := b.Cols[0].Decode(), b.Cols[1].Decode(), b.Cols[2:]
	var f *fileChanges
	for i := range b.Rows() {
		row := b.Row(i)
		number, at := numbers.I64[row], positions.I64[row]
		if f == nil || f.number != number {
			var err error
			if f, err = r.file(ctx, number); err != nil {
				return err
			}
		}
		f.add(r.actions[0], at, values, row) // one that a join gives twice is changed once
	}
	return nil
}

// file are the changes of a file. When rows are ordered, the changes of the file before are applied.
func (r *rowChanges) file(ctx *sql.Context, number int64) (*fileChanges, error) {
	if f := r.files[number]; f != nil {
		return f, nil
	}
	if r.ordered {
		if err := r.flush(ctx); err != nil {
			return nil, err
		}
	}
	f := newFileChanges(number, r.valueFields())
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
	if r.writer == nil {
		return nil
	}
	files, err := r.writer.Close(ctx)
	if err != nil {
		return err
	}
	r.writer = nil
	r.w.adds = append(r.w.adds, files...)
	r.counts.addedFiles += int64(len(files))
	return nil
}

// close drops what was not finished.
func (r *rowChanges) close() {
	if r.writer != nil {
		r.writer.Abort()
		r.writer = nil
	}
	if r.stop != nil {
		r.stop()
	}
}

// write adds rows of the table to the files that will replace those with changes.
func (r *rowChanges) write(ctx *sql.Context, b *batch.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	if r.writer == nil {
		var err error
		if r.writer, err = r.w.t.newWriter(delta.ChangedRows); err != nil {
			return err
		}
	}
	return r.writer.Write(ctx, b)
}

// operation is the statement in the table's history.
func (r *rowChanges) operation(name string, parameters map[string]string) delta.Operation {
	n := r.counts
	metrics := map[string]int64{
		"numAddedFiles": n.addedFiles, "numRemovedFiles": n.removedFiles, "numCopiedRows": n.copied,
		"numDeletionVectorsAdded": n.vectors, "numAddedChangeFiles": int64(len(r.w.changes)), "executionTimeMs": time.Since(r.started).Milliseconds(),
	}
	switch name {
	case "UPDATE":
		metrics["numUpdatedRows"] = n.updated
	case "DELETE":
		metrics["numDeletedRows"] = n.deleted
	}
	op := delta.Operation{Name: name, Parameters: parameters, Metrics: make(map[string]string)}
	for k, v := range metrics {
		op.Metrics[k] = strconv.FormatInt(v, 10)
	}
	return op
}
