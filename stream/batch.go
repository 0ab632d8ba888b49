package stream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/stream/source"
	"lakesql/vector"
)

// batchResult is what reading and writing one batch gave, before its commit.
type batchResult struct {
	files     []delta.AddFile
	inputRows []int64 // by source
	rows      int64   // written
	bytes     int64   // written
	observed  observed
	dead      *deadLetters // nil: none are written
}

// runBatch reads the batch's range, commits it to the table, and records that. See doc.go for the order.
func (ss *session) runBatch(ctx context.Context, b *micro, tick time.Time) error {
	ss.s.setState(Running, fmt.Sprintf("batch %d", b.id))
	ss.s.mu.Lock()
	ss.s.rowsInBatch = 0
	ss.s.mu.Unlock()
	ss.s.setBacklog(ss.backlog())
	ss.s.m.cfg.Events.BatchStarted(BatchStarted{Stream: ss.def.FullName(), Batch: b.id, Replay: b.replay})

	planning := ss.s.m.now()
	snap, fit, err := ss.prepare(ctx, b)
	if err != nil {
		return err
	}
	reading := ss.s.m.now()
	b.took.add("queryPlanning", planning, reading)
	res, err := ss.readAndWrite(ctx, b, snap, fit)
	if err != nil {
		return err
	}
	ss.pace.batchStarted(tick, res.observed.fileCount)

	// From here on a stop waits: what is written below is small, and the batch is better finished than run again.
	ctx = context.WithoutCancel(ctx)
	if err := ss.keepRowErrors(ctx, b, &res.observed); err != nil {
		return err
	}
	if err := ss.prepareSources(ctx, b); err != nil {
		return err
	}
	if res.dead != nil {
		if err := res.dead.commit(ctx); err != nil {
			return err
		}
	}
	committed, err := ss.commit(ctx, b, snap, fit, res)
	if err != nil {
		return err
	}
	recording := ss.s.m.now()
	b.took.add("addBatch", reading, recording)
	if err := ss.recordCommit(ctx, b, committed); err != nil {
		return err
	}
	b.took.add("commitOffsets", recording, ss.s.m.now())
	ss.advance(b, committed, res, tick)
	return ss.afterCommit(ctx, b, res)
}

