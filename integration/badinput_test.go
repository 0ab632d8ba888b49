package integration

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

const salesHeader = "transaction_id,item,amount\n"

// running starts a server whose stream sales_in has read data_1.csv: ids 1 and 2.
func running(t *testing.T) (p *harness.Process, dir string) {
	t.Helper()
	dir = landing(t)
	p = harness.Start(t, dir)
	must(t, textClient{}, p, createSales)
	drop(t, dir, "data_1.csv", data1)
	must(t, textClient{}, p, caughtUp)
	return p, dir
}

// TestFilesWithoutRows have no rows, and are no fault.
func TestFilesWithoutRows(t *testing.T) {
	t.Parallel()
	p, dir := running(t)
	drop(t, dir, "header.csv", salesHeader)
	drop(t, dir, "blank.csv", "\n\n  \n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "landing", "filled_later.csv"), nil, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "landing", "folder.csv"), 0o755))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "landing", "dangling.csv")))
	require.NoError(t, os.Symlink("loop.csv", filepath.Join(dir, "landing", "loop.csv")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "landing", "fifo.csv"), 0o644))
	must(t, textClient{}, p, caughtUp)
	require.Equal(t, "1 2", ids(t, textClient{}, p))
	require.Equal(t, "IDLE", must(t, textClient{}, p, stateOf)[0][0])
	require.NoError(t, os.WriteFile(filepath.Join(dir, "landing", "filled_later.csv"), []byte(salesHeader+"3,x,1\n"), 0o644))
	must(t, textClient{}, p, caughtUp)
	require.Equal(t, "1 2 3", ids(t, textClient{}, p))
	require.Empty(t, must(t, textClient{}, p, "SELECT * FROM information_schema.STREAM_ERRORS"))
	p.Stop(t)
}

// TestHalfWrittenFile has a producer that began before the server did, and pauses for longer than the quiet period.
func TestHalfWrittenFile(t *testing.T) {
	t.Parallel()
	p, dir := running(t)
	p.Kill()
	f, err := os.Create(filepath.Join(dir, "landing", "slow.csv"))
	require.NoError(t, err)
	defer f.Close()
	write := func(text string) {
		_, err := f.WriteString(text)
		require.NoError(t, err)
	}
	write(salesHeader + "3,half of a na")
	time.Sleep(3 * time.Second) // longer than files.QuietPeriod
	p = harness.Start(t, dir)
	drop(t, dir, "other.csv", salesHeader+"9,y,1\n")
	require.Eventually(t, func() bool { return ids(t, textClient{}, p) == "1 2 9" }, patience, 10*time.Millisecond)
	require.Contains(t, refused(t, textClient{}, p, "WAIT FOR STREAM sales_in UNTIL CAUGHT UP TIMEOUT 1 SECONDS"), "1 of them still being written")
	write("me,2.5\n4,z,1\n")
	require.NoError(t, f.Close())
	must(t, textClient{}, p, caughtUp)
	require.Equal(t, "1 2 3 4 9", ids(t, textClient{}, p))
	require.Equal(t, [][]string{{"half of a name"}}, must(t, textClient{}, p, "SELECT item FROM sales WHERE transaction_id = 3"))
	p.Stop(t)
}

// TestAppendedAfterItWasRead: what comes later is not read, and that is told.
func TestAppendedAfterItWasRead(t *testing.T) {
	t.Parallel()
	p, dir := running(t)
	f, err := os.OpenFile(filepath.Join(dir, "landing", "data_1.csv"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("7,late,1\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	var rows [][]string
	require.Eventually(t, func() bool {
		rows = must(t, textClient{}, p, "SELECT FILE, MESSAGE FROM information_schema.STREAM_ERRORS WHERE STREAM_NAME = 'sales_in'")
		return len(rows) == 1
	}, patience, 20*time.Millisecond)
	require.Contains(t, rows[0][0], "data_1.csv")
	require.Contains(t, rows[0][1], "written to after it was recorded")
	require.Equal(t, "1 2", ids(t, textClient{}, p))
	p.Stop(t)
}

// TestFileThatIsNoCSV stops the stream at once, which names the file and goes on without it.
func TestFileThatIsNoCSV(t *testing.T) {
	t.Parallel()
	p, dir := running(t)
	for name, content := range map[string]string{
		"gzip.csv":    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\n",
		"names.csv":   "transaction_id, item (new)\n3,x\n",
		"notgzip.gz":  "transaction_id\n3\n",
		"encoding.sv": "\xff\xfei\x00d\x00\n\x00",
	} {
		drop(t, dir, name, content)
		message := refused(t, textClient{}, p, caughtUp)
		require.Contains(t, message, "FAILED")
		skip := "ALTER STREAM lake.sales_in SKIP FILE 'file://" + filepath.Join(dir, "landing", name) + "'"
		require.Contains(t, message, skip)
		must(t, textClient{}, p, skip)
		must(t, textClient{}, p, caughtUp)
	}
	require.Equal(t, "1 2", ids(t, textClient{}, p))
	require.Len(t, must(t, textClient{}, p, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_NAME = 'sales'"), 3)
	require.Len(t, must(t, textClient{}, p, "SELECT PATH FROM information_schema.STREAM_FILES WHERE STATE = 'SKIPPED'"), 4)
	p.Stop(t)
}

// TestPathsOutside are refused, whatever they are spelled like.
func TestPathsOutside(t *testing.T) {
	t.Parallel()
	p, dir := running(t)
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	for _, path := range []string{"/etc", "file:/etc/passwd", "file://localhost/etc", "./landing/../../../../../../../etc", "./link", "./link/*.conf", "/proc/self/environ", "/etc/*.conf"} {
		for _, statement := range []string{
			"SELECT * FROM read_files('" + path + "', format => 'csv')",
			"CREATE STREAM x INTO x WITH CHECKPOINT './lake/_cp/x' AS SELECT * FROM STREAM read_files('" + path + "', format => 'csv')",
			"CREATE STREAM x INTO x WITH CHECKPOINT '" + path + "/x' AS SELECT * FROM STREAM read_files('./landing', format => 'csv')",
		} {
			message := refused(t, textClient{}, p, statement)
			require.Regexp(t, "outside of the folders|behind the wildcard|not supported", message, statement)
		}
	}
	require.NoDirExists(t, filepath.Join(dir, "lake", "_cp"))

	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "landing", "hostname.csv")))
	require.Contains(t, refused(t, textClient{}, p, caughtUp), "take it away")
	require.NoError(t, os.Remove(filepath.Join(dir, "landing", "hostname.csv")))
	must(t, textClient{}, p, "START STREAM sales_in")
	must(t, textClient{}, p, caughtUp)
	require.Equal(t, "1 2", ids(t, textClient{}, p))
	p.Stop(t)
}

// TestStopAtAnotherServer: what is typed at one server of a lake holds at the others.
func TestStopAtAnotherServer(t *testing.T) {
	t.Parallel()
	p, dir := running(t)
	other := harness.Start(t, dir)
	must(t, textClient{}, other, "STOP STREAM sales_in")
	awaitState(t, textClient{}, p, "PAUSED")
	must(t, textClient{}, other, "START STREAM sales_in")
	drop(t, dir, "data_2.csv", data2)
	must(t, textClient{}, other, caughtUp)
	must(t, textClient{}, other, "DROP STREAM sales_in")
	require.Eventually(t, func() bool { return len(must(t, textClient{}, p, stateOf)) == 0 }, patience, 20*time.Millisecond)
	require.Equal(t, "1 2 3 4", ids(t, textClient{}, p))
	other.Stop(t)
	p.Stop(t)
}
