package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"lakesql/checkpoint"
)

// StopStream pauses a stream and waits until it has stopped: the running batch is finished or dropped whole. It stays
// paused after a restart of the server.
func (m *Manager) StopStream(ctx context.Context, database, name string) error {
	s, err := m.find(database, name)
	if err != nil {
		return err
	}
	return s.pause(ctx)
}

// StartStream starts a stream that is paused, failed or finished; RETRYING tries again at once. Another one is left alone.
// A checkpoint or a target that the stream cannot go on with is the statement's error, and the stream stays as it was.
func (m *Manager) StartStream(ctx context.Context, database, name string) error {
	s, err := m.find(database, name)
	if err != nil || s.isWorking() {
		return err
	}
	return s.change(ctx, func(d *Definition) error {
		d.Paused, d.Finished = false, false
		return m.checkStart(ctx, d)
	})
}

// checkStart looks whether a start would be refused. What may pass, such as a disk that does not answer, is the stream's to retry.
func (m *Manager) checkStart(ctx context.Context, d *Definition) error {
	a := &attachment{def: *d}
	err := func() (err error) {
		if a.cp, err = m.openCheckpoint(ctx, d); err != nil {
			return err
		}
		if a.target, err = m.cfg.Targets.Open(ctx, d.Target); err != nil {
			return err
		}
		_, _, err = a.look(ctx)
		return err
	}()
	if isPermanent(err) {
		return err
	}
	if err != nil {
		m.log.Warn("a stream's start could not be checked", "stream", d.FullName(), "error", err)
	}
	return nil
}

// StopAll pauses all streams.
func (m *Manager) StopAll(ctx context.Context) error {
	streams := m.all()
	errs := make([]error, len(streams))
	for i, s := range streams {
		errs[i] = s.pause(ctx)
	}
	return errors.Join(errs...)
}

// Kill pauses the stream with that process id, and reports whether there is one.
func (m *Manager) Kill(ctx context.Context, processID uint32) (bool, error) {
	for _, s := range m.all() {
		if s.pid == processID {
			return true, s.pause(ctx)
		}
	}
	return false, nil
}

// SetTrigger changes when the stream's batches start.
func (m *Manager) SetTrigger(ctx context.Context, database, name string, t Trigger) error {
	return m.alter(ctx, database, name, func(d *Definition) error {
		d.Trigger, d.Finished = t, false
		return checkTrigger(d)
	})
}

// SetOptions changes options of OPTIONS (...). They hold from the next batch on.
func (m *Manager) SetOptions(ctx context.Context, database, name string, options map[string]string) error {
	return m.alter(ctx, database, name, func(d *Definition) error {
		if _, err := parseOptions(options); err != nil {
			return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: err.Error()}
		}
		merged := maps.Clone(d.Options)
		if merged == nil {
			merged = map[string]string{}
		}
		for name, value := range options {
			maps.DeleteFunc(merged, func(had, _ string) bool { return optionKey(had) == optionKey(name) })
			merged[name] = value
		}
		d.Options = merged
		specs, err := m.cfg.Compiler.Sources(ctx, *d)
		if err != nil {
			return err
		}
		return checkOptions(d, specs)
	})
}

// SkipFile decides for good that a stream leaves out a file of a range that is not committed yet, and starts the stream
// again unless it is paused. The decision is kept in the checkpoint.
func (m *Manager) SkipFile(ctx context.Context, database, name, fileURI string) error {
	return m.alter(ctx, database, name, func(d *Definition) error {
		return m.skipFile(ctx, d, fileURI)
	})
}

func (m *Manager) alter(ctx context.Context, database, name string, edit func(*Definition) error) error {
	s, err := m.find(database, name)
	if err != nil {
		return err
	}
	return s.change(ctx, edit)
}

// pause halts the stream and makes that outlast a restart.
func (s *stream) pause(ctx context.Context) error {
	return s.change(ctx, func(d *Definition) error {
		d.Paused = true
		return nil
	})
}

// change halts the stream, edits its definition, keeps it, and starts the stream again unless the definition says
// otherwise. When the edit or keeping it fails, everything is as before.
func (s *stream) change(ctx context.Context, edit func(*Definition) error) error {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.halt()
	d := s.definition()
	before := d
	d.Options = maps.Clone(d.Options)
	err := s.gone()
	if err == nil {
		err = edit(&d)
	}
	if err == nil && !sameRun(before, d) {
		if err = s.m.cfg.Definitions.Put(ctx, d); err != nil {
			err = fmt.Errorf("keep the definition of stream %s: %w", d.FullName(), err)
		}
	}
	if err != nil {
		d = before
		s.update(func(st *Status) { st.LastError, st.LastErrorTime = err.Error(), s.m.now() })
	}
	s.settle(d)
	return err
}

