package delta

import (
	"errors"
	"fmt"
	"slices"

	"lakesql/delta/dv"
)

// Transaction collects the actions of one commit: of one statement or of several, each of which sees what those before it did
// through View. It belongs to one goroutine, and Commit is called once.
//
// What a statement depends on must be declared, or a concurrent commit may slip in between what it read and what it wrote:
// by Recheck where it is the rows that satisfy a predicate, by ReadPartitions, ReadFiles and ReadWholeTable where it is
// every row of these. Of files that are removed or changed without any declaration, all rows of their partitions count as read.
type Transaction struct {
	table     *Table
	read      *Snapshot // nil: the table is to be created
	metadata  *Metadata // nil: not changed. With wishes about the protocol among its properties
	protocol  *Protocol // nil: not changed
	files     fileChanges
	own       *ownChanges // of the last View; nil: none
	changes   []AddFile   // of the change data feed
	txns      []txnAction
	domains   []domainAction
	dropped   []string // features
	rearrange bool
	reads     readSet

	// base is the version that the commit is to follow, without its files: first read, then what the winners have made of it.
	base       *Snapshot
	passedOver []*winner // blind appends that can be taken to come after the transaction
	idsLost    bool      // rows that were moved have new ids: row tracking began while they were
}

// Begin starts a transaction on top of read; nil creates the table as version 0, which needs SetMetadata.
func (t *Table) Begin(read *Snapshot) *Transaction {
	x := &Transaction{table: t, read: read, base: read}
	if read == nil {
		x.base = newSnapshot(t.st.URI())
	}
	return x
}

// SetMetadata replaces the table's metadata. On a table that exists, the id stays what it was, and metadata that equal the
// present ones write nothing: metaData is a conflict for every other writer.
func (x *Transaction) SetMetadata(m *Metadata) {
	x.own = nil // partition values may have other names
	x.files.unsee()
	next := *m
	if x.read != nil {
		next.ID, next.CreatedTime = x.read.metadata.ID, x.read.metadata.CreatedTime
		if next.Equal(x.read.metadata) {
			x.metadata = nil
			return
		}
	}
	x.metadata = &next
}

// Add adds data files.
func (x *Transaction) Add(files ...AddFile) {
	for _, f := range files {
		x.files.add(f)
	}
}

// Remove removes files: of the snapshot that the transaction began with, or of its View.
func (x *Transaction) Remove(files ...File) {
	for _, f := range files {
		x.files.remove(f)
	}
}

// CanDeleteRows tells whether rows of the file may be deleted by a deletion vector: the table has to allow new ones, and the
// number of the file's rows has to be known. Else the file is rewritten.
func (x *Transaction) CanDeleteRows(f File) bool {
	_, known := f.NumRecords()
	return known && x.base.deletionVectors()
}

// deletionVectors tells whether new deletion vectors may be written.
func (s *Snapshot) deletionVectors() bool {
	return s.metadata != nil && s.metadata.on("delta.enableDeletionVectors") && s.protocol.Supports("deletionVectors")
}

// DeleteRows deletes rows of a file of the snapshot or of View, by their physical position. They are live there: neither
// deleted in the table nor by the transaction. A file without any row left is removed. It needs CanDeleteRows.
func (x *Transaction) DeleteRows(f File, rows *dv.Bitmap) error {
	if !x.CanDeleteRows(f) {
		return fmt.Errorf("rows of %s of %s cannot be deleted by a deletion vector: set delta.enableDeletionVectors, or rewrite the file", f.Path, x.base.uri)
	}
	if rows.Cardinality() == 0 {
		return nil
	}
	if n, _ := f.NumRecords(); rows.Max() >= n {
		return fmt.Errorf("row %d of %s of %s cannot be deleted: it has %d rows", rows.Max(), f.Path, x.base.uri, n)
	}
	return x.files.deleteRows(f, rows)
}

// AddChange adds change files, which say row by row what the commit changes. The table must have its change data feed on. Readers
// of a commit that has change files look at nothing else, so these must tell all; without any, rows of added files count
// as inserted, and rows that are gone as deleted.
func (x *Transaction) AddChange(files ...AddFile) { x.changes = append(x.changes, files...) }

// SetTxn records that the application has committed its version. It is also a read of that application's version: a
// concurrent commit of the same application is ErrConcurrentTxn.
func (x *Transaction) SetTxn(appID string, version int64) {
	x.txns = append(x.txns, txnAction{appID, txn{version: version}})
}

// SetDomain sets the configuration of a domain. A concurrent commit that sets the same domain is a conflict.
func (x *Transaction) SetDomain(domain, configuration string) {
	x.setDomain(domainAction{domain: domain, configuration: configuration})
}

func (x *Transaction) setDomain(d domainAction) {
	x.domains = slices.DeleteFunc(x.domains, func(o domainAction) bool { return o.domain == d.domain })
	x.domains = append(x.domains, d)
}

// Rearrange says that the files added hold the very rows of those removed, as after OPTIMIZE: nobody who reads the table, or its
// changes, sees a difference. Such a commit conflicts only with commits that change files which it removes.
func (x *Transaction) Rearrange() { x.rearrange = true }

// ReadWholeTable says that the transaction depends on every row of the table.
func (x *Transaction) ReadWholeTable() { x.reads.whole = true }

