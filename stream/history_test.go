package stream

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRandomHistories lets files arrive, batches run, servers crash at random operations and stop in order, in any order, and
// wants the table to equal the input at the end, every row once.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := newLake(t)
		d := sales(availableNow, func(d *Definition) {
			d.Options = map[string]string{"maxFilesPerTrigger": fmt.Sprint(rapid.IntRange(1, 3).Draw(r, "files a batch"))}
		})
		var want []string
		arrive := func() {
			for range rapid.IntRange(1, 3).Draw(r, "files") {
				n := len(want)
				l.put(fmt.Sprintf("%c%03d.csv", 'a'+rapid.IntRange(0, 25).Draw(r, "name"), n), fmt.Sprintf("id,name\n%d,x\n", n))
				want = append(want, fmt.Sprintf("%d|x", n))
			}
		}
		arrive()
		for range rapid.IntRange(1, 6).Draw(r, "steps") {
			s := l.serve()
			switch step := rapid.SampledFrom([]string{"run", "crash", "stop"}).Draw(r, "step"); step {
			case "crash":
				at := rapid.IntRange(1, 40).Draw(r, "operation")
				if rapid.Bool().Draw(r, "before") {
					s.faults.CrashBefore(at)
				} else {
					s.faults.CrashAfter(at)
				}
				runOnce(s, d, func() bool { return s.faults.Crashed() })
			case "stop":
				runOnce(s, d, func() bool { return len(s.done) > 0 })
			default:
				runOnce(s, d, func() bool { return false })
			}
			require.NoError(t, s.Close())
			l = l.crashed()
			if rapid.Bool().Draw(r, "arrive") {
				arrive()
			}
		}
		s := l.serve()
		runOnce(s, d, func() bool { return false })
		require.Equal(t, Finished, s.state().State, s.state().Reason)
		require.NoError(t, s.Close())
		slices.Sort(want)
		require.Equal(t, want, l.rows("sales"))
	})
}

// runOnce starts a server and its stream, and returns when the stream has finished, or enough says so.
func runOnce(s *server, d Definition, enough func() bool) {
	ctx := s.lake.t.Context()
	err := s.Start(ctx)
	if err == nil {
		_, err = s.Create(ctx, d, CreateOptions{IfNotExists: true})
	}
	if err == nil {
		err = s.StartStream(ctx, d.Database, d.Name)
	}
	if err != nil {
		require.True(s.lake.t, s.faults.Crashed(), "%v", err)
		return
	}
	for !enough() && s.state().State != Finished {
		require.NotEqual(s.lake.t, Failed, s.state().State, s.state().Reason)
		time.Sleep(100 * time.Microsecond)
	}
}
