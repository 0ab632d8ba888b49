package delta

import (
	"context"

	"lakesql/delta/dv"
)

// Recheck tells whether a row of these files, which concurrent commits have added to the table, is one that a statement
// would have changed or acted upon. The files can be opened like those of the statement's snapshot.
type Recheck func(ctx context.Context, added []File) (bool, error)

// readSet is what a transaction depends on beside the files and rows that it changes.
type readSet struct {
	whole      bool                                  // every row of the table
	files      map[string]File                       // every row of these files, by path
	rows       map[string]*dv.Bitmap                 // single rows, by path
	partitions []func(values map[string]string) bool // every row of the partitions that match
	rechecks   []Recheck
}

// none tells whether nothing has been read.
func (r *readSet) none() bool {
	return !r.whole && len(r.files) == 0 && len(r.rows) == 0 && len(r.partitions) == 0 && len(r.rechecks) == 0
}

// matches tells whether the transaction depends on every row of a partition.
func (r *readSet) matches(values map[string]string) bool {
	if r.whole {
		return true
	}
	for _, match := range r.partitions {
		if match(values) {
			return true
		}
	}
	return false
}
