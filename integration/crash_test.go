package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
	"lakesql/store"
	"lakesql/store/faultstore"
)

func TestMain(m *testing.M) {
	if point := os.Getenv(crashEnv); point != "" {
		fmt.Fprintln(os.Stderr, harness.ServeOver(crashingOpener(point)))
		os.Exit(1)
	}
	if os.Getenv(faultyEnv) != "" {
		fmt.Fprintln(os.Stderr, harness.ServeOver(faultyStore))
		os.Exit(1)
	}
	os.Exit(harness.Main(m))
}

// crashEnv makes the test binary a server that kills itself with SIGKILL at a point, "before|after kind part-of-the-URI", or that pauses itself there
// with SIGSTOP, once: "stop kind part-of-the-URI".
const crashEnv = "LAKESQL_CRASH"

// crashPoints are the steps of the batch protocol in batch 1, in their order; the file's two rows are in the table exactly once
// after a restart at each.
var crashPoints = []struct {
	name, point string
}{
	{"P0 before the source log", "before put-if-absent /sources/0/1"},
	{"P1 after the source log, before offsets", "after put-if-absent /sources/0/1"},
	{"P1 before offsets", "before put-if-absent /offsets/1"},
	{"P2 after offsets, before data", "after put-if-absent /offsets/1"},
	{"P3 after the data file", "after commit-if-absent /sales/part-"},
	{"P3 before the Delta commit", "before put-if-absent /sales/_delta_log/00000000000000000001.json"},
	{"P4 after the Delta commit, before commits", "after put-if-absent /sales/_delta_log/00000000000000000001.json"},
	{"P4 before commits", "before put-if-absent /commits/1"},
	{"P5 after commits", "after put-if-absent /commits/1"},
}

// TestKillAtEachStep kills the process with SIGKILL at each step of the batch protocol.
func TestKillAtEachStep(t *testing.T) {
	for _, step := range crashPoints {
		t.Run(step.name, func(t *testing.T) {
			t.Parallel()
			dir := landing(t)
			p := startCrashing(t, dir, step.point)
			p.Exec(t, createSales)
			drop(t, dir, "data_1.csv", data1)
			p.Exec(t, caughtUp)
			drop(t, dir, "data_2.csv", data2)
			p.WaitKilled(t)
			requireOnceAfterRestart(t, dir, 2)
		})
	}
}

// TestKillWhilePurging kills the process in the middle of the purge that follows batch 101.
func TestKillWhilePurging(t *testing.T) {
	t.Parallel()
	dir := landing(t)
	const files = 103
	for n := range files {
		drop(t, dir, fmt.Sprintf("data_%03d.csv", n), fmt.Sprintf("transaction_id,item,amount\n%d,A,1.5\n%d,B,2.5\n", 2*n+1, 2*n+2))
	}
	p := startCrashing(t, dir, "after delete /offsets/0")
	p.Exec(t, strings.Replace(createSales, "AS SELECT", "TRIGGER AVAILABLE NOW OPTIONS (maxFilesPerTrigger = 1) AS SELECT", 1))
	p.WaitKilled(t)

	p = harness.Start(t, dir)
	p.Exec(t, caughtUp)
	require.Equal(t, [][]string{{"206", "206"}}, p.Rows(t, "SELECT COUNT(*), COUNT(DISTINCT transaction_id) FROM sales"))
	p.Stop(t)
}

// TestLeftOverTemporaryFiles: what a kill inside a put leaves behind (P7) is ignored by everybody.
func TestLeftOverTemporaryFiles(t *testing.T) {
	t.Parallel()
	dir := landing(t)
	p := startCrashing(t, dir, "after put-if-absent /offsets/1")
	p.Exec(t, createSales)
	drop(t, dir, "data_1.csv", data1)
	p.Exec(t, caughtUp)
	drop(t, dir, "data_2.csv", data2)
	p.WaitKilled(t)
	checkpoint := filepath.Join(dir, "lake", "_checkpoints", "sales")
	for _, folder := range []string{checkpoint + "/offsets", checkpoint + "/commits", checkpoint + "/sources/0", filepath.Join(dir, "lake", "lake", "sales", "_delta_log")} {
		for _, id := range []string{"0", "1", "2"} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, "."+id+"."+uuid.NewString()+".tmp"), []byte("v1\n{"), 0o644))
		}
	}
	requireOnceAfterRestart(t, dir, 2)
}

