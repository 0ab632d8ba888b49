package stream

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/store/faultstore"
	"lakesql/stream/source"
	"lakesql/vector"
)

// numbers is a source of the integers from 0 on, of which some are there. It lives in a synctest bubble, where nothing may
// wait for the operating system.
type numbers struct {
	wake chan struct{}

	mu    sync.Mutex // guards what follows
	there int
	looks int
	given int // the end of the last range
	fail  error
	block chan struct{} // Read waits for it
	fault any           // Upkeep panics with it
}

func newNumbers(n int) *numbers { return &numbers{there: n, wake: make(chan struct{}, 1)} }

// set changes the source from outside.
func (s *numbers) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *numbers) add(n int) {
	s.set(func() { s.there += n })
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *numbers) count() (n int) { s.set(func() { n = s.there }); return n }

func (s *numbers) open(context.Context, source.Spec, source.Env) (source.Source, error) {
	return s, nil
}

var numbersSchema = batch.NewSchema(batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int32}, Nullable: true})

func at(o source.Offset) int { n, _ := strconv.Atoi(string(o)); return n }

func (s *numbers) Schema(context.Context) (*batch.Schema, error) { return numbersSchema, nil }
func (s *numbers) Inferred() bool                                { return false }
func (s *numbers) Latest(_ context.Context, start source.Offset, limit source.Limit) (source.Offset, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	n := s.there
	if s.fail != nil {
		return "", false, s.fail
	}
	if n == at(start) {
		return start, false, nil
	}
	end := n
	if limit.Files > 0 {
		end = min(end, at(start)+limit.Files)
	}
	s.given = end
	return source.Offset(strconv.Itoa(end)), end < n, nil
}
func (s *numbers) Read(ctx context.Context, start, end source.Offset, obs source.Observer) (vector.Operator, error) {
	var block chan struct{}
	s.set(func() { block = s.block })
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	b := batch.NewBuilder(numbersSchema)
	for n := at(start); n < at(end); n++ {
		if err := b.AppendRow(int32(n)); err != nil {
			return nil, err
		}
		obs.File(source.FileResult{Rows: 1})
	}
	return vector.NewBatches(numbersSchema, b.Finish()), nil
}
func (s *numbers) Committed(context.Context, int64, source.Offset, source.Offset) error { return nil }
func (s *numbers) Backlog() source.Backlog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return source.Backlog{Files: int64(s.there - s.given)}
}
func (s *numbers) Mark(context.Context) (source.Mark, error) { return s.count(), nil }
func (s *numbers) Reached(_ context.Context, m source.Mark, committed source.Offset) (bool, error) {
	return at(committed) >= m.(int), nil
}
func (s *numbers) Freeze(context.Context) error { return nil }
func (s *numbers) Wake() <-chan struct{}        { return s.wake }
func (s *numbers) RecheckAfter() time.Duration  { return 0 }
func (s *numbers) Description() string          { return "numbers" }
func (s *numbers) Close() error                 { return nil }

func (s *numbers) Upkeep(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		panic(s.fault)
	}
	return nil
}

// onNumbers runs a test in a bubble with a stream on numbers. done receives the time of each commit.
func onNumbers(t *testing.T, n int, change func(*Definition), test func(*server, *numbers)) {
	synctest.Test(t, func(t *testing.T) {
		src := newNumbers(n)
		s := newLake(t).serve(func(c *Config) { c.Sources = map[string]source.OpenFunc{"files": src.open} })
		s.firstBackoff = firstBackoff
		s.create(sales(change))
		synctest.Wait()
		test(s, src)
		require.NoError(t, s.Close())
	})
}

// batches empties the list of finished batches and says how many there were.
func (s *server) batches() (n int) {
	synctest.Wait()
	for {
		select {
		case <-s.done:
			n++
		default:
			return n
		}
	}
}

func TestAdaptiveStartsAtOnceAndKeepsThePace(t *testing.T) {
	onNumbers(t, 0, func(*Definition) {}, func(s *server, src *numbers) {
		require.Equal(t, Idle, s.state().State)
		require.Equal(t, "caught up", s.state().Reason)
		src.add(1)
		require.Equal(t, 1, s.batches(), "without any delay")

		time.Sleep(time.Hour)
		for range 100 { // 100 a second: at most 10 commits
			src.add(1)
			time.Sleep(10 * time.Millisecond)
		}
		require.LessOrEqual(t, s.batches(), 11)
		for range 2000 { // 1,000 a second: at most 2 commits a second
			src.add(1)
			time.Sleep(time.Millisecond)
		}
		require.LessOrEqual(t, s.batches(), 7)
		time.Sleep(time.Second)
		s.caughtUp()
		require.Len(t, s.lake.rows("sales"), 2101)
	})
}

func TestTheListingIsRepeated(t *testing.T) {
	onNumbers(t, 0, func(*Definition) {}, func(s *server, src *numbers) {
		src.set(func() { src.there++ }) // no hint
		require.Zero(t, s.batches())
		time.Sleep(relistEvery)
		require.Equal(t, 1, s.batches())
	})
}

