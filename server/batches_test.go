package server

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// everyDeltaType is a table with a column of each type that a batch can have, and rows with the values at the edges.
var everyDeltaType = []string{
	`CREATE TABLE every (id INT, bo BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f32 FLOAT, f64 DOUBLE, d9 DECIMAL(9,2), d18 DECIMAL(18,0), d38 DECIMAL(38,10),
		da DATE, ts DATETIME(6), s VARCHAR(40), c CHAR(9), t TEXT, b VARBINARY(300), j JSON, st STRUCT<a: INT, b: STRING>, l ARRAY<INT>)`,
	`INSERT INTO every (id, bo, i8, i16, i32, i64, f32, f64, d9, d18, d38, da, ts, s, c, t, b, j) VALUES
		(1, TRUE, -128, -32768, -2147483648, -9223372036854775808, 1.5, 0.1, -1.05, -999999999999999999, '-1234567890123456789012345678.0123456789', '0001-01-01', '0001-01-01 00:00:00.000001', '', '', '', '', '{"a": [1, 2.5, null]}'),
		(2, FALSE, 127, 32767, 2147483647, 9223372036854775807, -3.4e38, 1e300, 0, 0, 0, '9999-12-31', '9999-12-31 23:59:59.999999', 'Ünï😀', 'ab', REPEAT('x', 250), X'00FF80', '"x"'),
		(3, NULL, 0, 0, 0, 0, 0, -0.07, 1234567.89, 7, 0.0000000001, '1969-12-31', '1969-12-31 23:59:59.5', 'a', NULL, REPEAT('x', 251), REPEAT('y', 290), 'null'),
		(4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, REPEAT('x', 65535), NULL, NULL),
		(5, TRUE, 1, 1, 1, 1, 1e-30, 123456.78, 1, 1, 1, '0999-02-28', '2024-02-29 12:00:00', 'a', 'a', REPEAT('x', 65536), 'a', '1'),
		(6, TRUE, 1, 1, 1, 1, 16777216, 1e15, 1, 1, 1, '2024-02-29', '0012-02-29 12:00:00', 'a', 'a', 'a', 'a', '{}')`,
}

func exec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
}

// answer is every packet that answers a statement, with its sequence.
func (c *rawClient) answer(statement string, prepared bool) (packets []string) {
	c.t.Helper()
	payload := append([]byte{3}, statement...)
	if prepared {
		c.write(append([]byte{comStmtPrepare}, statement...), 0)
		p := c.read()
		require.EqualValues(c.t, 0, p[0], "%s: %q", statement, p)
		if p[5] > 0 {
			c.columnPackets()
		}
		payload = append(append([]byte{comStmtExecute}, p[1:5]...), 0, 1, 0, 0, 0)
	}
	c.write(payload, 0)
	for ends := 0; ends < 2; {
		p := c.read()
		packets = append(packets, fmt.Sprintf("%d %q", c.last, p))
		if p[0] == 0xff {
			break
		}
		if p[0] == 0xfe && len(p) < 9 {
			ends++
		}
	}
	return packets
}

// columnPackets skips the columns of a prepared statement.
func (c *rawClient) columnPackets() {
	for {
		if p := c.read(); p[0] == 0xfe && len(p) < 9 {
			return
		}
	}
}

