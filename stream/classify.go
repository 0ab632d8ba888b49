package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/files"
	"lakesql/store"
	"lakesql/stream/source"
)

// isPermanent reports whether a retry cannot mend err. Only an *Error is permanent: diagnose makes one of what is, and
// everything else, such as a full disk or a commit that lost, is tried again for ever.
func isPermanent(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// isHeld reports whether another process holds the stream's lease.
func isHeld(err error) bool {
	return checkpoint.IsKind(err, checkpoint.Held) || checkpoint.IsKind(err, checkpoint.LeaseLost)
}

// isOutside reports whether err comes from the world outside the program, such as a disk or a network: it may pass.
func isOutside(err error) bool {
	var errno syscall.Errno
	var network net.Error
	return errors.As(err, &errno) || errors.As(err, &network) || errors.Is(err, store.ErrAmbiguous) ||
		errors.Is(err, store.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, delta.ErrConflict)
}

// diagnose turns the errors of a session that a retry cannot mend into an *Error that says what to type.
func (ss *session) diagnose(ctx context.Context, err error) error {
	if err == nil || isPermanent(err) || ctx.Err() != nil || errors.Is(err, errReopen) || errors.Is(err, errFinished) {
		return err
	}
	name := ss.def.FullName()
	var file *source.FileError
	var loss *source.LossError
	var unsupported *delta.UnsupportedError
	var outside *store.OutsideError
	var argument *files.ArgumentError
	switch {
	case errors.Is(err, source.ErrSchemaEvolved):
		return errReopen
	case errors.As(err, &file):
		if errors.Is(err, source.ErrChanged) {
			return ss.fail(KindSourceChanged, err, "stream %s: %v. Then type START STREAM %s; or ALTER STREAM %s SKIP FILE '%s', which goes on without it",
				name, err, name, name, file.URI)
		}
		return ss.fail(KindData, err, "stream %s: %v. Type ALTER STREAM %s SKIP FILE '%s', which goes on without it, and put a mended copy into the folder under a new name; "+
			"or read it in another way by CREATE OR REPLACE STREAM, which keeps the checkpoint", name, err, name, file.URI)
	case errors.As(err, &loss):
		return ss.fail(KindSourceChanged, err, "stream %s: %v. Type ALTER STREAM %s SET OPTIONS (failOnDataLoss = false), which goes on with what is there, "+
			"then START STREAM %s", name, err, name, name)
	case errors.Is(err, source.ErrChanged):
		return ss.fail(KindSourceChanged, err, "stream %s: %v", name, err)
	case errors.Is(err, source.ErrData):
		return ss.fail(KindData, err, "stream %s: %v", name, err)
	case errors.Is(err, delta.ErrConcurrentTxn), checkpoint.IsKind(err, checkpoint.Concurrent):
		return ss.lostTo(ctx, err)
	case errors.As(err, &unsupported):
		return ss.fail(KindUnsupported, err, "stream %s cannot write %s: %v", name, ss.def.Target, err)
	case errors.Is(err, delta.ErrConstraint):
		return ss.fail(KindData, err, "stream %s: a row breaks a rule of %s: %v. Leave such rows out in the SELECT (WHERE), or change the table; then type START STREAM %s",
			name, ss.def.Target, err, name)
	case errors.Is(err, delta.ErrCorrupt):
		return ss.fail(KindData, err, "stream %s: %v", name, err)
	case errors.As(err, &argument):
		return ss.fail(KindInvalid, err, "stream %s: %v. Change it %s", name, err, ss.def.otherSelect())
	case errors.As(err, &outside):
		return ss.fail(KindInvalid, err, "stream %s: %v, or take it away. Then type START STREAM %s", name, err, name)
	}
	return checkpointError(&ss.def, err)
}

// lostTo is what becomes of a stream whose batch another process has written. When that process has our lease, this one
// waits for it; a process that knows no leases, such as Spark, must not run beside us, and a person has to choose.
func (ss *session) lostTo(ctx context.Context, err error) error {
	if lease := ss.leases.lease; lease != nil && checkpoint.IsKind(lease.Renew(ctx), checkpoint.LeaseLost) {
		return fmt.Errorf("another server has taken the stream over and written its batch: %w", err)
	}
	return ss.fail(KindConcurrentStream, err, "[CONCURRENT_STREAM_LOG_UPDATE] stream %s: another program runs on checkpoint %s at the same time (%v). "+
		"Nothing was written twice. Stop the other one, then type START STREAM %s", ss.def.FullName(), ss.def.Checkpoint, err, ss.def.FullName())
}
