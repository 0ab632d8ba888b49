package stream

import (
	"errors"
	"fmt"

	"lakesql/checkpoint"
)

// refusal is the error of a restart that would lose or double rows: what was found, and what to type.
func (a *attachment) refusal(kind ErrorKind, p position) error {
	var found string
	switch kind {
	case KindCheckpoint:
		found = fmt.Sprintf("its commits/ goes to batch %d and its offsets/ only to %d: files of offsets/ were removed", p.commits, p.offsets)
	case KindCheckpointStale:
		found = fmt.Sprintf("table %s has batch %d of it, and its own last batch is %d: it is an older copy, and going on would skip or double rows",
			a.def.Target, p.txn, p.offsets)
	default:
		found = fmt.Sprintf("its last committed batch is %d, and table %s has batch %d as the last of it (-1: none): the table has lost batches. "+
			"It was replaced, restored to an older version, or another engine dropped the transaction identifier", lastCommitted(p), a.def.Target, p.txn)
	}
	return a.fail(kind, nil, "stream %s cannot continue checkpoint %s: %s. Put the matching copy back, or %s",
		a.def.FullName(), a.cp.URI(), found, a.reset())
}

// lastCommitted is the last batch that the checkpoint knows to be in the table.
func lastCommitted(p position) int64 { return max(p.commits, p.offsets-1) }

// checkpointError turns an error of the checkpoint into the stream's: what happened, and what to type.
func checkpointError(d *Definition, err error) error {
	var ce *checkpoint.Error
	if !errors.As(err, &ce) {
		return err
	}
	reset := fmt.Sprintf("type ALTER STREAM %s RESET, which begins a new one, keeps the table's rows and reads everything again", d.FullName())
	var what string
	switch ce.Kind {
	case checkpoint.Missing, checkpoint.Gone:
		what = fmt.Sprintf("the checkpoint %s of stream %s is gone: somebody deleted or moved it. Put it back, or %s",
			d.Checkpoint, d.FullName(), reset)
	case checkpoint.Changed:
		what = fmt.Sprintf("the checkpoint %s is not the one of stream %s any more: its id was %s and is another one now (%s). Put the right one back, or %s",
			d.Checkpoint, d.FullName(), d.ID, ce.Found, reset)
	case checkpoint.HasState:
		what = fmt.Sprintf("%v. A checkpoint with state belongs to a stateful query, which stream %s is not", err, d.FullName())
	case checkpoint.NoMetadata, checkpoint.Damaged, checkpoint.UnsupportedVersion, checkpoint.ResetUnfinished:
		what = fmt.Sprintf("%v. Or %s", err, reset)
	default: // Held, LeaseLost, Concurrent, ...: told as they are
		return err
	}
	return &Error{Kind: KindCheckpoint, Stream: d.FullName(), Message: what, Err: err}
}
