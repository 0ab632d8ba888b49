package server

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"
)

// setGlobal sets a variable of the whole process for a test.
func setGlobal(t *testing.T, name string, value any) {
	t.Helper()
	_, before, ok := sql.SystemVariables.GetGlobal(name)
	require.True(t, ok)
	require.NoError(t, sql.SystemVariables.AssignValues(map[string]any{name: value}))
	t.Cleanup(func() { require.NoError(t, sql.SystemVariables.AssignValues(map[string]any{name: before})) })
}

func TestStatistics(t *testing.T) {
	c := dialRaw(t, startServer(t))
	require.Equal(t, "1", c.value("SELECT 1"))
	c.ask(comStatistics)
	require.Regexp(t, `^Uptime: \d+  Threads: 1  Questions: 1  Queries per second avg: \d+\.\d{3}$`, string(c.read()))
	require.EqualValues(t, 1, c.last)
}

func TestPing(t *testing.T) {
	c := dialRaw(t, startServer(t))
	c.ask(comPing)
	c.succeeds()
}

func TestInitDB(t *testing.T) {
	c := dialRaw(t, startServer(t))
	c.ask(comInitDB, 'd')
	c.succeeds()
	require.Equal(t, "d", c.value("SELECT DATABASE()"))
	c.ask(comInitDB, []byte("no'`\x00where")...)
	c.fails(1049, "42000", "Unknown database 'no'`\x00where'")
	require.Equal(t, "d", c.value("SELECT DATABASE()"))
}

func TestCommandsThatThereAreNot(t *testing.T) {
	c := dialRaw(t, startServer(t))
	for _, command := range []byte{comSleep, 0x05, 0x06, 0x07, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0x0f, 0x12, 0x13, 0x14, 0x15, 0x1d, 0x1e, 0x20, 0xfe, 0xff} {
		c.ask(command, 1, 2, 3)
		c.fails(1047, "08S01", "Unknown command")
		require.EqualValues(t, 1, c.last)
	}
	c.write(nil, 0)
	c.fails(1047, "08S01", "Unknown command")
	require.Equal(t, "1", c.value("SELECT 1"))
}

func TestResetConnection(t *testing.T) {
	ts := startServer(t)
	c := dialRaw(t, ts)
	for _, statement := range []string{"USE d", "SET @x = 1, autocommit = 0, sql_mode = ''", "PREPARE p FROM 'SELECT 1'"} {
		c.query(statement)
		c.succeeds()
	}
	require.Equal(t, "1", c.value("SELECT GET_LOCK('mine', 0)"))
	id := c.prepare("SELECT 1")
	c.query("START TRANSACTION")
	c.succeeds()
	c.ask(comResetConnection)
	ok := c.read()
	require.EqualValues(t, 0, ok[0])
	require.EqualValues(t, 2, binary.LittleEndian.Uint16(ok[3:]), "autocommit, and no transaction")
	require.Equal(t, "NULL", c.value("SELECT @x"))
	require.Equal(t, "1", c.value("SELECT @@autocommit"))
	require.NotEmpty(t, c.value("SELECT @@sql_mode"))
	require.Equal(t, "d", c.value("SELECT DATABASE()"), "as in MySQL")
	c.ask(comStmtExecute, append(id, 0, 1, 0, 0, 0)...)
	c.fails(1243, "HY000", "Unknown prepared statement handler (1) given to mysqld_stmt_execute")
	c.query("EXECUTE p")
	require.EqualValues(t, 0xff, c.read()[0])
	other := dialRaw(t, ts)
	require.Equal(t, "1", other.value("SELECT GET_LOCK('mine', 0)"))
}

