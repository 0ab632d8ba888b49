package catalog

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/delta"
)

// A statement that lost a commit race runs again on the newest version, a bounded number of times, as somebody waits for it.
const (
	maxTries  = 8
	firstWait = 10 * time.Millisecond
	maxWait   = time.Second
)

// RunInsert runs a statement from its plan to its end by run, and where it is an INSERT again as long as the commits of others win: the
// engine executes INSERT itself, all other statements that write are nodes of ours and do so by themselves. The rows of LOAD DATA come from
// the client, who has to send them again. sent tells whether rows, of RETURNING, have gone to the client, who cannot take them back.
func RunInsert(ctx *sql.Context, stmt ast.Statement, sent func() bool, run func() error) error {
	if _, ok := stmt.(*ast.Load); ok {
		return run()
	}
	_, err := untilWon(ctx, func(*sql.Context) (_ struct{}, err error) { return struct{}{}, run() }, func(err error) bool {
		var lost *lostInsert
		return errors.As(err, &lost) && !sent()
	})
	return err
}

// lostInsert is the conflict of an INSERT that commits by itself.
type lostInsert struct{ error }

func (e *lostInsert) Unwrap() error { return e.error }

// untilCommitted runs a statement until it is committed, fails, or has lost too often. In a transaction it runs once: the versions that
// the transaction has read stay, and COMMIT tells who won.
func untilCommitted(ctx *sql.Context, run func(ctx *sql.Context) (types.OkResult, error)) (types.OkResult, error) {
	waits, err := manualCommit(ctx)
	if err != nil {
		return types.OkResult{}, err
	}
	if waits {
		return run(ctx)
	}
	return untilWon(ctx, run, isConflict)
}

func isConflict(err error) bool { return errors.Is(err, delta.ErrConflict) }

// untilWon runs a statement, which commits by itself, again as long as it has lost against the commits of others.
func untilWon[T any](ctx *sql.Context, run func(ctx *sql.Context) (T, error), lost func(error) bool) (T, error) {
	for try, wait := 1, firstWait; ; try, wait = try+1, min(2*wait, maxWait) {
		ok, err := run(ctx)
		if err == nil || try == maxTries || !lost(err) {
			return ok, err
		}
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			return ok, err
		}
		currentTransaction(ctx).repin()
		ctx.ClearWarnings()
	}
}
