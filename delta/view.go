package delta

import (
	"slices"

	"lakesql/delta/dv"
)

// ownChanges are what a transaction has done to the files of the snapshot that it reads: an overlay, so that the log that
// all snapshots share stays as it is.
type ownChanges struct {
	touched map[string]bool // paths of files of the snapshot that are not to be seen
	files   fileView        // of a log of its own: added files, and touched ones that still have rows
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
	partitions := out.metadata.partitionKeys()
	var own commit
	touched := make(map[string]bool, len(x.files.touched))
	for _, t := range x.files.touched {
		touched[t.file.Path] = true
		out.files.live--
		out.files.bytes -= t.file.Size
		out.files.count(liveRecords(t.file.records, t.file.extra), -1)
		if t.rows != nil {
			own.adds = append(own.adds, pendingAdd(t.file.AddFile(), t.rows, partitions))
		}
	}
	for a := range x.files.live {
		own.adds = append(own.adds, pendingAdd(a.AddFile, a.rows, partitions))
	}
	out.own = &ownChanges{touched, out.filesOf(own.adds)}
	out.files.live += out.own.files.live
	out.files.bytes += out.own.files.bytes
	out.files.rows += out.own.files.rows
	out.files.uncounted += out.own.files.uncounted
	return out
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
