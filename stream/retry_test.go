package stream

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryCrashPointOfARetry crashes before and after every durable operation of RETRY, of all files and of one, and of the batch behind it. The file that was left out is
// in the table once at the most, and once when the statement is typed again.
func TestEveryCrashPointOfARetry(t *testing.T) {
	before := newLake(t)
	before.put("a.csv", "id,name\n1,a\n")
	before.put("b.csv", "id,name\n2,b\n")
	s := before.serve()
	s.create(sales(func(d *Definition) { d.Paused = true }))
	require.NoError(t, s.SkipFile(t.Context(), "lake", "sales_in", "file:///lake/landing/b.csv"))
	s.restart()
	s.caughtUp()
	require.NoError(t, s.Close())
	require.Equal(t, []string{"1|a"}, before.rows("sales"))

	// typed is the statement; a second one finds nothing, or that the rows are there, where the first was whole.
	typed := func(s *server, file string) error {
		_, err := s.Retry(t.Context(), "lake", "sales_in", file)
		return err
	}
	for name, c := range map[string]struct{ when, file string }{
		"all, before": {"before", ""}, "all, after": {"after", ""},
		"one, before": {"before", "file:///lake/landing/b.csv"}, "one, after": {"after", "file:///lake/landing/b.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				l := before.crashed()
				crashed := crash(l, c.when, n, func(s *server) error {
					if err := s.Start(t.Context()); err != nil {
						return err
					}
					return typed(s, c.file)
				})
				after := l.crashed()
				next := after.serve()
				require.NoError(t, next.Start(t.Context()))
				next.caughtUp()
				rows := after.rows("sales")
				require.Subset(t, []string{"1|a", "2|b"}, rows, "operation %d", n)
				err := typed(next, c.file)
				if c.file != "" && len(rows) == 2 {
					require.ErrorContains(t, err, "its rows are in the table", "operation %d", n)
				} else {
					require.NoError(t, err, "operation %d", n)
				}
				next.caughtUp()
				require.Equal(t, []string{"1|a", "2|b"}, after.rows("sales"), "operation %d", n)
				require.NoError(t, next.Close())
				if !crashed {
					require.Len(t, rows, 2)
					require.Greater(t, n, 8, "two decisions, a batch")
					break
				}
			}
		})
	}
}
