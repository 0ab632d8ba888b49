package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// rawClient speaks the protocol packet by packet, for what drivers do not let one see.
type rawClient struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	last byte // the sequence of the packet read last
	id   uint32
}

// The capabilities that rawClient has: 4.1 protocol, secure connection, plugin auth.
const rawCapabilities = 0x200 | 0x8000 | 0x80000

func dialRaw(t *testing.T, at interface{ Addr() net.Addr }) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", at.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	c := &rawClient{t: t, conn: conn, r: bufio.NewReader(conn)}
	greeting := c.read()
	c.id = binary.LittleEndian.Uint32(greeting[bytes.IndexByte(greeting, 0)+1:])
	login := binary.LittleEndian.AppendUint32(nil, rawCapabilities)
	login = append(binary.LittleEndian.AppendUint32(login, 1<<24), 45)
	login = append(login, make([]byte, 23)...)
	login = append(login, "root\x00\x00mysql_native_password\x00"...)
	c.write(login, 1)
	require.Equal(t, []byte{0, 0, 0, 2, 0}, c.read()[:5], "OK, no rows, no id, autocommit")
	return c
}

func (c *rawClient) write(payload []byte, sequence byte) {
	c.t.Helper()
	_, err := c.conn.Write(frame(payload, sequence))
	require.NoError(c.t, err)
}

func (c *rawClient) read() []byte {
	c.t.Helper()
	header := make([]byte, headerBytes)
	_, err := io.ReadFull(c.r, header)
	require.NoError(c.t, err)
	c.last = header[3]
	payload := make([]byte, payloadSize(header))
	_, err = io.ReadFull(c.r, payload)
	require.NoError(c.t, err)
	return payload
}

// column is a column's description.
type column struct {
	name     string
	charset  uint16
	length   uint32
	kind     byte
	flags    uint16
	decimals byte
}

// columns reads the head of a result.
func (c *rawClient) columns() []column {
	c.t.Helper()
	count := c.read()
	require.Len(c.t, count, 1, "%q", count)
	all := make([]column, count[0])
	for i := range all {
		p := c.read()
		for n := range 6 {
			text := p[1 : 1+p[0]]
			if n == 4 {
				all[i].name = string(text)
			}
			p = p[1+p[0]:]
		}
		all[i].charset, all[i].length = binary.LittleEndian.Uint16(p[1:]), binary.LittleEndian.Uint32(p[3:])
		all[i].kind, all[i].flags, all[i].decimals = p[7], binary.LittleEndian.Uint16(p[8:]), p[10]
	}
	require.EqualValues(c.t, 0xfe, c.read()[0], "EOF")
	return all
}

// rows counts the rows up to the end of the result, and returns its last packet.
func (c *rawClient) rows() (count int, end []byte) {
	c.t.Helper()
	for {
		p := c.read()
		if p[0] == 0xff || p[0] == 0xfe && len(p) < 9 {
			return count, p
		}
		count++
	}
}

// skipRows counts the rows up to the end of the result without keeping anything; each is called after so many rows.
func (c *rawClient) skipRows(every int, each func()) (count int) {
	c.t.Helper()
	for {
		header, err := c.r.Peek(headerBytes + 1)
		require.NoError(c.t, err)
		if size := payloadSize(header); header[headerBytes] == 0xfe && size < 9 {
			return count
		}
		_, err = c.r.Discard(headerBytes + payloadSize(header))
		require.NoError(c.t, err)
		if count++; count%every == 0 {
			each()
		}
	}
}

