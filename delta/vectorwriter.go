package delta

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lakesql/delta/dv"
	"lakesql/store"
)

// maxVectorFileBytes ends a file of deletion vectors: a reader of one vector does not care how many there are, but the
// file can only be deleted when none of them is in use.
const maxVectorFileBytes = 4 << 20

// writeVectors makes the deletion vectors of the transaction durable that have not been written yet.
func (x *Transaction) writeVectors(ctx context.Context) error {
	w := vectorWriter{st: x.table.st}
	defer w.abort()
	for _, t := range x.files.touched {
		if t.rows == nil || t.vector != nil {
			continue
		}
		vector, err := x.writeVector(ctx, &w, t.file.Path, t.file.extra.vector(), t.rows, t.file.records)
		if err != nil {
			return err
		}
		if t.vector = vector; vector == nil {
			t.rows = nil
		}
	}
	for a := range x.files.live {
		if a.rows == nil || a.vector != nil {
			continue
		}
		vector, err := x.writeVector(ctx, &w, a.Path, a.extra.vector(), a.rows, a.NumRecords)
		if err != nil {
			return err
		}
		a.vector, a.dropped = vector, vector == nil
	}
	return w.close(ctx)
}

// writeVector writes the rows of base (nil: none) and pending; nil when they are all records of the file.
func (x *Transaction) writeVector(ctx context.Context, w *vectorWriter, path string, base *deletionVector, pending *dv.Bitmap, records int64) (*deletionVector, error) {
	rows, err := x.table.pendingRows(ctx, path, &deletionVector{base: base, pending: pending})
	if err != nil {
		return nil, err
	}
	if rows.Cardinality() >= records {
		return nil, nil
	}
	d, err := w.add(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("write deleted rows of %s of %s: %w", path, x.table.st.URI(), err)
	}
	return vectorOf(&d), nil
}

// vectorWriter writes vectors into files of a table.
type vectorWriter struct {
	st     store.Store
	key    string
	object store.Writer // nil: no file is open
	file   *dv.Writer
}

func (w *vectorWriter) add(ctx context.Context, rows *dv.Bitmap) (dv.Descriptor, error) {
	if w.object != nil && w.file.Size() >= maxVectorFileBytes {
		if err := w.close(ctx); err != nil {
			return dv.Descriptor{}, err
		}
	}
	if w.object == nil {
		file, err := dv.NewWriter(func(key string) (_ io.Writer, err error) {
			w.key = key
			w.object, err = w.st.Create(ctx, key)
			return w.object, err
		})
		if err != nil {
			return dv.Descriptor{}, err
		}
		w.file = file
	}
	return w.file.Add(rows)
}

// close makes the open file durable and visible.
func (w *vectorWriter) close(ctx context.Context) error {
	if w.object == nil {
		return nil
	}
	object := w.object
	w.object = nil
	return commitNew(ctx, w.st, object, w.key, w.file.Size())
}

// abort drops the open file.
func (w *vectorWriter) abort() {
	if w.object != nil {
		w.object.Abort() // what it leaves behind is a temporary file, which nobody reads
	}
}

// commitNew makes an object durable whose name nobody else can have: if it is there after an unknown outcome, it is ours.
func commitNew(ctx context.Context, st store.Store, object store.Writer, key string, size int64) error {
	err := object.Commit(ctx, true)
	if errors.Is(err, store.ErrAmbiguous) {
		if info, statErr := st.Stat(ctx, key); statErr == nil && info.Size == size {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", key, st.URI(), err)
	}
	return nil
}
