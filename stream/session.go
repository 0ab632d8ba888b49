package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/stream/source"
)

// session is a stream between opening what it works on and the first error, or its end. All of its state comes from the
// checkpoint and the table, so a new session is what a new process would be.
type session struct {
	attachment
	s       *stream
	run     *run
	turn    *turn   // in the pool of workers; nil: COPY INTO, which works for a client
	helpers []*turn // of the batch's other workers
	opts    streamOptions
	runID   string
	leases  *leaseKeeper

	sources []source.Source
	wake    chan struct{} // hints of all sources
	fitting bool          // fits is running
	upkeep  *upkeep

	next      int64           // the id of the next batch
	committed []source.Offset // the ends of batch next-1
	conf      json.RawMessage // pinned settings, carried from batch to batch
	watermark int64
	replay    *micro // the batch that an earlier run recorded and did not commit

	plan       *boundPlan
	pace       *pacer
	lastTick   time.Time // of the last trigger that ran a batch
	frozen     bool
	progressAt time.Time // of the last flush of progress
}

// micro is one micro-batch: its id and the range of each source.
type micro struct {
	id     int64
	time   time.Time // what current_timestamp() is
	start  []source.Offset
	end    []source.Offset
	more   bool
	replay bool
	took   durations
}

// durations are Spark's durationMs.
type durations map[string]int64

func (d durations) add(name string, since, until time.Time) {
	d[name] += until.Sub(since).Milliseconds()
}

// runSession opens the stream and runs it until ctx ends, its trigger has finished, or an error.
func runSession(ctx context.Context, s *stream, r *run, runID string, leases *leaseKeeper) error {
	if err := r.turn.take(ctx); err != nil {
		return err
	}
	defer r.turn.release()
	ss := &session{attachment: attachment{def: s.definition()}, s: s, run: r, turn: r.turn, runID: runID, leases: leases}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer ss.close()
	if err := ss.open(ctx); err != nil {
		return ss.diagnose(ctx, err)
	}
	stop := ss.heartbeat(ctx, cancel)
	err := ss.serve(ctx)
	stop() // the lease belongs to this goroutine again
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause // why the session was ended, where that is more than a stop
	}
	return ss.diagnose(ctx, err)
}

// open opens checkpoint, lease, sources and target, and finds out where the stream stands.
func (ss *session) open(ctx context.Context) error {
	var err error
	if ss.opts, err = parseOptions(ss.def.Options); err != nil {
		return ss.fail(KindInvalid, err, "%v", err)
	}
	if ss.cp, err = ss.s.m.openCheckpoint(ctx, &ss.def); err != nil {
		return err
	}
	if err := ss.adopt(ctx); err != nil {
		return err
	}
	last, err := ss.cp.Commits().Latest(ctx)
	if err != nil {
		return fmt.Errorf("read the commit log: %w", err)
	}
	ss.s.update(func(st *Status) { st.LastBatchID = max(st.LastBatchID, last) }) // also where the stream cannot go on
	if err := ss.leases.acquire(ctx, ss.cp); err != nil {
		return fmt.Errorf("take the stream's lease: %w", err)
	}
	if err := ss.openSources(ctx); err != nil {
		return err
	}
	if err := ss.recover(ctx); err != nil {
		return err
	}
	ss.s.setLive(ss.cp)
	ss.upkeep = newUpkeep(ss)
	ss.pace = newPacer(ss.def.Trigger)
	ss.s.update(func(st *Status) {
		st.LastBatchID = ss.next - 1
		st.SourceDescriptions = st.SourceDescriptions[:0]
		for _, src := range ss.sources {
			st.SourceDescriptions = append(st.SourceDescriptions, src.Description())
		}
	})
	return nil
}

// adopt takes the checkpoint's id for the stream's after a RESET that a crash cut short.
func (ss *session) adopt(ctx context.Context) error {
	if !ss.def.Resetting {
		return nil
	}
	ss.def.ID, ss.def.Resetting = ss.cp.ID(), false
	if err := ss.s.m.cfg.Definitions.Put(ctx, ss.def); err != nil {
		return fmt.Errorf("keep the id that RESET gave the stream: %w", err)
	}
	ss.s.mu.Lock()
	ss.s.def = ss.def
	ss.s.mu.Unlock()
	return nil
}

func (ss *session) openSources(ctx context.Context) error {
	specs, err := ss.s.m.sources(ctx, &ss.def)
	if isOutside(err) {
		return fmt.Errorf("find what the SELECT reads: %w", err)
	}
	if err != nil {
		return ss.fail(KindInvalid, err, "stream %s: its SELECT cannot be planned: %v", ss.def.FullName(), err)
	}
	skipped, err := loadSkipped(ctx, ss.cp)
	if err != nil {
		return err
	}
	ss.wake = make(chan struct{}, 1)
	for i, spec := range specs {
		open, ok := ss.s.m.cfg.Sources[spec.Kind]
		if !ok {
			return ss.fail(KindUnsupported, nil, "stream %s: source %s is not supported yet", ss.def.FullName(), spec.Kind)
		}
		env := sourceEnv(ss.s.m, &ss.def)
		env.Checkpoint, env.Index, env.Skipped, env.FailOnDataLoss = ss.cp, i, skipped.has, ss.opts.loss
		env.Fits = func(ctx context.Context, schema *batch.Schema) (string, error) { return ss.fits(ctx, i, schema) }
		src, err := open(ctx, spec, env)
		if err != nil {
			return fmt.Errorf("open source %d: %w", i, err)
		}
		ss.sources = append(ss.sources, src)
	}
	return nil
}

