package delta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/buger/jsonparser"
	"github.com/google/uuid"

	"lakesql/store"
)

// Operation is what commitInfo says about a commit. Values are text, also where they are numbers or JSON.
type Operation struct {
	Name       string // such as "STREAMING UPDATE", "WRITE", "CREATE TABLE"
	Parameters map[string]string
	Metrics    map[string]string
}

// Committed is the result of a commit.
type Committed struct {
	Version int64
	// Snapshot is this version or a newer one; nil when the commit is in the log but could not be read back, which is no
	// failure of the commit. Table.Snapshot tells why.
	Snapshot *Snapshot
}

// Commit writes the next version. It tries until the outcome is known:
//
//  1. The version behind the last one that is known is written if it is absent.
//  2. If it is there, it may be our own, after a put whose outcome was unknown; the unique txnId tells.
//  3. Else it is a winner, and checked against this transaction: *ConflictError, or the next version is tried.
//
// A blind append never conflicts with another one, so it is retried for as long as ctx lasts. An error that is
// store.ErrAmbiguous leaves the outcome open; after every other error the commit is not in the log.
func (x *Transaction) Commit(ctx context.Context, op Operation) (Committed, error) {
	if err := x.prepare(); err != nil {
		return Committed{}, err
	}
	version, err := x.firstVersion(ctx)
	if err != nil {
		return Committed{}, err
	}
	a := attempt{op: op, id: uuid.NewString(), version: -1}
	var text []byte
	var unknown error // from a put of this version that may be in the log, now or later
	for {
		if a.version != version {
			if text, err = x.attempt(ctx, &a, version); err != nil {
				return Committed{}, err
			}
		}
		putErr := x.table.st.PutIfAbsent(ctx, commitKey(version), text)
		exists := errors.Is(putErr, store.ErrExists)
		switch {
		case putErr == nil:
			return x.table.committed(ctx, version, text), nil
		case errors.Is(putErr, store.ErrAmbiguous):
			unknown = putErr
		case !exists:
			return Committed{}, errors.Join(unknown, fmt.Errorf("write commit %d of %s: %w", version, x.table.st.URI(), putErr))
		}
		next, ours, err := x.passWinners(ctx, version, a.id, exists, unknown)
		if err != nil {
			return Committed{}, err
		}
		if ours {
			return x.table.committed(ctx, next, text), nil
		}
		if next != version {
			version, unknown = next, nil
		}
	}
}

// attempt makes the transaction ready to be written as a version, and returns its text.
func (x *Transaction) attempt(ctx context.Context, a *attempt, version int64) ([]byte, error) {
	if err := x.writeVectors(ctx); err != nil {
		return nil, err
	}
	now := time.Now()
	inCommit, err := x.inCommitTime(ctx, now)
	if err != nil {
		return nil, err
	}
	a.version, a.nowMs, a.inCommit = version, now.UnixMilli(), inCommit
	return x.encode(*a)
}

// firstVersion is the version to try first, after a look whether the table is still the one that was read: a version
// must never be written behind a log that somebody has replaced or removed.
func (x *Transaction) firstVersion(ctx context.Context) (int64, error) {
	if x.read != nil {
		same, err := sameFile(ctx, x.table.st, x.read.newest)
		if err != nil {
			return 0, err
		}
		if !same {
			return 0, &ConflictError{Class: classMetadataChanged, Version: x.read.Version(), Detail: fmt.Sprintf("table %s has been replaced or removed since it was read", x.read.uri)}
		}
		return x.read.Version() + 1, nil
	}
	listing, err := listLog(ctx, x.table.st, 0)
	if errors.Is(err, store.ErrRootMissing) {
		return 0, fmt.Errorf("create a table in %s: %w", x.table.st.URI(), err)
	}
	if err != nil && !errors.Is(err, ErrNoTable) {
		return 0, err
	}
	if err == nil && listing.version() >= 0 {
		return 0, &ConflictError{Class: classProtocolChanged, Version: listing.version(), Detail: fmt.Sprintf("table %s exists already", x.table.st.URI())}
	}
	return 0, nil
}

// passWinners looks at the commits from a version on, after a put of that version did not succeed: it exists, or the
// outcome is unknown, or both. It returns the first version that is free, or our own version with ours set.
func (x *Transaction) passWinners(ctx context.Context, version int64, id string, exists bool, unknown error) (next int64, ours bool, err error) {
	for next = version; ; next++ {
		winner, err := readCommit(ctx, x.table.st, next)
		if errors.Is(err, store.ErrNotFound) && !(exists && next == version) {
			return next, false, nil
		}
		if err != nil {
			if next > version { // somebody else has the version that we tried
				unknown = nil
			}
			return 0, false, errors.Join(unknown, err)
		}
		if commitTxnID(winner.info) == id {
			return next, true, nil
		}
		if err := x.check(ctx, winner); err != nil {
			return 0, false, err
		}
	}
}

// commitTxnID is the id that the writer of a commit gave it; "" without one.
func commitTxnID(info []byte) string {
	if info == nil {
		return ""
	}
	id, err := jsonparser.GetString(info, "txnId")
	if err != nil {
		return ""
	}
	return id
}

// committed brings the cache up to a version that was just written, without reading it back where that is possible.
func (t *Table) committed(ctx context.Context, version int64, text []byte) Committed {
	out := Committed{Version: version}
	if t.acquire(ctx) != nil {
		return out
	}
	defer t.release()
	if t.latest != nil && t.latest.Version() == version-1 {
		if c, err := parseCommit(logFileName(commitKey(version)), version, text); err != nil || t.advance(ctx, c) != nil {
			return out
		}
	} else if t.refresh(ctx) != nil {
		return out
	}
	if checkReadable(t.latest) == nil && t.latest.Version() >= version {
		out.Snapshot = t.latest
	}
	return out
}
