package stream

import (
	"context"
	"errors"
	"fmt"

	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/store"
)

// attachment is a checkpoint and the target that it belongs to. Looking at it writes nothing but what bind says.
type attachment struct {
	def     Definition
	cp      *checkpoint.Checkpoint
	target  Target
	tableID string // metaData.id that the checkpoint is bound to; "" before the first commit

	creating bool // the stream is not there yet: RESET is no way on
}

// reset is the way on that always works: to read everything again, under another id.
func (a *attachment) reset() string {
	if a.creating {
		return "give the stream another path in WITH CHECKPOINT '...', which reads everything"
	}
	return fmt.Sprintf("type ALTER STREAM %s RESET, which keeps the table's rows and reads everything again", a.def.FullName())
}

// look reads where the stream stands, and refuses what would lose or double rows.
func (a *attachment) look(ctx context.Context) (position, *delta.Snapshot, error) {
	pos := position{txn: -1}
	var err error
	if pos.offsets, err = a.cp.Offsets().Latest(ctx); err != nil {
		return pos, nil, fmt.Errorf("read the offset log: %w", err)
	}
	if pos.commits, err = a.cp.Commits().Latest(ctx); err != nil {
		return pos, nil, fmt.Errorf("read the commit log: %w", err)
	}
	snap, err := currentSnapshot(ctx, a.target.Table)
	if err != nil {
		return pos, nil, fmt.Errorf("read target %s: %w", a.def.Target, err)
	}
	pos.txn = txnOf(snap, a.cp.ID())
	if err := a.readBinding(ctx, pos); err != nil {
		return pos, nil, err
	}
	if err := a.checkTable(snap); err != nil {
		return pos, nil, err
	}
	if _, kind := pos.decide(); kind != 0 {
		return pos, nil, a.refusal(kind, pos)
	}
	return pos, snap, nil
}

// readBinding learns which table the checkpoint has been committing to. Before the first entry in commits/ no table is
// bound: whatever the binding says is of another time.
func (a *attachment) readBinding(ctx context.Context, pos position) error {
	a.tableID = ""
	if pos.commits < 0 {
		return nil
	}
	b, _, err := a.cp.Binding(ctx)
	if err != nil {
		return fmt.Errorf("read the checkpoint's binding: %w", err)
	}
	a.tableID = b.TableID
	return nil
}

// checkTable compares the table's id with the one that the checkpoint is bound to.
func (a *attachment) checkTable(snap *delta.Snapshot) error {
	if a.tableID == "" {
		return nil
	}
	found := "there is no table"
	if snap != nil {
		if snap.Metadata().ID == a.tableID {
			return nil
		}
		found = "the table there has id " + snap.Metadata().ID
	}
	if a.creating {
		return a.fail(KindTableReplaced, nil, "[DIFFERENT_DELTA_TABLE] checkpoint %s has been writing a table with id %s, and as %s %s. "+
			"Name the table that it belongs to, or %s", a.cp.URI(), a.tableID, a.def.Target, found, a.reset())
	}
	return a.fail(KindTableReplaced, nil, "[DIFFERENT_DELTA_TABLE] stream %s has been writing %s with id %s, and now %s: it was dropped or replaced. "+
		"Bring the old table back, or type ALTER STREAM %s RESET, which reads everything again into the table that is there",
		a.def.FullName(), a.def.Target, a.tableID, found, a.def.FullName())
}

// bind ties the checkpoint to the table of snap and to the stream's name.
func (a *attachment) bind(ctx context.Context, snap *delta.Snapshot) error {
	want := checkpoint.Binding{StreamName: a.def.FullName(), TableID: snap.Metadata().ID, TableURI: a.target.Table.Store().URI()}
	have, ok, err := a.cp.Binding(ctx)
	if err != nil {
		return fmt.Errorf("read the checkpoint's binding: %w", err)
	}
	if !ok || have != want {
		if err := a.cp.Rebind(ctx, want); err != nil {
			return fmt.Errorf("bind the checkpoint to the table: %w", err)
		}
	}
	a.tableID = want.TableID
	return nil
}

// readOffsets reads the offsets of one batch, which must be those of so many sources.
func (a *attachment) readOffsets(ctx context.Context, id int64, sources int) (checkpoint.Offsets, error) {
	o, err := a.cp.Offsets().Read(ctx, id)
	if err != nil {
		return o, fmt.Errorf("read the offsets of batch %d: %w", id, err)
	}
	if len(o.Sources) != sources {
		return o, a.fail(KindInvalid, nil, "there are %d sources in the offsets of checkpoint %s and %d in the SELECT of stream %s: "+
			"a stream's sources cannot change in number. Take a checkpoint of its own for the other query",
			len(o.Sources), a.cp.URI(), sources, a.def.FullName())
	}
	return o, nil
}

// fail makes a permanent error of this stream.
func (a *attachment) fail(kind ErrorKind, cause error, format string, args ...any) error {
	return &Error{Kind: kind, Stream: a.def.FullName(), Err: cause, Message: fmt.Sprintf(format, args...)}
}

// currentSnapshot is the table's newest snapshot; nil where there is no table.
func currentSnapshot(ctx context.Context, t *delta.Table) (*delta.Snapshot, error) {
	snap, err := t.Snapshot(ctx)
	if errors.Is(err, delta.ErrNoTable) || errors.Is(err, store.ErrRootMissing) {
		return nil, nil
	}
	return snap, err
}

func txnOf(snap *delta.Snapshot, id string) int64 {
	if snap == nil {
		return -1
	}
	if version, ok := snap.Txn(id); ok {
		return version
	}
	return -1
}
