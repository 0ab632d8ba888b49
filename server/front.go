package server

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dolthub/vitess/go/mysql"
)

// readBuffer is how much is read from a client at once, in bytes.
const readBuffer = 16 << 10

// acceptPause is how long no client is accepted after the process ran out of file descriptors.
const acceptPause = 50 * time.Millisecond

// maxEntering is how many connections may be logging in. One more closes the one that has been at it longest: who means it takes milliseconds.
const maxEntering = 512

// frontListener hands vitess connections of ours, and knows which are open.
type frontListener struct {
	net.Listener
	tls *tls.Config // nil: connections are not encrypted

	mu     sync.Mutex
	closed bool  // no more connections: guards adding to open while it is waited for
	err    error // why accepting ended, unless Close ended it
	conns  map[*frontConn]struct{}
	// entering are those of them that have not logged in, the oldest first.
	entering []*frontConn
	// served are those that have, with their accounts.
	served map[*frontConn]string
	most   func() int64   // max_connections
	open   sync.WaitGroup // connections whose handler still runs
}

func newFrontListener(l net.Listener, config *tls.Config, most func() int64) *frontListener {
	return &frontListener{Listener: l, tls: config, most: most, conns: make(map[*frontConn]struct{}), served: make(map[*frontConn]string)}
}

// Accept waits for a client.
func (l *frontListener) Accept() (net.Conn, error) {
	raw, err := l.accept()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if !l.closed {
			l.err = err
		}
		return nil, err
	}
	c := newFrontConn(raw, l.tls)
	if l.closed {
		return nil, joinClose(net.ErrClosed, raw)
	}
	l.conns[c] = struct{}{}
	l.open.Add(1)
	if len(l.entering) == maxEntering {
		_ = l.entering[0].Close() // it may be closed already: that is what is wanted
		l.entering = l.entering[1:]
	}
	l.entering = append(l.entering, c)
	return c, nil
}

// accept turns away whom nobody would be let in as, and waits out a lack of file descriptors: clients that leave give theirs back. vitess would stop accepting for good.
func (l *frontListener) accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		switch {
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
			time.Sleep(acceptPause)
		case err == nil && l.full():
			l.turnAway(raw)
		default:
			return raw, err
		}
	}
}

// broken returns the error that ended accepting, if Close did not.
func (l *frontListener) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return nil
	}
	return fmt.Errorf("accept clients on %s: %w", l.Addr(), l.err)
}

// admit is called when a client has shown who it is: its login has no bounds any more.
func (l *frontListener) admit(c *frontConn) {
	c.loggedIn()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entered(c)
}

// entered takes a connection from those that log in. The caller holds mu.
func (l *frontListener) entered(c *frontConn) {
	if i := slices.Index(l.entering, c); i >= 0 {
		l.entering = slices.Delete(l.entering, i, i+1)
	}
}

// done is called when the connection's handler has ended.
func (l *frontListener) done(c *frontConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.conns[c]; ok {
		delete(l.conns, c)
		delete(l.served, c)
		l.entered(c)
		l.open.Done()
	}
}

// Close takes no more clients. Those that are there stay.
func (l *frontListener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return l.Listener.Close()
}

// closeConns lets all connections end after the statement that they run, for grace at the most, and waits until their handlers have
// returned.
func (l *frontListener) closeConns(grace time.Duration) {
	l.each((*frontConn).retire)
	late := time.AfterFunc(grace, func() {
		l.each(func(c *frontConn) { _ = c.Close() }) // it may be closed already: that is what is wanted
	})
	defer late.Stop()
	l.open.Wait()
}

func (l *frontListener) each(do func(*frontConn)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		do(c)
	}
}

