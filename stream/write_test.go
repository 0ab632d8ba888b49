package stream

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"lakesql/store/faultstore"
)

// processors makes the test's process work on so many.
func processors(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// longName makes a few rows a large file.
var longName = strings.Repeat("n", 4000)

// large puts a file of so many rows into the landing folder, of which every hundredth has no number, and returns the others and the letters.
func (l *lake) large(name string, rows int) (want, letters []string) {
	text, want, letters := largeFile(name, rows)
	l.put(name, text)
	return want, letters
}

func largeFile(name string, rows int) (csv string, want, letters []string) {
	var text strings.Builder
	text.WriteString("id,name\n")
	for i := range rows {
		if i%100 == 99 {
			fmt.Fprintf(&text, "x%d,%s\n", i, longName)
			letters = append(letters, fmt.Sprintf(`lake.sales_in|0|file:///lake/landing/%s|%d|id: "x%d" is no integer|x%d,%s`, name, i+2, i, i, longName))
			continue
		}
		fmt.Fprintf(&text, "%d,%s\n", i, longName)
		want = append(want, fmt.Sprintf("%d|%s", i, longName))
	}
	return text.String(), want, letters
}

// TestManyWorkersWriteABatch: each row of a large batch is in the table or among the dead letters once, and each worker that had rows has one file; a small batch, and a table with partitions,
// have no more files than one worker makes.
func TestManyWorkersWriteABatch(t *testing.T) {
	processors(t, 3)
	l := newLake(t)
	want, letters := l.large("a.csv", 8000)
	more, others := l.large("b.csv", 8000)
	want, letters = slices.Concat(want, more), slices.Concat(letters, others)
	slices.Sort(want)
	slices.Sort(letters)
	s := l.serve()
	s.create(sales(dead, availableNow))
	s.finished()
	require.True(t, slices.Equal(want, l.rows("sales")))
	require.True(t, slices.Equal(letters, l.letters()))
	written := len(l.dataFiles("sales"))
	require.LessOrEqual(t, written, 3, "a worker that came late found all rows taken")
	require.Len(t, l.dataFiles("dead"), 1)
	st := s.state()
	require.EqualValues(t, len(letters), st.ErrorRows)
	require.EqualValues(t, len(want), st.RowsWritten)
	require.Equal(t, Pool{Size: s.Workers().Size}, s.Workers(), "nobody keeps a worker")
	l.put("c.csv", "id,name\n1,a\n")
	s.restart()
	s.finished()
	require.Len(t, l.dataFiles("sales"), written+1)

	s.create(sales(dead, availableNow, func(d *Definition) {
		d.Name, d.Target.Table, d.Checkpoint, d.OnError.DeadLetter.Table = "parted", "parted", "file:///lake/checkpoints/parted", "dead2"
		d.PartitionedBy = []string{"name"}
	}))
	require.NoError(t, s.WaitFor(t.Context(), "lake", "parted", Until{}, patience))
	require.Len(t, l.rows("parted"), len(want)+1)
	require.Len(t, l.dataFiles("parted"), 2)
}

// TestCrashesOfManyWorkers crashes before durable operations of a batch that several workers write, and then has it run again by one.
func TestCrashesOfManyWorkers(t *testing.T) {
	processors(t, 2)
	for n := 1; ; n += 2 { // of one worker each point is a test of its own
		l := newLake(t)
		want, letters := l.large("a.csv", 4400)
		slices.Sort(want)
		slices.Sort(letters)
		d := sales(dead, availableNow)
		crashed := crashAt(l, "before", n, d)
		runtime.GOMAXPROCS(1)
		after := l.crashed()
		s := after.serve()
		require.NoError(t, s.Start(t.Context()))
		_, err := s.Create(t.Context(), d, CreateOptions{IfNotExists: true})
		require.NoError(t, err)
		if s.state().State == Finished {
			s.restart()
		}
		s.finished()
		require.True(t, slices.Equal(want, after.rows("sales")), "operation %d", n)
		require.True(t, slices.Equal(letters, after.letters()), "operation %d", n)
		require.NoError(t, s.Close())
		runtime.GOMAXPROCS(2)
		if !crashed {
			require.Greater(t, n, 10)
			return
		}
	}
}

// TestFaultsOfManyWorkers has what each of several workers reads and writes fail once: the first time, the second, amid all of them, and the last. The others stop, and the
// stream goes on by itself, every row once.
func TestFaultsOfManyWorkers(t *testing.T) {
	processors(t, 2)
	text, want, letters := largeFile("a.csv", 4400)
	slices.Sort(want)
	slices.Sort(letters)
	load := func(rules ...faultstore.Rule) {
		t.Helper()
		l := newLake(t)
		l.put("a.csv", text)
		s := l.serve()
		for _, r := range rules {
			s.faults.Add(r)
		}
		s.create(sales(dead, availableNow))
		s.finished()
		require.True(t, slices.Equal(want, l.rows("sales")))
		require.True(t, slices.Equal(letters, l.letters()))
		require.Equal(t, Pool{Size: s.Workers().Size}, s.Workers())
		require.NoError(t, s.Close())
	}
	on := []func(faultstore.Op) bool{
		faultstore.On(faultstore.GetRange, "landing/"), faultstore.On(faultstore.Create, "tables/sales/part-"), faultstore.On(faultstore.Write, "tables/sales/part-"),
		faultstore.On(faultstore.CommitIfAbsent, "tables/sales/part-"),
	}
	counts := make([]atomic.Int64, len(on))
	var counting []faultstore.Rule
	for i := range on {
		counting = append(counting, faultstore.Rule{Match: on[i], Before: func(ctx, faultstore.Op) error {
			counts[i].Add(1)
			return nil
		}})
	}
	load(counting...)
	for i := range on {
		all := int(counts[i].Load())
		require.NotZero(t, all, "rule %d", i)
		times := []int{1, 2, all / 2, all}
		slices.Sort(times)
		for _, n := range slices.Compact(times) {
			if n < 1 {
				continue
			}
			failed := false
			load(faultstore.Rule{Match: on[i], Nth: n, Before: func(ctx, faultstore.Op) error {
				failed = true
				return syscall.ENOSPC
			}})
			require.True(t, failed || n > 1, "rule %d, operation %d: workers do not share out the work alike each time", i, n)
		}
	}
}

// TestStopAmidALargeBatch: STOP STREAM ends workers of which one hangs in a read or a write, and what they did is done anew.
func TestStopAmidALargeBatch(t *testing.T) {
	processors(t, 2)
	for _, c := range []struct {
		on  func(faultstore.Op) bool
		nth int
	}{
		{faultstore.On(faultstore.GetRange, "landing/"), 1}, {faultstore.On(faultstore.GetRange, "landing/"), 5},
		{faultstore.On(faultstore.Create, "tables/sales/part-"), 1}, {faultstore.On(faultstore.Write, "tables/sales/part-"), 1},
	} {
		l := newLake(t)
		want, letters := l.large("a.csv", 4400)
		slices.Sort(want)
		slices.Sort(letters)
		s := l.serve()
		hangs := make(chan struct{})
		s.faults.Add(faultstore.Rule{Match: c.on, Nth: c.nth, Before: func(amid ctx, _ faultstore.Op) error {
			close(hangs)
			<-amid.Done()
			return amid.Err()
		}})
		s.create(sales(dead, availableNow))
		<-hangs
		s.stop()
		require.Equal(t, Pool{Size: s.Workers().Size}, s.Workers())
		require.Empty(t, l.dataFiles("sales"))
		s.restart()
		s.finished()
		require.True(t, slices.Equal(want, l.rows("sales")))
		require.True(t, slices.Equal(letters, l.letters()))
		require.NoError(t, s.Close())
	}
}

// TestHelpers: more workers of one stream are there while nobody waits for one, and give them back.
func TestHelpers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorkers(3)
		a, b := p.newTurn(), p.newTurn()
		require.NoError(t, a.take(t.Context()))
		helpers := a.helpers(5)
		require.Len(t, helpers, 2, "what is free")
		require.Zero(t, p.free)
		served := make(chan error, 1)
		go func() { served <- b.take(t.Context()) }()
		synctest.Wait()
		require.Empty(t, a.helpers(1), "somebody waits")
		helpers[0].release()
		require.NoError(t, <-served)
		b.release()
		helpers[1].release()
		a.release()
		require.Equal(t, 3, p.free)
		require.Len(t, (*turn)(nil).helpers(2), 2, "COPY INTO works for a client")
	})
}
