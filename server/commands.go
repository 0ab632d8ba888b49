package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// The commands of the protocol, by their first byte.
const (
	comSleep           = 0x00
	comQuit            = 0x01
	comInitDB          = 0x02
	comQuery           = 0x03
	comFieldList       = 0x04
	comStatistics      = 0x09
	comPing            = 0x0e
	comChangeUser      = 0x11
	comStmtPrepare     = 0x16
	comStmtExecute     = 0x17
	comStmtLongData    = 0x18
	comStmtClose       = 0x19
	comStmtReset       = 0x1a
	comSetOption       = 0x1b
	comStmtFetch       = 0x1c
	comResetConnection = 0x1f
)

// Where things are in a COM_STMT_EXECUTE's payload.
const (
	cursorFlagsAt  = 5
	cursorReadOnly = 1 // the flag that asks for a cursor

	usesBytes = 7 // what the start of a command has of the statement that it uses, and of the parameter of a COM_STMT_SEND_LONG_DATA
)

// Statuses that vitess does not know or sets elsewhere.
const (
	statusCursorExists = 0x0040
	statusLastRowSent  = 0x0080
)

// usesStatement says whether a command names a prepared statement, and is vitess'.
func usesStatement(command byte) bool {
	return command == comStmtExecute || command == comStmtLongData || command == comStmtClose
}

// session is a connection's commands that are answered past vitess. It runs where commands are read: nothing else of the connection does meanwhile.
type session struct {
	h *handler
	c *frontConn
}

var _ commands = session{}

// answers is true for what vitess does not know, answers wrongly, or not at all.
func (session) answers(command byte) bool {
	switch command {
	case comQuit, comInitDB, comQuery, comFieldList, comPing, comChangeUser, comStmtPrepare, comStmtExecute, comStmtLongData, comStmtClose:
		return false
	}
	return true
}

// answer answers a command.
func (s session) answer(payload []byte) error {
	command := byte(comSleep)
	if len(payload) > 0 {
		command = payload[0]
	}
	switch {
	case command == comStatistics:
		return s.c.reply([]byte(s.h.metrics.statistics()))
	case command == comResetConnection:
		return s.reset()
	case command == comSetOption && len(payload) >= 3:
		return s.setOption(binary.LittleEndian.Uint16(payload[1:]))
	case command == comStmtReset && len(payload) >= 5:
		return s.resetStatement(binary.LittleEndian.Uint32(payload[1:]))
	case command == comStmtFetch && len(payload) >= 9:
		return s.fetch(binary.LittleEndian.Uint32(payload[1:]), binary.LittleEndian.Uint32(payload[5:]))
	case command == comStmtReset, command == comStmtFetch, command == comSetOption:
		return s.c.fail(mysql.NewSQLError(1835, mysql.SSUnknownSQLState, "Malformed communication packet."))
	}
	return s.c.fail(mysql.NewSQLError(mysql.ERUnknownComError, mysql.SSUnknownComError, "Unknown command"))
}

// reset makes the session what it was after the login, with the database that it is in.
func (s session) reset() error {
	if err := s.h.resetSession(s.c); err != nil {
		return s.c.fail(sqlError(err))
	}
	return s.c.ok()
}

// resetSession ends the connection's session, its locks, transaction, statements and cursors, and begins another in the same database.
func (h *handler) resetSession(c *frontConn) error {
	err := h.Handler.ComResetConnection(c.conn) // the session is a new one also where its database is not there any more
	h.dropStatements(c.conn)
	c.badLongData, c.reading = nil, nil
	return errors.Join(err, c.closeCursors(), h.beginSession(c.conn))
}

// setOption lets the client send several statements in one text, or not. vitess answers twice where there is no such option.
func (s session) setOption(option uint16) error {
	switch option {
	case 0:
		s.c.conn.Capabilities |= mysql.CapabilityClientMultiStatements
	case 1:
		s.c.conn.Capabilities &^= mysql.CapabilityClientMultiStatements
	default:
		return s.c.fail(mysql.NewSQLError(mysql.ERUnknownComError, mysql.SSUnknownComError, "Unknown command"))
	}
	return s.c.reply(s.c.endPacket(0))
}

// resetStatement forgets what was sent for a statement's parameters, and its cursor.
func (s session) resetStatement(id uint32) error {
	p, ok := s.c.conn.PrepareData[id]
	if !ok {
		return s.c.fail(unknownStatement("mysqld_stmt_reset", id))
	}
	s.forget(p)
	if err := s.c.closeCursor(id); err != nil {
		return s.c.fail(sqlError(err))
	}
	return s.c.ok()
}

