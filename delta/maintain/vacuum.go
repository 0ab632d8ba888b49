package maintain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lakesql/delta"
	"lakesql/store"
)

// VacuumOptions say what Vacuum does.
type VacuumOptions struct {
	Retention time.Duration // files younger than this stay; negative: the table's delta.deletedFileRetentionDuration
	Lite      bool          // delete only files that the log names as removed; do not list the folder
	DryRun    bool          // delete nothing
	Now       time.Time     // zero: now
}

// VacuumResult is what Vacuum has deleted, or would have.
type VacuumResult struct {
	Files []string // keys below the table's root
	Bytes int64
}

// Vacuum deletes the files below the table's folder that neither the newest version nor a younger removal than the retention
// names: removed data files, their deletion vectors and change files, and what failed writers left. A retention below
// the table's own is refused, for readers of old versions and other writers rely on that.
//
// A file is deleted only when nothing live names it, whatever dies in the middle: Vacuum only reads the log, but for two commits
// that record it.
func Vacuum(ctx context.Context, table *delta.Table, opts VacuumOptions) (VacuumResult, error) {
	var out VacuumResult
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return out, err
	}
	if err := delta.CheckWritable(snap); err != nil {
		return out, err
	}
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	own := snap.Retention()
	if opts.Retention < 0 {
		opts.Retention = own
	}
	if opts.Retention < own {
		return out, delta.Refuse("[DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT] retention of %v is shorter than the table's %v: readers of old versions and running writers would lose files; "+
			"to allow it: ALTER TABLE ... SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval %d hours')",
			opts.Retention, own, int64(opts.Retention/time.Hour))
	}
	v := &vacuum{table: table, snap: snap, opts: opts, before: opts.Now.Add(-opts.Retention), out: &out}
	if err := v.find(ctx); err != nil || opts.DryRun {
		return out, err
	}
	return out, v.delete(ctx)
}

type vacuum struct {
	table  *delta.Table
	snap   *delta.Snapshot
	opts   VacuumOptions
	before time.Time // files from before may be deleted
	out    *VacuumResult
	needed map[string]bool // paths that stay; "" among them
}

// find fills the result with the files to delete.
func (v *vacuum) find(ctx context.Context) error {
	v.needed = make(map[string]bool)
	for f := range v.snap.Files() {
		vector, err := v.snap.VectorPath(f)
		if err != nil {
			return err
		}
		v.needed[f.Path], v.needed[vector] = true, true
	}
	var expired []string
	for r, err := range v.snap.Removed() {
		if err != nil {
			return err
		}
		if r.DeletionTime.Before(v.before) {
			expired = append(expired, r.Path, r.VectorPath)
		} else {
			v.needed[r.Path], v.needed[r.VectorPath] = true, true
		}
	}
	if v.opts.Lite {
		return v.findExpired(ctx, expired)
	}
	return v.findUnreferenced(ctx)
}

// findExpired looks at files whose removal is in the log.
func (v *vacuum) findExpired(ctx context.Context, paths []string) error {
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if path == "" || v.needed[path] || delta.IsOutside(path) {
			continue
		}
		info, err := v.table.Store().Stat(ctx, path)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("vacuum %s: %w", v.table.Store().URI(), err)
		}
		v.take(info)
	}
	return nil
}

// findUnreferenced lists the table's folder.
func (v *vacuum) findUnreferenced(ctx context.Context) error {
	for info, err := range v.table.Store().List(ctx, "", "", "") {
		if err != nil {
			return fmt.Errorf("vacuum %s: %w", v.table.Store().URI(), err)
		}
		if !v.needed[info.Key] && !hidden(info.Key, v.snap.Metadata().PartitionColumns) {
			v.take(info)
		}
	}
	return nil
}

func (v *vacuum) take(info store.Info) {
	if info.ModTime.Before(v.before) {
		v.out.Files = append(v.out.Files, info.Key)
		v.out.Bytes += info.Size
	}
}

// hidden tells whether a key is none of the table's data: a name on its way begins with _ or a dot. Folders of partition columns whose name
// begins so, and the folders of change files and of Delta's index, are data. metadata/ is Iceberg's, beside tables that are both.
func hidden(key string, partitionColumns []string) bool {
	names := strings.Split(key, "/")
	if names[0] == "metadata" && len(names) > 1 {
		return true
	}
	for i, name := range names {
		if !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
			continue
		}
		last := i == len(names)-1
		if i == 0 && !last && (name == "_change_data" || name == "_delta_index") {
			continue
		}
		if last || !isPartitionFolder(name, partitionColumns) {
			return true
		}
	}
	return false
}

func isPartitionFolder(name string, columns []string) bool {
	for _, c := range columns {
		if strings.HasPrefix(name, c+"=") {
			return true
		}
	}
	return false
}

// delete records the vacuum in the log, deletes, and records the end.
func (v *vacuum) delete(ctx context.Context) error {
	if len(v.out.Files) == 0 {
		return nil
	}
	parameters := map[string]string{
		"retentionCheckEnabled": "true", "defaultRetentionMillis": strconv.FormatInt(v.snap.Retention().Milliseconds(), 10),
		"specifiedRetentionMillis": strconv.FormatInt(v.opts.Retention.Milliseconds(), 10),
	}
	start := delta.Operation{Name: "VACUUM START", Parameters: parameters, Metrics: map[string]string{
		"numFilesToDelete": strconv.Itoa(len(v.out.Files)), "sizeOfDataToDelete": strconv.FormatInt(v.out.Bytes, 10),
	}}
	if err := v.record(ctx, start); err != nil {
		return err
	}
	deleted := 0
	for _, key := range v.out.Files {
		if err := v.table.Store().Delete(ctx, key); err != nil {
			v.out.Files = v.out.Files[:deleted]
			return fmt.Errorf("vacuum %s: %d of the files are deleted: %w", v.table.Store().URI(), deleted, err)
		}
		deleted++
	}
	return v.record(ctx, delta.Operation{Name: "VACUUM END", Parameters: map[string]string{"status": "COMPLETED"}, Metrics: map[string]string{
		"numDeletedFiles": strconv.Itoa(deleted),
	}})
}

// record writes a commit without file actions.
func (v *vacuum) record(ctx context.Context, op delta.Operation) error {
	x := v.table.Begin(v.snap)
	x.Rearrange()
	done, err := x.Commit(ctx, op)
	if err == nil && done.Snapshot != nil {
		v.snap = done.Snapshot
	}
	return err
}
