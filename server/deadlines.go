package server

import (
	"io"
	"net"
	"sync"
	"time"
)

// writeAtOnce is how much goes to the system at once, in bytes: net_write_timeout is for each such piece, as it is in MySQL.
const writeAtOnce = 64 << 10

// waits are how long a connection waits for its client. Zero durations: for ever.
type waits struct {
	command time.Duration // for the next command: wait_timeout
	rest    time.Duration // for more of a packet that has begun: net_read_timeout
	write   time.Duration // until the client takes a piece: net_write_timeout
}

// socket is the system's end of a connection, and the only place that sets its deadlines.
//
//   - Until the login is over there is one deadline for all of it.
//   - Then each read and each write has its own, unless the connection is retired or the client is only watched: these two are to be woken
//     at once, and no read that begins beside it may put that off.
type socket struct {
	net.Conn

	mu      sync.Mutex
	waits   waits
	free    bool      // the login is over
	retired bool      // nothing is read any more
	watched bool      // reads have no deadline
	writeBy time.Time // no write ends later; zero: there is no such bound
}

// The errors of setting a deadline are left out: the connection is closed already, and who reads or writes finds that.

func newSocket(raw net.Conn) *socket {
	s := &socket{Conn: raw}
	_ = raw.SetDeadline(time.Now().Add(loginTime))
	return s
}

// begin lifts the deadline of the login, or sets it anew.
func (s *socket) begin(login bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free = !login; login {
		_ = s.SetDeadline(time.Now().Add(loginTime))
		if s.retired {
			s.settle()
		}
		return
	}
	_ = s.SetWriteDeadline(time.Time{})
	s.settle()
}

// settle sets the deadline of reads that nobody bounds. The caller holds mu.
func (s *socket) settle() {
	by := time.Time{}
	if s.retired {
		by = longAgo
	}
	_ = s.SetReadDeadline(by)
}

var longAgo = time.Unix(1, 0)

// wait sets how long reads and writes may take from now on.
func (s *socket) wait(w waits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = w
}

// expect bounds the read that follows: of a command, or of the rest of a packet.
func (s *socket) expect(command bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.free || s.retired || s.watched {
		return
	}
	d := s.waits.rest
	if command {
		d = s.waits.command
	}
	_ = s.SetReadDeadline(after(d))
}

func after(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}

// watch lets a read wait until wake is called.
func (s *socket) watch(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = on
	s.settle()
}

// wake ends a read that watches.
func (s *socket) wake() { _ = s.SetReadDeadline(longAgo) }

// retire ends the reads, for good.
func (s *socket) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	s.settle()
}

// limitWrites lets all writes together take d; 0 lifts the limit.
func (s *socket) limitWrites(d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeBy = after(d)
	return s.SetWriteDeadline(s.writeBy)
}

// Write writes in pieces, each of which the client has to take in time.
func (s *socket) Write(p []byte) (written int, err error) {
	for {
		piece := p[written:min(len(p), written+writeAtOnce)]
		s.boundWrite()
		n, err := s.Conn.Write(piece)
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

func (s *socket) boundWrite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.free || s.waits.write == 0 {
		return
	}
	by := after(s.waits.write)
	if !s.writeBy.IsZero() && s.writeBy.Before(by) {
		by = s.writeBy
	}
	_ = s.SetWriteDeadline(by)
}

// sayLast writes a packet to a client that is not served, for a moment at the most: the caller closes the connection.
func sayLast(to net.Conn, packet []byte) error {
	if err := to.SetWriteDeadline(time.Now().Add(writeGrace)); err != nil {
		return err
	}
	_, err := to.Write(packet)
	return err
}

var _ io.Writer = (*socket)(nil)