// frontConn is a client's connection as vitess reads and writes it. One goroutine reads and writes it, the one that runs its commands; others
// may close and retire it, and watch it while a command runs.
type frontConn struct {
	*socket
	conn     *mysql.Conn // vitess' side, once there is one
	requests filter
	security security
	wire     *bufio.Reader // what the client sends, decrypted
	packed   *inflater     // what wire unpacks to; nil: it is not compressed
	out      io.Writer     // where packets go: socket, or TLS on it, or compression on that

	// past is there while rows go out past vitess.
	past *pastRows
	// cursors are the results that wait to be fetched, by statement.
	cursors map[uint32]*cursor
	// infile is the file that the client sends for the statement that runs; nil: none.
	infile *infile
	// badLongData is what is wrong with the parameters that were sent apart, by statement.
	badLongData map[uint32]*mysql.SQLError
	// reading is the statement whose parameters vitess reads. It stays where they make no sense: what vitess had read of them would be taken for
	// those of its next execution.
	reading *mysql.PrepareData
	allowed atomic.Int64 // max_allowed_packet, in bytes; 0: not known yet

	// header is that of a packet which something replaces or comes before, and whose payload vitess writes apart; nil: there is none.
	header []byte
	// instead is what replaces the next packet that vitess writes; nil: nothing.
	instead atomic.Pointer[[]byte]
	// retired is set when no more commands are taken.
	retired atomic.Bool
}

func newFrontConn(raw net.Conn, config *tls.Config) *frontConn {
	c := &frontConn{socket: newSocket(raw), security: security{config: config}, cursors: make(map[uint32]*cursor)}
	c.wire, c.out = bufio.NewReaderSize(c.socket, readBuffer), c.socket
	c.requests.src = c.wire
	c.requests.security, c.requests.secure, c.requests.pack = &c.security, c.secure, c.pack
	c.requests.expect = c.expect
	return c
}

// loggedIn lifts the bounds on the time and the packets of the login.
func (c *frontConn) loggedIn() {
	c.security.admitted = true
	c.begin(false)
}

// front returns our side of a connection. All connections of this server have one.
func front(c *mysql.Conn) *frontConn { return c.Conn.(*frontConn) }

// Read returns what the filter makes of the client's bytes, and the end of them once the connection is retired.
func (c *frontConn) Read(p []byte) (int, error) {
	if c.retired.Load() {
		return 0, io.EOF
	}
	n, err := c.requests.Read(p)
	switch {
	case err == nil:
		return n, nil
	case c.requests.loading.Load(): // nobody knows what of the file is to come
		c.retire()
		return n, err
	case c.retired.Load(), errors.Is(err, errTooLarge):
		return n, io.EOF
	case errors.Is(err, os.ErrDeadlineExceeded) && c.security.admitted && c.requests.idle():
		return n, cmp.Or(c.replyAs(errorPacket(errIdle), 0), io.EOF)
	}
	return n, err
}

// retire ends the connection when what it runs has ended: the next command is not read.
func (c *frontConn) retire() {
	c.retired.Store(true)
	c.socket.retire()
}

// Write sends what vitess writes.
func (c *frontConn) Write(p []byte) (int, error) {
	ends := c.instead.Load() != nil || c.past != nil && !c.past.columns
	switch {
	case !ends && c.past == nil:
		return c.out.Write(c.security.onLogin(p)) // which has as many bytes
	case ends && c.header == nil && len(p) == headerBytes && payloadSize(p) > 0:
		c.header = bytes.Clone(p)
		return len(p), nil
	}
	if _, err := c.writeEnd(append(c.header, p...)); err != nil {
		return 0, err
	}
	c.header = nil
	return len(p), nil
}

// writeEnd writes a packet that something replaces or comes before.
func (c *frontConn) writeEnd(p []byte) (int, error) {
	if c.past != nil {
		return c.writePast(p)
	}
	payload := c.instead.Swap(nil)
	if !beginsWithPacket(p) { // not the one packet that was announced
		return 0, errNotOnePacket
	}
	rest := p[headerBytes+payloadSize(p):]
	if _, err := c.out.Write(append(frame(*payload, p[3]), rest...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func beginsWithPacket(p []byte) bool {
	return len(p) >= headerBytes && len(p) >= headerBytes+payloadSize(p)
}

// failResult puts an error in the place of the packet that ends a result. Everything before it must have been flushed.
func (c *frontConn) failResult(e *mysql.SQLError) {
	c.endWith(errorPacket(e))
}

// endWith puts a packet in the place of the one that ends a result, as failResult does.
func (c *frontConn) endWith(payload []byte) { c.instead.Store(&payload) }

// errorPacket is the payload of an ERR packet as protocol 4.1 has it.
func errorPacket(e *mysql.SQLError) []byte {
	b := []byte{0xff, byte(e.Num), byte(e.Num >> 8), '#'}
	b = append(b, e.State...)
	return append(b, e.Message...)
}
