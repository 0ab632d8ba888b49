package stream

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// followEvery is how often a server looks what other servers on the same lake have made of the streams: as often as they
// tell each other by leases that they are alive.
const followEvery = 3 * time.Second

// follow takes over, until ctx ends, what other servers do to streams.
func (m *Manager) follow(ctx context.Context) {
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := m.catchUp(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("the streams of other servers could not be looked at", "error", err)
		}
	}
}

// catchUp makes the streams here what the catalog says: those that another server has dropped, changed, stopped, started or
// created.
func (m *Manager) catchUp(ctx context.Context) error {
	m.statements.Lock()
	defer m.statements.Unlock()
	defs, err := m.definitions(ctx)
	if err != nil {
		return err
	}
	for _, s := range m.all() {
		d := s.definition()
		if kept, ok := defs[d.key()]; ok && sameDefinition(kept, d) {
			continue
		}
		if err := s.adopt(ctx); err != nil {
			return err
		}
	}
	for key, d := range defs {
		if m.lookup(key) == nil {
			if s := m.add(d); s != nil {
				s.lifecycle.Lock()
				s.settle(d)
				s.lifecycle.Unlock()
				s.recall(ctx)
			}
		}
	}
	return nil
}

// definitions returns what the catalog has, without the old names of streams that are being renamed.
func (m *Manager) definitions(ctx context.Context) (map[streamKey]Definition, error) {
	list, err := m.cfg.Definitions.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the streams' definitions: %w", err)
	}
	out := make(map[streamKey]Definition, len(list))
	for _, d := range list {
		out[d.key()] = d
	}
	for _, d := range list {
		if old := keyOf(d.Database, d.RenamedFrom); d.RenamedFrom != "" && old != d.key() && out[old].ID == d.ID {
			delete(out, old)
		}
	}
	return out, nil
}

// sameDefinition compares what is kept.
func sameDefinition(a, b Definition) bool { return bytes.Equal(mustJSON(a), mustJSON(b)) }

// adopt makes the stream what the catalog says. It looks there once more, because a statement of this server may have been
// between keeping a change and knowing it.
func (s *stream) adopt(ctx context.Context) error {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	defs, err := s.m.definitions(ctx)
	if err != nil {
		return err
	}
	mine := s.definition()
	kept, ok := defs[mine.key()]
	if ok && sameDefinition(kept, mine) {
		return nil
	}
	s.halt()
	if ok {
		s.m.log.Info("another server has changed a stream", "stream", kept.FullName())
		s.settle(kept)
		return nil
	}
	s.m.log.Info("another server has dropped a stream", "stream", mine.FullName())
	s.forget()
	return nil
}

// forget takes the stream, which is halted and dropped, out of the manager.
func (s *stream) forget() {
	s.mu.Lock()
	s.dropped = true
	key := s.def.key()
	s.broadcastLocked()
	s.mu.Unlock()
	s.m.mu.Lock()
	delete(s.m.streams, key)
	s.m.mu.Unlock()
}
