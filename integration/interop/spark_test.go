package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// sparkCommit is a line of DESCRIBE HISTORY.
type sparkCommit struct {
	Version    int64             `json:"version"`
	Read       *int64            `json:"read"` // the version that the commit was computed on
	Operation  string            `json:"operation"`
	Parameters map[string]string `json:"parameters"`
	Metrics    map[string]string `json:"metrics"`
	Engine     string            `json:"engine"`
}

// sparkRun is what Spark did with a checkpoint that it continued.
type sparkRun struct {
	ID      string     `json:"id"`
	Batches [][2]int64 `json:"batches"` // batch id, input rows
	Crashed bool       `json:"crashed"`
}

// sparkSource is what Spark reads as a stream.
type sparkSource struct {
	Format  string            `json:"format"`
	Path    string            `json:"path,omitempty"`
	Schema  string            `json:"schema,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Select  []string          `json:"select,omitempty"` // all columns when empty
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
		p.Exec(t, "WAIT FOR STREAM sales_in UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	}
	p.Stop(t)

	var seen contents
	spark40.must(t, &seen, "read", table)
	var history []sparkCommit // newest first
	spark40.must(t, &history, "history", table)
	require.Equal(t, [][2]string{{"transaction_id", "int"}, {"item", "string"}, {"amount", "double"}}, seen.Schema)
	require.Len(t, seen.Rows, 4)
	queryID := checkpointID(t, checkpoint)
	for i, batch := range []string{"1", "0"} {
		h := history[i]
		require.Equal(t, "STREAMING UPDATE", h.Operation)
		require.Equal(t, queryID, h.Parameters["queryId"])
		require.Equal(t, batch, h.Parameters["epochId"])
	}

	drop(t, dir, 3)
	var run sparkRun
	files := sparkSource{Format: "csv", Path: landing, Schema: "transaction_id INT, item STRING, amount DOUBLE", Options: map[string]string{"header": "true"}}
	spark40.must(t, &run, "carry_on", files, table, checkpoint)
	require.Equal(t, queryID, run.ID)
	require.Equal(t, [][2]int64{{2, 2}}, run.Batches, "one batch with the new file's two rows")

	var after contents
	spark40.must(t, &after, "read", table)
	require.Len(t, after.Rows, 6)
	before := history[0].Version
	spark40.must(t, &history, "history", table)
	require.Equal(t, before+1, history[0].Version, "Spark added one version")

	drop(t, dir, 4)
	p = harness.Start(t, dir)
	p.Exec(t, "WAIT FOR STREAM sales_in UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
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
