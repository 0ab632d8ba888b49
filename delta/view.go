package delta

import (
	"iter"
	"maps"
	"slices"

	"lakesql/delta/dv"
)

// ownChanges are what a transaction has done to the files of the snapshot that it reads: an overlay, so that the log that
// all snapshots share stays as it is. It is immutable.
//
// Each View adds a layer with what has changed since the one before. A layer that has become as large as the one below is merged with it, as
// in a log-structured tree: so a statement costs what it changes, not what its transaction has done before, and there are few layers.
type ownChanges struct{ layers []ownLayer }

// ownLayer hides files below it, and has files of its own.
type ownLayer struct {
	touched map[string]bool // paths of files of the snapshot that are not to be seen; nil: none
	hidden  map[string]bool // paths of files of the layers below that are not to be seen; nil: none
	own     []ownFile
	files   fileView // own, in a log that nobody else has
}

// ownFile is a file that the transaction has added, or has left rows of.
type ownFile struct {
	path string
	add  addAction
}

// size is what merging the layer costs.
func (l *ownLayer) size() int { return len(l.touched) + len(l.hidden) + len(l.own) }

// with returns the changes with one more layer.
func (o *ownChanges) with(s *Snapshot, top ownLayer) *ownChanges {
	var layers []ownLayer
	if o != nil {
		layers = slices.Clone(o.layers)
	}
	for len(layers) > 0 && layers[len(layers)-1].size() <= 2*top.size() {
		top = layers[len(layers)-1].under(top)
		layers = layers[:len(layers)-1]
	}
	if len(layers) == 0 {
		top.hidden = nil
	}
	adds := make([]addAction, len(top.own))
	for i, f := range top.own {
		adds[i] = f.add
	}
	top.files = s.filesOf(adds)
	return &ownChanges{append(layers, top)}
}

// under is the layer and the one above it as one.
func (l ownLayer) under(above ownLayer) ownLayer {
	out := ownLayer{touched: unionOf(l.touched, above.touched), hidden: unionOf(l.hidden, above.hidden)}
	for _, f := range l.own {
		if !above.hidden[f.path] {
			out.own = append(out.own, f)
		}
	}
	out.own = append(out.own, above.own...)
	return out
}

func unionOf(a, b map[string]bool) map[string]bool {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]bool, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// touched are the sets of files of the snapshot that are not to be seen; none for nil.
func (o *ownChanges) touched() []map[string]bool {
	var out []map[string]bool
	if o == nil {
		return nil
	}
	for _, l := range o.layers {
		if len(l.touched) > 0 {
			out = append(out, l.touched)
		}
	}
	return out
}

// all yields the files that are to be seen, as files of a snapshot.
func (o *ownChanges) all(s *Snapshot) iter.Seq[File] {
	return func(yield func(File) bool) {
		for i, l := range o.layers {
			for f := range l.files.files(s) {
				if slices.ContainsFunc(o.layers[i+1:], func(above ownLayer) bool { return above.hidden[f.Path] }) {
					continue
				}
				if !yield(f) {
					return
				}
			}
		}
	}
}

// View is the snapshot that the transaction began with, after what the transaction has done so far: what its next statement
// sees. It stays as it is when the transaction goes on. Its version is that of the snapshot.
func (x *Transaction) View() *Snapshot {
	next := *x
	if next.advanceIdentity() != nil { // Commit says what is wrong
		next = *x
	}
	out := next.after()
	out.domains = withDomains(out.domains, x.domains)
	for _, t := range x.txns {
		out.txns = out.txns.with(t.appID, t.txn)
	}
	x.own = x.own.with(out, x.files.changed(out.metadata.partitionKeys()))
	x.files.unseen = nil
	out.own = x.own
	for _, t := range x.files.touched {
		out.files.live--
		out.files.bytes -= t.file.Size
		out.files.count(liveRecords(t.file.records, t.file.extra), -1)
		if t.rows != nil {
			out.files.live++
			out.files.bytes += t.file.Size
			out.files.count(liveRecords(t.file.records, t.file.extra)-t.rows.Cardinality(), 1)
		}
	}
	for a := range x.files.live {
		out.files.live++
		out.files.bytes += a.Size
		out.files.count(liveRecords(a.records, a.extra)-a.rows.Cardinality(), 1)
	}
	return out
}

// changed is the layer of what no View has shown yet.
func (c *fileChanges) changed(partitions []partitionKey) ownLayer {
	l := ownLayer{touched: make(map[string]bool), hidden: make(map[string]bool, len(c.unseen))}
	for _, path := range c.unseen {
		if l.hidden[path] {
			continue
		}
		l.hidden[path] = true
		if t := c.byPath.touched[path]; t != nil {
			l.touched[path] = true
			if t.rows != nil {
				l.own = append(l.own, ownFile{path, pendingAdd(t.file.AddFile(), t.rows, partitions)})
			}
		}
		if a := c.own(path); a != nil {
			l.own = append(l.own, ownFile{path, pendingAdd(a.AddFile, a.rows, partitions)})
		}
	}
	return l
}

// pendingAdd is the action of a file some of whose rows have been deleted; rows may be nil.
func pendingAdd(f AddFile, rows *dv.Bitmap, partitions []partitionKey) addAction {
	a := addAction{path: []byte(encodePath(f.Path)), partition: storedPartition(f.PartitionValues, partitions),
		size: f.Size, modTime: f.ModTime.UnixMilli(), stats: []byte(f.Stats), extra: f.extra}
	if rows != nil {
		base := f.extra.vector()
		a.extra = f.extra.withVector(&deletionVector{base: base, pending: rows, cardinality: f.extra.deletedRows() + rows.Cardinality()})
	}
	return a
}

// filesOf puts files into a log that nobody else has.
func (s *Snapshot) filesOf(adds []addAction) fileView {
	view := fileView{version: s.Version()}
	newFileLog(s.uri).applyCheckpoint(&view, &commit{version: s.Version(), adds: adds})
	return view
}

// addedFiles are the files that a commit adds, as files of the snapshot.
func (s *Snapshot) addedFiles(adds []addAction) []File {
	only := *s
	only.files, only.own = s.filesOf(adds), nil
	return slices.Collect(only.Files())
}
