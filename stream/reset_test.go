package stream

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryCrashPointOfAReset crashes before and after every durable operation of RESET, then starts the stream in another process: what was read is in the
// table once, where the reset had not begun, or all of it once more.
func TestEveryCrashPointOfAReset(t *testing.T) {
	before := newLake(t)
	once := before.input(3)
	s := before.serve()
	s.create(sales(oneFileABatch))
	s.caughtUp()
	s.stop()
	require.NoError(t, s.Close())
	twice := slices.Sorted(slices.Values(slices.Concat(once, once)))
	for _, when := range []string{"before", "after"} {
		begun := false
		for n := 1; ; n++ {
			l := before.crashed()
			s := l.serve()
			require.NoError(t, s.Start(t.Context()))
			if when == "before" {
				s.faults.CrashBefore(n)
			} else {
				s.faults.CrashAfter(n)
			}
			_, err := s.Reset(t.Context(), "lake", "sales_in", Begin{At: BeginBeginning})
			crashed := s.faults.Crashed()
			require.NoError(t, s.Close())
			after := l.crashed()
			next := after.serve()
			require.NoError(t, next.Start(t.Context()))
			next.restart()
			next.caughtUp()
			rows := after.rows("sales")
			if begun = begun || len(rows) == len(twice); begun {
				require.Equal(t, twice, rows, "operation %d: a reset that has begun is finished", n)
			} else {
				require.Equal(t, once, rows, "operation %d", n)
			}
			require.NoError(t, next.Close())
			if !crashed {
				require.NoError(t, err)
				require.Greater(t, n, 10)
				break
			}
		}
	}
}

// TestResetToPlacesOfATable begins with a version, a time, or behind what is there.
func TestResetToPlacesOfATable(t *testing.T) {
	l := newLake(t)
	l.appendInput(1)
	l.appendInput(2)
	third := l.appendInput(3)
	s := l.serve(overTables)
	s.create(sales(ofTable))
	s.caughtUp()
	all := l.rows("sales")
	reset := func(begin Begin) ResetReport {
		s.stop()
		report, err := s.Reset(t.Context(), "lake", "sales_in", begin)
		require.NoError(t, err)
		return report
	}
	version := l.version("input")
	report := reset(Begin{At: BeginVersion, Version: version})
	require.EqualValues(t, 1, report.Files)
	s.restart()
	s.caughtUp()
	want := slices.Sorted(slices.Values(slices.Concat(all, third)))
	require.Equal(t, want, l.rows("sales"))

	require.Zero(t, reset(Begin{At: BeginLatest}).Files)
	fourth := l.appendInput(4) // behind the reset, before the start
	s.restart()
	s.caughtUp()
	want = slices.Sorted(slices.Values(slices.Concat(want, fourth)))
	require.Equal(t, want, l.rows("sales"))

	s.stop()
	_, err := s.Reset(t.Context(), "lake", "sales_in", Begin{At: BeginVersion, Version: 99})
	require.ErrorContains(t, err, "startingVersion => 99")
	s.restart()
	s.caughtUp()
	require.Equal(t, want, l.rows("sales"), "a reset that is refused changes nothing")
}

// What comes between RESET and START is read, as what comes between CREATE STREAM and the first start is.
func TestResetKeepsWhatIsThere(t *testing.T) {
	l := newLake(t)
	l.put("old.csv", "id,name\n1,old\n")
	s := l.serve()
	require.NoError(t, s.Start(t.Context()))
	_, err := s.Create(t.Context(), sales(func(d *Definition) { d.Paused, d.SelectSQL = true, d.SelectSQL+" new" }), CreateOptions{})
	require.NoError(t, err)
	report, err := s.Reset(t.Context(), "lake", "sales_in", Begin{})
	require.NoError(t, err)
	require.Zero(t, report.Files, "none of what is there is read again")
	l.put("new.csv", "id,name\n2,new\n")
	s.restart()
	s.caughtUp()
	require.Equal(t, []string{"2|new"}, l.rows("sales"))
	require.NoError(t, s.Close())
}
