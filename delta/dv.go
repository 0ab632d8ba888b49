package delta

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"lakesql/delta/dv"
	"lakesql/store"
)

// DeletionVector describes the rows of the file that are deleted; nil: none are. In a Transaction's View its StorageType is
// "" when the transaction itself deletes some of them.
func (f File) DeletionVector() *dv.Descriptor {
	if f.extra == nil || f.extra.dv == nil {
		return nil
	}
	return f.extra.dv.descriptor()
}

// vectorOf is the vector that a descriptor describes; nil for nil.
func vectorOf(d *dv.Descriptor) *deletionVector {
	if d == nil {
		return nil
	}
	return &deletionVector{storageType: d.StorageType, pathOrInlineDv: d.PathOrInline, offset: d.Offset, sizeInBytes: d.SizeInBytes, cardinality: d.Cardinality}
}

func (d *deletionVector) descriptor() *dv.Descriptor {
	return &dv.Descriptor{StorageType: d.storageType, PathOrInline: d.pathOrInlineDv, Offset: d.offset, SizeInBytes: d.sizeInBytes, Cardinality: d.cardinality}
}

// NumLiveRecords is the number of rows that are not deleted, when the file has its number of rows in its statistics.
func (f File) NumLiveRecords() (int64, bool) {
	n := liveRecords(f.records, f.extra)
	return n, n >= 0
}

// liveRecords is how many of a file's rows are not deleted; -1 when the number of rows is not known, or less than what is deleted.
func liveRecords(records int64, extra *fileExtra) int64 {
	if records < 0 {
		return -1
	}
	return max(records-extra.deletedRows(), -1)
}

// BaseRowID is the id of the row at position 0, where the table tracks rows and the file does not say it row by row.
func (f File) BaseRowID() (int64, bool) {
	if f.extra == nil || f.extra.baseRowID == nil {
		return 0, false
	}
	return *f.extra.baseRowID, true
}

// DefaultRowCommitVersion is the version that changed the file's rows last, where it does not say it row by row.
func (f File) DefaultRowCommitVersion() (int64, bool) {
	if f.extra == nil || f.extra.defaultRowCommitVersion == nil {
		return 0, false
	}
	return *f.extra.defaultRowCommitVersion, true
}

// DeletedRows reads the rows of a file that are deleted, by their physical position; nil when none are. The set is shared: do
// not change it. A vector that breaks the protocol is an ErrCorrupt that names the file.
func (t *Table) DeletedRows(ctx context.Context, f File) (*dv.Bitmap, error) {
	if f.extra == nil || f.extra.dv == nil {
		return nil, nil
	}
	return t.deletedRows(ctx, f.Path, f.extra.dv)
}

func (t *Table) deletedRows(ctx context.Context, file string, vector *deletionVector) (*dv.Bitmap, error) {
	if vector.pending != nil {
		return t.pendingRows(ctx, file, vector)
	}
	d := vector.descriptor()
	if rows := t.vectors.get(d.ID()); rows != nil {
		return rows, nil
	}
	rows, err := t.readVector(ctx, *d)
	if errors.Is(err, dv.ErrDamaged) {
		return nil, fmt.Errorf("%w: deleted rows of %s of %s: %w", ErrCorrupt, file, t.st.URI(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("deleted rows of %s of %s: %w", file, t.st.URI(), err)
	}
	t.vectors.put(d.ID(), rows, int64(d.SizeInBytes))
	return rows, nil
}

// pendingRows are the rows that are deleted in the table and those that a transaction deletes.
func (t *Table) pendingRows(ctx context.Context, file string, vector *deletionVector) (*dv.Bitmap, error) {
	if vector.base == nil {
		return vector.pending, nil
	}
	base, err := t.deletedRows(ctx, file, vector.base)
	if err != nil {
		return nil, err
	}
	out := base.Clone()
	out.Or(vector.pending)
	return out, nil
}

func (t *Table) readVector(ctx context.Context, d dv.Descriptor) (*dv.Bitmap, error) {
	name, absolute, err := d.Path()
	if err != nil {
		return nil, err
	}
	if absolute {
		name = decodePath(t.st.URI(), name)
	}
	rows, err := t.readVectorIn(ctx, d, name)
	if errors.Is(err, store.ErrNotFound) && !absolute {
		folder, base := path.Split(name)
		if again, testErr := t.readVectorIn(ctx, d, folder+sparkTestPrefix+base); !errors.Is(testErr, store.ErrNotFound) {
			return again, testErr
		}
	}
	return rows, err
}

// sparkTestPrefix is what Spark puts in front of the names of vectors' files when it runs as a test, without a word of it in
// the log. Tables that were made so are passed around.
const sparkTestPrefix = "test%dv%prefix-"

// readVectorIn reads the vector from a file, whose path is as File.Path is.
func (t *Table) readVectorIn(ctx context.Context, d dv.Descriptor, file string) (*dv.Bitmap, error) {
	return dv.Read(ctx, d, func(ctx context.Context, off, n int64) ([]byte, error) {
		st, key, err := t.Locate(file)
		if err != nil {
			return nil, err
		}
		return st.GetRange(ctx, key, off, n)
	})
}

// maxCachedVectorBytes bounds the deletion vectors that a Table keeps, in the size of their files.
const maxCachedVectorBytes = 8 << 20

// vectorCache keeps the vectors that were read last. They never change under their id.
type vectorCache struct {
	mu    sync.Mutex
	rows  map[string]cachedVector // guarded by mu
	order []string                // guarded by mu; the ids, oldest first
	bytes int64                   // guarded by mu
}

type cachedVector struct {
	rows  *dv.Bitmap
	bytes int64
}

func (c *vectorCache) get(id string) *dv.Bitmap {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows[id].rows
}

func (c *vectorCache) put(id string, rows *dv.Bitmap, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, had := c.rows[id]; had || bytes > maxCachedVectorBytes {
		return
	}
	if c.rows == nil {
		c.rows = make(map[string]cachedVector)
	}
	c.rows[id], c.order, c.bytes = cachedVector{rows, bytes}, append(c.order, id), c.bytes+bytes
	for c.bytes > maxCachedVectorBytes {
		c.bytes -= c.rows[c.order[0]].bytes
		delete(c.rows, c.order[0])
		c.order = c.order[1:]
	}
}