func TestEveryFiresAtMultiples(t *testing.T) {
	every := func(d *Definition) { d.Trigger = Trigger{Kind: Every, Every: time.Minute} }
	onNumbers(t, 1, every, func(s *server, src *numbers) {
		require.Equal(t, 1, s.batches(), "the first look is at once")
		time.Sleep(17 * time.Second)
		src.add(1)
		require.Zero(t, s.batches())
		require.Equal(t, Idle, s.state().State)
		require.Contains(t, s.state().Reason, "waiting for the next trigger at")
		time.Sleep(42 * time.Second)
		require.Zero(t, s.batches())
		time.Sleep(time.Second)
		require.Equal(t, 1, s.batches())
		src.add(1)
		require.NoError(t, s.WaitFor(s.lake.t.Context(), "lake", "sales_in", Until{}, 2*time.Minute))
		require.Len(t, s.lake.rows("sales"), 3)
	})
}

func TestRetriesForEverWithBackoff(t *testing.T) {
	onNumbers(t, 0, func(*Definition) {}, func(s *server, src *numbers) {
		src.set(func() { src.fail = errors.New("the network is down") })
		src.add(1)
		synctest.Wait()
		st := s.state()
		require.Equal(t, Retrying, st.State)
		require.Contains(t, st.Reason, "the network is down")
		require.Equal(t, firstBackoff, time.Until(st.NextAttempt))
		src.set(func() { src.looks = 0 })
		time.Sleep(10*time.Minute + time.Second/4) // 0.5 s, 1, 2, ... then each minute
		synctest.Wait()
		src.set(func() { require.InDelta(t, 16, src.looks, 2) })
		require.Equal(t, maxBackoff, s.state().NextAttempt.Sub(s.state().LastErrorTime))
		src.set(func() { src.fail = nil })
		time.Sleep(maxBackoff)
		require.Equal(t, 1, s.batches())
		st = s.state()
		require.Zero(t, st.Attempts, "a success clears the count")
		require.Contains(t, st.LastError, "the network is down", "it stays to be seen")
		require.Equal(t, Idle, st.State)
	})
}

func TestStalled(t *testing.T) {
	onNumbers(t, 0, func(*Definition) {}, func(s *server, src *numbers) {
		block := make(chan struct{})
		src.set(func() { src.block = block })
		src.add(1)
		synctest.Wait()
		require.Equal(t, Running, s.state().State)
		time.Sleep(stallAfter)
		require.Equal(t, Stalled, s.state().State)
		require.Contains(t, s.state().Reason, "no commit for 30s")
		close(block)
		require.Equal(t, 1, s.batches())
		require.Equal(t, Idle, s.state().State)
		time.Sleep(time.Hour)
		require.Equal(t, Idle, s.state().State)
	})
}

func TestPanicInUpkeepIsNotTheServersEnd(t *testing.T) {
	onNumbers(t, 0, func(*Definition) {}, func(s *server, src *numbers) {
		src.set(func() { src.fault = "a fault on purpose" })
		for range 2 {
			src.add(1)
			time.Sleep(time.Second)
			require.Equal(t, 1, s.batches())
			require.Equal(t, Idle, s.state().State)
		}
	})
}

func TestStopDropsTheRunningBatchWhole(t *testing.T) {
	onNumbers(t, 0, func(*Definition) {}, func(s *server, src *numbers) {
		block := make(chan struct{})
		src.set(func() { src.block = block })
		src.add(3)
		synctest.Wait()
		s.stop()
		require.Equal(t, Paused, s.state().State)
		require.Empty(t, s.lake.keys("tables/"))
		src.set(func() { src.block = nil })
		s.restart()
		s.caughtUp()
		require.Equal(t, []string{"0", "1", "2"}, s.lake.rows("sales"))
	})
}

// TestTakeover stops a server without a word in the middle of its life: another one takes over once its lease has been silent.
func TestTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, src := newLake(t), newNumbers(1)
		numbersOnly := func(c *Config) { c.Sources = map[string]source.OpenFunc{"files": src.open} }
		first := l.serve(numbersOnly)
		first.create(sales())
		first.caughtUp()
		frozen := make(chan struct{})
		first.faults.Add(faultstore.Rule{Before: faultstore.Block(frozen)}) // SIGSTOP
		second := l.serve(numbersOnly, func(c *Config) { c.Owner = "second" })
		require.NoError(t, second.Start(t.Context()))
		synctest.Wait()
		require.Equal(t, Retrying, second.state().State)
		time.Sleep(20 * time.Second)
		src.add(1)
		second.caughtUp()
		require.Equal(t, []string{"0", "1"}, l.rows("sales"))

		close(frozen) // SIGCONT: it finds that it has lost
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, Retrying, first.state().State)
		src.add(1)
		second.caughtUp()
		require.Equal(t, []string{"0", "1", "2"}, l.rows("sales"))
		require.EqualValues(t, 2, l.version("sales"))
		require.NoError(t, first.Close())
		require.NoError(t, second.Close())
	})
}