// TestKillWhileCleaning kills the process at each step of a batch after which cleanSource takes the file away: the next process has each row once, takes both files away, and
// clears away the temporary files that dead ones have left.
func TestKillWhileCleaning(t *testing.T) {
	pin := "/files/0/" + strings.Repeat("0", 19) + "1.pin"
	for name, point := range map[string]string{
		"before the entry":     "before put-if-absent /sources/0/1",
		"before the pin":       "before put-if-absent " + pin,
		"after the pin":        "after put-if-absent " + pin,
		"before the commit":    "before put-if-absent /commits/1",
		"after the commit":     "after put-if-absent /commits/1",
		"before the file goes": "before delete /landing/data_2.csv",
		"after the file went":  "after delete /landing/data_2.csv",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := landing(t)
			p := startCrashing(t, dir, point)
			p.Exec(t, strings.Replace(createSales, "header => true", "header => true, cleanSource => 'delete', cleanSource.retentionDuration => '0 seconds'", 1))
			drop(t, dir, "data_1.csv", data1)
			p.Exec(t, caughtUp)
			drop(t, dir, "data_2.csv", data2)
			p.WaitKilled(t)
			left := filepath.Join(dir, "lake", "_checkpoints", "sales", "_lakesql", "files", "0", "."+filepath.Base(pin)+"."+uuid.NewString()+".tmp")
			require.NoError(t, os.WriteFile(left, []byte("{"), 0o644))
			long := time.Now().Add(-24 * time.Hour)
			require.NoError(t, os.Chtimes(left, long, long))

			requireOnceAfterRestart(t, dir, 2)
			p = harness.Start(t, dir)
			drop(t, dir, "data_3.csv", "transaction_id,item,amount\n")
			p.Exec(t, caughtUp)
			require.Eventually(t, func() bool {
				list, err := filepath.Glob(filepath.Join(dir, "landing", "*"))
				require.NoError(t, err)
				_, err = os.Stat(left)
				return len(list) == 0 && os.IsNotExist(err)
			}, patience, 10*time.Millisecond)
			p.Stop(t)
		})
	}
}

// requireOnceAfterRestart starts the real program and wants the rows of both files once, and one table version a batch.
func requireOnceAfterRestart(t *testing.T, dir string, batches int) {
	t.Helper()
	p := harness.Start(t, dir)
	p.Exec(t, caughtUp)
	require.Equal(t, "1 2 3 4", ids(t, textClient{}, p))
	require.Len(t, p.Rows(t, "DESCRIBE HISTORY sales"), batches, "one table version a batch")
	p.Stop(t)
}

// landing is a folder with an empty landing folder in it.
func landing(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "landing"), 0o755))
	return dir
}

// startCrashing starts this test binary as a server that kills itself at the point.
func startCrashing(t *testing.T, dir, point string) *harness.Process {
	t.Helper()
	return harness.StartSelf(t, dir, crashEnv+"="+point)
}

// crashingOpener opens local stores in which the operation at the point kills the process, or pauses it.
func crashingOpener(point string) store.Opener {
	when, rest, _ := strings.Cut(point, " ")
	kind, part, _ := strings.Cut(rest, " ")
	return func(uri string) (store.Store, error) {
		inner, err := store.Open(uri)
		if err != nil {
			return nil, err
		}
		st := faultstore.New(inner)
		rule := faultstore.Rule{Match: func(op faultstore.Op) bool {
			return op.Kind == faultstore.Kind(kind) && reached(part, uri+"/"+op.Key)
		}}
		switch when {
		case "before":
			rule.Before = func(context.Context, faultstore.Op) error { harness.KillSelf(); return nil }
		case "stop":
			rule.Nth = 1
			rule.Before = func(context.Context, faultstore.Op) error { harness.StopSelf(); return nil }
		default:
			rule.After = func(_ context.Context, _ faultstore.Op, err error) error { harness.KillSelf(); return err }
		}
		st.Add(rule)
		return st, nil
	}
}

var dataFiles atomic.Int32

// reached reports whether an object's URI is the one of the point. A data file's name is not known beforehand: it is the second
// one that is published, since the point is in batch 1.
func reached(part, uri string) bool {
	if strings.HasSuffix(part, "/part-") {
		return strings.Contains(uri, part) && dataFiles.Add(1) == 2
	}
	return strings.HasSuffix(uri, part)
}
