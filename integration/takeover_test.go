package integration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// TestTakeover has two servers on one lake. One of them runs the stream. It is paused, as a machine that sleeps is, in the middle of a batch: the other takes
// over and commits that batch. When the first wakes up it loses, at the next thing that it writes, stands by, and takes over itself when the other is killed.
func TestTakeover(t *testing.T) {
	for _, step := range []struct{ name, point string }{
		{"before the Delta commit", "stop put-if-absent /sales/_delta_log/00000000000000000001.json"},
		{"before offsets", "stop put-if-absent /offsets/1"},
		{"before the data file", "stop commit-if-absent /sales/part-"},
	} {
		t.Run(step.name, func(t *testing.T) {
			t.Parallel()
			dir := landing(t)
			first := startCrashing(t, dir, step.point)
			first.Exec(t, createSales)
			drop(t, dir, "data_1.csv", data1)
			first.Exec(t, caughtUp)
			second := harness.Start(t, dir)
			require.Contains(t, awaitState(t, textClient{}, second, "RETRYING")[0][1], "in use by crash test")

			drop(t, dir, "data_2.csv", data2) // the first server pauses itself
			second.Exec(t, caughtUp)
			require.Equal(t, "1 2 3 4", ids(t, textClient{}, second))

			first.Continue(t)
			awaitState(t, textClient{}, first, "RETRYING")
			require.Equal(t, "1 2 3 4", ids(t, textClient{}, first))
			require.Len(t, first.Rows(t, "DESCRIBE HISTORY sales"), 2, "what the first server wrote is not in the table")

			second.Kill()
			drop(t, dir, "data_3.csv", "transaction_id,item,amount\n5,E,5.5\n6,F,6.5\n")
			first.Exec(t, caughtUp)
			require.Equal(t, "1 2 3 4 5 6", ids(t, textClient{}, first))
			require.Len(t, first.Rows(t, "DESCRIBE HISTORY sales"), 3)
		})
	}
}
