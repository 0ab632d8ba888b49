package stream

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFollow has two servers on one lake: what is typed at one holds at the other.
func TestFollow(t *testing.T) {
	l := newLake(t)
	want := l.input(1)
	a, b := l.serve(), l.serve(func(c *Config) { c.Owner = "other" })
	catchUp := func() { require.NoError(t, b.catchUp(t.Context())) }

	a.create(sales(func(d *Definition) { d.Paused = true }))
	catchUp()
	require.Equal(t, Paused, b.state().State)
	b.restart()
	b.caughtUp()
	require.Equal(t, want, l.rows("sales"))
	require.Equal(t, Paused, a.state().State)
	require.NoError(t, a.catchUp(t.Context()))
	require.NotEqual(t, Paused, a.state().State)

	a.stop()
	catchUp()
	require.Equal(t, Paused, b.state().State, "STOP at one server stops the other")
	catchUp()
	require.NoError(t, a.SetOptions(t.Context(), "lake", "sales_in", map[string]string{"maxFilesPerTrigger": "7"}))
	catchUp()
	require.Equal(t, "7", b.state().Definition.Options["maxFilesPerTrigger"])

	require.NoError(t, a.Rename(t.Context(), "lake", "sales_in", "renamed"))
	catchUp()
	_, err := b.Status("lake", "sales_in")
	require.Equal(t, KindNotFound, KindOf(err))
	_, err = b.Status("lake", "renamed")
	require.NoError(t, err)

	waited := make(chan error, 1)
	require.NoError(t, a.StartStream(t.Context(), "lake", "renamed"))
	catchUp()
	go func() { waited <- b.WaitFor(t.Context(), "lake", "renamed", Until{Batch: new(int64(99))}, 0) }()
	require.NoError(t, a.Drop(t.Context(), "lake", "renamed", false))
	catchUp()
	require.Equal(t, KindNotFound, KindOf(<-waited), "DROP at one server ends what the other has")
	require.Empty(t, b.all())
}

// TestFollowLeavesOwnStatementsAlone runs statements of one server while it follows.
func TestFollowLeavesOwnStatementsAlone(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			if err := s.catchUp(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 20 {
		s.stop()
		require.Equal(t, Paused, s.state().State)
		s.restart()
		s.caughtUp()
	}
	<-done
	require.EqualValues(t, 0, s.state().LastBatchID)
}

// TestCloseEndsFollowing: it does not wait for the next look, and nothing is left behind, also when Start never came.
func TestCloseEndsFollowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLake(t)
		s, never := l.serve(), l.serve()
		require.NoError(t, s.Start(t.Context()))
		begin := time.Now()
		require.NoError(t, s.Close())
		require.NoError(t, never.Close())
		require.Zero(t, time.Since(begin))
	})
}
