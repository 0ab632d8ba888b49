package server

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/vector"
)

// open executes a prepared statement with a cursor and returns the status of the packet behind the columns.
func (c *rawClient) open(id []byte) uint16 {
	c.t.Helper()
	c.ask(comStmtExecute, append(bytes.Clone(id), cursorReadOnly, 1, 0, 0, 0)...)
	count := c.read()
	require.Len(c.t, count, 1, "%q", count)
	for range count[0] {
		c.read()
	}
	return c.status(c.read())
}

// status is that of a packet that ends a result.
func (c *rawClient) status(end []byte) uint16 {
	c.t.Helper()
	require.EqualValues(c.t, 0xfe, end[0], "%q", end)
	require.LessOrEqual(c.t, len(end), 7)
	return binary.LittleEndian.Uint16(end[3:])
}

// fetch fetches rows of one BIGINT, and returns the status of the packet behind them.
func (c *rawClient) fetch(id []byte, rows uint32) (ids []int64, status uint16) {
	c.t.Helper()
	c.ask(comStmtFetch, binary.LittleEndian.AppendUint32(bytes.Clone(id), rows)...)
	for {
		p := c.read()
		require.Equal(c.t, byte(len(ids)+1), c.last)
		if p[0] != 0 {
			return ids, c.status(p)
		}
		ids = append(ids, int64(binary.LittleEndian.Uint64(p[2:])))
	}
}

func TestCursor(t *testing.T) {
	ts := startServer(t)
	for name, capabilities := range map[string]uint32{"with EOF": 0, "without EOF": rawWithoutEOF, "compressed": clientCompress} {
		for _, length := range []int64{0, 1, 10, 12_345} {
			t.Run(fmt.Sprint(name, " ", length), func(t *testing.T) {
				ts.length.Store(length)
				c := rawLogin{capabilities: capabilities}.dial(t, ts)
				id := c.prepare("SELECT id FROM g.series")
				require.EqualValues(t, statusCursorExists|2, c.open(id))
				var got []int64
				for at, step := int64(0), 1; ; step = step*3 + 1 {
					ids, status := c.fetch(id, uint32(step))
					got = append(got, ids...)
					if at += int64(step); at <= length {
						require.EqualValues(t, statusCursorExists|2, status)
						continue
					}
					require.EqualValues(t, statusLastRowSent|2, status)
					break
				}
				require.Len(t, got, int(length))
				for i, n := range got {
					require.EqualValues(t, i, n)
				}
				c.ask(comStmtFetch, append(bytes.Clone(id), 1, 0, 0, 0)...)
				c.fails(1421, "HY000", "The statement (1) has no open cursor.")
				require.Zero(t, ts.spill.Used())
			})
		}
	}
}

func TestCursorsAmidOtherStatements(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(20_000)
	c := dialRaw(t, ts)
	one, two := c.prepare("SELECT id FROM g.series"), c.prepare("SELECT -id FROM g.series")
	c.open(one)
	c.query("START TRANSACTION")
	c.succeeds()
	c.open(two)
	require.Positive(t, ts.spill.Used())
	for i := range int64(3) {
		a, status := c.fetch(one, 2)
		require.Equal(t, []int64{2 * i, 2*i + 1}, a)
		require.EqualValues(t, statusCursorExists|2|1, status, "in a transaction")
		b, _ := c.fetch(two, 1)
		require.Equal(t, []int64{-i}, b)
		require.Equal(t, "7", c.value("SELECT 7"))
	}
	c.query("COMMIT")
	c.succeeds()
	ids, _ := c.fetch(one, 1)
	require.Equal(t, []int64{6}, ids)
	c.open(one) // anew
	ids, _ = c.fetch(one, 1)
	require.Equal(t, []int64{0}, ids)
	c.ask(comStmtReset, one...)
	c.succeeds()
	c.ask(comStmtClose, two...)
	c.ask(comStmtFetch, append(bytes.Clone(two), 1, 0, 0, 0)...)
	c.fails(1243, "HY000", "Unknown prepared statement handler (2) given to mysqld_stmt_fetch")
	require.Zero(t, ts.spill.Used())
	c.open(one)
	c.ask(comResetConnection)
	c.succeeds()
	require.Zero(t, ts.spill.Used())
	one = c.prepare("SELECT id FROM g.series")
	c.open(one)
	require.Positive(t, ts.spill.Used())
	require.NoError(t, c.conn.Close())
	require.Eventually(t, func() bool { return ts.spill.Used() == 0 }, patience, time.Millisecond)
}

