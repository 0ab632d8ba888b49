package delta

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"lakesql/batch"
	"lakesql/delta/dv"
	"lakesql/store"
)

// The change data feed says which rows each version inserted, deleted and updated. A commit that has change files says it in them;
// of every other commit it follows from the files that were added and removed.

// The values of ChangeTypeField.
const (
	ChangeInsert     = "insert"
	ChangeDelete     = "delete"
	ChangeUpdateFrom = "update_preimage"
	ChangeUpdateTo   = "update_postimage"
)

// ChangeSet is a file some of whose rows are what a version changed.
type ChangeSet struct {
	Version   int64
	Timestamp time.Time // of the version
	Type      string    // ChangeInsert or ChangeDelete; "": File is a change file and has it in ChangeTypeField
	File      File
	Rows      *dv.Bitmap // positions of the rows, whether they are deleted in File or not; nil: all that are not
}

// Changes yields what the versions from to to changed, in their order. The rows of all sets are read by the schema of the snapshot, which is
// that of the last version. It is refused when the feed was off at one of the versions, or when their schemas cannot be read as
// the last one. A commit that has been cleaned up is ErrNoVersion.
func (t *Table) Changes(ctx context.Context, from, to int64) (*Snapshot, iter.Seq2[ChangeSet, error], error) {
	if from > to {
		return nil, nil, Refuse("[DELTA_INVALID_CDC_RANGE] changes of %s from version %d to version %d: the first must not be behind the last", t.st.URI(), from, to)
	}
	last, err := t.SnapshotAt(ctx, to)
	if err != nil {
		return nil, nil, err
	}
	first, err := t.SnapshotAt(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	f := &changeWalk{table: t, last: last}
	if f.times, err = t.versionTimes(ctx); err != nil {
		return nil, nil, err
	}
	// All is checked before the first row is read.
	if err := f.each(ctx, first, f.check); err != nil {
		return nil, nil, err
	}
	return last, func(yield func(ChangeSet, error) bool) {
		err := f.each(ctx, first, func(s *Snapshot, c *commit) error { return f.version(ctx, s, c, yield) })
		if err != nil && err != errStopped {
			yield(ChangeSet{}, err)
		}
	}, nil
}

// changeWalk walks over versions.
type changeWalk struct {
	table *Table
	last  *Snapshot
	times map[int64]time.Time // of files
}

// each calls fn with every commit, and with the state after it, whose files are those of first.
func (f *changeWalk) each(ctx context.Context, first *Snapshot, fn func(*Snapshot, *commit) error) error {
	var steps []versionRange
	for v := first.Version(); v <= f.last.Version(); v++ {
		steps = append(steps, versionRange{v, v})
	}
	state, next := *first, first.Version()
	err := readSteps(ctx, f.table.st, steps, func(c *commit) error {
		next = c.version + 1
		state.applyState(c)
		return fn(&state, c)
	})
	if errors.Is(err, store.ErrNotFound) && next <= f.last.Version() {
		return f.table.noVersion(ctx, next, f.last.Version())
	}
	return err
}

// errStopped says that the caller has seen enough.
var errStopped = errors.New("stopped")

// check refuses a version that did not record its changes, or whose rows cannot be read as those of the last one.
func (f *changeWalk) check(s *Snapshot, c *commit) error {
	if !changeFeed(s) {
		return Refuse("[DELTA_MISSING_CHANGE_DATA] changes of %s cannot be read: version %d did not record them; set delta.enableChangeDataFeed, and read from a later version on",
			s.uri, c.version)
	}
	if s.schemaErr != nil {
		return fmt.Errorf("version %d of %s: %w", c.version, s.uri, s.schemaErr)
	}
	if s.metadata == f.last.metadata {
		return nil
	}
	what := ""
	if name := unreadable(s.schema.Fields, f.last.schema.Fields, ""); name != "" {
		what = "column " + name
	} else if !slices.Equal(s.metadata.PartitionColumns, f.last.metadata.PartitionColumns) {
		what = "the partitioning"
	}
	if what == "" {
		return nil
	}
	return Refuse("[DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA] changes of %s cannot be read: %s of version %d is not what it is in version %d; read them up to a version before its schema was changed",
		s.uri, what, c.version, f.last.Version())
}

// unreadable finds a field that cannot be read as the one of that name in another schema; "" when all can. New fields are read as null,
// widened ones as the wider type.
func unreadable(fields, as []batch.Field, parent string) string {
	for _, f := range fields {
		path := joinPath(parent, f.Name)
		i := slices.IndexFunc(as, func(o batch.Field) bool { return o.Name == f.Name })
		if i < 0 || f.Nullable && !as[i].Nullable || f.Metadata[mappingPhysicalName] != as[i].Metadata[mappingPhysicalName] {
			return path
		}
		from, to := f.Type, as[i].Type
		if from.Kind != to.Kind || from.Fields() == nil {
			if from != to && !batch.Widens(from, to) {
				return path
			}
		} else if name := unreadable(from.Fields(), to.Fields(), path); name != "" {
			return name
		}
	}
	return ""
}

// version yields the changes of one commit, which s is the state after.
func (f *changeWalk) version(ctx context.Context, s *Snapshot, c *commit, yield func(ChangeSet, error) bool) error {
	at := f.times[c.version]
	if ms := commitTimestamp(c.info); ms != 0 {
		at = time.UnixMilli(ms).UTC()
	}
	give := func(kind string, file File, rows *dv.Bitmap) error {
		if !yield(ChangeSet{Version: c.version, Timestamp: at, Type: kind, File: file, Rows: rows}, nil) {
			return errStopped
		}
		return nil
	}
	if len(c.changes) > 0 {
		for _, file := range s.addedFiles(c.changes) {
			if err := give("", file, nil); err != nil {
				return err
			}
		}
		return nil
	}
	return f.derive(ctx, s, newWinner(s.uri, c), give)
}

// derive yields the changes that follow from files which were added and removed.
func (f *changeWalk) derive(ctx context.Context, s *Snapshot, w *winner, give func(kind string, file File, rows *dv.Bitmap) error) error {
	for i, file := range s.removedFiles(w.removes) {
		if !w.removes[i].dataChange {
			continue
		}
		if w.added[file.Path] != nil {
			if err := f.difference(ctx, s, w, file, give); err != nil {
				return err
			}
			continue
		}
		if !w.removes[i].extendedFileMetadata {
			var err error
			if file, err = f.before(ctx, w.version, file.Path); err != nil {
				return err
			}
		}
		if err := give(ChangeDelete, file, nil); err != nil {
			return err
		}
	}
	for i, file := range s.addedFiles(w.adds) {
		if !w.adds[i].dataChange || w.removed[file.Path] != nil {
			continue
		}
		if err := give(ChangeInsert, file, nil); err != nil {
			return err
		}
	}
	return nil
}

// difference yields the changes of a file that was removed with one deletion vector and added with another.
func (f *changeWalk) difference(ctx context.Context, s *Snapshot, w *winner, file File, give func(kind string, file File, rows *dv.Bitmap) error) error {
	before, after, err := w.vectors(ctx, f.table, file.Path)
	if err != nil {
		return err
	}
	file = s.addedFiles([]addAction{*w.added[file.Path]})[0]
	for _, c := range []struct {
		kind         string
		rows, except *dv.Bitmap
	}{{ChangeDelete, after, before}, {ChangeInsert, before, after}} {
		rows := c.rows.Clone()
		rows.AndNot(c.except)
		if rows.Cardinality() == 0 {
			continue
		}
		if err := give(c.kind, file, rows); err != nil {
			return err
		}
	}
	return nil
}

// before is a file as it was in the version before: old writers removed files by their path alone.
func (f *changeWalk) before(ctx context.Context, version int64, path string) (File, error) {
	s, err := f.table.SnapshotAt(ctx, version-1)
	if err != nil {
		return File{}, err
	}
	for file := range s.Files() {
		if file.Path == path {
			return file, nil
		}
	}
	return File{}, fmt.Errorf("%w: version %d of %s removed file %s, which was not there", ErrCorrupt, version, s.uri, path)
}

// removedFiles are files that a commit removed, as files of the snapshot; what their removes do not say is missing.
func (s *Snapshot) removedFiles(removes []removeAction) []File {
	adds := make([]addAction, len(removes))
	for i, r := range removes {
		adds[i] = addAction{path: r.path, partition: r.partition, size: r.size, modTime: r.deletionTimestamp, extra: r.extra}
	}
	return s.addedFiles(adds)
}

// versionTimes are the times of the files of the versions.
func (t *Table) versionTimes(ctx context.Context) (map[int64]time.Time, error) {
	commits, err := t.commitTimes(ctx, 0)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]time.Time, len(commits))
	for _, c := range commits {
		out[c.version] = c.at
	}
	return out, nil
}
