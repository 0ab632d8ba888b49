package interop

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// handOver is a stream from one table into another that lakesql and a Spark take turns at.
type handOver struct {
	t                          *testing.T
	dir                        string
	source, target, checkpoint string
	spark                      *engine
	rows                       int // that the source has been given, ids from 1
}

func newHandOver(t *testing.T, spark *engine) *handOver {
	dir := t.TempDir()
	h := &handOver{t: t, dir: dir, spark: spark}
	h.source, h.target = filepath.Join(dir, "lake", "lake", "events"), filepath.Join(dir, "lake", "lake", "mirror")
	h.checkpoint = filepath.Join(dir, "lake", "_checkpoints", "copy")
	return h
}

// withLakesql runs a server, which continues the stream once it is there.
func (h *handOver) withLakesql(do func(p *harness.Process)) {
	h.t.Helper()
	p := harness.Start(h.t, h.dir)
	do(p)
	p.Stop(h.t)
}

// insert gives the source a commit for each row.
func (h *handOver) insert(p *harness.Process, n int) {
	h.t.Helper()
	for range n {
		h.rows++
		p.Exec(h.t, fmt.Sprintf("INSERT INTO events VALUES (%d, 'n%d')", h.rows, h.rows))
	}
}

const createCopy = `CREATE STREAM copy_in INTO mirror WITH CHECKPOINT './lake/_checkpoints/copy' AS SELECT * FROM STREAM(events, maxFilesPerTrigger => 1)`

const caughtUp = "WAIT FOR STREAM copy_in UNTIL CAUGHT UP TIMEOUT 300 SECONDS"

// bySpark lets Spark continue: one batch, or all that is there (0).
func (h *handOver) bySpark(batches int) (run sparkRun) {
	h.t.Helper()
	h.spark.must(h.t, &run, "follow", h.source, h.target, h.checkpoint, map[string]string{"maxFilesPerTrigger": "1"}, batches)
	require.Equal(h.t, checkpointID(h.t, h.checkpoint), run.ID)
	return run
}

// newest is the last batch of a log of the checkpoint.
func (h *handOver) newest(log string) int { return newestOf(h.t, h.checkpoint, log) }

// newestOf is the last batch of a checkpoint's log, -1 for none.
func newestOf(t *testing.T, checkpoint, log string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(checkpoint, log))
	require.NoError(t, err)
	newest := -1
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