func TestBatchesAndRowsAreTheSameBytes(t *testing.T) {
	s, dir := serveLake(t)
	db := open(t, s)
	exec(t, db, everyDeltaType...)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.json"), []byte(`{"x": "NaN", "y": "-Infinity", "st": {"a": 1, "b": "é\""}, "l": [1, null], "da": "0000-01-02"}
		{"x": "Infinity", "y": "NaN", "st": null, "l": [], "da": "+12024-01-01"}`), 0o600))
	c := dialRaw(t, s)
	set := func(statement string) {
		c.write([]byte("\x03"+statement), 0)
		require.EqualValues(t, 0, c.read()[0], statement)
	}
	set("USE lake")
	for _, query := range []string{
		"SELECT * FROM every ORDER BY id",
		"SELECT * FROM every WHERE id > 100",
		"SELECT id + 1, f64 * 2, d9 + d18, d9 * 3, CONCAT(s, 'x'), i64 > 3, da FROM every WHERE id <> 1 AND id <> 2 ORDER BY id",
		"SELECT s, COUNT(*), MIN(da), MAX(ts), SUM(d9), AVG(i32) FROM every GROUP BY s ORDER BY s",
		"SELECT CAST(ts AS DATETIME), CAST(ts AS DATETIME(3)), CAST(ts AS DATE), YEAR(ts) FROM every ORDER BY id",
		"SELECT * FROM read_files('./in.json', format => 'json', schema => 'x DOUBLE, y FLOAT, st STRUCT<a: INT, b: STRING>, l ARRAY<INT>, da DATE')",
		"SELECT a.t FROM every a JOIN every b ON a.bo = b.bo ORDER BY a.id, b.id",
	} {
		for _, prepared := range []bool{false, true} {
			set("SET lakesql_vector = ON")
			batches := c.answer(query, prepared)
			set("SET lakesql_vector = OFF")
			rows := c.answer(query, prepared)
			require.Greater(t, len(rows), 1, "%s: %s", query, rows)
			require.Equal(t, rows, batches, "%s, prepared: %v", query, prepared)
		}
	}
}

// bigRows is how many rows the table big has: several pieces, and a batch that ends amid one.
const bigRows = 20_000

func makeBig(t testing.TB, db *sql.DB) {
	t.Helper()
	exec(t, db, "CREATE TABLE big (id INT, zero INT, s VARCHAR(40), d DECIMAL(12,2), at DATETIME(6))",
		fmt.Sprintf(`INSERT INTO big WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 99)
			SELECT a.i * 200 + b.i * 2 + c.i, 0, CONCAT('row ', a.i * 200 + b.i * 2 + c.i), a.i / 4, '2024-02-29 12:00:00.5' FROM n a, n b, n c WHERE c.i < %d`, bigRows/10_000))
}

func TestRowsOfBatchesAreNotBoxed(t *testing.T) {
	s, _ := serveLake(t)
	db := open(t, s)
	makeBig(t, db)
	c := dialRaw(t, s)
	for range 2 { // the first one fills caches
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.write([]byte("\x03SELECT b.* FROM lake.big a JOIN lake.big b ON a.zero = b.zero WHERE a.id < 10"), 0)
		c.columns()
		require.Equal(t, 10*bigRows, c.skipRows(1<<30, nil))
		runtime.ReadMemStats(&after)
		if mallocs := after.Mallocs - before.Mallocs; mallocs < bigRows {
			return
		}
	}
	t.Fatal("there were allocations for each row")
}

func TestBatchesStreamInConstantMemory(t *testing.T) {
	s, _ := serveLake(t)
	db := open(t, s)
	makeBig(t, db)
	c := dialRaw(t, s)
	c.write([]byte("\x03SELECT b.* FROM lake.big a JOIN lake.big b ON a.zero = b.zero WHERE a.id < 50"), 0)
	c.columns()
	before, highest := heap(), uint64(0)
	require.Equal(t, 50*bigRows, c.skipRows(50*bigRows/6, func() { highest = max(highest, heap()) }))
	require.Less(t, int64(highest)-int64(before), int64(maxStreamingHeap))
}

// endless is a result that nobody reads to its end.
const endless = "a.*, b.s FROM lake.big a JOIN lake.big b ON a.zero = b.zero"

func TestBatchesEndAmidTheResult(t *testing.T) {
	s, _ := serveLake(t)
	db := open(t, s)
	makeBig(t, db)
	for name, c := range map[string]struct {
		statement string
		errno     uint16
	}{
		"killed":     {"SELECT " + endless, 1317},
		"time limit": {"SELECT /*+ MAX_EXECUTION_TIME({ms}) */ " + endless, 3024},
		"overflow":   {"SELECT s, s, s, s, 9223372036854775807 - 19990 + id FROM lake.big", 1690},
	} {
		t.Run(name, func(t *testing.T) {
			raw := dialRaw(t, s)
			for ms := 300; ; ms *= 4 {
				raw.write([]byte("\x03"+strings.ReplaceAll(c.statement, "{ms}", fmt.Sprint(ms))), 0)
				head, err := raw.r.Peek(headerBytes + 1)
				require.NoError(t, err)
				if name != "time limit" || head[headerBytes] != 0xff {
					break
				}
				raw.fails(3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded") // on a busy machine the time may be over before the first row
			}
			raw.columns()
			if name == "killed" {
				exec(t, db, fmt.Sprintf("KILL QUERY %d", raw.id))
			}
			count, end := raw.rows()
			require.NotZero(t, count)
			require.EqualValues(t, 0xff, end[0])
			require.Equal(t, c.errno, binary.LittleEndian.Uint16(end[1:]), "%q", end)
			raw.write([]byte("\x03SELECT 1"), 0)
			raw.columns()
			count, _ = raw.rows()
			require.Equal(t, 1, count, "the connection goes on")
		})
	}
}

// awaitFullSocket waits until the server is stuck in writing to a client that does not read.
func awaitFullSocket(t testing.TB) {
	t.Helper()
	require.Eventually(t, writesToAFullSocket, patience, 10*time.Millisecond)
}

// writesToAFullSocket says whether the server waits for a client to read. It may be for a moment only, until the system has passed on what was written.
func writesToAFullSocket() bool {
	stacks := make([]byte, 4<<20)
	for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		state, calls, _ := strings.Cut(g, "\n")
		if strings.Contains(state, "[IO wait") && strings.Contains(calls, "net.(*conn).Write(") && strings.Contains(calls, "lakesql/server.") {
			return true
		}
	}
	return false
}

func TestClientThatLeavesAmidBatches(t *testing.T) {
	s, _ := serveLake(t)
	db := open(t, s)
	makeBig(t, db)
	for name, leave := range map[string]func(c *rawClient){
		"closes": func(c *rawClient) { require.NoError(t, c.conn.Close()) },
		"killed unread": func(c *rawClient) {
			awaitFullSocket(t)
			exec(t, db, fmt.Sprintf("KILL QUERY %d", c.id))
		},
		"connection killed": func(c *rawClient) { exec(t, db, fmt.Sprintf("KILL %d", c.id)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := dialRaw(t, s)
			c.write([]byte("\x03SELECT "+endless), 0)
			c.columns()
			leave(c)
			require.Eventually(t, func() bool {
				var n int
				require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE ID = ? AND COMMAND = 'Query'", c.id).Scan(&n))
				return n == 0
			}, patience, 10*time.Millisecond)
		})
	}
}

func TestSeveralResultsWithBatches(t *testing.T) {
	s, _ := serveLake(t)
	makeBig(t, open(t, s))
	db := openWith(t, s, "multiStatements=true")
	rows, err := db.Query("SELECT id FROM big ORDER BY id; SELECT s FROM big WHERE id < 3; SELECT FOUND_ROWS(); SELECT id FROM big")
	require.NoError(t, err)
	for i, want := range []int{bigRows, 3, 1, bigRows} {
		n := 0
		for rows.Next() {
			n++
		}
		require.Equal(t, want, n)
		require.Equal(t, i < 3, rows.NextResultSet())
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	var found int
	require.NoError(t, drainRows(db.Query("SELECT id FROM big")))
	require.NoError(t, db.QueryRow("SELECT FOUND_ROWS()").Scan(&found))
	require.Equal(t, bigRows, found)
}

func TestBatchWithARowOfManyMegabytes(t *testing.T) {
	s, _ := serveLake(t)
	db := openWith(t, s, "maxAllowedPacket=67108864")
	exec(t, db, "CREATE TABLE long_texts (id INT, s TEXT, e VARCHAR(5))",
		"INSERT INTO long_texts VALUES (1, REPEAT('0123456789', 1700000), 'e'), (2, 'b', 'f')")
	rows, err := db.Query("SELECT s, e FROM long_texts ORDER BY id")
	require.NoError(t, err)
	var got []int
	for rows.Next() {
		var s, e string
		require.NoError(t, rows.Scan(&s, &e))
		got = append(got, len(s), len(e))
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []int{17_000_000, 1, 1, 1}, got)
}

func open(t testing.TB, s *Server) *sql.DB { return openWith(t, s, "") }

func openWith(t testing.TB, s *Server, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/lake?%s", s.Addr(), params))
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}
