package server

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// TestParametersOfEveryType sends each value as a parameter, into a column and back, by the binary protocol.
func TestParametersOfEveryType(t *testing.T) {
	s, _ := serveLake(t)
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/lake?parseTime=true", s.Addr()))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	moment := time.Date(2024, 2, 29, 23, 59, 58, 123456000, time.UTC)
	for _, c := range []struct {
		kind     string
		in, want any
	}{
		{"TINYINT", int64(-128), int64(-128)},
		{"SMALLINT", int64(math.MinInt16), int64(math.MinInt16)},
		{"INT", int64(math.MaxInt32), int64(math.MaxInt32)},
		{"BIGINT", int64(math.MinInt64), int64(math.MinInt64)},
		{"BIGINT", int64(math.MaxInt64), int64(math.MaxInt64)},
		{"DECIMAL(20,0)", uint64(math.MaxUint64), "18446744073709551615"},
		{"BOOLEAN", true, int64(1)},
		{"FLOAT", float64(1.5), float32(1.5)},
		{"DOUBLE", math.Pi, math.Pi},
		{"DOUBLE", -math.MaxFloat64, -math.MaxFloat64},
		{"DECIMAL(38,10)", "-1234567890123456789012345678.0123456789", "-1234567890123456789012345678.0123456789"},
		{"VARCHAR(20)", "ä'\"\\`\x00\n", "ä'\"\\`\x00\n"},
		{"TEXT", "", ""},
		{"LONGTEXT", string(make([]byte, 70_000)), string(make([]byte, 70_000))},
		{"BLOB", []byte{0, 0xff, 0xfe, '\''}, "\x00\xff\xfe'"},
		{"VARBINARY(10)", []byte{}, ""},
		{"DATE", "2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"DATETIME(6)", moment, moment},
		{"DATETIME(6)", "2024-02-29 23:59:58.000001", moment.Truncate(time.Second).Add(time.Microsecond)},
		{"DATETIME(6)", moment.Truncate(24 * time.Hour), moment.Truncate(24 * time.Hour)},
		{"TIMESTAMP(6)", moment, moment},
	} {
		t.Run(fmt.Sprintf("%s %T", c.kind, c.in), func(t *testing.T) {
			_, err := db.Exec("CREATE OR REPLACE TABLE p (id INT, v " + c.kind + ")")
			require.NoError(t, err)
			insert, err := db.Prepare("INSERT INTO p VALUES (?, ?)")
			require.NoError(t, err)
			defer func() { require.NoError(t, insert.Close()) }()
			for id, value := range []any{c.in, nil} {
				_, err := insert.Exec(id, value)
				require.NoError(t, err)
			}
			var got, null any
			read, err := db.Prepare("SELECT v FROM p WHERE id = ?")
			require.NoError(t, err)
			defer func() { require.NoError(t, read.Close()) }()
			require.NoError(t, read.QueryRow(0).Scan(&got))
			if text, ok := got.([]byte); ok {
				got = string(text)
			}
			require.Equal(t, c.want, got)
			require.NoError(t, read.QueryRow(1).Scan(&null))
			require.Nil(t, null)
			var found int
			if c.kind != "FLOAT" {
				require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM p WHERE v = ?", c.in).Scan(&found))
				require.Equal(t, 1, found)
			}
		})
	}
}

// TestResultsOfTypesThatNoColumnHas has the types that only expressions give.
func TestResultsOfTypesThatNoColumnHas(t *testing.T) {
	db, _ := startLake(t)
	for expression, want := range map[string]any{
		"CAST(? AS UNSIGNED) + 18446744073709551614": "18446744073709551615", // a driver that has no larger integer
		"CAST(CONCAT('-838:59:5', ?) AS TIME)":       "-838:59:51",
		"TIMEDIFF('10:00:00', CONCAT('12:30:0', ?))": "-02:30:01.000000",
		"CAST(CONCAT('00:00:0', ?) AS TIME)":         "00:00:01",
		"JSON_OBJECT('a', ?, 'b', NULL)":             `{"a": 1, "b": null}`,
		"YEAR(CONCAT('202', ?, '-05-06'))":           int64(2021),
		"CONCAT('x', ?) IS NULL":                     int64(0),
	} {
		var got any
		require.NoError(t, db.QueryRow("SELECT "+expression, 1).Scan(&got), expression)
		if text, ok := got.([]byte); ok {
			got = string(text)
		}
		require.Equal(t, want, got, expression)
	}
}

// TestParametersAsOtherDriversSendThem has the binary forms that go-sql-driver does not use.
func TestParametersAsOtherDriversSendThem(t *testing.T) {
	ts := startServer(t)
	for _, p := range []struct {
		name        string
		kind, flags byte
		bytes       []byte
		want        string
	}{
		{"TINYINT", 1, 0, []byte{0x80}, "-128"},
		{"TINYINT UNSIGNED", 1, 0x80, []byte{0xff}, "255"},
		{"SMALLINT UNSIGNED", 2, 0x80, []byte{0xff, 0xff}, "65535"},
		{"INT UNSIGNED", 3, 0x80, []byte{0xff, 0xff, 0xff, 0xff}, "4294967295"},
		{"BIGINT", 8, 0, bytes.Repeat([]byte{0xff}, 8), "-1"},
		{"BIGINT UNSIGNED", 8, 0x80, bytes.Repeat([]byte{0xff}, 8), "18446744073709551615"},
		{"FLOAT", 4, 0, []byte{0, 0, 0xc0, 0x3f}, "1.5"},
		{"DOUBLE", 5, 0, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0xbf}, "-1.5"},
		{"DECIMAL", 0xf6, 0, []byte("\x05-0.10"), "-0.10"},
		{"VARCHAR", 0x0f, 0, []byte("\x03abc"), "abc"},
		{"BLOB", 0xfc, 0, []byte("\x03abc"), "abc"},
		{"JSON", 0xf5, 0, []byte("\x02[]"), "[]"},
		{"DATE", 0x0a, 0, []byte{4, 0xe8, 7, 2, 29}, "2024-02-29"},
		{"DATETIME of a day", 0x0c, 0, []byte{4, 0xe8, 7, 2, 29}, "2024-02-29 00:00:00"},
		{"DATETIME", 0x0c, 0, []byte{7, 0xe8, 7, 2, 29, 23, 59, 58}, "2024-02-29 23:59:58"},
		{"DATETIME(6)", 0x0c, 0, []byte{11, 0xe8, 7, 2, 29, 23, 59, 58, 1, 0, 0, 0}, "2024-02-29 23:59:58.000001"},
		{"TIMESTAMP(6)", 0x07, 0, []byte{11, 0xe8, 7, 2, 29, 23, 59, 58, 1, 0, 0, 0}, "2024-02-29 23:59:58.000001"},
		{"a DATE of zeros", 0x0a, 0, []byte{0}, "0000-00-00"},
		{"a DATETIME of zeros", 0x0c, 0, []byte{0}, "0000-00-00 00:00:00"},
		{"DATETIME without a fraction", 0x0c, 0, []byte{11, 1, 0, 2, 3, 4, 5, 6, 0, 0, 0, 0}, "0001-02-03 04:05:06"},
		{"TIME of nothing", 0x0b, 0, []byte{0}, "00:00:00"},
		{"TIME", 0x0b, 0, []byte{8, 0, 0, 0, 0, 0, 10, 11, 12}, "10:11:12"},
		{"negative TIME of days", 0x0b, 0, []byte{8, 1, 1, 0, 0, 0, 10, 11, 12}, "-34:11:12"},
		{"negative TIME(6)", 0x0b, 0, []byte{12, 1, 0, 0, 0, 0, 10, 11, 12, 1, 0, 0, 0}, "-10:11:12.000001"},
		{"NULL", 6, 0, nil, "none"},
	} {
		t.Run(p.name, func(t *testing.T) {
			c := dialRaw(t, ts)
			id := c.prepare("SELECT IFNULL(CONCAT(?), 'none')")
			null := byte(0)
			if p.bytes == nil {
				null = 1
			}
			c.ask(comStmtExecute, append(append(id, 0, 1, 0, 0, 0, null, 1, p.kind, p.flags), p.bytes...)...)
			c.columns()
			row := c.read()
			require.EqualValues(t, 0, row[0], "%q", row)
			require.Equal(t, p.want, string(row[3:]))
			c.rows()
		})
	}
}