func TestColumnsAreDescribedAsMySQLDoes(t *testing.T) {
	ts := startServer(t)
	db := ts.open(t, "")
	_, err := db.Exec(`CREATE TABLE t (a BIGINT NOT NULL, b INT UNSIGNED, c VARCHAR(10), d LONGBLOB, e TEXT, f DECIMAL(10,2), g DATETIME(6), h DATETIME,
		i DATE, j DOUBLE, k FLOAT, l BOOLEAN, m JSON, n VARBINARY(7), o TINYINT)`)
	require.NoError(t, err)
	const text, binary = 255, 63
	const notNull, blob, unsigned, bin = 1, 16, 32, 128
	want := []column{
		{"a", binary, 20, 8, notNull, 0},
		{"b", binary, 10, 3, unsigned, 0},
		{"c", text, 40, 253, 0, 0},
		{"d", binary, 4294967295, 252, blob | bin, 0},
		{"e", text, 262140, 252, blob, 0},
		{"f", binary, 12, 246, 0, 2},
		{"g", binary, 26, 12, bin, 6},
		{"h", binary, 19, 12, bin, 0},
		{"i", binary, 10, 10, bin, 0},
		{"j", binary, 22, 5, 0, 31},
		{"k", binary, 12, 4, 0, 31},
		{"l", binary, 1, 1, 0, 0},
		{"m", binary, 4294967295, 245, blob | bin, 0},
		{"n", binary, 7, 253, bin, 0},
		{"o", binary, 4, 1, 0, 0},
	}
	c := dialRaw(t, ts)
	c.write([]byte("\x03SELECT * FROM d.t"), 0)
	require.Equal(t, want, c.columns())
	count, end := c.rows()
	require.Zero(t, count)
	require.EqualValues(t, 0xfe, end[0])
	c.write([]byte("\x03SELECT MAX(a) AS a, MAX(i) AS i, COUNT(*) AS n FROM d.t"), 0)
	require.Equal(t, []column{{"a", binary, 20, 8, bin, 0}, {"i", binary, 10, 10, bin, 0}, {"n", binary, 20, 8, bin, 0}}, c.columns())
	count, _ = c.rows()
	require.Equal(t, 1, count)
}

func TestCursorsAreAnsweredWithAllRows(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(50_000)
	c := dialRaw(t, ts)
	c.write([]byte("\x16SELECT id FROM g.series"), 0)
	prepared := c.read()
	require.EqualValues(t, 0, prepared[0])
	c.read() // the column
	c.read() // EOF
	execute := append([]byte{comStmtExecute}, prepared[1:5]...)
	c.write(append(execute, 1, 1, 0, 0, 0), 0) // CURSOR_TYPE_READ_ONLY
	c.columns()
	count, end := c.rows()
	require.Equal(t, 50_000, count)
	require.EqualValues(t, 0xfe, end[0])
}

func TestStatistics(t *testing.T) {
	c := dialRaw(t, startServer(t))
	c.write([]byte{comStatistics}, 0)
	require.Regexp(t, `^Uptime: \d+  Threads: 1  Questions: 0$`, string(c.read()))
	require.EqualValues(t, 1, c.last)
}

func TestTransactionsShowInTheStatus(t *testing.T) {
	c := dialRaw(t, startServer(t))
	for _, step := range []struct {
		statement     string
		inTransaction bool
	}{{"SET @x = 1", false}, {"START TRANSACTION", true}, {"COMMIT", false}} {
		c.write([]byte("\x03"+step.statement), 0)
		ok := c.read()
		require.EqualValues(t, 0, ok[0], "%q", ok)
		status := binary.LittleEndian.Uint16(ok[3:])
		require.Equal(t, step.inTransaction, status&1 != 0, step.statement)
		require.NotZero(t, status&2, "autocommit")
	}
}

func TestErrorInPlaceOfTheEndHasTheRightSequence(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1000)
	ts.breakAt.Store(300)
	c := dialRaw(t, ts)
	c.write([]byte("\x03SELECT id FROM g.broken"), 0)
	c.columns()
	count, end := c.rows()
	require.EqualValues(t, 0xff, end[0])
	require.Equal(t, "#45000the file ends too early", string(end[3:]))
	require.Equal(t, byte(count+4), c.last) // the count of columns, one column, EOF, the rows
	c.write([]byte("\x03SELECT 1"), 0)
	c.columns()
}

func TestResetConnection(t *testing.T) {
	c := dialRaw(t, startServer(t))
	c.write([]byte("\x03SET @x = 1"), 0)
	require.EqualValues(t, 0, c.read()[0])
	c.write([]byte{0x1f}, 0)
	require.EqualValues(t, 0, c.read()[0])
	c.write([]byte("\x03SELECT @x"), 0)
	c.columns()
	require.Equal(t, "\xfb", string(c.read()), "NULL")
}
