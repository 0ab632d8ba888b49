package stream

import (
	"context"
	"errors"
	"fmt"

	"lakesql/checkpoint"
	"lakesql/stream/source"
)

// Reset makes a stream that is paused, failed or finished forget what it has read; it is paused then, and begins at begin. The table keeps its
// rows, so that what is read again is there twice: the report says how much that is.
//
// The definition says that a reset has begun, and where to begin, before the checkpoint is touched; the checkpoint's own marker makes its part
// whole. After a crash anywhere between, the stream takes whatever id the checkpoint has, and its sources begin when they are opened.
func (m *Manager) Reset(ctx context.Context, database, name string, begin Begin) (ResetReport, error) {
	m.statements.Lock()
	defer m.statements.Unlock()
	s, err := m.find(database, name)
	if err != nil {
		return ResetReport{}, err
	}
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.mu.Lock()
	running, state := s.run != nil, s.status.State
	s.mu.Unlock()
	d := s.definition()
	if running {
		return ResetReport{}, &Error{Kind: KindWrongState, Stream: d.FullName(), Message: fmt.Sprintf(
			"stream %s is %s, and RESET works on one that is stopped; type STOP STREAM %s first", d.FullName(), state, d.FullName())}
	}
	report := ResetReport{OldID: d.ID}
	d.Begin = begin
	now, err := m.whatIsThere(ctx, d, &report)
	if err != nil {
		return ResetReport{}, err
	}
	d.Resetting, d.Paused, d.Finished = true, true, false
	if err := m.cfg.Definitions.Put(ctx, d); err != nil {
		return ResetReport{}, fmt.Errorf("keep that stream %s is being reset: %w", d.FullName(), err)
	}
	s.settle(d)
	if d.ID, err = m.resetCheckpoint(ctx, &d); err != nil {
		return ResetReport{}, err
	}
	if now {
		if err := m.beginSources(ctx, &d, true); err != nil {
			return ResetReport{}, err
		}
	}
	d.Resetting = false
	if err := m.cfg.Definitions.Put(ctx, d); err != nil {
		return ResetReport{}, fmt.Errorf("keep the new id of stream %s: %w; type the statement again", d.FullName(), err)
	}
	s.settle(d)
	s.update(func(st *Status) { st.LastBatchID, st.LastCommitVersion = -1, -1 })
	report.NewID = d.ID
	return report, nil
}

// beginSources lets the sources record where they begin, so that what is there now, and which record is the first of a time, mean the moment of the statement and not that
// of the next start. Files and tables do so when they are opened; with all, those are asked too that have to ask somebody else.
func (m *Manager) beginSources(ctx context.Context, d *Definition, all bool) error {
	cp, err := m.openCheckpoint(ctx, d)
	if err != nil {
		return err
	}
	ss := &session{attachment: attachment{def: *d, cp: cp}, s: &stream{m: m}}
	defer ss.closeSources()
	if err := ss.openSources(ctx); err != nil || !all {
		return err
	}
	for _, src := range ss.sources {
		if _, err := src.Mark(ctx); err != nil {
			return fmt.Errorf("find where %s begins now: %w; the stream finds that out when it starts", src.Description(), err)
		}
	}
	return nil
}

// resetCheckpoint gives the checkpoint a new id and empty logs. One that is gone, or damaged beyond opening, is made anew.
func (m *Manager) resetCheckpoint(ctx context.Context, d *Definition) (newID string, err error) {
	st, err := m.cfg.Open(d.Checkpoint)
	if err != nil {
		return "", err
	}
	cp, err := checkpoint.Open(ctx, st)
	var ce *checkpoint.Error
	switch {
	case err == nil:
		lease := cp.Lease(m.cfg.Owner)
		if err := lease.Acquire(ctx); err != nil {
			return "", fmt.Errorf("take the lease of the checkpoint that RESET clears: %w", err)
		}
		defer func() { err = errors.Join(err, lease.Release(context.WithoutCancel(ctx))) }()
		return cp.Reset(ctx)
	case !errors.As(err, &ce):
		return "", err
	}
	if cp, err = checkpoint.Recreate(ctx, st); err != nil {
		return "", fmt.Errorf("make the checkpoint %s anew: %w", d.Checkpoint, err)
	}
	return cp.ID(), nil
}

// whatIsThere counts what a stream that starts over will read, and says whether where a source begins depends on what is there now. A place to begin at which a source does
// not have is its error.
func (m *Manager) whatIsThere(ctx context.Context, d Definition, report *ResetReport) (now bool, err error) {
	sources, closeAll, err := m.lookAtSources(ctx, &d)
	defer closeAll()
	if err != nil || d.Begin.At == BeginLatest {
		return true, err
	}
	specs, err := m.sources(ctx, &d)
	if err != nil {
		return false, err
	}
	for i, src := range sources {
		if beginsNow(specs[i]) {
			now = true
			continue
		}
		now = now || specs[i].Kind == "kafka"
		if _, err := src.Mark(ctx); err != nil {
			return false, fmt.Errorf("look at %s: %w", src.Description(), err)
		}
		b := src.Backlog()
		report.Files, report.Bytes, report.Rows = report.Files+b.Files, report.Bytes+b.Bytes, report.Rows+b.Rows
	}
	return now, nil
}

// lookAtSources opens the definition's sources without a checkpoint: they write nothing.
func (m *Manager) lookAtSources(ctx context.Context, d *Definition) (sources []source.Source, closeAll func(), err error) {
	closeAll = func() {
		for _, src := range sources {
			if err := src.Close(); err != nil {
				m.log.Warn("a source did not close", "stream", d.FullName(), "error", err)
			}
		}
	}
	specs, err := m.sources(ctx, d)
	if err != nil {
		return nil, closeAll, &Error{Kind: KindInvalid, Stream: d.FullName(), Err: err, Message: fmt.Sprintf("stream %s: %v", d.FullName(), err)}
	}
	for i, spec := range specs {
		open, ok := m.cfg.Sources[spec.Kind]
		if !ok {
			closeAll()
			return nil, func() {}, unsupported(d, "source %s", spec.Kind)
		}
		env := sourceEnv(m, d)
		env.Index = i
		src, err := open(ctx, spec, env)
		if err != nil {
			closeAll()
			return nil, func() {}, err
		}
		sources = append(sources, src)
	}
	return sources, closeAll, nil
}
