package delta

import (
	"fmt"
	"iter"
	"math"
	"time"
)

// Removed is a file, or a version of its deletion vector, that is not in the table any more and that the log still names.
type Removed struct {
	Path         string    // as File.Path
	VectorPath   string    // as of Snapshot.VectorPath
	DeletionTime time.Time // the Unix epoch where the writer did not say
}

// Removed yields what was removed from the table, as far back as the log's oldest checkpoint remembers, also where the
// retention has passed. It ends with the first error.
func (s *Snapshot) Removed() iter.Seq2[Removed, error] {
	return func(yield func(Removed, error) bool) {
		for t := range s.files.tombstones.since(math.MinInt64).each() {
			vector, err := s.vectorPath(t.path, t.extra.vector())
			if !yield(Removed{Path: t.path, VectorPath: vector, DeletionTime: time.UnixMilli(t.deletionTimestamp).UTC()}, err) || err != nil {
				return
			}
		}
	}
}

// Retention is how long files stay after their removal, for readers of older versions: delta.deletedFileRetentionDuration.
func (s *Snapshot) Retention() time.Duration {
	return s.metadata.interval("delta.deletedFileRetentionDuration", defaultTombstoneRetention)
}

// VectorPath is the path of the object that holds the file's deletion vector, in the form of File.Path; "" when there is none or it is in
// the log itself. A descriptor that names no path is an error.
func (s *Snapshot) VectorPath(f File) (string, error) { return s.vectorPath(f.Path, f.extra.vector()) }

func (s *Snapshot) vectorPath(file string, vector *deletionVector) (string, error) {
	if vector == nil {
		return "", nil
	}
	path, absolute, err := vector.descriptor().Path()
	if err != nil {
		return "", fmt.Errorf("deletion vector of %s: %w", file, err)
	}
	if absolute {
		path = decodePath(s.uri, path)
	}
	return path, nil
}

// SameRows tells whether two files of a table have the same rows: the same data with the same rows deleted.
func (f File) SameRows(o File) bool { return f.Path == o.Path && f.extra.dvID() == o.extra.dvID() }

// IsOutside tells whether a path, as File.Path has it, is one outside of the table's folder. Such files, of a table that was cloned from
// another one, are never the table's to delete.
func IsOutside(path string) bool { return isAbsolute(path) }