func TestPreparedStatementsThatThereAreNot(t *testing.T) {
	c := dialRaw(t, startServer(t))
	nine := []byte{9, 0, 0, 0}
	c.ask(comStmtExecute, append(nine, 0, 1, 0, 0, 0)...)
	c.fails(1243, "HY000", "Unknown prepared statement handler (9) given to mysqld_stmt_execute")
	c.ask(comStmtReset, nine...)
	c.fails(1243, "HY000", "Unknown prepared statement handler (9) given to mysqld_stmt_reset")
	c.ask(comStmtFetch, append(nine, 1, 0, 0, 0)...)
	c.fails(1243, "HY000", "Unknown prepared statement handler (9) given to mysqld_stmt_fetch")
	c.ask(comStmtReset, 1)
	c.fails(1835, "HY000", "Malformed communication packet.")
	c.ask(comStmtExecute, 1)
	c.fails(1835, "HY000", "Malformed communication packet.")
	c.ask(comStmtClose, nine...) // these two have no answer
	c.ask(comStmtLongData, append(nine, 0, 0, 'x')...)
	require.Equal(t, "1", c.value("SELECT 1"))
}

// withText is the id of a statement, and its one parameter as a COM_STMT_EXECUTE has it.
func withText(id []byte, value string) []byte {
	p := append(append([]byte{}, id...), 0, 1, 0, 0, 0, 0, 1, 0xfe, 0)
	return append(append(p, byte(len(value))), value...)
}

func TestLongData(t *testing.T) {
	c := dialRaw(t, startServer(t))
	id := c.prepare("SELECT LENGTH(?)")
	execute := func() string {
		c.ask(comStmtExecute, withText(id, "abc")...)
		p := c.read()
		if p[0] == 0xff {
			return string(p[9:])
		}
		c.read()
		c.read()
		row := c.read()
		c.rows()
		return string('0' + rune(row[2]))
	}
	require.Equal(t, "3", execute())
	c.ask(comStmtLongData, append(append([]byte{}, id...), 0, 0, '1', '2')...)
	c.ask(comStmtLongData, append(append([]byte{}, id...), 0, 0, '3', '4', '5')...)
	require.Equal(t, "5", execute())
	c.ask(comStmtLongData, append(append([]byte{}, id...), 0, 0, '1', '2')...)
	c.ask(comStmtReset, id...)
	c.succeeds()
	require.Equal(t, "3", execute(), "a reset forgets it")
	c.ask(comStmtLongData, append(append([]byte{}, id...), 7, 0, '1')...)
	require.Equal(t, "Incorrect arguments to mysqld_stmt_send_long_data", execute())
	require.Equal(t, "3", execute())

	setGlobal(t, "max_allowed_packet", uint64(1024))
	require.Equal(t, "1", c.value("SELECT 1")) // from its end on it holds here
	for range 3 {
		c.ask(comStmtLongData, append(append(append([]byte{}, id...), 0, 0), make([]byte, 400)...)...)
	}
	require.Equal(t, "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes", execute())
	require.Equal(t, "3", execute())
}

