package delta

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"lakesql/delta/dv"
)

// Protocol is the protocol action: what an engine must know to read and to write the table.
type Protocol struct {
	MinReader, MinWriter           int
	ReaderFeatures, WriterFeatures []string
}

// Metadata is the metaData action.
type Metadata struct {
	ID               string
	Name             string
	Description      string
	SchemaString     string
	PartitionColumns []string // logical names, in the order of the folders
	Configuration    map[string]string
	CreatedTime      time.Time // zero: unknown
}

// Equal tells whether two metadata say the same, but for the time of creation.
func (m *Metadata) Equal(o *Metadata) bool {
	return m.ID == o.ID && m.Name == o.Name && m.Description == o.Description && m.SchemaString == o.SchemaString &&
		slices.Equal(m.PartitionColumns, o.PartitionColumns) && maps.Equal(m.Configuration, o.Configuration)
}

// commit is one parsed commit: its actions, in no order.
type commit struct {
	version  int64
	info     []byte // the commitInfo object as it was written; nil without one
	protocol *Protocol
	metadata *Metadata
	txns     []txnAction
	domains  []domainAction
	adds     []addAction
	removes  []removeAction
	changes  []addAction // cdc actions, which have no time and no statistics
	repeated bool        // there was more than one protocol or metaData action

	sidecars []string // only in V2 checkpoints: encoded names of files that hold more actions
}

// addAction is an add. Its byte slices are views of the commit's text or of pages, valid until the next one is read.
type addAction struct {
	path      []byte            // as the log says it, encoded
	partition map[string]string // without nulls
	size      int64
	modTime   int64  // milliseconds since the epoch
	stats     []byte // JSON; empty: none
	extra     *fileExtra

	dataChange bool // false: it holds rows that the table had before
}

// fileExtra holds what few files have, so that the others do not pay for it.
type fileExtra struct {
	dv                      *deletionVector
	tags                    map[string]string
	baseRowID               *int64
	defaultRowCommitVersion *int64
	clusteringProvider      string
}

// deletionVector is the descriptor of a file's deleted rows.
type deletionVector struct {
	storageType    string // u, i or p
	pathOrInlineDv string
	offset         *int32
	sizeInBytes    int32
	cardinality    int64

	// Of rows that a transaction deletes and has not committed; then storageType is "" and cardinality the sum.
	base    *deletionVector // in the table; nil: none
	pending *dv.Bitmap      // deleted on top of it
}

// id is the part of a file's key in the log that tells one deletion vector of a path from another.
func (d *deletionVector) id() string {
	if d == nil {
		return ""
	}
	if d.pending != nil {
		return "pending"
	}
	id := d.storageType + d.pathOrInlineDv
	if d.offset != nil {
		id += "@" + strconv.Itoa(int(*d.offset))
	}
	return id
}

func (e *fileExtra) dvID() string {
	if e == nil {
		return ""
	}
	return e.dv.id()
}

// removeAction is a remove.
type removeAction struct {
	path                 []byte // as the log says it, encoded
	deletionTimestamp    int64  // milliseconds since the epoch; 0: unknown
	extendedFileMetadata bool   // partition, size (and tags) are known
	partition            map[string]string
	size                 int64
	extra                *fileExtra

	dataChange bool // false: its rows stay in the table
}

// txnAction says that an application has committed its version.
type txnAction struct {
	appID string
	txn
}

type txn struct {
	version     int64
	lastUpdated int64 // milliseconds since the epoch; 0: unknown
}

// domainAction is a domainMetadata action: configuration of a feature or of a user, kept for it.
type domainAction struct {
	domain        string
	configuration string
	removed       bool
}