// refuses sees to it that vitess is asked for statements and parameters only that there are, and keeps no more than max_allowed_packet of one.
func (s session) refuses(start []byte, size int) *mysql.SQLError {
	if len(start) < 5 {
		return mysql.NewSQLError(1835, mysql.SSUnknownSQLState, "Malformed communication packet.")
	}
	id := binary.LittleEndian.Uint32(start[1:])
	if misread := s.c.reading; misread != nil {
		s.forget(misread)
		s.c.reading = nil
	}
	p, ok := s.c.conn.PrepareData[id]
	switch command := start[0]; {
	case !ok:
		return unknownStatement("mysqld_stmt_execute", id)
	case command == comStmtLongData:
		return s.refusesLongData(p, start, size)
	default: // it is executed again, or closed
		if err := s.c.closeCursor(id); err != nil {
			return sqlError(err)
		}
	}
	bad := s.c.badLongData[id]
	if bad != nil {
		s.forget(p)
	}
	if start[0] != comStmtExecute { // vitess does not miss it
		if err := s.h.dropStatement(s.c.conn, id); err != nil {
			return sqlError(err)
		}
		return nil
	}
	if bad == nil {
		s.c.reading = p
	}
	return bad
}

// forget drops what was sent for a statement's parameters.
func (s session) forget(p *mysql.PrepareData) {
	delete(s.c.badLongData, p.StatementID)
	p.BindVars = make(map[string]*querypb.BindVariable, p.ParamsCount)
}

func (s session) refusesLongData(p *mysql.PrepareData, start []byte, size int) *mysql.SQLError {
	if len(start) < usesBytes {
		return mysql.NewSQLError(1835, mysql.SSUnknownSQLState, "Malformed communication packet.")
	}
	number := int(binary.LittleEndian.Uint16(start[5:]))
	if number >= int(p.ParamsCount) {
		return s.badLongDataOf(p, mysql.NewSQLError(1210, mysql.SSUnknownSQLState, "Incorrect arguments to mysqld_stmt_send_long_data"))
	}
	name := fmt.Sprintf("v%d", number+1) // as vitess has it
	have := p.BindVars[name]
	if have == nil {
		p.BindVars[name] = sqltypes.BytesBindVariable(nil)
		have = p.BindVars[name]
	}
	if len(have.Value)+size-usesBytes > s.largest() {
		have.Value = nil
		return s.badLongDataOf(p, mysql.NewSQLError(mysql.ERUnknownError, mysql.SSUnknownSQLState,
			"Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes"))
	}
	return nil
}

// badLongDataOf keeps an error for the statement's execution: the command that it happens in has no answer.
func (s session) badLongDataOf(p *mysql.PrepareData, e *mysql.SQLError) *mysql.SQLError {
	if s.c.badLongData == nil {
		s.c.badLongData = make(map[uint32]*mysql.SQLError)
	}
	s.c.badLongData[p.StatementID] = e
	return e
}

// refused answers a COM_STMT_EXECUTE; the others have no answer.
func (s session) refused(command byte, e *mysql.SQLError, sequence byte) error {
	if command != comStmtExecute {
		return nil
	}
	return s.c.replyAs(errorPacket(e), sequence)
}

func (s session) largest() int {
	if n := s.c.allowed.Load(); n > 0 {
		return int(n)
	}
	return math.MaxInt
}

func (s session) tooLarge(sequence byte) error {
	return s.c.replyAs(errorPacket(mysql.NewSQLError(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")), sequence)
}

func unknownStatement(in string, id uint32) *mysql.SQLError {
	return mysql.NewSQLError(1243, mysql.SSUnknownSQLState, "Unknown prepared statement handler (%d) given to %s", id, in)
}

// reply sends the packet that answers a command of one packet.
func (c *frontConn) reply(payload []byte) error { return c.replyAs(payload, 1) }

func (c *frontConn) replyAs(payload []byte, sequence byte) error {
	_, err := c.out.Write(frame(payload, sequence))
	return err
}

func (c *frontConn) fail(e *mysql.SQLError) error { return c.reply(errorPacket(e)) }

// ok sends that a command is done.
func (c *frontConn) ok() error {
	return c.reply(binary.LittleEndian.AppendUint32([]byte{0, 0, 0}, uint32(c.conn.StatusFlags)))
}

// endPacket is the payload of the packet that ends a result, with flags besides the connection's status.
func (c *frontConn) endPacket(flags uint16) []byte {
	status := uint32(c.conn.StatusFlags | flags)
	if c.conn.Capabilities&mysql.CapabilityClientDeprecateEOF != 0 {
		return binary.LittleEndian.AppendUint32([]byte{mysql.EOFPacket, 0, 0}, status)
	}
	return binary.LittleEndian.AppendUint32([]byte{mysql.EOFPacket}, status<<16)
}
