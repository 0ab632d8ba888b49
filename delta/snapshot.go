package delta

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"lakesql/batch"
	"lakesql/store"
)

// Snapshot is one version of a table. It is immutable and may be shared by goroutines.
type Snapshot struct {
	uri      string
	protocol *Protocol
	metadata *Metadata
	schema   *batch.Schema // nil when schemaErr is set
	shape    *statsShape   // of no columns when schemaErr is set
	files    fileView
	txns     txnSet
	domains  map[string]string // live domainMetadata: domain -> configuration
	own      *ownChanges       // of a transaction's View; nil: none

	schemaErr error
	// newest is the file that made the version: its commit, or a checkpoint whose commit is gone. When it changes, the
	// table has been replaced.
	newest     store.Info
	inCommit   int64 // the in-commit timestamp, in milliseconds since the epoch; 0: none, or not known
	checkpoint int64 // version of the newest checkpoint that is known; -1 none
}

// Version is the snapshot's version, from 0.
func (s *Snapshot) Version() int64 { return s.files.version }

// Timestamp is when the version was committed: as its commit says where the table has in-commit timestamps, else by the store's
// clock.
func (s *Snapshot) Timestamp() time.Time {
	if s.inCommit != 0 {
		return time.UnixMilli(s.inCommit).UTC()
	}
	return s.newest.ModTime
}

// Protocol is the protocol in force. Do not change it.
func (s *Snapshot) Protocol() *Protocol { return s.protocol }

// Metadata is the metadata in force. Do not change it.
func (s *Snapshot) Metadata() *Metadata { return s.metadata }

// Schema is the table's schema, partition columns included, in schema order.
func (s *Snapshot) Schema() *batch.Schema { return s.schema }

// NumFiles is the number of live files.
func (s *Snapshot) NumFiles() int { return s.files.live }

// NumRows is the number of live rows, when every live file has its own in its statistics. It is kept, not counted.
func (s *Snapshot) NumRows() (n int64, known bool) { return s.files.rows, s.files.uncounted == 0 }

// SizeInBytes is the size of the live files together.
func (s *Snapshot) SizeInBytes() int64 { return s.files.bytes }

// TargetFileBytes is how large data files shall be: the table's delta.targetFileSize, or DefaultTargetFileBytes.
func (s *Snapshot) TargetFileBytes() int64 { return targetFileBytes(s.metadata) }

// Txn is the version that the application committed last.
func (s *Snapshot) Txn(appID string) (int64, bool) {
	t, ok := s.txns.get(appID)
	return t.version, ok
}

// File is a live data file of a snapshot.
type File struct {
	Path            string            // key below the table's root, decoded; a path outside of it is kept as its URI
	PartitionValues map[string]string // column -> text as in the log; an absent column is null. Shared: do not change it
	Size            int64             // bytes
	ModTime         time.Time         // as the writer says

	records int64
	ref     statsRef
	extra   *fileExtra
	reader  *statsReader
	shape   *statsShape
}

// Files yields the live files, oldest first. Statistics are cheapest to read in that order.
func (s *Snapshot) Files() iter.Seq[File] {
	return func(yield func(File) bool) {
		touched := s.own.touched()
		for f := range s.files.files(s) {
			if slices.ContainsFunc(touched, func(paths map[string]bool) bool { return paths[f.Path] }) {
				continue
			}
			if !yield(f) {
				return
			}
		}
		if s.own == nil {
			return
		}
		for f := range s.own.all(s) {
			if !yield(f) {
				return
			}
		}
	}
}

// files yields the live files as files of a snapshot.
func (v *fileView) files(s *Snapshot) iter.Seq[File] {
	return func(yield func(File) bool) {
		fileAt := v.fileAt(s)
		for c, i := range v.all() {
			if !yield(fileAt(c, i)) {
				return
			}
		}
	}
}

// fileAt returns what makes files of a snapshot out of their places.
func (v *fileView) fileAt(s *Snapshot) func(c *fileChunk, i int) File {
	reader, names := &statsReader{blocks: v.stats}, newPartitionNames(s.metadata)
	return func(c *fileChunk, i int) File {
		return File{Path: c.path[i], PartitionValues: names.logical(c.partition[i]), Size: c.size[i], ModTime: time.UnixMilli(c.modTime[i]).UTC(),
			records: c.records[i], ref: c.stats[i], extra: c.extra[i], reader: reader, shape: s.shape}
	}
}

