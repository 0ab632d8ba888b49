package maintain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"lakesql/delta"
	"lakesql/store"
)

func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }

// RestoreTarget is the version to go back to.
type RestoreTarget struct {
	Version   int64
	Timestamp string // the time by which the version was chosen, for the history; "" when it was not
}

// RestoreResult is what Restore has done.
type RestoreResult struct {
	Version       int64 // that was restored
	SizeAfter     int64 // bytes
	FilesAfter    int
	FilesRemoved  int
	FilesRestored int
	BytesRemoved  int64
	BytesRestored int64
	Committed     int64 // the new version; -1: the table was so already
}

// Restore makes a new version with the rows, schema and properties of an old one. The protocol never goes back. Files of the old version that
// are gone are an error that names them; nothing is changed then.
func Restore(ctx context.Context, table *delta.Table, target RestoreTarget) (RestoreResult, error) {
	for attempt := 1; ; attempt++ {
		out, err := restore(ctx, table, target)
		if attempt == maxRestores || !errors.Is(err, delta.ErrConflict) {
			return out, err
		}
	}
}

// maxRestores bounds how often a restore that lost against another commit is done again.
const maxRestores = 10

func restore(ctx context.Context, table *delta.Table, target RestoreTarget) (RestoreResult, error) {
	now, err := table.Snapshot(ctx)
	if err != nil {
		return RestoreResult{}, err
	}
	if err := delta.CheckWritable(now); err != nil {
		return RestoreResult{}, err
	}
	parameters := map[string]string{"version": strconv.FormatInt(target.Version, 10), "timestamp": ""}
	if target.Timestamp != "" {
		parameters = map[string]string{"version": "", "timestamp": target.Timestamp}
	}
	old, err := table.SnapshotAt(ctx, target.Version)
	if err != nil {
		return RestoreResult{}, err
	}
	out := RestoreResult{Version: old.Version(), SizeAfter: old.SizeInBytes(), FilesAfter: old.NumFiles(), Committed: -1}
	x := table.Begin(now)
	x.ReadWholeTable()
	restored, err := difference(x, &out, now, old)
	if err != nil {
		return out, err
	}
	if err := present(ctx, table, old, restored); err != nil {
		return out, fmt.Errorf("restore %s to version %d: %w", table.Store().URI(), old.Version(), err)
	}
	metadata, err := restoredMetadata(now, old)
	if err != nil {
		return out, err
	}
	x.SetMetadata(metadata)
	if len(restored) == 0 && out.FilesRemoved == 0 && metadata.Equal(now.Metadata()) {
		return out, nil
	}
	done, err := x.Commit(ctx, delta.Operation{Name: "RESTORE", Parameters: parameters, Metrics: map[string]string{
		"tableSizeAfterRestore": strconv.FormatInt(out.SizeAfter, 10), "numOfFilesAfterRestore": strconv.Itoa(out.FilesAfter),
		"numRemovedFiles": strconv.Itoa(out.FilesRemoved), "numRestoredFiles": strconv.Itoa(out.FilesRestored),
		"removedFilesSize": strconv.FormatInt(out.BytesRemoved, 10), "restoredFilesSize": strconv.FormatInt(out.BytesRestored, 10),
	}})
	if err == nil {
		out.Committed = done.Version
	}
	return out, err
}

// fileKey is what makes a file of one version the same as one of another: its path, and which rows are deleted.
type fileKey struct{ path, vector string }

func keyOf(f delta.File) fileKey {
	key := fileKey{path: f.Path}
	if vector := f.DeletionVector(); vector != nil {
		key.vector = vector.ID()
	}
	return key
}

// difference puts into x what leads from one version to another, and returns the files that it adds.
func difference(x *delta.Transaction, out *RestoreResult, now, old *delta.Snapshot) ([]delta.File, error) {
	wanted := make(map[fileKey]bool, old.NumFiles())
	for f := range old.Files() {
		wanted[keyOf(f)] = true
	}
	there := make(map[fileKey]bool, now.NumFiles())
	for f := range now.Files() {
		key := keyOf(f)
		there[key] = true
		if !wanted[key] {
			x.Remove(f)
			out.FilesRemoved++
			out.BytesRemoved += f.Size
		}
	}
	var restored []delta.File
	for f := range old.Files() {
		if !there[keyOf(f)] {
			restored = append(restored, f)
			x.Add(f.AddFile())
			out.FilesRestored++
			out.BytesRestored += f.Size
		}
	}
	return restored, nil
}

// present checks that the files, and their deletion vectors, have not been vacuumed.
func present(ctx context.Context, table *delta.Table, old *delta.Snapshot, files []delta.File) error {
	var gone []string
	for _, f := range files {
		vector, err := old.VectorPath(f)
		if err != nil {
			return err
		}
		for _, path := range []string{f.Path, vector} {
			if path == "" {
				continue
			}
			st, key, err := table.Locate(path)
			if err != nil {
				return err
			}
			if _, err = st.Stat(ctx, key); isNotFound(err) {
				gone = append(gone, path)
			} else if err != nil {
				return err
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of its files are gone, deleted by VACUUM perhaps, the first is %s; choose a younger version (DESCRIBE HISTORY shows them)",
		delta.ErrNoVersion, len(gone), gone[0])
}

// keptProperties are those of features that a table keeps once it has them: what they name is in younger files.
var keptProperties = []string{
	"delta.columnMapping.maxColumnId", "delta.enableInCommitTimestamps", "delta.inCommitTimestampEnablementVersion",
	"delta.inCommitTimestampEnablementTimestamp", "delta.enableRowTracking", "delta.rowTracking.materializedRowIdColumnName",
	"delta.rowTracking.materializedRowCommitVersionColumnName",
}

// restoredMetadata are the old metadata, as far as they may come back.
func restoredMetadata(now, old *delta.Snapshot) (*delta.Metadata, error) {
	was, is := old.Metadata().Mapping(), now.Metadata().Mapping()
	if was != is {
		return nil, delta.Refuse("[DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE] version %d has delta.columnMapping.mode %q, the table now %q, and it cannot go back; "+
			"write the old rows to another table: CREATE TABLE ... AS SELECT * FROM ... VERSION AS OF %d", old.Version(), was, is, old.Version())
	}
	out := *old.Metadata()
	out.Configuration = maps.Clone(out.Configuration)
	for _, key := range keptProperties {
		if v, ok := now.Metadata().Configuration[key]; ok {
			if out.Configuration == nil {
				out.Configuration = make(map[string]string)
			}
			out.Configuration[key] = v
		}
	}
	return out.KeepIdentityMarks(now.Metadata())
}
