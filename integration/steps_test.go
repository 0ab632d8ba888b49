package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// drop puts a file into dir/landing the way a careful producer does: written elsewhere, then renamed in.
func drop(t *testing.T, dir, name, content string) {
	t.Helper()
	tmp := filepath.Join(dir, "."+name+".tmp")
	require.NoError(t, os.WriteFile(tmp, []byte(content), 0o644))
	require.NoError(t, os.Rename(tmp, filepath.Join(dir, "landing", name)))
}

// patience is how long a test waits for what must come, on a machine that is busy with other tests. It is longer than the longest pause between two attempts of a stream.
const patience = 3 * time.Minute

// awaitState polls until the stream sales_in is in the state, and returns its state and reason.
func awaitState(t *testing.T, c client, p *harness.Process, state string) [][]string {
	t.Helper()
	var rows [][]string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		rows = must(t, c, p, stateOf)
		if len(rows) == 1 && rows[0][0] == state {
			return rows
		}
	}
	t.Fatalf("state is %v, not %s\n%s", rows, state, p.Log)
	return nil
}

// ids are the transaction ids in the table, in order, with every repetition.
func ids(t *testing.T, c client, p *harness.Process) string {
	t.Helper()
	var all []string
	for _, row := range must(t, c, p, "SELECT transaction_id FROM sales ORDER BY 1") {
		all = append(all, row[0])
	}
	return strings.Join(all, " ")
}
