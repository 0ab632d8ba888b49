package catalog

import (
	"context"
	"errors"
	"slices"

	"lakesql/batch"
	"lakesql/delta"
)

// feeds tells whether the table keeps a change data feed.
func feeds(s *delta.Snapshot) bool {
	return s.Metadata().Configuration["delta.enableChangeDataFeed"] == "true"
}

// tracksRows tells whether rows keep their ids when they are moved to other files.
func tracksRows(s *delta.Snapshot) bool {
	return s.Metadata().Configuration["delta.enableRowTracking"] == "true"
}

// changeWriter writes the rows that a statement has changed, or left beside those, to new files of the table, and what it did to them to the
// table's change data feed.
type changeWriter struct {
	t       *table
	tracks  bool
	kept    *delta.FileWriter // of rows that the table had; nil until there are some
	fresh   *delta.FileWriter // of rows that are new
	changes *changeFeed       // nil: the table has no feed
}

func newChangeWriter(t *table) *changeWriter {
	w := &changeWriter{t: t, tracks: tracksRows(t.snap)}
	if feeds(t.snap) {
		w.changes = newChangeFeed(t)
	}
	return w
}

func (w *changeWriter) open(opts delta.FileWriterOptions) (*delta.FileWriter, error) {
	opts.Evaluator = evaluator{w.t.c}
	return delta.NewFileWriter(w.t.handle.Store(), w.t.snap, w.t.snap.Metadata(), opts)
}

// keeper is the writer of rows that the table had.
func (w *changeWriter) keeper() (*delta.FileWriter, error) {
	var err error
	if w.kept == nil {
		w.kept, err = w.open(delta.FileWriterOptions{Rows: delta.ChangedRows, RowIDs: w.tracks})
	}
	return w.kept, err
}

// checks tells whether the table has conditions that a row may not meet.
func (w *changeWriter) checks() (bool, error) {
	files, err := w.keeper()
	return err == nil && files.Checks(), err
}

// check looks whether keep would take the selected rows of a batch.
func (w *changeWriter) check(ctx context.Context, b *batch.Batch) error {
	files, err := w.keeper()
	if err == nil {
		_, err = files.Complete(ctx, b)
	}
	return err
}

// keep writes the selected rows of a batch, which the table had before; those in updated have changed. The columns are the table's,
// and with tracked rows the ids behind them; one that is nil is worked out by the table's rules.
func (w *changeWriter) keep(ctx context.Context, b *batch.Batch, updated []int32) error {
	if b.Rows() == 0 {
		return nil
	}
	files, err := w.keeper()
	if err != nil {
		return err
	}
	if b, err = files.Complete(ctx, b); err != nil {
		return err
	}
	if err := files.WriteComplete(ctx, b); err != nil {
		return err
	}
	return w.changes.add(ctx, b, updated, delta.ChangeUpdateTo)
}

// insert writes the selected rows of a batch as new ones.
func (w *changeWriter) insert(ctx context.Context, b *batch.Batch) error {
	if b.Rows() == 0 {
		return nil
	}
	var err error
	if w.fresh == nil {
		if w.fresh, err = w.open(delta.FileWriterOptions{}); err != nil {
			return err
		}
	}
	if b, err = w.fresh.Complete(ctx, b); err != nil {
		return err
	}
	if err := w.fresh.WriteComplete(ctx, b); err != nil {
		return err
	}
	return w.changes.add(ctx, b, selection(b), delta.ChangeInsert)
}

// close makes the files durable.
func (w *changeWriter) close(ctx context.Context) (adds, changes []delta.AddFile, err error) {
	for _, files := range []**delta.FileWriter{&w.kept, &w.fresh} {
		if *files == nil {
			continue
		}
		more, err := (*files).Close(ctx)
		if err != nil {
			return adds, changes, err
		}
		*files = nil
		adds = append(adds, more...)
	}
	changes, err = w.changes.close(ctx)
	return adds, changes, err
}

// abort drops what is not durable.
func (w *changeWriter) abort() error {
	var all []error
	for _, files := range []*delta.FileWriter{w.kept, w.fresh} {
		if files != nil {
			all = append(all, files.Abort())
		}
	}
	return errors.Join(append(all, w.changes.abort())...)
}

// changeFeed writes files of the change data feed. The nil one writes nothing.
type changeFeed struct {
	t     *table
	files *delta.FileWriter // nil until there is a row
}

func newChangeFeed(t *table) *changeFeed { return &changeFeed{t: t} }

// add writes rows of a batch that has the table's columns, and perhaps more behind them.
func (f *changeFeed) add(ctx context.Context, b *batch.Batch, rows []int32, kind string) error {
	if f == nil || len(rows) == 0 {
		return nil
	}
	if f.files == nil {
		var err error
		f.files, err = delta.NewFileWriter(f.t.handle.Store(), f.t.snap, f.t.snap.Metadata(), delta.FileWriterOptions{Change: true})
		if err != nil {
			return err
		}
	}
	n := len(f.t.snap.Schema().Fields)
	value := batch.NewVector(delta.ChangeTypeField.Type, 1)
	value.AppendString(kind)
	kinds := &batch.Vector{Type: delta.ChangeTypeField.Type, Len: b.Len, Dict: value, Codes: make([]uint32, b.Len)}
	return f.files.Write(ctx, &batch.Batch{Cols: append(slices.Clone(b.Cols[:n]), kinds), Len: b.Len, Sel: rows})
}

func (f *changeFeed) close(ctx context.Context) ([]delta.AddFile, error) {
	if f == nil || f.files == nil {
		return nil, nil
	}
	files := f.files
	f.files = nil
	return files.Close(ctx)
}

func (f *changeFeed) abort() error {
	if f == nil || f.files == nil {
		return nil
	}
	return f.files.Abort()
}

// selection are the selected rows of a batch.
func selection(b *batch.Batch) []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	out := make([]int32, b.Len)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}