func TestPacketsThatAreTooLarge(t *testing.T) {
	setGlobal(t, "max_allowed_packet", uint64(16<<20))
	ts := startServer(t)
	setGlobal(t, "max_allowed_packet", uint64(16<<20)) // the server has set its own
	c := dialRaw(t, ts)
	c.query("SELECT '" + string(make([]byte, 17<<20)) + "'")
	c.fails(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")
	require.EqualValues(t, 2, c.last)
	c.ended()
	require.Equal(t, "1", dialRaw(t, ts).value("SELECT 1"))
}

func TestPreparedStatementsAreGivenUp(t *testing.T) {
	ts := startServer(t)
	setGlobal(t, "max_prepared_stmt_count", int64(2))
	c, other := dialRaw(t, ts), dialRaw(t, ts)
	for i := range 5 { // what fails and what is closed does not count
		c.ask(comStmtPrepare, []byte("SELECT nothing")...)
		c.fails(1054, "42S22", "Unknown column 'nothing' in 'field list'")
		c.ask(comStmtClose, c.prepare(fmt.Sprint("SELECT ", i))...)
	}
	id := c.prepare("SELECT 1")
	c.prepare("SELECT 1;")
	other.ask(comStmtPrepare, []byte("SELECT 2")...)
	other.fails(1461, "42000", "Can't create more than max_prepared_stmt_count statements (current value: 2)")
	c.ask(comStmtClose, id...)
	require.Equal(t, "4", c.value("SELECT 4"), "which is answered behind it")
	other.prepare("SELECT 2")
	c.ask(comStmtExecute, 12, 0, 0, 0, 0, 1, 0, 0, 0) // that of the same text is there
	c.columns()
	c.rows()
	c.ask(comResetConnection)
	c.succeeds()
	other.ask(comQuit)
	require.Eventually(t, func() bool { return ts.handler.prepared.Load() == 0 }, patience, time.Millisecond)
	c.prepare("SELECT 3")
}

func TestSetOption(t *testing.T) {
	ts := startServer(t)
	for name, capabilities := range map[string]uint32{"with EOF": 0, "without EOF": rawWithoutEOF} {
		t.Run(name, func(t *testing.T) {
			c := rawLogin{capabilities: capabilities}.dial(t, ts)
			two := func() byte {
				c.query("SET @x = 1; SET @x = 2")
				return c.read()[0]
			}
			require.EqualValues(t, 0xff, two())
			c.ask(comSetOption, 0, 0)
			require.EqualValues(t, 2, c.status(c.read()))
			require.EqualValues(t, 0, two())
			c.succeeds()
			c.ask(comSetOption, 1, 0)
			require.EqualValues(t, 2, c.status(c.read()))
			require.EqualValues(t, 0xff, two())
			c.ask(comSetOption, 2, 0)
			c.fails(1047, "08S01", "Unknown command")
			c.ask(comSetOption, 0)
			c.fails(1835, "HY000", "Malformed communication packet.")
			require.Equal(t, "2", c.value("SELECT @x"), "each has one answer")
		})
	}
}

func TestFieldListOfWhatIsNotThere(t *testing.T) {
	c := dialRaw(t, startServer(t))
	c.query("USE g")
	c.succeeds()
	c.ask(comFieldList, []byte("nothing\x00%")...)
	c.fails(1146, "42S02", "Table 'nothing' doesn't exist")
	require.EqualValues(t, 1, c.last)
	c.ask(comFieldList, []byte("series\x00%")...)
	for range 3 {
		require.Equal(t, "\x03def", string(c.read()[:4]))
	}
	c.status(c.read())
	c.query("SELECT nothing")
	c.fails(1054, "42S22", "Unknown column 'nothing' in 'field list'")
	require.Equal(t, "1", c.value("SELECT 1"))
}

// A login shifts the sequence of what follows it, so that such a packet would be a command for vitess.
func TestWhatBeginsNoCommandEndsTheConnection(t *testing.T) {
	g := startGuarded(t)
	for sequence := range byte(4) {
		for _, statement := range []string{"\x03SELECT 1", "\x16SELECT 1"} {
			if sequence == 0 {
				continue
			}
			c := rawLogin{tls: true}.dial(t, g)
			c.write([]byte(statement), sequence)
			c.ended()
			c = dialRaw(t, g)
			require.EqualValues(t, 0, c.changeUser("root", "", "")[0])
			c.write([]byte(statement), sequence)
			c.ended()
		}
	}
}

func TestResetWhereTheDatabaseIsGone(t *testing.T) {
	s, _ := serveLake(t)
	c, other := dialRaw(t, s), dialRaw(t, s)
	for _, statement := range []string{"CREATE DATABASE gone", "USE gone", "START TRANSACTION"} {
		c.query(statement)
		c.succeeds()
	}
	id := c.prepare("SELECT 1")
	c.open(id)
	other.query("DROP DATABASE gone")
	other.succeeds()
	c.ask(comResetConnection)
	c.fails(1049, "42000", "Unknown database 'gone'")
	c.ask(comStmtFetch, append(id, 1, 0, 0, 0)...)
	c.fails(1243, "HY000", "Unknown prepared statement handler (1) given to mysqld_stmt_fetch")
	c.ask(comPing)
	ok := c.read()
	require.EqualValues(t, 2, binary.LittleEndian.Uint16(ok[3:]), "in no transaction")
	require.Equal(t, dialRaw(t, s).value("SELECT DATABASE()"), c.value("SELECT DATABASE()"), "as of a new connection")
}