// all yields the places of the live files.
func (v *fileView) all() iter.Seq2[*fileChunk, int] {
	return func(yield func(*fileChunk, int) bool) {
		for pos := range v.n {
			c, i := v.chunks[pos/chunkFiles], pos%chunkFiles
			if v.alive(c, i) && !yield(c, i) {
				return
			}
		}
	}
}

// NumRecords is the number of rows, when the file has it in its statistics.
func (f File) NumRecords() (int64, bool) { return f.records, f.records >= 0 }

// Stats parses the file's statistics; nil when the file has none.
func (f File) Stats() (*Stats, error) {
	if f.ref == 0 {
		return nil, nil
	}
	f.reader.mu.Lock()
	defer f.reader.mu.Unlock()
	stats, err := parseStats(f.reader.at(f.ref), f.shape)
	if err != nil {
		return nil, fmt.Errorf("statistics of %s: %w", f.Path, err)
	}
	if f.extra.dvID() != "" { // whatever the writer said
		stats.widen()
	}
	return stats, nil
}

// newSnapshot returns the state before version 0, for a log to be applied to.
func newSnapshot(uri string) *Snapshot {
	return &Snapshot{uri: uri, checkpoint: -1, files: fileView{version: -1}}
}

// apply makes s the state after the commit, whose file actions go to log. s must not be shared yet.
func (s *Snapshot) apply(log *fileLog, c *commit) {
	s.applyState(c)
	s.inCommit = commitTimestamp(c.info)
	log.apply(&s.files, c)
}

// applyState applies all but file actions.
func (s *Snapshot) applyState(c *commit) {
	if c.protocol != nil {
		s.protocol = c.protocol
	}
	if c.metadata != nil {
		s.setMetadata(c.metadata)
	}
	for _, t := range c.txns {
		s.txns = s.txns.with(t.appID, t.txn)
	}
	s.domains = withDomains(s.domains, c.domains)
}

func (s *Snapshot) setMetadata(m *Metadata) {
	s.metadata, s.shape = m, &statsShape{}
	if s.schema, s.schemaErr = parseTableSchema(m); s.schemaErr == nil {
		s.shape = newStatsShape(m, s.schema.Fields)
	}
}

// withDomains returns domains after changes. The map given stays as it is.
func withDomains(domains map[string]string, changes []domainAction) map[string]string {
	if len(changes) == 0 {
		return domains
	}
	out := make(map[string]string, len(domains)+len(changes))
	maps.Copy(out, domains)
	for _, d := range changes {
		if d.removed {
			delete(out, d.domain)
		} else {
			out[d.domain] = d.configuration
		}
	}
	return out
}

// complete checks what every version must have.
func (s *Snapshot) complete() error {
	switch {
	case s.protocol == nil:
		return fmt.Errorf("%w: version %d of %s has no protocol action", ErrCorrupt, s.Version(), s.uri)
	case s.metadata == nil:
		return fmt.Errorf("%w: version %d of %s has no metaData action", ErrCorrupt, s.Version(), s.uri)
	}
	return nil
}

// tombstonesSince is the time, in milliseconds, before which tombstones have expired.
func (s *Snapshot) tombstonesSince(now time.Time) int64 {
	return now.Add(-s.metadata.interval("delta.deletedFileRetentionDuration", defaultTombstoneRetention)).UnixMilli()
}

// txnSet maps applications to what they committed last. It is immutable; with costs what has changed lately, not what
// there is: changes go to a small map first.
type txnSet struct{ base, recent map[string]txn }

const maxRecentTxns = 64

func (t txnSet) get(appID string) (txn, bool) {
	if v, ok := t.recent[appID]; ok {
		return v, true
	}
	v, ok := t.base[appID]
	return v, ok
}

func (t txnSet) with(appID string, v txn) txnSet {
	if len(t.recent) >= maxRecentTxns {
		t.base, t.recent = t.all(), nil
	}
	recent := make(map[string]txn, len(t.recent)+1)
	maps.Copy(recent, t.recent)
	recent[appID] = v
	return txnSet{base: t.base, recent: recent}
}

// all is the whole set as a map of its own.
func (t txnSet) all() map[string]txn {
	out := make(map[string]txn, len(t.base)+len(t.recent))
	maps.Copy(out, t.base)
	maps.Copy(out, t.recent)
	return out
}
