package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// awkward are what names of files have in them, each a trap for whoever spells a path as a URI.
var awkward = []string{" ", "%", "%20", "#", "?", "[", "]", "{", "}", "|", "^", "`", `"`, "<", ">", `\`, "+", "&", "=", ",", ";", "@", ":", "$", "!", "*", "'", "(", ")", "~", "_", "-", ".",
	"é", "e\u0301", "日本", "🙂", "\u00a0", "\u2028", "\u200b", "\u0085", "\x01", "\x7f", "\t"}

// TestSparkKnowsTheFiles: lakesql and Spark write the same lines for the same files, their names and their times; so neither reads again what
// the other one has read.
func TestSparkKnowsTheFiles(t *testing.T) {
	environment(t)
	for _, spark := range []*engine{spark35, spark40} {
		t.Run(spark.name, func(t *testing.T) {
			dir := t.TempDir()
			landing := filepath.Join(dir, "landing")
			require.NoError(t, os.Mkdir(landing, 0o755))
			for i, c := range awkward {
				path := filepath.Join(landing, "a"+c+"b.csv")
				require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "%d,x\n", i), 0o644))
				at := time.Date(2026, 3, 1, 0, 0, i, 999_999_999, time.UTC) // what is no whole millisecond is cut off
				require.NoError(t, os.Chtimes(path, at, at))
			}
			source := sparkSource{Format: "csv", Path: landing, Schema: "id INT, name STRING"}
			create := func(name string) string {
				return fmt.Sprintf("CREATE STREAM %s INTO %[1]s WITH CHECKPOINT './lake/_checkpoints/%[1]s' AS SELECT * FROM STREAM "+
					"read_files('./landing', format => 'csv', header => false, schema => 'id INT, name STRING')", name)
			}
			checkpoint := func(name string) string { return filepath.Join(dir, "lake", "_checkpoints", name) }
			table := func(name string) string { return filepath.Join(dir, "lake", "lake", name) }

			p := harness.Start(t, dir)
			p.Exec(t, create("ours"))
			p.Exec(t, "WAIT FOR STREAM ours UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
			p.Exec(t, "STOP STREAM ours")
			var run sparkRun
			spark.must(t, &run, "carry_on", source, table("ours"), checkpoint("ours"))
			require.Zero(t, newestOf(t, checkpoint("ours"), "offsets"), "Spark finds nothing new")

			spark.must(t, &run, "carry_on", source, table("theirs"), checkpoint("theirs"), "after /theirs/sources/0/0") // it cannot read all of them
			require.Equal(t, sourceLog(t, checkpoint("theirs"), "0"), sourceLog(t, checkpoint("ours"), "0"))
			p.Exec(t, create("theirs"))
			p.Exec(t, "WAIT FOR STREAM theirs UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
			require.Zero(t, newestOf(t, checkpoint("theirs"), "offsets"), "lakesql reads each file once")
			n := fmt.Sprint(len(awkward))
			for _, name := range []string{"ours", "theirs"} {
				require.Equal(t, [][]string{{n, n}}, p.Rows(t, "SELECT COUNT(*), COUNT(DISTINCT id) FROM "+name))
			}
			p.Stop(t)
		})
	}
}

// sourceLog is a file of the log of source 0.
func sourceLog(t *testing.T, checkpoint, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkpoint, "sources", "0", name))
	require.NoError(t, err)
	return strings.Split(string(text), "\n")
}