func TestCursorOfWhatHasNoRowsOrFails(t *testing.T) {
	ts := startServer(t)
	c := dialRaw(t, ts)
	execute := func(statement string) {
		c.ask(comStmtExecute, append(c.prepare(statement), cursorReadOnly, 1, 0, 0, 0)...)
	}
	execute("SET @x = 1")
	c.succeeds()
	ts.length.Store(50_000)
	for _, at := range []int64{0, 1, 40_000} {
		ts.breakAt.Store(at)
		execute("SELECT id FROM g.broken")
		c.fails(20021, "45000", "the file ends too early")
		require.EqualValues(t, 1, c.last)
		execute("SELECT id FROM g.panics")
		require.EqualValues(t, 0xff, c.read()[0])
		require.Equal(t, "1", c.value("SELECT 1"))
	}
	require.Zero(t, ts.spill.Used())
	var err error
	ts.spill, err = vector.NewSpillSpace(t.TempDir(), 8<<20)
	require.NoError(t, err)
	ts.handler.spill = ts.spill
	ts.length.Store(1 << 40) // its end is the space's
	c = dialRaw(t, ts)
	execute("SELECT s, s, s, s FROM g.series")
	p := c.read()
	require.EqualValues(t, 0xff, p[0])
	require.Contains(t, string(p), "queries would spill more than the 8 MiB")
	require.Zero(t, ts.spill.Used())
	require.Equal(t, "1", c.value("SELECT 1"))
}

func TestMemoryDoesNotGrowWithACursor(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(bigResult)
	c := dialRaw(t, ts)
	id := c.prepare("SELECT id, v, s FROM g.series")
	before := heap()
	c.open(id)
	require.Less(t, int64(heap())-int64(before), int64(maxStreamingHeap))
	count := 0
	for status := uint16(0); status&statusLastRowSent == 0; {
		c.ask(comStmtFetch, append(bytes.Clone(id), 0xff, 0xff, 0, 0)...)
		rows, end := c.rows()
		count, status = count+rows, c.status(end)
		require.Less(t, int64(heap())-int64(before), int64(maxStreamingHeap))
	}
	require.Equal(t, bigResult, count)
}

// TestCaptureInAnyPieces has rows of several packets, and one that looks like the end of a result.
func TestCaptureInAnyPieces(t *testing.T) {
	long := bytes.Repeat([]byte{0}, maxPayload+3)
	long[maxPayload] = 0xff // the second packet begins like an error
	full := make([]byte, maxPayload)
	rows := [][]byte{{0, 0, 1}, long, {0, 0, 2}, full, {0, 0, 3}}
	var sent []byte
	sequence := byte(1)
	put := func(payload []byte) []byte {
		p := frame(payload, sequence)
		sequence += byte(len(payload)/maxPayload) + 1
		sent = append(sent, p...)
		return p
	}
	head := append(put([]byte{1}), put([]byte("the column"))...)
	put([]byte{0xfe, 0, 0, 2, 0})
	for _, row := range rows {
		put(row)
	}
	put([]byte{0xfe, 0, 0, 2, 0})
	random := rand.New(rand.NewPCG(1, 2))
	space, err := vector.NewSpillSpace(t.TempDir(), 256<<20)
	require.NoError(t, err)
	for range 5 {
		var out bytes.Buffer
		of := &frontConn{conn: &mysql.Conn{StatusFlags: 2}, out: &out, cursors: map[uint32]*cursor{}}
		w := of.capture(7, &cursor{space: space})
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(9))
			if random.IntN(3) == 0 {
				n = min(len(rest), 1+random.IntN(1<<24))
			}
			_, err := w.Write(rest[:n])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.Equal(t, append(bytes.Clone(head), frame([]byte{0xfe, 0, 0, 0x42, 0}, 3)...), out.Bytes())
		require.Same(t, &out, of.out)
		out.Reset()
		_, ended, err := of.cursors[7].send(&out, 100, 1)
		require.NoError(t, err)
		require.True(t, ended)
		var want []byte
		sequence = 1
		for _, row := range rows {
			want = append(want, frame(row, sequence)...)
			sequence += byte(len(row)/maxPayload) + 1
		}
		require.True(t, bytes.Equal(want, out.Bytes()))
		require.NoError(t, of.closeCursors())
	}
}

