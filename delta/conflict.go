package delta

import (
	"fmt"
	"slices"

	"github.com/buger/jsonparser"
)

// check tells whether a commit that won conflicts with the transaction. The order of the checks is Delta's. A winner that
// changes the protocol always conflicts: whether this build may write under the new one is decided by starting again.
func (x *Transaction) check(winner *commit) error {
	conflict := func(class, format string, args ...any) error {
		return &ConflictError{Class: class, Version: winner.version, Detail: fmt.Sprintf(format, args...)}
	}
	if winner.protocol != nil || x.read == nil {
		return conflict(classProtocolChanged, "the protocol of table %s has been changed by a concurrent commit", x.table.st.URI())
	}
	if winner.metadata != nil {
		return conflict(classMetadataChanged, "the metadata of table %s has been changed by a concurrent commit", x.table.st.URI())
	}
	for _, t := range winner.txns {
		if slices.ContainsFunc(x.txns, func(o txnAction) bool { return o.appID == t.appID }) {
			return conflict(classConcurrentTransaction, "a concurrent commit of the application %s wrote its version %d", t.appID, t.version)
		}
	}
	if path, ok := x.conflictingAdd(winner); ok {
		return conflict(classConcurrentAppend, "file %s was added to what this statement has read", path)
	}
	removed := make(map[string]bool, len(x.removes))
	for _, f := range x.removes {
		removed[f.Path] = true
	}
	for _, r := range winner.removes {
		path := decodePath(x.table.st.URI(), string(r.path))
		if x.whole {
			return conflict(classConcurrentDeleteRead, "file %s, which this statement has read, was removed", path)
		}
		if removed[path] {
			return conflict(classConcurrentDeleteDelete, "file %s, which this statement removes, was removed by another", path)
		}
	}
	return nil
}

// conflictingAdd finds a file that the winner added and that the transaction would have read.
func (x *Transaction) conflictingAdd(winner *commit) (path string, ok bool) {
	if x.blindAppend() {
		return "", false
	}
	if x.isolation() == writeSerializable && x.metadata == nil && isBlindAppend(winner.info) {
		return "", false // the winner can be taken to come after this transaction
	}
	columns := x.read.metadata.PartitionColumns
	read := make(map[string]bool) // folders of the partitions, whose names are one to one with the values
	for _, f := range x.removes {
		read[partitionFolder(columns, f.PartitionValues)] = true
	}
	for _, a := range winner.adds {
		if x.whole || len(columns) == 0 || read[partitionFolder(columns, a.partition)] {
			return decodePath(x.table.st.URI(), string(a.path)), true
		}
	}
	return "", false
}

// isBlindAppend is what the winner says of itself; one that says nothing may have read.
func isBlindAppend(info []byte) bool {
	if info == nil {
		return false
	}
	blind, err := jsonparser.GetBoolean(info, "isBlindAppend")
	return err == nil && blind
}
