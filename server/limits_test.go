package server

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	heapmetrics "runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/stream"
)

// maxStreamingHeap is how much the heap may grow while a result of any size goes out, in bytes: generous, and far below a result.
const maxStreamingHeap = 32 << 20

func TestMemoryDoesNotGrowWithTheResult(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(bigResult)
	c := dialRaw(t, ts)
	c.write([]byte("\x03SELECT id, v, s FROM g.series"), 0)
	c.columns()
	before, highest := heap(), uint64(0)
	count := c.skipRows(bigResult/6, func() { highest = max(highest, heap()) })
	require.Equal(t, bigResult, count)
	require.Less(t, int64(highest)-int64(before), int64(maxStreamingHeap))
}

// heap is what is held. What was made and dropped since the collection counts for nothing, however long a busy machine takes from one to the other.
func heap() uint64 {
	runtime.GC()
	live := []heapmetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	heapmetrics.Read(live)
	return live[0].Value.Uint64()
}

func TestKillEndsAStatementWhoseClientStoppedReading(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1 << 40)
	c := dialRaw(t, ts)
	c.write([]byte("\x03SELECT s, s, s, s FROM g.series"), 0)
	c.columns()
	made := func() int64 { return ts.made.Load() }
	require.Eventually(t, func() bool { // the buffers are full: production has stopped
		if !writesToAFullSocket() {
			return false
		}
		before := made()
		time.Sleep(500 * time.Millisecond) // long enough for the system to pass on what was written
		return made() == before && writesToAFullSocket()
	}, patience, time.Millisecond)
	_, err := ts.open(t, "").Exec("KILL QUERY 1")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(ts.engine.ProcessList.Processes()) == 2 }, patience, 10*time.Millisecond,
		"the connection ends, because what it was sending is cut off; the streams' row and the killer's stay")
}

func TestShutdownEndsStatements(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1 << 40)
	failed := make(chan error, 1)
	db := ts.open(t, "")
	go func() { failed <- drainRows(db.Query("SELECT COUNT(*) FROM g.series")) }()
	require.Eventually(t, func() bool { return ts.made.Load() > 0 }, patience, time.Millisecond)
	require.NoError(t, ts.Close())
	requireErrno(t, <-failed, 1053, "08S01")
}

func TestLoadDataLocalIsNotTakenForCommands(t *testing.T) {
	var file bytes.Buffer
	for i := range 1_500 {
		fmt.Fprintf(&file, "%d\t%s\n", i, strings.Repeat("\x16", 1400))
	}
	require.Greater(t, file.Len(), 512*4096)
	mysql.RegisterReaderHandler("rows", func() io.Reader { return bytes.NewReader(file.Bytes()) })
	defer mysql.DeregisterReaderHandler("rows")
	for _, params := range []string{"maxAllowedPacket=4096", "maxAllowedPacket=4096&compress=true"} { // many packets: the sequence byte comes round
		ts := startServer(t)
		setGlobal(t, "local_infile", int8(1))
		db := ts.open(t, params)
		_, err := db.Exec("CREATE TABLE t (a INT, b VARCHAR(2000))")
		require.NoError(t, err)
		requireErrno(t, drainRows(db.Query("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE nothing")), 1146, "42S02")
		_, err = db.Exec("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE t")
		require.NoError(t, err)
		var n int
		require.NoError(t, db.QueryRow("SELECT COUNT(DISTINCT a) FROM t WHERE LENGTH(b) = 1400").Scan(&n))
		require.Equal(t, 1_500, n)
		require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM t WHERE a >= ?", 1_499).Scan(&n), "statements are prepared again")
		requireSameConnection(t, db)
	}
}

func TestStatementsOfManyMegabytes(t *testing.T) {
	db := startServer(t).open(t, "maxAllowedPacket=67108864")
	long := strings.Repeat("0123456789", 1_800_000) // more than one packet
	var got string
	if !testing.Short() { // each takes seconds under the race detector
		require.NoError(t, db.QueryRow("SELECT '"+long+"'").Scan(&got))
		require.Equal(t, len(long), len(got))
	}
	require.NoError(t, db.QueryRow("SELECT CONCAT(?, '"+long+"')", "x").Scan(&got))
	require.Equal(t, len(long)+1, len(got))
	requireSameConnection(t, db)
}

func TestStreamsShowInTheProcessList(t *testing.T) {
	ts := startServer(t)
	ts.streams.list = []stream.Status{{Definition: stream.Definition{Database: "lake", Name: "s", Definer: "root"}, ProcessID: stream.FirstProcessID,
		State: stream.Idle, Reason: "waiting for the first file", LastBatchID: -1, Since: time.Now()}}
	db := ts.open(t, "")
	var command, info string
	require.NoError(t, db.QueryRow("SELECT COMMAND, INFO FROM information_schema.PROCESSLIST WHERE ID >= 1000000000").Scan(&command, &info))
	require.Equal(t, "Stream", command)
	require.Equal(t, "STREAM lake.s: IDLE, batch -1: waiting for the first file", info)
	_, err := db.Exec("KILL 1000000000")
	require.NoError(t, err)
	require.Equal(t, []uint32{1_000_000_000}, ts.streams.killed)
}
