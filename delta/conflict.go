package delta

import (
	"context"
	"fmt"
	"slices"

	"github.com/buger/jsonparser"

	"lakesql/delta/dv"
)

// Delta's classes of conflicts.
const (
	classProtocolChanged        = "DELTA_PROTOCOL_CHANGED"
	classMetadataChanged        = "DELTA_METADATA_CHANGED"
	classConcurrentAppend       = "DELTA_CONCURRENT_APPEND"
	classConcurrentDeleteRead   = "DELTA_CONCURRENT_DELETE_READ"
	classConcurrentDeleteDelete = "DELTA_CONCURRENT_DELETE_DELETE"
	classConcurrentTransaction  = "DELTA_CONCURRENT_TRANSACTION"
)

// winner is a commit that took a version which the transaction wanted.
type winner struct {
	*commit
	uri     string
	removed map[string]*removeAction // by decoded path
	added   map[string]*addAction
}

func newWinner(uri string, c *commit) *winner {
	w := &winner{commit: c, uri: uri, removed: make(map[string]*removeAction, len(c.removes)), added: make(map[string]*addAction, len(c.adds))}
	for i := range c.removes {
		w.removed[decodePath(uri, string(c.removes[i].path))] = &c.removes[i]
	}
	for i := range c.adds {
		w.added[decodePath(uri, string(c.adds[i].path))] = &c.adds[i]
	}
	return w
}

func (w *winner) conflict(class, format string, args ...any) error {
	return &ConflictError{Class: class, Version: w.version, Detail: fmt.Sprintf(format, args...)}
}

// check tells whether a commit that won conflicts with the transaction, and makes the transaction one that may follow on it.
// The order of the checks is Delta's.
func (x *Transaction) check(ctx context.Context, c *commit) error {
	w := newWinner(x.table.st.URI(), c)
	if err := x.checkProtocol(w); err != nil {
		return err
	}
	if err := x.checkMetadata(w); err != nil {
		return err
	}
	for _, d := range w.domains {
		if d.domain != rowTrackingDomain && slices.ContainsFunc(x.domains, func(o domainAction) bool { return o.domain == d.domain }) {
			return w.conflict(classConcurrentTransaction, "a concurrent commit set the domain %s", d.domain)
		}
	}
	for _, t := range w.txns {
		if slices.ContainsFunc(x.txns, func(o txnAction) bool { return o.appID == t.appID }) {
			return &ConflictError{Class: classConcurrentTransaction, Version: w.version, sameApp: true,
				Detail: fmt.Sprintf("a concurrent commit of the application %s wrote its version %d", t.appID, t.version)}
		}
	}
	if err := x.checkAdded(ctx, w); err != nil {
		return err
	}
	if err := x.checkRead(ctx, w); err != nil {
		return err
	}
	if err := x.checkTouched(ctx, w); err != nil {
		return err
	}
	return x.follow(w)
}

// follow makes base the state after the winner, and works out again what depends on it.
func (x *Transaction) follow(w *winner) error {
	next := *x.base
	next.applyState(w.commit)
	next.inCommit, next.files.version = commitTimestamp(w.info), w.version
	x.base = &next
	if w.protocol == nil && w.metadata == nil {
		return nil
	}
	return x.prepare()
}

// checkAdded looks for rows that the transaction would have read. Under WriteSerializable a blind append can be taken to come
// after the transaction, so it is passed over, for as long as nothing follows that may have seen it.
func (x *Transaction) checkAdded(ctx context.Context, w *winner) error {
	if x.blindAppend() || x.isolation() == snapshotIsolation {
		return nil
	}
	if x.isolation() == writeSerializable && x.metadata == nil && isBlindAppend(w.info) {
		x.passedOver = append(x.passedOver, w)
		return nil
	}
	if !w.changesData() {
		return nil
	}
	for _, before := range append(x.passedOver, w) {
		if err := x.checkAdds(ctx, before); err != nil {
			return err
		}
	}
	x.passedOver = nil
	return nil
}

// changesData tells whether the winner did more than to move rows.
func (w *winner) changesData() bool {
	return slices.ContainsFunc(w.adds, func(a addAction) bool { return a.dataChange }) ||
		slices.ContainsFunc(w.removes, func(r removeAction) bool { return r.dataChange })
}

