package stream

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever has waited for AVAILABLE NOW finds the stream finished.
func TestAWaitForAvailableNowEndsWithIt(t *testing.T) {
	l := newLake(t)
	l.input(3)
	s := l.serve()
	require.NoError(t, s.Start(t.Context()))
	for range 20 {
		s.create(sales(availableNow, oneFileABatch))
		s.caughtUp()
		require.Equal(t, Finished, s.state().State)
		require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", true))
	}
}

// A stream that does not run says after a restart how far it has come.
func TestTheLastBatchIsKnownAfterARestart(t *testing.T) {
	l := newLake(t)
	l.input(2)
	s := l.serve()
	require.NoError(t, s.Start(t.Context()))
	s.create(sales(availableNow, oneFileABatch))
	s.finished()
	require.Equal(t, int64(1), s.state().LastBatchID)
	require.NoError(t, s.Close())

	s = l.serve()
	require.NoError(t, s.Start(t.Context()))
	require.Equal(t, Finished, s.state().State)
	require.Equal(t, int64(1), s.state().LastBatchID)
	s.stop()
	require.NoError(t, s.Close())

	s = l.serve()
	require.NoError(t, s.Start(t.Context()))
	require.Equal(t, Paused, s.state().State)
	require.Equal(t, int64(1), s.state().LastBatchID)
	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", false))
	s.create(sales(func(d *Definition) { d.Paused = true }))
	require.Equal(t, int64(1), s.state().LastBatchID, "a checkpoint that another stream continues")
}