// prepare plans the batch and tests, before anything else, that the table has exactly the batches before this one.
func (ss *session) prepare(ctx context.Context, b *micro) (*delta.Snapshot, *fitting, error) {
	snap, err := currentSnapshot(ctx, ss.target.Table)
	if err != nil {
		return nil, nil, fmt.Errorf("read target %s: %w", ss.def.Target, err)
	}
	if txnOf(snap, ss.cp.ID()) != b.id-1 {
		return nil, nil, errReopen // somebody else wrote, or restored the table: the restart rule says what it is
	}
	if err := ss.checkTable(snap); err != nil {
		return nil, nil, err
	}
	inputs, err := ss.schemas(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !ss.plan.fits(inputs) {
		if ss.plan, err = ss.compile(ctx, inputs); err != nil {
			return nil, nil, err
		}
	}
	fit, err := ss.plan.fit(&ss.def, anyInferred(ss.sources), snap)
	return snap, fit, err
}

// readAndWrite runs the SELECT over the batch's range into data files, which nothing refers to yet.
func (ss *session) readAndWrite(ctx context.Context, b *micro, snap *delta.Snapshot, fit *fitting) (*batchResult, error) {
	if fit.creates && ss.target.Create != nil {
		if err := ss.target.Create(ctx); err != nil {
			return nil, fmt.Errorf("create target %s: %w", ss.def.Target, err)
		}
	}
	for {
		res, err := ss.attempt(ctx, b, snap, fit)
		if errors.Is(err, source.ErrAgain) {
			continue // each time, one more file is left out
		}
		if err != nil {
			return nil, err
		}
		return res, ss.tooManyErrors(ctx, b, &res.observed)
	}
}

// attempt reads the range once.
func (ss *session) attempt(ctx context.Context, b *micro, snap *delta.Snapshot, fit *fitting) (*batchResult, error) {
	done, res := false, &batchResult{inputRows: make([]int64, len(ss.sources))}
	res.observed.max = ss.def.OnError.Max
	var err error
	if res.dead, err = ss.openDeadLetters(ctx, b); err != nil {
		return nil, err
	}
	if res.dead != nil {
		res.observed.left = func(bad []source.RowError) { res.dead.add(ctx, bad) }
		defer func() {
			if !done {
				res.dead.abort()
			}
		}()
	}
	rows, inputs, err := ss.openRange(ctx, b, res)
	if err != nil {
		return nil, ss.blame(ctx, err, inputs)
	}
	rows = newTexts(rows, fit.texts, ss.def.OnError.Mode, res.observed.selected)
	rows = vector.NewProject(rows, fit.exprs, fit.given())
	err = ss.writeFiles(ctx, rows, snap, fit, res)
	for i, in := range inputs {
		res.inputRows[i] = in.rows
	}
	if err != nil {
		return nil, ss.blame(ctx, err, inputs)
	}
	if res.dead != nil {
		if err := res.dead.close(ctx); err != nil {
			return nil, err
		}
	}
	done = true
	return res, nil
}

// openRange opens the SELECT over the sources' ranges. It returns the inputs also with an error of the SELECT's.
func (ss *session) openRange(ctx context.Context, b *micro, res *batchResult) (vector.Operator, []*counted, error) {
	var inputs []*counted
	var ops []vector.Operator
	closeAll := func() {
		for _, op := range ops {
			_ = op.Close() // the error that counts is the one that is returned
		}
	}
	for i, src := range ss.sources {
		op, err := src.Read(ctx, b.start[i], b.end[i], res.observed.observer())
		if err != nil {
			closeAll()
			return nil, nil, fmt.Errorf("read batch %d from source %d: %w", b.id, i, err)
		}
		in := &counted{ss: ss}
		inputs, ops = append(inputs, in), append(ops, in.over(op))
	}
	rows, err := ss.plan.plan.Run(ctx, ops, b.time, res.observed.selected)
	if err != nil {
		closeAll()
		return nil, inputs, &selectError{err}
	}
	return rows, inputs, nil
}

// selectError is an error that the SELECT gave, its own or that of what it reads.
type selectError struct{ err error }

func (e *selectError) Error() string { return e.err.Error() }
func (e *selectError) Unwrap() error { return e.err }

// blame decides whose error it is: a source's, the SELECT's own, which a retry does not mend, or one of reading and writing.
func (ss *session) blame(ctx context.Context, err error, inputs []*counted) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, in := range inputs {
		if in.err != nil {
			return in.err // as the source said it, whatever the SELECT made of it
		}
	}
	var ofSelect *selectError
	if errors.As(err, &ofSelect) && !isPermanent(err) && !isOutside(err) {
		return ss.fail(KindData, err, "%s: the SELECT fails on a row: %v. Change it %s", ss.def.subject(), err, ss.def.otherSelect())
	}
	return err
}

// commit appends the files and the batch's txn in one table version. A batch without rows is a version, too.
func (ss *session) commit(ctx context.Context, b *micro, snap *delta.Snapshot, fit *fitting, res *batchResult) (delta.Committed, error) {
	tx := begin(ss.target.Table, snap, fit, res.files, ss.cp.ID(), b.id)
	done, err := tx.Commit(ctx, streamingUpdate(ss.cp.ID(), b.id, res.rows, res.bytes, len(res.files)))
	if err != nil {
		return done, fmt.Errorf("commit batch %d to %s: %w", b.id, ss.def.Target, err)
	}
	return done, nil
}

// streamingUpdate is how the history names a batch's commit, as Spark does.
func streamingUpdate(queryID string, id, rows, bytes int64, files int) delta.Operation {
	return delta.Operation{
		Name:       "STREAMING UPDATE",
		Parameters: map[string]string{"outputMode": "Append", "queryId": queryID, "epochId": strconv.FormatInt(id, 10)},
		Metrics: map[string]string{
			"numRemovedFiles": "0", "numOutputRows": strconv.FormatInt(rows, 10),
			"numOutputBytes": strconv.FormatInt(bytes, 10), "numAddedFiles": strconv.Itoa(files),
		},
	}
}

