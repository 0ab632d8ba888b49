package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"time"
)

const (
	// loginTime is how long a client may take to say who it is, TLS included.
	loginTime = 30 * time.Second

	// maxLoginBytes is the size of a packet before the login is over: names, a password and the 64 KiB of attributes that a client may have.
	maxLoginBytes = 80 << 10

	clientCompress    = 0x0020 // capabilities
	clientInteractive = 0x0400
	clientSSL         = 0x0800
	clientBytes       = 4  // of the capabilities, with which a login begins
	sslRequestBytes   = 32 // of the payload of the packet that asks for TLS
)

// security is a connection's login and TLS. vitess knows nothing of TLS: it would put its own buffer around the encrypted bytes, past the filter.
//
//  1. The greeting that vitess writes offers TLS and compression.
//  2. A client that wants TLS answers with a short packet, which vitess does not see, and begins the handshake.
//  3. What it sends next has sequence 2, and is 1 for vitess, and so on until the login is over: commands begin with 0 again.
//  4. When the login is over, a client that wants compression has it, both ways.
//
// A COM_CHANGE_USER begins another login, without 1, 2 and 4, whose packets that vitess does not see shift the others too.
type security struct {
	config  *tls.Config // nil: TLS is not offered
	conn    *tls.Conn   // nil: the client has not asked for it
	greeted bool        // the greeting was written
	left    int         // bytes of the packet that is being written
	shift   byte        // packets that vitess has not seen
	over    bool        // the login is over: a command came
	client  uint32      // the capabilities that the client has; 0: it has not said so yet
	packs   bool        // compression has begun

	admitted   bool // the client has shown who it is
	wrongProof bool // the login's first step has shown that the password is wrong, which has been counted
}

// wantsPacked says whether compression is to begin.
func (s *security) wantsPacked() bool { return s.client&clientCompress != 0 && !s.packs }

// buffered is a connection some of whose bytes were read already.
type buffered struct {
	*socket
	r io.Reader
}

// Read reads what was buffered, then the connection.
func (b buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// isSSLRequest says whether the packet in f.in asks for TLS.
func isSSLRequest(packet []byte) bool {
	return binary.LittleEndian.Uint32(packet[headerBytes:])&clientSSL != 0
}

// secure does the handshake, on bytes that nobody has taken for packets: whatever a third party put behind the request is not read as such.
func (c *frontConn) secure() error {
	conn := tls.Server(buffered{c.socket, c.wire}, c.security.config)
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	c.security.conn, c.security.shift = conn, 1
	c.wire, c.out = bufio.NewReaderSize(conn, readBuffer), conn
	c.requests.src = c.wire
	return nil
}

// offer adds compression, and TLS if there is, to the capabilities of a greeting's payload: behind the version, the number of the connection,
// the salt and a filler.
func (s *security) offer(greeting []byte) {
	version := bytes.IndexByte(greeting[1:], 0)
	at := 1 + version + 1 + 4 + 8 + 1
	if version < 0 || at+1 >= len(greeting) {
		return
	}
	greeting[at] |= clientCompress
	if s.config != nil {
		greeting[at+1] |= clientSSL >> 8
	}
}

// onLogin is what vitess writes, as the client is to read it. Headers come whole, payloads perhaps apart from them.
func (s *security) onLogin(p []byte) []byte {
	if s.over || s.greeted && s.shift == 0 && s.left == 0 {
		return p
	}
	p = bytes.Clone(p)
	for at := 0; at < len(p); {
		if s.left == 0 && len(p)-at >= headerBytes {
			s.left = payloadSize(p[at:])
			p[at+headerBytes-1] += s.shift
			at += headerBytes
			continue
		}
		n := min(s.left, len(p)-at)
		if n == 0 {
			return p
		}
		if !s.greeted {
			s.greeted = true
			s.offer(p[at : at+n])
		}
		s.left -= n
		at += n
	}
	return p
}
