package server

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/stretchr/testify/require"
)

// rawClient speaks the protocol packet by packet, for what drivers do not let one see.
type rawClient struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	out  io.Writer
	last byte // the sequence of the packet read last
	id   uint32

	capabilities uint32
	packs        *deflater // nil: nothing is compressed
}

// The capabilities that rawClient has: 4.1 protocol, secure connection, plugin auth.
const (
	rawCapabilities = 0x200 | 0x8000 | 0x80000
	rawMulti        = 0x10000 // besides: several statements in one text
	rawWithoutEOF   = 0x1000000
)

// rawLogin is how a rawClient logs in.
type rawLogin struct {
	user, password string // "": root
	capabilities   uint32 // besides rawCapabilities
	tls            bool
}

func dialRaw(t *testing.T, at interface{ Addr() net.Addr }) *rawClient {
	t.Helper()
	return rawLogin{}.dial(t, at)
}

// dial connects and logs in.
func (l rawLogin) dial(t *testing.T, at interface{ Addr() net.Addr }) *rawClient {
	t.Helper()
	c := dialGreeted(t, at)
	c.capabilities = l.capabilities
	if l.tls {
		c.capabilities |= clientSSL
		c.write(c.loginHead(), 1)
		secured := tls.Client(c.conn, &tls.Config{InsecureSkipVerify: true})
		c.conn, c.r, c.out, c.last = secured, bufio.NewReader(secured), secured, 1
	}
	if l.user == "" {
		l.user = "root"
	}
	c.hello(l.user)
	end := c.prove(l.password)
	require.Equal(t, "\x00\x00\x00\x02\x00\x00\x00", string(end), "OK, no rows, no id, autocommit")
	if l.capabilities&clientCompress != 0 {
		packs := &deflater{out: c.conn}
		c.r, c.out, c.packs = bufio.NewReader(&inflater{src: c.r, packs: &deflater{}}), packs, packs
	}
	return c
}

// loginHead is what a login, and a request for TLS, begin with.
func (c *rawClient) loginHead() []byte {
	p := binary.LittleEndian.AppendUint32(nil, rawCapabilities|c.capabilities)
	p = append(binary.LittleEndian.AppendUint32(p, 1<<24), 45)
	return append(p, make([]byte, 23)...)
}

// hello says who logs in.
func (c *rawClient) hello(user string) {
	c.t.Helper()
	c.write(append(c.loginHead(), user+"\x00\x00caching_sha2_password\x00"...), c.last+1)
}

// dialGreeted connects and reads the greeting.
func dialGreeted(t *testing.T, at interface{ Addr() net.Addr }) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", at.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	c := &rawClient{t: t, conn: conn, r: bufio.NewReader(conn), out: conn}
	greeting := c.read()
	require.EqualValues(t, 10, greeting[0], "%q", greeting)
	c.id = binary.LittleEndian.Uint32(greeting[bytes.IndexByte(greeting, 0)+1:])
	return c
}

// prove answers what the server asks for a password, and returns the packet that ends the login.
func (c *rawClient) prove(password string) []byte {
	c.t.Helper()
	for {
		switch p := c.read(); {
		case p[0] == 0xfe: // another salt
			plugin, salt, _ := bytes.Cut(p[1:], []byte{0})
			var proof []byte
			if password != "" && string(plugin) == "caching_sha2_password" {
				proof = mysql.ScrambleCachingSha2Password(salt[:20], []byte(password))
			}
			c.write(proof, c.last+1)
		case p[0] == 1 && p[1] == 4: // the password itself
			c.write([]byte(password+"\x00"), c.last+1)
		case p[0] == 1: // it is known
		default:
			return p
		}
	}
}

// ask sends a command of one packet.
func (c *rawClient) ask(command byte, payload ...byte) {
	c.t.Helper()
	c.write(append([]byte{command}, payload...), 0)
}

// query sends a statement.
func (c *rawClient) query(text string) {
	c.t.Helper()
	c.ask(comQuery, []byte(text)...)
}

// prepare prepares a statement without parameters and returns its id, and nil if it has no columns.
func (c *rawClient) prepare(text string) (id []byte) {
	c.t.Helper()
	c.ask(comStmtPrepare, []byte(text)...)
	p := c.read()
	require.EqualValues(c.t, 0, p[0], "%q", p)
	for _, definitions := range []uint16{binary.LittleEndian.Uint16(p[7:]), binary.LittleEndian.Uint16(p[5:])} {
		for range definitions {
			c.read()
		}
		if definitions > 0 && c.capabilities&rawWithoutEOF == 0 {
			c.read()
		}
	}
	return p[1:5]
}

// fails reads an error.
func (c *rawClient) fails(number uint16, state, message string) {
	c.t.Helper()
	p := c.read()
	require.EqualValues(c.t, 0xff, p[0], "%q", p)
	require.Equal(c.t, number, binary.LittleEndian.Uint16(p[1:]), "%q", p)
	require.Equal(c.t, "#"+state+message, string(p[3:]))
}

// succeeds reads an OK.
func (c *rawClient) succeeds() {
	c.t.Helper()
	p := c.read()
	require.EqualValues(c.t, 0, p[0], "%q", p)
}

// value returns the one text that a statement gives.
func (c *rawClient) value(statement string) string {
	c.t.Helper()
	c.query(statement)
	c.columns()
	row := c.read()
	_, end := c.rows()
	require.EqualValues(c.t, 0xfe, end[0], "%q", end)
	if row[0] == nullText {
		return "NULL"
	}
	return string(row[1:])
}

// ended waits until the server has closed the connection.
func (c *rawClient) ended() {
	c.t.Helper()
	require.NoError(c.t, c.conn.SetReadDeadline(time.Now().Add(patience)))
	_, err := io.Copy(io.Discard, c.r)
	require.NotErrorIs(c.t, err, os.ErrDeadlineExceeded)
}

func (c *rawClient) write(payload []byte, sequence byte) {
	c.t.Helper()
	if c.packs != nil && sequence == 0 {
		c.packs.sequence = 0
	}
	_, err := c.out.Write(frame(payload, sequence))
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
	if c.capabilities&rawWithoutEOF == 0 {
		require.EqualValues(c.t, 0xfe, c.read()[0], "EOF")
	}
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
