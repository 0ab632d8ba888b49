package stream

import (
	"net"
	"sync"
)

// switchboard is the lines to brokers, which a test cuts and mends: the addresses stay theirs meanwhile, as those of machines that are down do.
type switchboard struct {
	mu    sync.Mutex
	down  bool          // new lines are hung up at once
	muted chan struct{} // nil: all is heard; else closed when it is again
	lines map[*line]struct{}
}

// listen is net.Listen for the brokers.
func (b *switchboard) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	return &switchedListener{l, b}, err
}

// hangUp ends all lines, and lets no new one be.
func (b *switchboard) hangUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = true
	for l := range b.lines {
		_ = l.Conn.Close() // whoever uses it hears of it
	}
}

// mute keeps what comes from the brokers' ears: nobody is answered, and no line ends.
func (b *switchboard) mute() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.muted = make(chan struct{})
}

// mend lets all be as it was.
func (b *switchboard) mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = false
	if b.muted != nil {
		close(b.muted)
		b.muted = nil
	}
}

type switchedListener struct {
	net.Listener
	board *switchboard
}

func (l *switchedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if of := l.board.connect(conn); of != nil {
			return of, nil
		}
		_ = conn.Close() // whoever dialled hears of it
	}
}

// connect is a new line, or nil while the switchboard is down.
func (b *switchboard) connect(conn net.Conn) *line {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return nil
	}
	l := &line{Conn: conn, board: b, closed: make(chan struct{})}
	if b.lines == nil {
		b.lines = map[*line]struct{}{}
	}
	b.lines[l] = struct{}{}
	return l
}

// line is one connection, as a broker has it.
type line struct {
	net.Conn
	board  *switchboard
	once   sync.Once
	closed chan struct{}
}

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.board.mu.Lock()
	muted := l.board.muted
	l.board.mu.Unlock()
	if muted != nil {
		select {
		case <-muted:
		case <-l.closed:
		}
	}
	return n, err
}

func (l *line) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.board.mu.Lock()
		delete(l.board.lines, l)
		l.board.mu.Unlock()
	})
	return l.Conn.Close()
}
