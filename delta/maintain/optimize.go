package maintain

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"lakesql/delta"
	"lakesql/format/parquet"
)

// OptimizeOptions say what Optimize does.
type OptimizeOptions struct {
	Partition   func(values map[string]string) (bool, error) // which partitions, by the values of the partition columns; nil: all
	Predicate   string                                       // Partition as text, for the history
	ZOrderBy    []string                                     // columns whose neighbouring values go into the same files; none: those that the table is clustered by
	Full        bool                                         // all files, not only those that are small or have many deleted rows
	TargetBytes int64                                        // of the new files; 0: delta.targetFileSize, or delta.DefaultTargetFileBytes
	Cache       *parquet.Cache                               // nil: files are opened anew
}

// OptimizeResult is what Optimize has done.
type OptimizeResult struct {
	FilesAdded, FilesRemoved int
	BytesAdded, BytesRemoved int64
	FilesConsidered          int   // in the partitions that were asked for
	Partitions               int   // that were rewritten
	Skipped                  int   // files left as they were because another writer changed them meanwhile
	Version                  int64 // of the last commit; -1: there was nothing to do
}

// maxCommitBytes is how much is rewritten before it is committed: what is lost when the process dies.
const maxCommitBytes = 8 << 30

// Optimize writes the small files of each partition, and those with many deleted rows, into larger ones; with ZOrderBy or Full all files. It
// returns what was committed, also beside an error.
func Optimize(ctx context.Context, table *delta.Table, opts OptimizeOptions) (OptimizeResult, error) {
	out := OptimizeResult{Version: -1}
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return out, err
	}
	if err := delta.CheckWritable(snap); err != nil {
		return out, err
	}
	if opts.TargetBytes <= 0 {
		opts.TargetBytes = snap.TargetFileBytes()
	}
	all := opts.Full || len(opts.ZOrderBy) > 0
	if opts.ZOrderBy, err = order(snap, opts.ZOrderBy); err != nil {
		return out, err
	}
	partitions, err := optimizable(snap, opts, all, &out)
	if err != nil {
		return out, err
	}
	o := &optimizer{rewriter: rewriter{table: table, snap: snap, cache: opts.Cache}, opts: opts, out: &out}
	for _, files := range partitions {
		if err := o.partition(ctx, files); err != nil {
			return out, err
		}
	}
	return out, o.commit(ctx)
}

// optimizable are the files to look at, by partition.
func optimizable(snap *delta.Snapshot, opts OptimizeOptions, all bool, out *OptimizeResult) ([][]delta.File, error) {
	var failed error
	partitions := byPartition(snap, func(f delta.File) bool {
		if opts.Partition != nil && failed == nil {
			ok, err := opts.Partition(f.PartitionValues)
			if failed = err; !ok {
				return false
			}
		}
		out.FilesConsidered++
		return all || f.Size < opts.TargetBytes || deletedRatio(f) > maxDeletedRatio
	})
	return partitions, failed
}

// optimizer collects rewritten bins until they are committed.
type optimizer struct {
	rewriter
	opts  OptimizeOptions
	auto  bool // for the history
	out   *OptimizeResult
	ready []rewritten
	bytes int64 // of the files behind ready
}

// rewritten is a bin, and the files that stand for it.
type rewritten struct {
	bin
	adds []delta.AddFile
}

func (o *optimizer) partition(ctx context.Context, files []delta.File) error {
	if len(o.opts.ZOrderBy) > 0 {
		return o.zorder(ctx, files)
	}
	bins := pack(files, o.opts.TargetBytes)
	if len(bins) > 0 {
		o.out.Partitions++
	}
	for _, b := range bins {
		adds, err := o.join(ctx, b)
		if err != nil {
			return err
		}
		if err := o.done(ctx, rewritten{b, adds}); err != nil {
			return err
		}
	}
	return nil
}

// done takes a rewritten bin, and commits when there is much.
func (o *optimizer) done(ctx context.Context, r rewritten) error {
	o.ready = append(o.ready, r)
	if o.bytes += r.bytes; o.bytes < maxCommitBytes {
		return nil
	}
	return o.commit(ctx)
}

// commit replaces the files of all bins that are ready. Bins whose files another writer has changed are dropped.
func (o *optimizer) commit(ctx context.Context) error {
	ready := o.ready
	o.ready, o.bytes = nil, 0
	snap := o.snap
	for len(ready) > 0 {
		x := o.table.Begin(snap)
		x.Rearrange()
		n := totals(ready)
		for _, r := range ready {
			x.Remove(r.files...)
			x.Add(r.adds...)
		}
		done, err := x.Commit(ctx, o.operation(n))
		if err == nil {
			o.out.add(n, done.Version)
			return nil
		}
		var conflict *delta.ConflictError
		if !errors.As(err, &conflict) {
			return err
		}
		if snap, err = o.table.Snapshot(ctx); err != nil {
			return err
		}
		if snap.Metadata().ID != o.snap.Metadata().ID || snap.Metadata().SchemaString != o.snap.Metadata().SchemaString {
			return conflict
		}
		still, dropped := unchanged(snap, ready)
		if len(still) == len(ready) && snap.Version() < conflict.Version {
			return conflict
		}
		o.out.Skipped += dropped
		ready = still
	}
	return nil
}

// unchanged keeps the bins all of whose files a snapshot still has as they were, as files of that snapshot.
func unchanged(snap *delta.Snapshot, ready []rewritten) (still []rewritten, dropped int) {
	wanted := make(map[string]bool)
	for _, r := range ready {
		for _, f := range r.files {
			wanted[f.Path] = true
		}
	}
	now := make(map[string]delta.File, len(wanted))
	for f := range snap.Files() {
		if wanted[f.Path] {
			now[f.Path] = f
		}
	}
	for _, r := range ready {
		next := rewritten{adds: r.adds}
		for _, f := range r.files {
			if g, ok := now[f.Path]; ok && g.SameRows(f) {
				next.add(g)
			}
		}
		if len(next.files) == len(r.files) {
			still = append(still, next)
		} else {
			dropped += len(r.files)
		}
	}
	return still, dropped
}

// counts are the totals of a commit.
type counts struct {
	removed, added           int
	removedBytes, addedBytes int64
}

func totals(ready []rewritten) counts {
	var n counts
	for _, r := range ready {
		n.removed += len(r.files)
		n.removedBytes += r.bytes
		n.added += len(r.adds)
		for _, a := range r.adds {
			n.addedBytes += a.Size
		}
	}
	return n
}

func (r *OptimizeResult) add(n counts, version int64) {
	r.FilesRemoved += n.removed
	r.FilesAdded += n.added
	r.BytesRemoved += n.removedBytes
	r.BytesAdded += n.addedBytes
	r.Version = version
}

func (o *optimizer) operation(n counts) delta.Operation {
	predicate := "[]"
	if o.opts.Predicate != "" {
		predicate = fmt.Sprintf("[%s]", strconv.Quote(o.opts.Predicate))
	}
	return delta.Operation{
		Name: "OPTIMIZE",
		Parameters: map[string]string{
			"predicate": predicate, "zOrderBy": jsonStrings(o.opts.ZOrderBy), "auto": strconv.FormatBool(o.auto),
		},
		Metrics: map[string]string{
			"numRemovedFiles": strconv.Itoa(n.removed), "numRemovedBytes": strconv.FormatInt(n.removedBytes, 10),
			"numAddedFiles": strconv.Itoa(n.added), "numAddedBytes": strconv.FormatInt(n.addedBytes, 10),
		},
	}
}