// ReadFiles says that the transaction depends on every row of these files.
func (x *Transaction) ReadFiles(files ...File) {
	if x.reads.files == nil {
		x.reads.files = make(map[string]File)
	}
	for _, f := range files {
		x.reads.files[f.Path] = f
	}
}

// ReadRows says that the transaction depends on rows of a file that it leaves as they are: a MERGE that inserts what is not
// matched depends on the rows that are. Rows that it deletes need not be named.
func (x *Transaction) ReadRows(f File, rows *dv.Bitmap) {
	if x.reads.rows == nil {
		x.reads.rows = make(map[string]*dv.Bitmap)
	}
	x.reads.rows[f.Path] = union(x.reads.rows[f.Path], rows)
}

// ReadPartitions says that the transaction depends on every row of the partitions that match. values maps partition columns to
// texts, as in File.PartitionValues.
func (x *Transaction) ReadPartitions(match func(values map[string]string) bool) {
	x.reads.partitions = append(x.reads.partitions, match)
}

// Recheck says that the transaction depends on the rows that satisfy a predicate, on each by itself: those that it changes
// or deletes (or names by ReadRows) were all that did. Commit calls check when a concurrent commit has added rows. Then two statements that
// change different rows of one file both succeed.
func (x *Transaction) Recheck(check Recheck) { x.reads.rechecks = append(x.reads.rechecks, check) }

// blindAppend tells whether the transaction depends on nothing in the table.
func (x *Transaction) blindAppend() bool { return len(x.files.touched) == 0 && x.reads.none() }

// The isolation levels of commits. Tables can ask for the first two.
const (
	serializable      = "Serializable"
	writeSerializable = "WriteSerializable"
	snapshotIsolation = "SnapshotIsolation"
)

// isolation is SnapshotIsolation for what only rearranges rows, else the table's level where it sets one. Without that an
// append is serializable anyway, and the rest is not to be starved by appends.
func (x *Transaction) isolation() string {
	if x.rearrange && x.metadata == nil && x.protocol == nil && len(x.txns) == 0 && len(x.domains) == 0 {
		return snapshotIsolation
	}
	if x.base.metadata != nil {
		if level := x.base.metadata.Configuration["delta.isolationLevel"]; level == serializable || level == writeSerializable {
			return level
		}
	}
	if x.blindAppend() {
		return serializable
	}
	return writeSerializable
}

// prepare checks the transaction against the table as base has it, and works out what protocol it needs.
func (x *Transaction) prepare() error {
	if x.read == nil && x.metadata == nil {
		return errors.New("a new table needs metadata")
	}
	if x.read == nil && len(x.files.touched) > 0 {
		return errors.New("a new table has no files to remove")
	}
	if x.read != nil {
		if err := CheckWritable(x.base); err != nil {
			return err
		}
	}
	if err := x.advanceIdentity(); err != nil {
		return err
	}
	if x.metadata != nil {
		if err := x.prepareMetadata(x.base); err != nil {
			return err
		}
	}
	if err := x.prepareProtocol(); err != nil {
		return err
	}
	return x.prepareFiles()
}

// prepareMetadata refuses metadata that ask for what is not built, whether or not the protocol names it.
func (x *Transaction) prepareMetadata(before *Snapshot) error {
	if err := x.metadata.check(before, x.files.removesWhole() >= before.NumFiles()); err != nil {
		return err
	}
	return before.checkRowTracking(x.metadata)
}

// prepareProtocol works out what protocol the metadata, and the domains that are set, need.
func (x *Transaction) prepareProtocol() error {
	clusters := slices.ContainsFunc(x.domains, func(d domainAction) bool { return d.domain == clusteringDomain && !d.removed })
	if x.metadata == nil && !clusters && len(x.dropped) == 0 {
		x.protocol = nil
		return nil
	}
	wish := x.nextMetadata()
	if clusters {
		wish = wish.withProperty(featureProperty+clusteringFeature, "supported")
	}
	schema, err := ParseSchema(wish.SchemaString)
	if err != nil {
		return err
	}
	x.protocol = requiredProtocol(x.base.protocol, wish, schema)
	if len(x.dropped) == 0 {
		return nil
	}
	if x.protocol == nil {
		x.protocol = x.base.protocol
	}
	x.protocol = x.protocol.without(x.dropped)
	return x.checkDropped(schema)
}

// prepareFiles refuses what the table does not allow to be done to its rows.
func (x *Transaction) prepareFiles() error {
	if len(x.files.touched) > 0 && !x.rearrange && appendOnly(x.base) {
		return fmt.Errorf("[DELTA_CANNOT_MODIFY_APPEND_ONLY] table %s is append-only: its rows cannot be removed or changed; unset delta.appendOnly to allow it", x.base.uri)
	}
	after := x.after()
	if len(x.changes) > 0 && !changeFeed(after) {
		return fmt.Errorf("table %s has no change data feed, so it takes no change files", x.base.uri)
	}
	if len(x.domains) > 0 && !after.protocol.Supports("domainMetadata") {
		return fmt.Errorf("domain %s of table %s cannot be set: its protocol does not have the feature domainMetadata", x.domains[0].domain, x.base.uri)
	}
	return nil
}

// after is base with the protocol and the metadata that the commit leaves in force.
func (x *Transaction) after() *Snapshot {
	out := *x.base
	out.applyState(&commit{protocol: x.protocol, metadata: x.metadata.withoutProtocolProperties()})
	return &out
}
