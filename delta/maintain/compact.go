package maintain

import (
	"context"
	"math/bits"
	"slices"

	"lakesql/delta"
	"lakesql/format/parquet"
)

// Streams leave a small file behind for each batch. Compact joins them as they gather: files fall into tiers by their size, each eight times the
// one before, and a tier of a partition that has collected compactFiles files becomes, with all smaller ones, one file of a
// higher tier. So a row is written again once a tier, and not each time.
const (
	compactFiles     = 32
	compactMaxBytes  = 64 << 20 // larger files are left to Optimize
	compactFirstTier = 16       // 1 << 16 bytes and less
)

// Compact joins small files where enough of them have gathered, and tells whether it did. It never keeps a writer from committing: when
// one has changed the files meanwhile, they are left as they are.
func Compact(ctx context.Context, table *delta.Table, cache *parquet.Cache) (OptimizeResult, error) {
	out := OptimizeResult{Version: -1}
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return out, err
	}
	if delta.CheckWritable(snap) != nil {
		return out, nil
	}
	o := &optimizer{rewriter: rewriter{table: table, snap: snap, cache: cache}, auto: true, out: &out}
	for _, files := range byPartition(snap, func(f delta.File) bool { return f.Size < compactMaxBytes && f.DeletionVector() == nil }) {
		b, ok := gathered(files)
		if !ok {
			continue
		}
		adds, err := o.join(ctx, b)
		if err != nil {
			return out, err
		}
		out.Partitions++
		if err := o.done(ctx, rewritten{b, adds}); err != nil {
			return out, err
		}
	}
	return out, o.commit(ctx)
}

// tierOf is the tier of a file's size.
func tierOf(bytes int64) int { return max(0, bits.Len64(uint64(bytes))-compactFirstTier) / 3 }

// gathered are the files of the lowest tiers up to one that is full.
func gathered(files []delta.File) (bin, bool) {
	var tiers [][]delta.File
	for _, f := range files {
		t := tierOf(f.Size)
		for len(tiers) <= t {
			tiers = append(tiers, nil)
		}
		tiers[t] = append(tiers[t], f)
	}
	full := -1
	for t, in := range tiers {
		if len(in) >= compactFiles {
			full = t
		}
	}
	var b bin
	if full < 0 {
		return b, false
	}
	for _, f := range slices.Concat(tiers[:full+1]...) {
		b.add(f)
	}
	return b, true
}