// fits says why the stream could not work when one source had this schema: the SELECT does not compile over it, or its columns
// do not fit the table. While another source has no schema yet, nothing can be said.
func (ss *session) fits(ctx context.Context, index int, schema *batch.Schema) (problem string, err error) {
	if ss.fitting {
		return "", nil // asked by another source that was asked for its schema here
	}
	ss.fitting = true
	defer func() { ss.fitting = false }()
	inputs := make([]*batch.Schema, len(ss.sources))
	for i, src := range ss.sources {
		if i == index {
			inputs[i] = schema
		} else if inputs[i], err = src.Schema(ctx); errors.Is(err, source.ErrNoData) {
			return "", nil
		} else if err != nil {
			return "", err
		}
	}
	snap, err := currentSnapshot(ctx, ss.target.Table)
	if err != nil {
		return "", fmt.Errorf("read target %s: %w", ss.def.Target, err)
	}
	plan, err := ss.compile(ctx, inputs)
	if err == nil {
		_, err = plan.fit(&ss.def, anyInferred(ss.sources), snap)
	}
	if isPermanent(err) {
		return strings.TrimPrefix(err.Error(), ss.def.subject()+": "), nil
	}
	return "", err
}

// sourceEnv is what the definition says about how sources read.
func sourceEnv(m *Manager, d *Definition) source.Env {
	env := source.Env{
		Open: m.cfg.Open, Fence: m.cfg.Fence, Secret: m.cfg.Secret, Now: m.now, Notifier: m.notifier, SkipUnreadable: d.OnError.Mode == SkipFile,
		RowHint: "ON ERROR PERMISSIVE keeps such rows with NULL, SKIP ROW leaves them out",
	}
	switch d.OnError.Mode {
	case Fail:
		env.Malformed = source.FailRead
	case SkipRow, DeadLetter:
		env.Malformed = source.DropRow
	}
	switch d.OnSchemaChange {
	case SchemaAddColumns:
		env.NewColumns = source.AddColumns
	case SchemaIgnore:
		env.NewColumns = source.IgnoreColumns
	case SchemaFail:
		env.NewColumns = source.RefuseColumns
	case SchemaRescue:
		env.NewColumns = source.RescueColumns
	}
	return env
}

// forwardHints merges the sources' hints into wake. The goroutines end with ctx.
func (ss *session) forwardHints(ctx context.Context) (wait func()) {
	done := make(chan struct{}, len(ss.sources))
	n := 0
	for _, src := range ss.sources {
		hints := src.Wake()
		if hints == nil {
			continue
		}
		n++
		go func() {
			defer func() { done <- struct{}{} }()
			for {
				select {
				case <-ctx.Done():
					return
				case _, ok := <-hints:
					if !ok {
						return
					}
				}
				select {
				case ss.wake <- struct{}{}:
				default:
				}
			}
		}()
	}
	return func() {
		for range n {
			<-done
		}
	}
}

// heartbeat renews the lease until stop is called. A lost lease ends the session.
func (ss *session) heartbeat(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(checkpoint.LeaseHeartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
			}
			if err := ss.leases.lease.Renew(ctx); checkpoint.IsKind(err, checkpoint.LeaseLost) {
				cancel(fmt.Errorf("another server has taken the stream over: %w", err))
				return
			} // any other fault is met, and told, by the next batch
		}
	}()
	return func() { close(quit); <-done }
}

// close releases what the session holds. It is called after each session, opened whole or not.
func (ss *session) close() {
	if ss.upkeep != nil {
		ss.upkeep.stop()
	}
	if ss.cp != nil {
		ss.flushRings(context.Background())
		ss.s.setLive(nil)
	}
	ss.closeSources()
}

func (ss *session) closeSources() {
	for _, src := range ss.sources {
		if err := src.Close(); err != nil {
			ss.s.m.log.Warn("a stream's source did not close", "stream", ss.def.FullName(), "error", err)
		}
	}
}

// schemas returns the schema of each source. source.ErrNoData when one has nothing to infer it from.
func (ss *session) schemas(ctx context.Context) ([]*batch.Schema, error) {
	out := make([]*batch.Schema, len(ss.sources))
	for i, src := range ss.sources {
		var err error
		if out[i], err = src.Schema(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (ss *session) backlog() (b source.Backlog) {
	for _, src := range ss.sources {
		one := src.Backlog()
		b.Files, b.Bytes, b.Rows, b.Waiting = b.Files+one.Files, b.Bytes+one.Bytes, b.Rows+one.Rows, b.Waiting+one.Waiting
	}
	return b
}
