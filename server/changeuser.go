package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// userChange is what a COM_CHANGE_USER asks for.
type userChange struct {
	user, database string
	charset        uint8
	plugin         string // how the client would log in; "": it does not say
}

var errUserChange = mysql.NewSQLError(1835, mysql.SSUnknownSQLState, "Malformed communication packet.")

// parseUserChange reads a payload. The proof in it is not read: it was made with the salt of a login that is over, and another is asked for.
func parseUserChange(payload []byte) (userChange, error) {
	var u userChange
	user, rest, ok := bytes.Cut(payload[1:], []byte{0})
	if !ok || len(rest) == 0 || len(rest) <= int(rest[0]) {
		return u, errUserChange
	}
	database, rest, ok := bytes.Cut(rest[1+int(rest[0]):], []byte{0})
	if !ok {
		return u, errUserChange
	}
	u.user, u.database = string(user), string(database)
	if len(rest) >= 2 {
		u.charset = uint8(min(binary.LittleEndian.Uint16(rest), 255))
		plugin, _, _ := bytes.Cut(rest[2:], []byte{0})
		u.plugin = string(plugin)
	}
	return u, nil
}

// changeUser makes a connection another user's: a login by the rules of all logins, and a new session. Where it fails the connection ends, as it does in
// MySQL: the client has said that it is not the user that it was.
func (h *handler) changeUser(c *mysql.Conn, payload []byte) (err error) {
	fc := front(c)
	defer func() {
		if err != nil {
			fc.retire()
		}
	}()
	u, err := parseUserChange(payload)
	if err != nil {
		return err
	}
	who, err := h.authenticate(c, u)
	if err != nil {
		return err
	}
	c.User, c.UserData = u.user, who
	if u.charset != 0 {
		c.CharacterSet = u.charset
	}
	// The session that ends is the other user's: what he may not see must not be asked for.
	if err := h.sessions.SetDB(h.base, c, ""); err != nil {
		return err
	}
	if err := h.resetSession(fc); err != nil {
		return err
	}
	h.processes.loggedIn(c.ConnectionID, who.User+"@"+who.Host)
	if err := h.makeRoom(c); err != nil {
		return err
	}
	return h.sessions.SetDB(h.base, c, u.database)
}

// authenticate asks the client to prove who it is.
func (h *handler) authenticate(c *mysql.Conn, u userChange) (who sql.MysqlConnectionUser, err error) {
	fc := front(c)
	s := &fc.security
	s.over, s.admitted, s.wrongProof, s.shift = false, false, false, 0
	fc.begin(true)
	method := h.logins.methodFor(c, u)
	salt, err := method.AuthPluginData()
	if err != nil {
		return who, err
	}
	request := append([]byte{mysql.AuthSwitchRequestPacket}, method.Name()...)
	if err := fc.reply(append(append(request, 0), salt...)); err != nil {
		return who, err
	}
	proof, err := fc.requests.loginPacket(2)
	if err != nil {
		return who, err
	}
	s.shift = 2 // vitess has seen neither
	getter, err := method.HandleAuthPluginData(c, u.user, salt, proof, c.RemoteAddr())
	if err != nil {
		return who, err
	}
	who, ok := getter.(sql.MysqlConnectionUser)
	if !ok {
		return who, fmt.Errorf("a login gave a %T and no account", getter)
	}
	fc.loggedIn()
	return who, nil
}

// methodFor is how a user logs in: as the client would, where that is right.
func (l *logins) methodFor(c *mysql.Conn, u userChange) mysql.AuthMethod {
	first := l.methods[0]
	for i := len(l.methods) - 1; i >= 0; i-- {
		if m := l.methods[i]; m.HandleUser(c, u.user) {
			if first = m; string(m.Name()) == u.plugin {
				return m
			}
		}
	}
	return first
}

// loginPacket reads a packet of a login that vitess is not to see.
func (f *filter) loginPacket(sequence byte) ([]byte, error) {
	if err := f.fill(headerBytes); err != nil {
		return nil, err
	}
	size := payloadSize(f.in)
	if f.in[headerBytes-1] != sequence || size > maxLoginBytes {
		return nil, errors.New("a client that changes its user sends something else")
	}
	if err := f.fill(headerBytes + size); err != nil {
		return nil, err
	}
	payload := f.in[headerBytes:]
	f.in = nil
	return payload, nil
}
