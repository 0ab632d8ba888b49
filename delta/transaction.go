package delta

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lakesql/batch"
)

// Transaction collects the actions of one commit. It belongs to one goroutine, and Commit is called once.
type Transaction struct {
	table    *Table
	read     *Snapshot // nil: the table is to be created
	metadata *Metadata
	protocol *Protocol
	adds     []AddFile
	removes  []File
	txns     []txnAction
	whole    bool // it depends on every row of read
}

// AddFile is a data file that a transaction adds. The file is durable already.
type AddFile struct {
	Path            string            // key below the table's root, decoded
	PartitionValues map[string]string // column -> text; an absent column is null
	Size            int64             // bytes
	ModTime         time.Time
	NumRecords      int64
	Stats           string // JSON; "" none
}

// Begin starts a transaction on top of read; nil creates the table as version 0, which needs SetMetadata.
func (t *Table) Begin(read *Snapshot) *Transaction { return &Transaction{table: t, read: read} }

// SetMetadata replaces the table's metadata. On a table that exists, the id stays what it was, and metadata that equal the
// present ones write nothing: metaData is a conflict for every other writer.
func (x *Transaction) SetMetadata(m *Metadata) {
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
func (x *Transaction) Add(files ...AddFile) { x.adds = append(x.adds, files...) }

// Remove removes files of the snapshot that the transaction began with. They count as read.
func (x *Transaction) Remove(files ...File) { x.removes = append(x.removes, files...) }

// SetTxn records that the application has committed its version. It is also a read of that application's version: a
// concurrent commit of the same application is ErrConcurrentTxn.
func (x *Transaction) SetTxn(appID string, version int64) {
	x.txns = append(x.txns, txnAction{appID, txn{version: version}})
}

// ReadWholeTable says that the transaction depends on every row of its snapshot. Whoever reads rows by anything but a
// partition must say so.
func (x *Transaction) ReadWholeTable() { x.whole = true }

// blindAppend tells whether the transaction depends on nothing in the table.
func (x *Transaction) blindAppend() bool { return len(x.removes) == 0 && !x.whole }

const (
	serializable      = "Serializable"
	writeSerializable = "WriteSerializable"
)

// isolation is the table's level where it sets one. Else an append is serializable anyway, and the rest is not to be
// starved by appends.
func (x *Transaction) isolation() string {
	if x.read != nil {
		if level := x.read.metadata.Configuration["delta.isolationLevel"]; level == serializable || level == writeSerializable {
			return level
		}
	}
	if x.blindAppend() {
		return serializable
	}
	return writeSerializable
}

// prepare checks the transaction against the table and works out what protocol it needs.
func (x *Transaction) prepare() error {
	if x.read == nil {
		if x.metadata == nil {
			return errors.New("a new table needs metadata")
		}
		if len(x.removes) > 0 {
			return errors.New("a new table has no files to remove")
		}
		return x.prepareMetadata(newSnapshot(x.table.st.URI()))
	}
	if err := CheckWritable(x.read); err != nil {
		return err
	}
	if x.metadata != nil {
		if err := x.prepareMetadata(x.read); err != nil {
			return err
		}
	}
	return x.prepareRemoves()
}

// prepareMetadata refuses metadata that ask for what is not built, whether or not the protocol names it.
func (x *Transaction) prepareMetadata(before *Snapshot) error {
	schema, err := ParseSchema(x.metadata.SchemaString)
	if err != nil {
		return err
	}
	if err := checkNewSchema(schema, x.metadata.PartitionColumns); err != nil {
		return err
	}
	var old map[string]string
	if m := before.metadata; m != nil {
		old = m.Configuration
		if !slices.Equal(x.metadata.PartitionColumns, m.PartitionColumns) && len(x.removes) < before.NumFiles() {
			return fmt.Errorf("the partition columns of %s cannot be changed from %v to %v while files of the old layout stay; replace all rows in the same statement",
				before.uri, m.PartitionColumns, x.metadata.PartitionColumns)
		}
	}
	for _, k := range sortedKeys(x.metadata.Configuration) {
		if v, had := old[k]; had && v == x.metadata.Configuration[k] {
			continue
		}
		if err := checkProperty(k, x.metadata.Configuration[k]); err != nil {
			return err
		}
	}
	after := *before
	after.metadata, after.schema = x.metadata, schema
	if active := activeFeatures(&after); len(active) > 0 {
		return &UnsupportedError{Op: "write", URI: before.uri, Features: active, Detail: "the new metadata use them"}
	}
	x.protocol = upgradedProtocol(before.protocol, schema)
	return nil
}

func (x *Transaction) prepareRemoves() error {
	if len(x.removes) == 0 {
		return nil
	}
	if appendOnly(x.read) {
		return fmt.Errorf("[DELTA_CANNOT_MODIFY_APPEND_ONLY] table %s is append-only: its rows cannot be removed or changed; unset delta.appendOnly to allow it", x.read.uri)
	}
	if changeFeed(x.read) && len(x.adds) > 0 {
		return &UnsupportedError{Op: "write", URI: x.read.uri, Features: []string{"changeDataFeed"},
			Detail: "removing and adding rows in one commit needs change files; unset delta.enableChangeDataFeed to allow it"}
	}
	return nil
}

// upgradedProtocol is the protocol that a schema needs on top of the present one (nil: none yet); nil when that one is enough.
func upgradedProtocol(now *Protocol, schema *batch.Schema) *Protocol {
	if !slices.ContainsFunc(schema.Fields, func(f batch.Field) bool { return f.Type.Kind == batch.TimestampNTZ }) {
		if now == nil {
			return &Protocol{MinReader: 1, MinWriter: 2}
		}
		return nil
	}
	const feature = "timestampNtz"
	next := &Protocol{MinReader: maxReader, MinWriter: maxWriter, ReaderFeatures: []string{feature}, WriterFeatures: []string{feature}}
	if now == nil {
		next.WriterFeatures = append(next.WriterFeatures, "appendOnly", "invariants")
		return next
	}
	if slices.Contains(now.ReaderFeatures, feature) {
		return nil
	}
	// Everything that the old versions implied stays in force.
	next.ReaderFeatures = append(slices.Clone(now.ReaderFeatures), feature)
	next.WriterFeatures = append(slices.Clone(now.WriterFeatures), feature)
	for _, f := range sortedKeys(featureRules) {
		rule := featureRules[f]
		if now.MinReader < maxReader && rule.legacyReader > 0 && rule.legacyReader <= now.MinReader {
			next.ReaderFeatures = append(next.ReaderFeatures, f)
		}
		if now.MinWriter < maxWriter && rule.legacyWriter > 0 && rule.legacyWriter <= now.MinWriter {
			next.WriterFeatures = append(next.WriterFeatures, f)
		}
	}
	return next
}