func TestLimitIsAParameter(t *testing.T) {
	db, _ := startLake(t)
	_, err := db.Exec("CREATE TABLE t (a INT)")
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO t VALUES (1), (2), (3), (4), (5)")
	require.NoError(t, err)
	for _, args := range [][]any{{2, 1}, {uint64(2), uint8(1)}, {"2", "1"}} { // some drivers send texts
		rows, err := db.Query("SELECT a FROM t ORDER BY a LIMIT ? OFFSET ?", args...)
		require.NoError(t, err)
		var got []int
		for rows.Next() {
			var a int
			require.NoError(t, rows.Scan(&a))
			got = append(got, a)
		}
		require.NoError(t, rows.Err())
		require.Equal(t, []int{2, 3}, got, "%T", args[0])
	}
}

func TestAnErrorAmidSeveralStatements(t *testing.T) {
	s, _ := serveLake(t)
	c := rawLogin{capabilities: rawMulti}.dial(t, s)
	c.query("CREATE TABLE lake.t (a INT); INSERT INTO lake.t VALUES (1); SELECT * FROM lake.t; SELECT * FROM lake.nothing; INSERT INTO lake.t VALUES (2)")
	const more = 8
	for range 2 {
		ok := c.read()
		require.EqualValues(t, 0, ok[0], "%q", ok)
		require.NotZero(t, ok[3]&more)
	}
	c.columns()
	_, end := c.rows()
	require.NotZero(t, c.status(end)&more)
	c.fails(1146, "42S02", "Table 'lake.nothing' doesn't exist")
	require.Equal(t, "1", c.value("SELECT COUNT(*) FROM lake.t"), "what ran before stays, and what follows did not run")
}