// offset is the end of the last range.
func (h *handOver) offset() string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.checkpoint, "offsets", strconv.Itoa(h.newest("offsets"))))
	require.NoError(h.t, err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

// uncommit takes the record away that the last batch is done, as a crash does right after the table's commit. The table may lose that commit, too, as
// a crash before it does.
func (h *handOver) uncommit(tableToo bool) {
	h.t.Helper()
	forget(h.t, h.checkpoint, "commits", h.newest("commits"))
	if !tableToo {
		return
	}
	logs, err := filepath.Glob(filepath.Join(h.target, "_delta_log", "0*"))
	require.NoError(h.t, err)
	last := ""
	for _, l := range logs {
		if strings.HasSuffix(l, ".json") && l > last {
			last = l
		}
	}
	version := strings.TrimSuffix(filepath.Base(last), ".json")
	for _, pattern := range []string{version + "*", "." + version + "*"} {
		files, err := filepath.Glob(filepath.Join(h.target, "_delta_log", pattern))
		require.NoError(h.t, err)
		for _, f := range files {
			require.NoError(h.t, os.Remove(f))
		}
	}
}

// forget takes a batch out of a log of a checkpoint, as if a crash had come before it was written.
func forget(t *testing.T, checkpoint, log string, batch int) {
	t.Helper()
	for _, name := range []string{"%d", ".%d.crc"} { // only Spark writes .crc
		err := os.Remove(filepath.Join(checkpoint, log, fmt.Sprintf(name, batch)))
		require.True(t, err == nil || os.IsNotExist(err), "%v", err)
	}
}

// complete wants every row of the source to be in the target once, and one version of it a batch.
func (h *handOver) complete(p *harness.Process) {
	h.t.Helper()
	var rows, distinct, least, most int
	require.NoError(h.t, p.DB.QueryRow("SELECT COUNT(*), COUNT(DISTINCT id), MIN(id), MAX(id) FROM mirror").Scan(&rows, &distinct, &least, &most))
	require.Equal(h.t, []int{h.rows, h.rows, 1, h.rows}, []int{rows, distinct, least, most}, "every row once")
	var history []sparkCommit
	h.spark.must(h.t, &history, "history", h.target)
	batches := 0
	for _, c := range history {
		if c.Operation == "STREAMING UPDATE" {
			batches++
		}
	}
	require.Equal(h.t, h.newest("offsets")+1, batches, "one commit a batch")
}

// TestTableAsASourceTakesTurns: a stream that lakesql begins is handed to Spark and back within the initial snapshot, between versions, and after crashes
// before and after the table's commit.
func TestTableAsASourceTakesTurns(t *testing.T) {
	environment(t)
	for _, spark := range []*engine{spark35, spark40} {
		t.Run(spark.name, func(t *testing.T) {
			h := newHandOver(t, spark)
			h.withLakesql(func(p *harness.Process) {
				p.Exec(t, "CREATE TABLE events (id INT, name VARCHAR(20)) TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'false')")
				h.insert(p, 25)
				p.Exec(t, createCopy)
				atOnce, err := sql.Open("mysql", "root@tcp("+p.Addr+")/lake?multiStatements=true")
				require.NoError(t, err)
				defer func() { require.NoError(t, atOnce.Close()) }()
				_, err = atOnce.Exec("WAIT FOR STREAM copy_in UNTIL BATCH 1 TIMEOUT 300 SECONDS; STOP STREAM copy_in") // in one text: it must not read all meanwhile
				require.NoError(t, err)
			})
			require.Contains(t, h.offset(), `"isStartingVersion":true`, "handed over within the initial snapshot")
			next := int64(h.newest("commits") + 1)
			require.Equal(t, [][2]int64{{next, 1}}, h.bySpark(1).Batches, "P5, or P2 where STOP cut a batch short: the next file of the snapshot")

			h.uncommit(false)
			require.Len(t, h.bySpark(1).Batches, 1, "P4: written already, or the next")
			h.uncommit(true)
			require.Contains(t, h.offset(), `"isStartingVersion":true`)
			h.withLakesql(func(p *harness.Process) { // P2: the batch runs again over the same range, here
				p.Exec(t, "START STREAM copy_in")
				p.Exec(t, caughtUp)
				p.Exec(t, "OPTIMIZE events")
				h.insert(p, 2)
				p.Exec(t, caughtUp)
				h.complete(p)
				p.Exec(t, "STOP STREAM copy_in")
			})
			require.Contains(t, h.offset(), `"index":-1,"isStartingVersion":false`)

			batches := h.bySpark(0).Batches
			for _, b := range batches {
				require.Zero(t, b[1], "Spark finds nothing new behind what lakesql has read")
			}
			h.withLakesql(func(p *harness.Process) { h.insert(p, 3) })
			h.bySpark(1)
			h.uncommit(true)
			h.withLakesql(func(p *harness.Process) {
				p.Exec(t, "START STREAM copy_in")
				p.Exec(t, caughtUp)
				h.insert(p, 1)
				p.Exec(t, caughtUp)
				p.Exec(t, "STOP STREAM copy_in")
			})
			h.uncommit(true)
			h.bySpark(0)
			h.withLakesql(h.complete)
		})
	}
}

// TestSparkBeginsFromATable: lakesql continues what Spark began, within the initial snapshot and behind it.
func TestSparkBeginsFromATable(t *testing.T) {
	environment(t)
	for _, spark := range []*engine{spark35, spark40} {
		t.Run(spark.name, func(t *testing.T) {
			h := newHandOver(t, spark)
			h.withLakesql(func(p *harness.Process) {
				p.Exec(t, "CREATE TABLE events (id INT, name VARCHAR(20))")
				h.insert(p, 5)
			})
			require.Equal(t, [][2]int64{{0, 1}}, h.bySpark(1).Batches)
			require.Contains(t, h.offset(), `"index":0,"isStartingVersion":true`)
			h.withLakesql(func(p *harness.Process) {
				p.Exec(t, createCopy)
				p.Exec(t, caughtUp)
				h.insert(p, 2)
				p.Exec(t, caughtUp)
				h.complete(p)
				p.Exec(t, "STOP STREAM copy_in")
				h.insert(p, 2)
			})
			h.bySpark(0)
			h.withLakesql(h.complete)
		})
	}
}

// everyRow wants every row to be in the target once, whatever the log says of how it came there.
func (h *handOver) everyRow(p *harness.Process) {
	h.t.Helper()
	require.Equal(h.t, [][]string{{strconv.Itoa(h.rows), strconv.Itoa(h.rows)}}, ours(h.t, p, "SELECT COUNT(*), COUNT(DISTINCT id) FROM mirror"))
}

// onlyCheckpoint leaves of the target's log the checkpoint of the newest version, and that version's commit, which is no batch's: the transactions are known from the checkpoint alone. (Spark reads no
// log without the commit of its checkpoint.)
func (h *handOver) onlyCheckpoint() {
	h.t.Helper()
	log := filepath.Join(h.target, "_delta_log")
	commits, err := filepath.Glob(filepath.Join(log, "*.json"))
	require.NoError(h.t, err)
	newest := strings.TrimSuffix(filepath.Base(slices.Max(commits)), ".json")
	require.FileExists(h.t, filepath.Join(log, newest+".checkpoint.parquet"))
	data, err := os.ReadFile(filepath.Join(log, newest+".json"))
	require.NoError(h.t, err)
	require.NotContains(h.t, string(data), `"txn"`)
	for _, pattern := range []string{"*.json", ".*.json.crc", "*.crc"} {
		files, err := filepath.Glob(filepath.Join(log, pattern))
		require.NoError(h.t, err)
		for _, f := range files {
			if !strings.Contains(filepath.Base(f), newest) {
				require.NoError(h.t, os.Remove(f))
			}
		}
	}
}

// TestTransactionsOfACheckpoint: the record of the last batch is lost, and so are all commits of the table that a checkpoint of its log covers. Each engine finds in the other's
// checkpoint that the batch is in the table.
func TestTransactionsOfACheckpoint(t *testing.T) {
	environment(t)
	for _, spark := range []*engine{spark35, spark40} {
		t.Run(spark.name, func(t *testing.T) {
			h := newHandOver(t, spark)
			h.withLakesql(func(p *harness.Process) {
				p.Exec(t, "CREATE TABLE events (id INT, name VARCHAR(20)) TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'false')")
				p.Exec(t, "CREATE TABLE mirror (id INT, name VARCHAR(20)) TBLPROPERTIES ('delta.checkpointInterval' = '1', 'delta.autoOptimize.autoCompact' = 'false')")
				h.insert(p, 2)
				p.Exec(t, createCopy)
				p.Exec(t, caughtUp)
				p.Exec(t, "STOP STREAM copy_in")
				h.insert(p, 1)
				p.Exec(t, "ALTER TABLE mirror SET TBLPROPERTIES ('by' = 'lakesql')")
				require.Eventually(t, func() bool { // it is written behind the commit
					files, err := filepath.Glob(filepath.Join(h.target, "_delta_log", "*"))
					require.NoError(t, err)
					newest := ""
					for _, f := range files {
						if strings.HasSuffix(f, ".json") {
							newest = max(newest, strings.TrimSuffix(f, ".json"))
						}
					}
					return slices.Contains(files, newest+".checkpoint.parquet")
				}, time.Minute, 10*time.Millisecond)
			})
			h.onlyCheckpoint()
			h.uncommit(false)
			h.bySpark(0)
			spark.sql(t, "ALTER TABLE "+quoted(h.target)+" SET TBLPROPERTIES ('by' = 'Spark')")
			h.onlyCheckpoint()
			h.uncommit(false)
			h.withLakesql(func(p *harness.Process) {
				h.everyRow(p)
				h.insert(p, 1)
				p.Exec(t, "START STREAM copy_in")
				p.Exec(t, caughtUp)
				h.everyRow(p)
			})
		})
	}
}

// TestSparkForgetsWhatLatestWas: a stream of Spark's that begins with startingVersion latest dies in its first batch, and something comes before it is started again: the rows of
// the first batch are lost. lakesql keeps the version (TestLatestSurvivesACrash in stream).
func TestSparkForgetsWhatLatestWas(t *testing.T) {
	environment(t)
	for _, spark := range []*engine{spark35, spark40} {
		t.Run(spark.name, func(t *testing.T) {
			h := newHandOver(t, spark)
			h.withLakesql(func(p *harness.Process) {
				p.Exec(t, "CREATE TABLE events (id INT, name VARCHAR(20))")
				h.insert(p, 1)
			})
			insert := func(id int) string { return fmt.Sprintf("INSERT INTO %s VALUES (%d, 'n')", quoted(h.source), id) }
			var run sparkRun
			spark.must(t, &run, "crash_at_latest", h.source, h.target, h.checkpoint, insert(2), insert(3), "after /offsets/0")
			require.Equal(t, [][2]int64{{0, 0}, {1, 1}}, run.Batches)
			require.Equal(t, [][]string{{"3"}}, spark.sql(t, "SELECT id FROM "+quoted(h.target)), "2 is in the range of batch 0, and lost")
		})
	}
}