func (x *Transaction) checkAdds(ctx context.Context, w *winner) error {
	adds := slices.DeleteFunc(slices.Clone(w.adds), func(a addAction) bool { return !a.dataChange })
	implied := x.impliedPartitions()
	var recheck []File
	for _, f := range x.base.addedFiles(adds) {
		read := x.reads.matches(f.PartitionValues) || implied[partitionFolder(x.base.metadata.PartitionColumns, f.PartitionValues)]
		if !read && len(x.reads.rechecks) == 0 {
			continue
		}
		if more, err := x.addsRows(ctx, w, f); err != nil {
			return err
		} else if !more {
			continue
		}
		if read {
			return w.conflict(classConcurrentAppend, "file %s was added to what this statement has read", f.Path)
		}
		recheck = append(recheck, f)
	}
	if len(recheck) == 0 {
		return nil
	}
	for _, check := range x.reads.rechecks {
		if match, err := check(ctx, recheck); err != nil {
			return fmt.Errorf("look at what version %d of %s added: %w", w.version, w.uri, err)
		} else if match {
			return w.conflict(classConcurrentAppend, "rows were added that this statement would have changed")
		}
	}
	return nil
}

// impliedPartitions are the folders of the partitions that count as read because nothing was declared; names and values are one to
// one.
func (x *Transaction) impliedPartitions() map[string]bool {
	if len(x.reads.rechecks) > 0 {
		return nil
	}
	columns, out := x.base.metadata.PartitionColumns, make(map[string]bool)
	for _, t := range x.files.touched {
		out[partitionFolder(columns, t.file.PartitionValues)] = true
	}
	for _, f := range x.reads.files {
		out[partitionFolder(columns, f.PartitionValues)] = true
	}
	return out
}

// addsRows tells whether the winner's add of a file brings rows that were not there: not when it only deletes some.
func (x *Transaction) addsRows(ctx context.Context, w *winner, f File) (bool, error) {
	if w.removed[f.Path] == nil {
		return true, nil
	}
	before, after, err := w.vectors(ctx, x.table, f.Path)
	if err != nil {
		return false, err
	}
	before = before.Clone()
	before.AndNot(after)
	return before.Cardinality() > 0, nil
}

// vectors are the deleted rows of a file, that the winner removed and added, before and after it.
func (w *winner) vectors(ctx context.Context, t *Table, path string) (before, after *dv.Bitmap, err error) {
	read := func(e *fileExtra) (*dv.Bitmap, error) {
		if e.vector() == nil {
			return nil, nil
		}
		return t.deletedRows(ctx, path, e.vector())
	}
	if before, err = read(w.removed[path].extra); err != nil {
		return nil, nil, err
	}
	after, err = read(w.added[path].extra)
	return before, after, err
}

// checkRead looks for rows that the transaction has read and that the winner took away. Rows that it only moved are still there for
// those who read whole partitions; whoever knows them by their file loses sight of them.
func (x *Transaction) checkRead(ctx context.Context, w *winner) error {
	if x.reads.none() {
		return nil
	}
	for i, f := range x.base.removedFiles(w.removes) {
		_, read := x.reads.files[f.Path]
		if r := w.removes[i]; !read && r.dataChange {
			read = x.reads.whole || len(x.reads.partitions) > 0 && (!r.extendedFileMetadata || x.reads.matches(f.PartitionValues))
		}
		if rows := x.reads.rows[f.Path]; !read && rows != nil {
			var err error
			if read, err = x.loses(ctx, w, f.Path, rows); err != nil {
				return err
			}
		}
		if read {
			return w.conflict(classConcurrentDeleteRead, "file %s, which this statement has read, was removed", f.Path)
		}
	}
	return nil
}

// loses tells whether the winner deleted one of these rows of a file that it removed.
func (x *Transaction) loses(ctx context.Context, w *winner, path string, rows *dv.Bitmap) (bool, error) {
	if w.added[path] == nil {
		return true, nil
	}
	_, after, err := w.vectors(ctx, x.table, path)
	return after.Intersects(rows), err
}

// checkTouched looks for files that both have changed. Where both only deleted rows, different ones, and the transaction has
// declared on which rows it depends, it goes on from the winner's vector.
func (x *Transaction) checkTouched(ctx context.Context, w *winner) error {
	for _, t := range x.files.touched {
		path := t.file.Path
		removed, added := w.removed[path], w.added[path]
		if removed != nil && (added == nil || t.rows == nil || len(x.reads.rechecks) == 0) {
			return w.conflict(classConcurrentDeleteDelete, "file %s, which this statement changes, was removed by another", path)
		}
		if removed != nil {
			lost, err := x.loses(ctx, w, path, t.rows)
			if err != nil {
				return err
			}
			if lost {
				return w.conflict(classConcurrentDeleteDelete, "rows of file %s, which this statement deletes, were deleted by another", path)
			}
		}
		if added != nil {
			t.file, t.vector = x.base.addedFiles([]addAction{*added})[0], nil
		}
	}
	return nil
}

// isBlindAppend is what the winner says of itself; one that says nothing may have read.
func isBlindAppend(info []byte) bool {
	if info == nil {
		return false
	}
	blind, err := jsonparser.GetBoolean(info, "isBlindAppend")
	return err == nil && blind
}
