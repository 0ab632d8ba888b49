package server

import (
	"context"
	"fmt"
	"slices"
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

	mu       sync.Mutex
	end      map[uint32]context.CancelCauseFunc // by connection: ends the statement that runs
	accounts map[uint32]string                  // by connection: user@host, once it is logged in
}

func newProcessList(inner sql.ProcessList, streams Streams) *processList {
	return &processList{ProcessList: inner, streams: streams, end: make(map[uint32]context.CancelCauseFunc), accounts: make(map[uint32]string)}
}

// loggedIn notes whose a connection is.
func (p *processList) loggedIn(connection uint32, account string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts[connection] = account
}

// RemoveConnection forgets a connection.
func (p *processList) RemoveConnection(connection uint32) {
	p.mu.Lock()
	delete(p.accounts, connection)
	p.mu.Unlock()
	p.ProcessList.RemoveConnection(connection)
}

// owner is whose a connection or stream is.
func (p *processList) owner(id uint32) string {
	if id >= stream.FirstProcessID && p.streams != nil {
		for _, s := range p.streams.List() {
			if s.ProcessID == id {
				return s.Definition.Definer
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accounts[id]
}

// shownProcesses is the list as an account sees it: its own connections and streams, and with PROCESS all.
type shownProcesses struct {
	*processList
	account string
	all     func() bool // it holds PROCESS
	super   func() bool // it holds SUPER
}

// mayKill says whether the account may end a connection's statement, or pause a stream.
func (p shownProcesses) mayKill(id uint32) bool { return p.owner(id) == p.account || p.super() }

// Kill does nothing to what is another's: whatever way the statement came, it ends here. checkKill has the error.
func (p shownProcesses) Kill(id uint32) {
	if p.mayKill(id) {
		p.processList.Kill(id)
	}
}

// Processes lists what the account may see.
func (p shownProcesses) Processes() []sql.Process {
	processes := p.processList.Processes()
	if p.all() {
		return processes
	}
	return slices.DeleteFunc(processes, func(one sql.Process) bool {
		if one.Command == commandStream {
			return one.User != p.account // the definer
		}
		return p.owner(one.Connection) != p.account
	})
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
