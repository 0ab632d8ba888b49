package stream

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/stream/source"
	"lakesql/vector"
)

// TestWorkersServeInOrder: who came first is served first, who gives up is passed over, and no more than the pool's size work.
func TestWorkersServeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorkers(1)
		first := p.newTurn()
		require.NoError(t, first.take(t.Context()))
		var order []int
		var mu sync.Mutex
		gaveUp, giveUp := context.WithCancel(t.Context())
		for i := range 5 {
			ctx := t.Context()
			if i == 2 {
				ctx = gaveUp
			}
			go func() {
				turn := p.newTurn()
				if turn.take(ctx) != nil {
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				turn.release()
			}()
			synctest.Wait()
		}
		giveUp()
		synctest.Wait()
		require.Empty(t, order)
		first.release()
		first.release() // does nothing
		synctest.Wait()
		require.Equal(t, []int{0, 1, 3, 4}, order)
		require.Equal(t, 1, p.free)
	})
}

// TestWorkersTakeTurns: who works long hands its worker on after a turn, and goes to the end of the line.
func TestWorkersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorkers(1)
		long := p.newTurn()
		require.NoError(t, long.take(t.Context()))
		time.Sleep(time.Hour)
		require.NoError(t, long.yield(t.Context()))
		start := time.Now()
		served := make(chan time.Duration, 1)
		go func() {
			turn := p.newTurn()
			if err := turn.take(t.Context()); err != nil {
				t.Error(err)
			}
			served <- time.Since(start)
			time.Sleep(time.Millisecond)
			turn.release()
		}()
		synctest.Wait()
		for range 10 { // the hour nobody waited is no turn that was too long: but now it ends at the next chance
			time.Sleep(time.Millisecond)
			require.NoError(t, long.yield(t.Context()))
		}
		require.Equal(t, time.Millisecond, <-served)
		require.Len(t, p.busy, 1)
		long.release()
	})
}

// TestWorkersPassByWhoHangs: a worker that gives no sign of life is not waited for, and counts again after its next one.
func TestWorkersPassByWhoHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorkers(1)
		hangs, other := p.newTurn(), p.newTurn()
		require.NoError(t, hangs.take(t.Context()))
		start := time.Now()
		require.NoError(t, other.take(t.Context()))
		require.Equal(t, hangTime, time.Since(start))

		back := make(chan error, 1)
		go func() { back <- hangs.yield(t.Context()) }()
		synctest.Wait()
		since, before := hangs.waiting()
		require.Zero(t, since)
		require.Zero(t, before)
		require.Len(t, p.line, 1, "it stands in line")
		time.Sleep(turnTime)
		require.NoError(t, other.yield(t.Context()), "after the one that hung has done its part")
		require.NoError(t, <-back)
		hangs.release()
		other.release()
		require.Equal(t, 1, p.free)
	})
}

// busySource gives numbers in batches of rows that take time, and counts who works at once.
type busySource struct {
	*numbers
	step    time.Duration
	working *atomic.Int64
	most    *atomic.Int64
}

func (s *busySource) Read(ctx context.Context, start, end source.Offset, obs source.Observer) (vector.Operator, error) {
	op, err := s.numbers.Read(ctx, start, end, obs)
	return &slowRows{op, s, at(end) - at(start)}, err
}

// slowRows gives its only batch of rows after empty ones, one a row.
type slowRows struct {
	vector.Operator
	s    *busySource
	left int
}

func (r *slowRows) Next(ctx context.Context) (*batch.Batch, error) {
	if n := r.s.working.Add(1); n > r.s.most.Load() {
		r.s.most.Store(n)
	}
	time.Sleep(r.s.step)
	r.s.working.Add(-1)
	if r.left--; r.left > 0 {
		return batch.NewBuilder(numbersSchema).Finish(), nil
	}
	return r.Operator.Next(ctx)
}

// TestAHundredStreamsShareWorkers: two of a hundred streams load for an hour, and two workers are there. The others commit what comes within
// seconds all the same, and no more than two work at once.
func TestAHundredStreamsShareWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const streams, loaders, step = 100, 2, 10 * time.Millisecond
		l := newLake(t)
		var working, most atomic.Int64
		var sources [streams]*busySource
		for i := range sources {
			sources[i] = &busySource{newNumbers(0), step, &working, &most}
		}
		s := l.serve(func(c *Config) {
			c.Workers = 2
			c.Sources = map[string]source.OpenFunc{"files": func(_ context.Context, spec source.Spec, _ source.Env) (source.Source, error) {
				var i int
				_, err := fmt.Sscanf(spec.Path, "file:///lake/landing/%d", &i)
				return sources[i], err
			}}
			c.Events = Events{}
		})
		for i := range streams {
			s.create(sales(func(d *Definition) {
				d.Name, d.Target.Table = fmt.Sprintf("s%d", i), fmt.Sprintf("t%d", i)
				d.Checkpoint, d.SelectSQL = fmt.Sprintf("file:///lake/checkpoints/%d", i), fmt.Sprintf("file:///lake/landing/%d", i)
			}))
		}
		synctest.Wait()
		for i := range loaders {
			sources[i].add(int(time.Hour / step))
		}
		time.Sleep(time.Second)
		for range 3 {
			start := time.Now()
			for i := loaders; i < streams; i++ {
				sources[i].add(1)
			}
			for i := loaders; i < streams; i++ {
				require.NoError(t, s.WaitFor(t.Context(), "lake", fmt.Sprintf("s%d", i), Until{}, time.Minute))
			}
			require.Less(t, time.Since(start), 10*time.Second)
		}
		for i := range loaders {
			st, err := s.Status("lake", fmt.Sprintf("s%d", i))
			require.NoError(t, err)
			require.Equal(t, Running, st.State)
		}
		require.EqualValues(t, 2, most.Load())
		require.NoError(t, s.Close())
		require.Equal(t, 2, s.workers.free, "nobody keeps a worker")
	})
}