func TestCursorsAreBounded(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(20_000)
	c := dialRaw(t, ts)
	var ids [][]byte
	for range maxCursors {
		ids = append(ids, c.prepare("SELECT id FROM g.series"))
		c.open(ids[len(ids)-1])
	}
	more := c.prepare("SELECT id FROM g.series")
	for range 2 {
		c.ask(comStmtExecute, append(bytes.Clone(more), cursorReadOnly, 1, 0, 0, 0)...)
		c.fails(1105, "HY000", "the connection has 100 open cursors, as many as it may: fetch one to its end, or close its statement")
	}
	c.open(ids[3]) // anew
	c.ask(comStmtClose, ids[5]...)
	c.open(more)
	got, _ := c.fetch(more, 1)
	require.Equal(t, []int64{0}, got)
	c.ask(comQuit)
	require.Eventually(t, func() bool { return ts.spill.Used() == 0 }, patience, time.Millisecond)
}

// TestCursorsCountInTheBudget has cursors that together hold what all statements may: their rows go to files. Closed ones hold nothing.
func TestCursorsCountInTheBudget(t *testing.T) {
	space, err := vector.NewSpillSpace(t.TempDir(), 64<<20)
	require.NoError(t, err)
	budget := vector.NewBudget(1<<20, space)
	used := func() int64 { n, _ := budget.Use(); return n }
	row := bytes.Repeat([]byte("x"), 10<<10)
	var all []*cursor
	for range 100 {
		r := &cursor{space: space, budget: budget}
		for range 4 {
			_, err := r.Write(row)
			require.NoError(t, err)
		}
		all = append(all, r)
		require.LessOrEqual(t, used(), int64(1<<20))
	}
	require.Greater(t, used(), int64(1<<19))
	require.Positive(t, space.Used())
	for _, r := range all {
		got := make([]byte, 4*len(row))
		_, err := r.ReadAt(got, 0)
		require.NoError(t, err)
		require.Equal(t, bytes.Repeat(row, 4), got)
		require.NoError(t, r.close())
	}
	require.Zero(t, used())
	require.Zero(t, space.Used())
}

// TestCursorOfAStatementThatAsksForAFile has LOAD DATA LOCAL executed with a cursor, of which there is none.
func TestCursorOfAStatementThatAsksForAFile(t *testing.T) {
	s, _ := serveLake(t)
	for name, capabilities := range map[string]uint32{"plain": 0, "compressed": clientCompress} {
		t.Run(name, func(t *testing.T) {
			c := rawLogin{capabilities: capabilities}.dial(t, s)
			c.query("CREATE OR REPLACE TABLE lake.t (a INT)")
			c.succeeds()
			id := c.prepare("LOAD DATA LOCAL INFILE 'x' INTO TABLE lake.t")
			for range 2 {
				c.ask(comStmtExecute, append(bytes.Clone(id), cursorReadOnly, 1, 0, 0, 0)...)
				require.Equal(t, "\xfbx", string(c.read()))
				c.write([]byte("1\n2\n"), c.last+1)
				c.write(nil, c.last+2)
				c.succeeds()
				require.EqualValues(t, 4, c.last)
			}
			require.Equal(t, "4", c.value("SELECT COUNT(*) FROM lake.t"))
		})
	}
}
