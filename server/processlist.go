package server

import (
	"context"
	"fmt"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/stream"
)

// commandStream is what SHOW PROCESSLIST calls a stream.
const commandStream sql.ProcessCommand = "Stream"

// processList is GMS' list, which also shows the streams, and tells a statement that was killed from one that failed.
type processList struct {
	sql.ProcessList
	streams Streams // nil: none

	mu  sync.Mutex
	end map[uint32]context.CancelCauseFunc // by connection: ends the statement that runs
}

func newProcessList(inner sql.ProcessList, streams Streams) *processList {
	return &processList{ProcessList: inner, streams: streams, end: make(map[uint32]context.CancelCauseFunc)}
}

// register names the function that ends a connection's statement. The function it returns forgets it.
func (p *processList) register(connection uint32, end context.CancelCauseFunc) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end[connection] = end
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.end, connection)
	}
}

// Kill ends what a connection runs, or pauses a stream.
func (p *processList) Kill(id uint32) {
	p.mu.Lock()
	end := p.end[id]
	p.mu.Unlock()
	if end != nil {
		end(errKilled)
	}
	p.ProcessList.Kill(id)
	if end == nil && p.streams != nil && id >= stream.FirstProcessID {
		// GMS' KILL has no way to report an error; the stream's own state tells what came of it.
		_, _ = p.streams.Kill(context.Background(), id)
	}
}

// Processes lists the connections and the streams.
func (p *processList) Processes() []sql.Process {
	processes := p.ProcessList.Processes()
	if p.streams == nil {
		return processes
	}
	for _, s := range p.streams.List() {
		processes = append(processes, sql.Process{
			Connection: s.ProcessID,
			User:       s.Definition.Definer,
			Host:       "localhost",
			Database:   s.Definition.Database,
			Command:    commandStream,
			StartedAt:  s.Since,
			Query:      describeStream(s),
		})
	}
	return processes
}

func describeStream(s stream.Status) string {
	text := fmt.Sprintf("STREAM %s.%s: %s, batch %d", s.Definition.Database, s.Definition.Name, s.State, s.LastBatchID)
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return text
}