// made is a file of so many lines that is never there as a whole.
type made struct {
	lines, line int
	left        []byte
}

func (m *made) Read(p []byte) (int, error) {
	if len(m.left) == 0 {
		if m.line == m.lines {
			return 0, io.EOF
		}
		m.left = fmt.Appendf(m.left[:0], "%d\tthe text of line %d\n", m.line, m.line)
		m.line++
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

// TestMemoryDoesNotGrowWithALoadedFile: what is held is a row group, whatever the file has.
func TestMemoryDoesNotGrowWithALoadedFile(t *testing.T) {
	db, _ := startLake(t)
	if testing.Short() {
		t.Skip("a file that is large enough takes long under the race detector")
	}
	setGlobal(t, "local_infile", int8(1))
	_, err := db.Exec("CREATE TABLE t (a BIGINT, s TEXT)")
	require.NoError(t, err)
	const lines = 2_500_000
	mysql.RegisterReaderHandler("made", func() io.Reader { return &made{lines: lines} })
	defer mysql.DeregisterReaderHandler("made")
	before := heap()
	done := make(chan struct{})
	highest := make(chan uint64)
	go func() {
		most := uint64(0)
		for tick := time.NewTicker(500 * time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, heap())
			case <-done:
				tick.Stop()
				highest <- most
				return
			}
		}
	}()
	_, err = db.Exec("LOAD DATA LOCAL INFILE 'Reader::made' INTO TABLE t")
	close(done)
	grown := int64(<-highest) - int64(before)
	require.NoError(t, err)
	var n, sum int64
	require.NoError(t, db.QueryRow("SELECT COUNT(*), SUM(a) FROM t").Scan(&n, &sum))
	require.EqualValues(t, lines, n)
	require.EqualValues(t, int64(lines)*int64(lines-1)/2, sum)
	require.Less(t, grown, int64(60<<20), "the file has 72 MiB")
}

// TestParametersThatMakeNoSenseAreForgotten has an execution fail behind its first parameter: the next has all of its own.
func TestParametersThatMakeNoSenseAreForgotten(t *testing.T) {
	c := dialRaw(t, startServer(t))
	c.ask(comStmtPrepare, []byte("SELECT CONCAT(?, ',', ?)")...)
	id := bytes.Clone(c.read()[1:5])
	for range 2 + 1 + 1 + 1 { // the parameters and their end, the column and its end
		c.read()
	}
	execute := func(kind byte, values ...byte) {
		c.ask(comStmtExecute, append(append(bytes.Clone(id), 0, 1, 0, 0, 0, 0, 1, 1, 0, kind, 0), values...)...)
	}
	want := func(text string) {
		t.Helper()
		c.columns()
		row := c.read()
		require.Equal(t, text, string(row[3:]))
		c.rows()
	}
	for range 2 {
		execute(12, 7, 3, 1, 2, 3) // no DATETIME has 3 bytes
		require.EqualValues(t, 0xff, c.read()[0])
		execute(1, 8, 9)
		want("8,9")
	}
	execute(12, 7, 3, 1, 2, 3)
	require.EqualValues(t, 0xff, c.read()[0])
	c.ask(comStmtLongData, append(bytes.Clone(id), 1, 0, 'x')...)
	execute(0xfe, 5)
	want("5,x")
}
