package checkpoint

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// tester hands out leases of different machines that share one clock.
type tester struct {
	t   *testing.T
	m   *store.Memory
	now time.Duration
}

func (ts *tester) lease(machine string) *Lease {
	c, err := Open(ts.t.Context(), ts.m)
	require.NoError(ts.t, err)
	l := c.Lease("server on " + machine)
	l.self = process{Machine: machine, PID: 1, Start: "1"}
	l.clock = func() time.Duration { return ts.now }
	l.ended = func(process) bool { return false }
	return l
}

func newTester(t *testing.T) *tester {
	_, m := create(t)
	return &tester{t: t, m: m}
}

func TestLeaseTakeover(t *testing.T) {
	ctx := t.Context()
	ts := newTester(t)
	a, b, c := ts.lease("a"), ts.lease("b"), ts.lease("c")
	require.Error(t, a.Renew(ctx))
	require.NoError(t, a.Acquire(ctx))
	require.NoError(t, a.Acquire(ctx), "held already")
	require.EqualValues(t, 1, a.epoch)

	for range 5 { // alive: each heartbeat begins the wait again
		err := b.Acquire(ctx)
		isKind(t, err, Held)
		require.ErrorContains(t, err, "server on a")
		ts.now += LeaseTTL - 1
		require.NoError(t, a.Renew(ctx))
	}
	isKind(t, b.Acquire(ctx), Held)
	ts.now += LeaseTTL - 1
	isKind(t, b.Acquire(ctx), Held)
	isKind(t, c.Acquire(ctx), Held)
	ts.now++
	isKind(t, c.Acquire(ctx), Held) // has seen it for 1 ns only
	require.NoError(t, b.Acquire(ctx))
	require.EqualValues(t, 2, b.epoch)

	err := a.Renew(ctx)
	isKind(t, err, LeaseLost)
	require.ErrorContains(t, err, "server on b")
	require.Zero(t, a.epoch)
	isKind(t, a.Renew(ctx), LeaseLost)
	require.NoError(t, a.Release(ctx), "a lost one")
	isKind(t, c.Acquire(ctx), Held)
	require.NoError(t, b.Release(ctx))
	require.NoError(t, b.Release(ctx))
	require.NoError(t, c.Acquire(ctx), "released: at once")
	require.EqualValues(t, 3, c.epoch)
	require.Equal(t, []string{"_lakesql/lease/00000000000000000003.json"}, list(t, ts.m, leaseDir))
}

func TestLeaseOfDeadProcess(t *testing.T) {
	ctx := t.Context()
	ts := newTester(t)
	require.NoError(t, ts.lease("a").Acquire(ctx))
	other, same := ts.lease("b"), ts.lease("a")
	for _, l := range []*Lease{other, same} {
		l.self.PID = 2
		l.ended = func(p process) bool { return p.PID == 1 }
	}
	isKind(t, other.Acquire(ctx), Held)
	require.NoError(t, same.Acquire(ctx))
	again := ts.lease("a")
	again.self.PID = 2
	require.NoError(t, again.Acquire(ctx), "the same process under the same name, which has lost its handle")
	isKind(t, same.Renew(ctx), LeaseLost)
	stranger := ts.lease("a")
	stranger.self.PID, stranger.owner = 2, "another server"
	isKind(t, stranger.Acquire(ctx), Held)
}

func TestLeaseUnreadable(t *testing.T) {
	ts := newTester(t)
	put(t, ts.m, leaseKey(7), "{")
	l := ts.lease("a")
	isKind(t, l.Acquire(t.Context()), Held)
	ts.now += LeaseTTL
	require.NoError(t, l.Acquire(t.Context()))
	require.EqualValues(t, 8, l.epoch)
}

func TestLeaseRace(t *testing.T) {
	ts := newTester(t)
	var wins atomic.Int32
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		l := ts.lease(name)
		wg.Go(func() {
			if l.Acquire(t.Context()) == nil {
				wins.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, wins.Load())
}

func TestProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells when a process began")
	}
	self := thisProcess()
	require.NotEmpty(t, self.Machine)
	require.False(t, processEnded(self))
	require.True(t, processEnded(process{PID: self.PID, Start: "0"}), "the number belongs to another one now")

	child := exec.Command(os.Args[0], "-test.run=^$")
	out, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	pid := child.Process.Pid
	require.NoError(t, out.Close())
	require.NoError(t, child.Wait())
	require.True(t, processEnded(process{PID: pid, Start: "1"}))
}
