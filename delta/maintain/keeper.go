package maintain

import (
	"context"
	"errors"

	"lakesql/delta"
	"lakesql/format/parquet"
)

// Keeper does for one table what its writers leave to be done now and then: the checkpoints of its log, and the joining of small files. It is
// for one goroutine; several processes may keep a table at once.
type Keeper struct {
	Table   *delta.Table
	Cache   *parquet.Cache // nil: files are opened anew
	Compact bool           // join small files unless the table forbids it; else only where the table asks for it

	looked int64 // the version at which small files were looked for last
}

// Work does what is due. It may be stopped at any moment.
func (k *Keeper) Work(ctx context.Context) error {
	_, err := k.Table.Maintain(ctx)
	return errors.Join(err, k.compact(ctx))
}

// compact looks for small files when there can be enough of them.
func (k *Keeper) compact(ctx context.Context) error {
	snap, err := k.Table.Snapshot(ctx)
	if err != nil {
		return err
	}
	if snap.Version() < k.looked { // the table is another one
		k.looked = 0
	}
	if !k.wanted(snap) || snap.NumFiles() < compactFiles || snap.Version() < k.looked+compactFiles/2 {
		return nil
	}
	out, err := Compact(ctx, k.Table, k.Cache)
	k.looked = max(snap.Version(), out.Version)
	return err
}

// autoCompact is the table property by which writers join small files or not.
const autoCompact = "delta.autoOptimize.autoCompact"

func (k *Keeper) wanted(snap *delta.Snapshot) bool {
	switch snap.Metadata().Configuration[autoCompact] {
	case "":
		return k.Compact
	case "false":
		return false
	}
	return true
}