// sameRun reports whether an edit changed nothing that is kept.
func sameRun(a, b Definition) bool {
	return a.Paused == b.Paused && a.Finished == b.Finished && a.Trigger == b.Trigger && maps.Equal(a.Options, b.Options)
}

// settle makes d the definition and lets the stream be what it says. The caller holds lifecycle and has halted the stream.
func (s *stream) settle(d Definition) {
	s.mu.Lock()
	s.def = d
	switch {
	case s.dropped:
	case d.Paused:
		s.setLocked(Paused, "stopped")
	case d.Finished:
		s.setLocked(Finished, finishedReason)
	}
	s.mu.Unlock()
	if !d.Paused && !d.Finished {
		s.start()
	}
}

func (s *stream) gone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped {
		return NotFound(s.def.FullName())
	}
	return nil
}

// persistFinished keeps that AVAILABLE NOW or ONCE is done. The stream's goroutine calls it as its last act.
func (m *Manager) persistFinished(ctx context.Context, s *stream) error {
	d := s.definition()
	d.Finished = true
	if err := m.cfg.Definitions.Put(ctx, d); err != nil {
		return fmt.Errorf("keep that stream %s has finished: %w", d.FullName(), err)
	}
	s.mu.Lock()
	s.def = d
	s.mu.Unlock()
	return nil
}

// Drop stops and forgets a stream. The table stays; purge deletes the checkpoint.
func (m *Manager) Drop(ctx context.Context, database, name string, purge bool) error {
	m.statements.Lock()
	defer m.statements.Unlock()
	s, err := m.find(database, name)
	if err != nil {
		return err
	}
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.halt()
	d := s.definition()
	if err := m.cfg.Definitions.Delete(ctx, d.Database, d.Name); err != nil {
		s.settle(d)
		return fmt.Errorf("delete the definition of stream %s: %w", d.FullName(), err)
	}
	s.forget()
	if !purge {
		return nil
	}
	return m.purge(ctx, &d)
}

// purge deletes the checkpoint, whose stream is forgotten already: a crash leaves a checkpoint that nothing uses.
func (m *Manager) purge(ctx context.Context, d *Definition) error {
	st, err := m.cfg.Open(d.Checkpoint)
	if err == nil {
		err = checkpoint.Delete(ctx, st)
	}
	if err != nil {
		return fmt.Errorf("stream %s is dropped, but its checkpoint %s is not deleted whole: %w", d.FullName(), d.Checkpoint, err)
	}
	return nil
}

// Rename gives a stream another name in its database.
func (m *Manager) Rename(ctx context.Context, database, name, newName string) error {
	m.statements.Lock()
	defer m.statements.Unlock()
	s, err := m.find(database, name)
	if err != nil {
		return err
	}
	if strings.EqualFold(name, newName) {
		return nil
	}
	if m.lookup(keyOf(database, newName)) != nil {
		return exists(database + "." + newName)
	}
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.halt()
	old := s.definition()
	d := old
	d.Name, d.RenamedFrom = newName, old.Name
	defer func() { s.settle(s.definition()) }()
	if err := m.cfg.Definitions.Put(ctx, d); err != nil {
		return fmt.Errorf("keep stream %s under its new name: %w", old.FullName(), err)
	}
	if err := m.cfg.Definitions.Delete(ctx, old.Database, old.Name); err != nil {
		return fmt.Errorf("delete the old name of stream %s: %w", d.FullName(), err)
	}
	s.mu.Lock()
	s.def = d
	s.mu.Unlock()
	m.mu.Lock()
	delete(m.streams, old.key())
	m.streams[d.key()] = s
	m.mu.Unlock()
	return nil
}

// finishRenames deletes the old names of streams whose RENAME was cut short.
func (m *Manager) finishRenames(ctx context.Context, defs []Definition) ([]Definition, error) {
	out := defs[:0:0]
	for _, d := range defs {
		renamed := false
		for _, other := range defs {
			renamed = renamed || other.ID == d.ID && other.RenamedFrom != "" &&
				keyOf(other.Database, other.RenamedFrom) == d.key() && other.key() != d.key()
		}
		if !renamed {
			out = append(out, d)
			continue
		}
		if err := m.cfg.Definitions.Delete(ctx, d.Database, d.Name); err != nil {
			return nil, fmt.Errorf("delete the old name %s of a renamed stream: %w", d.FullName(), err)
		}
	}
	return out, nil
}
