package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"time"
)

const (
	// loginTime is how long a client may take to say who it is, TLS included.
	loginTime = 30 * time.Second

	// maxLoginBytes is the size of a packet before the login is over: names, a password and the 64 KiB of attributes that a client may have.
	maxLoginBytes = 80 << 10

	clientSSL       = 0x0800 // the capability
	sslRequestBytes = 32     // of the payload of the packet that asks for TLS
)

// security is a connection's TLS. vitess knows nothing of it: it would put its own buffer around the encrypted bytes, past the filter.
//
//  1. The greeting that vitess writes offers it.
//  2. A client that wants it answers with a short packet, which vitess does not see, and begins the handshake.
//  3. What it sends next has sequence 2, and is 1 for vitess, and so on until the login is over: commands begin with 0 again.
type security struct {
	config  *tls.Config // nil: TLS is not offered
	conn    *tls.Conn   // nil: the client has not asked for it
	greeted bool        // the greeting was written
	left    int         // bytes of the packet that is being written
	over    bool        // the login is over: a command came

	admitted   bool // the client has shown who it is
	wrongProof bool // the login's first step has shown that the password is wrong, which has been counted
}

// buffered is a connection some of whose bytes were read already.
type buffered struct {
	net.Conn
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
	conn := tls.Server(buffered{c.Conn, c.requests.src}, c.security.config)
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	c.security.conn = conn
	c.requests.src, c.out = conn, conn
	return nil
}

// offer sets TLS among the capabilities of a greeting's payload: behind the version, the number of the connection, the salt and a filler.
func offer(greeting []byte) {
	version := bytes.IndexByte(greeting[1:], 0)
	if at := 1 + version + 1 + 4 + 8 + 1; version >= 0 && at+1 < len(greeting) {
		greeting[at+1] |= clientSSL >> 8
	}
}

// onLogin is what vitess writes, as the client is to read it. Headers come whole, payloads perhaps apart from them.
func (s *security) onLogin(p []byte) []byte {
	if s.over || s.config == nil {
		return p
	}
	p = bytes.Clone(p)
	for at := 0; at < len(p); {
		if s.left == 0 && len(p)-at >= headerBytes {
			s.left = payloadSize(p[at:])
			if s.conn != nil {
				p[at+headerBytes-1]++
			}
			at += headerBytes
			continue
		}
		n := min(s.left, len(p)-at)
		if n == 0 {
			return p
		}
		if !s.greeted {
			s.greeted = true
			offer(p[at : at+n])
		}
		s.left -= n
		at += n
	}
	return p
}
