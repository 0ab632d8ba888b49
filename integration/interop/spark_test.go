package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// envDir names the folder that scripts/interop-env made: a Python in venv/, Delta's jars in jars/.
const envDir = "LAKESQL_INTEROP"

func TestMain(m *testing.M) {
	if os.Getenv(envDir) == "" {
		os.Exit(m.Run()) // every test says why it is skipped
	}
	os.Exit(harness.Main(m))
}

func environment(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(envDir)
	if dir == "" {
		t.Skipf("%s is not set: run `make interop`", envDir)
	}
	return dir
}

// spark runs a subcommand of spark.py and decodes its answer.
func spark(t *testing.T, into any, args ...string) {
	t.Helper()
	dir := environment(t)
	python(t, into, "spark.py", append([]string{filepath.Join(dir, "jars")}, args...)...)
}

func python(t *testing.T, into any, script string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(environment(t), "venv", "bin", "python"), append([]string{script}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%v\n%s", args, &stderr)
	lines := bytes.Split(bytes.TrimSpace(stdout.Bytes()), []byte("\n"))
	require.NoError(t, json.Unmarshal(lines[len(lines)-1], into), stdout.String())
}

// sparkTable is a table as Spark sees it.
type sparkTable struct {
	Schema  [][2]string `json:"schema"`
	Rows    [][]*string `json:"rows"`
	History []struct {
		Version    int64             `json:"version"`
		Operation  string            `json:"operation"`
		Parameters map[string]string `json:"parameters"`
		Engine     string            `json:"engine"`
	} `json:"history"` // newest first
}

// sparkRun is what Spark did with a checkpoint that it continued.
type sparkRun struct {
	ID      string     `json:"id"`
	Batches [][2]int64 `json:"batches"` // batch id, input rows
}

// TestSparkContinuesTheCheckpoint: lakesql writes two batches; Spark reads the table, continues the checkpoint with a third
// file, and hands it back; lakesql goes on with a fourth. Every row is there once.
func TestSparkContinuesTheCheckpoint(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	table, landing, checkpoint := filepath.Join(dir, "lake", "lake", "sales"), filepath.Join(dir, "landing"), filepath.Join(dir, "lake", "_checkpoints", "sales")
	require.NoError(t, os.Mkdir(landing, 0o755))

	p := harness.Start(t, dir)
	p.Exec(t, `CREATE STREAM sales_in INTO sales WITH CHECKPOINT './lake/_checkpoints/sales'
	  AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true)`)
	for _, file := range []int{1, 2} {
		drop(t, dir, file)
		p.Exec(t, "WAIT FOR STREAM sales_in UNTIL CAUGHT UP TIMEOUT 60 SECONDS")
	}
	p.Stop(t)

	var seen sparkTable
	spark(t, &seen, "rows", table)
	require.Equal(t, [][2]string{{"transaction_id", "int"}, {"item", "string"}, {"amount", "double"}}, seen.Schema)
	require.Len(t, seen.Rows, 4)
	queryID := checkpointID(t, checkpoint)
	for i, batch := range []string{"1", "0"} {
		h := seen.History[i]
		require.Equal(t, "STREAMING UPDATE", h.Operation)
		require.Equal(t, queryID, h.Parameters["queryId"])
		require.Equal(t, batch, h.Parameters["epochId"])
	}

	drop(t, dir, 3)
	var run sparkRun
	spark(t, &run, "carry_on", table, landing, checkpoint, "transaction_id INT, item STRING, amount DOUBLE")
	require.Equal(t, queryID, run.ID)
	require.Equal(t, [][2]int64{{2, 2}}, run.Batches, "one batch with the new file's two rows")

	var after sparkTable
	spark(t, &after, "rows", table)
	require.Len(t, after.Rows, 6)
	require.Equal(t, seen.History[0].Version+1, after.History[0].Version, "Spark added one version")

	drop(t, dir, 4)
	p = harness.Start(t, dir)
	p.Exec(t, "WAIT FOR STREAM sales_in UNTIL CAUGHT UP TIMEOUT 60 SECONDS")
	var rows, distinct, least, most int
	require.NoError(t, p.DB.QueryRow("SELECT COUNT(*), COUNT(DISTINCT transaction_id), MIN(transaction_id), MAX(transaction_id) FROM sales").
		Scan(&rows, &distinct, &least, &most))
	require.Equal(t, []int{8, 8, 1, 8}, []int{rows, distinct, least, most}, "four files of two rows each, every row once")
	p.Stop(t)
}

// drop renames a file of two rows, ids 2n-1 and 2n, into the landing folder.
func drop(t *testing.T, dir string, n int) {
	t.Helper()
	tmp := filepath.Join(dir, "tmp.csv")
	content := fmt.Sprintf("\ntransaction_id,item,amount\n%d,Item %d,1.5\n%d,\"It, em\",2.25\n", 2*n-1, n, 2*n)
	require.NoError(t, os.WriteFile(tmp, []byte(content), 0o644))
	require.NoError(t, os.Rename(tmp, filepath.Join(dir, "landing", fmt.Sprintf("data %d.csv", n))))
}

func checkpointID(t *testing.T, checkpoint string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(checkpoint, "metadata"))
	require.NoError(t, err)
	var metadata struct{ ID string }
	require.NoError(t, json.Unmarshal(data, &metadata))
	return metadata.ID
}
