package stream

import (
	"slices"
	"testing"
	"time"

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

// TestResetToPlacesOfTopics begins again with all records, with those of a time, or behind those that are there.
func TestResetToPlacesOfTopics(t *testing.T) {
	late := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	_, f, want := newTopic(t, 4)
	l := newLake(t)
	s := l.serve(f.of)
	s.create(sales())
	s.caughtUp()
	first := slices.Clone(want)
	reset := func(begin Begin, rows int64) {
		t.Helper()
		s.stop()
		report, err := s.Reset(t.Context(), "lake", "sales_in", begin)
		require.NoError(t, err)
		require.Equal(t, rows, report.Rows, "%+v", begin)
	}
	started := func(more ...string) {
		t.Helper()
		s.restart()
		s.caughtUp()
		want = append(want, more...)
		slices.Sort(want)
		require.Equal(t, want, l.texts())
	}
	reset(Begin{At: BeginBeginning}, 4)
	started(first...)

	reset(Begin{At: BeginLatest}, 0)
	f.put(t, late, "late0", "late1") // behind the reset, before the start
	started("late0", "late1")

	reset(Begin{At: BeginTimestamp, Time: late}, 2)
	started("late0", "late1")
	reset(Begin{At: BeginTimestamp, Time: late.Add(-time.Millisecond)}, 2)
	started("late0", "late1")
	reset(Begin{At: BeginTimestamp, Time: late.Add(time.Millisecond)}, 0)
	f.put(t, late.Add(-time.Hour), "older0", "older1") // behind the reset, before the start
	f.put(t, late.Add(time.Second), "later")
	started("older0", "older1", "later")
	reset(Begin{}, 9) // as the option says
	started(append(first, "late0", "late1", "older0", "older1", "later")...)

	s.stop()
	_, err := s.Reset(t.Context(), "lake", "sales_in", Begin{At: BeginVersion, Version: 1})
	require.ErrorContains(t, err, "TO VERSION is for tables")
	started()
	require.NoError(t, s.Close())
}

// TestEveryCrashPointOfAResetOfTopics crashes before and after every durable operation of RESET TO TIMESTAMP; records come before the next process starts the stream. Where
// the reset has begun it is whole: what is of that time is read again, and nothing of before it.
func TestEveryCrashPointOfAResetOfTopics(t *testing.T) {
	late := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	_, f, once := newTopic(t, 2)
	f.put(t, late, "w00", "w01")
	once = append(once, "w00", "w01")
	before := newLake(t)
	s := before.serve(f.of)
	s.create(sales())
	s.caughtUp()
	s.stop()
	require.NoError(t, s.Close())
	require.Equal(t, once, before.texts())
	again := append(slices.Clone(once), "w00", "w01")
	slices.Sort(again)
	for _, when := range []string{"before", "after"} {
		begun := false
		for n := 1; ; n++ {
			l := before.crashed()
			s := l.serve(f.of)
			require.NoError(t, s.Start(t.Context()))
			if when == "before" {
				s.faults.CrashBefore(n)
			} else {
				s.faults.CrashAfter(n)
			}
			_, err := s.Reset(t.Context(), "lake", "sales_in", Begin{At: BeginTimestamp, Time: late})
			crashed := s.faults.Crashed()
			require.NoError(t, s.Close())
			after := l.crashed()
			next := after.serve(f.of)
			require.NoError(t, next.Start(t.Context()))
			next.restart()
			next.caughtUp()
			rows := after.texts()
			if begun = begun || len(rows) > len(once); begun {
				require.Equal(t, again, rows, "operation %d: a reset that has begun is finished", n)
			} else {
				require.Equal(t, once, rows, "operation %d", n)
			}
			require.NoError(t, next.Close())
			if !crashed {
				require.NoError(t, err)
				require.True(t, begun)
				break
			}
		}
	}
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