// begin is the transaction of the files, and of the application's version that has them.
func begin(table *delta.Table, snap *delta.Snapshot, fit *fitting, files []delta.AddFile, appID string, version int64) *delta.Transaction {
	tx := table.Begin(snap)
	if fit.setMetadata {
		tx.SetMetadata(fit.metadata)
	}
	tx.Add(files...)
	tx.SetTxn(appID, version)
	return tx
}

// recordCommit writes commits/N; before the first one it ties the checkpoint to the table.
func (ss *session) recordCommit(ctx context.Context, b *micro, done delta.Committed) error {
	if ss.tableID == "" {
		if done.Snapshot == nil {
			return errReopen // the commit is in the log; the restart rule finds it there
		}
		if err := ss.bind(ctx, done.Snapshot); err != nil {
			return err
		}
	}
	if err := ss.cp.Commits().Add(ctx, b.id, ss.watermark); err != nil {
		return fmt.Errorf("record that batch %d is committed: %w", b.id, err)
	}
	return nil
}

// advance moves the stream behind the batch and tells everybody.
func (ss *session) advance(b *micro, done delta.Committed, res *batchResult, tick time.Time) {
	ss.replay, ss.next, ss.committed = nil, b.id+1, b.end
	now := ss.s.m.now()
	b.took.add("triggerExecution", tick, now)
	p := ss.progressOf(b, done, res, tick, now)
	ss.s.succeeded()
	ss.s.update(func(st *Status) {
		st.LastBatchID, st.LastCommitVersion, st.LastCommitTime = b.id, done.Version, now
		st.Batches.add(now.Sub(tick))
		st.RowsWritten += res.rows
		st.ErrorRows += res.observed.errorRows
	})
	ss.s.mu.Lock()
	ss.s.backlogSince, ss.s.rowsInBatch = time.Time{}, 0
	ss.s.mu.Unlock()
	ss.s.setBacklog(ss.backlog())
	ss.keepProgress(b.id, p)
	ss.s.m.cfg.Events.BatchDone(BatchDone{Stream: ss.def.FullName(), Progress: p})
}

// prepareSources lets the sources make durable what no commit may be without.
func (ss *session) prepareSources(ctx context.Context, b *micro) error {
	for i, src := range ss.sources {
		preparer, ok := src.(source.Preparer)
		if !ok {
			continue
		}
		if err := preparer.Prepare(ctx, b.id, b.start[i], b.end[i]); err != nil {
			return fmt.Errorf("keep what source %d has read for batch %d: %w", i, b.id, err)
		}
	}
	return nil
}

// afterCommit is what nobody waits for: the sources' own records, purging, upkeep. The batch is done whatever happens here,
// but a fault is told, because the next batch would meet it.
func (ss *session) afterCommit(ctx context.Context, b *micro, res *batchResult) error {
	for i, src := range ss.sources {
		if err := src.Committed(ctx, b.id, b.start[i], b.end[i]); err != nil {
			return fmt.Errorf("tell source %d that batch %d is committed: %w", i, b.id, err)
		}
	}
	if below := b.id - minBatchesToRetain; below > 0 {
		if err := ss.cp.Offsets().Purge(ctx, below); err != nil {
			return fmt.Errorf("purge the offset log: %w", err)
		}
		if err := ss.cp.Commits().Purge(ctx, below); err != nil {
			return fmt.Errorf("purge the commit log: %w", err)
		}
	}
	if ss.s.m.now().Sub(ss.progressAt) >= flushEvery {
		ss.flushRings(ctx)
	}
	ss.upkeep.due()
	return nil
}

// minBatchesToRetain is Spark's: so many batches stay in offsets/ and commits/ behind the last one.
const minBatchesToRetain = 100

func offsetTexts(offsets []source.Offset) []string {
	out := make([]string, len(offsets))
	for i, o := range offsets {
		if out[i] = string(o); o == source.None {
			out[i] = checkpoint.NoOffset
		}
	}
	return out
}

func offsetsOf(texts []string) []source.Offset {
	out := make([]source.Offset, len(texts))
	for i, t := range texts {
		if t != checkpoint.NoOffset {
			out[i] = source.Offset(t)
		}
	}
	return out
}

func timeOfMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
