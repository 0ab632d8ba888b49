package delta

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
	"lakesql/store/faultstore"
)

// checkpointedTable has 12 versions and checkpoints at 5 and 10.
func checkpointedTable(t *testing.T) *store.Memory {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, nil, map[string]string{"delta.checkpointInterval": "5"})
	for i := 1; i <= 12; i++ {
		appendFiles(t, table, fmt.Sprint(i))
		_, err := table.Maintain(ctx)
		require.NoError(t, err)
	}
	return st
}

func overwrite(t *testing.T, st store.Store, key, text string) {
	require.NoError(t, st.Delete(ctx, key))
	if text != "" {
		require.NoError(t, st.PutIfAbsent(ctx, key, []byte(text)))
	}
}

// TestHintsAndCheckpointsMayBeWrong: as long as the commits are there, the table opens.
func TestHintsAndCheckpointsMayBeWrong(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, *store.Memory){
		"nothing":              func(*testing.T, *store.Memory) {},
		"no hint":              func(t *testing.T, st *store.Memory) { overwrite(t, st, lastCheckpointKey, "") },
		"empty hint":           func(t *testing.T, st *store.Memory) { overwrite(t, st, lastCheckpointKey, " ") },
		"half a hint":          func(t *testing.T, st *store.Memory) { overwrite(t, st, lastCheckpointKey, `{"version":1`) },
		"stale hint":           func(t *testing.T, st *store.Memory) { overwrite(t, st, lastCheckpointKey, `{"version":5,"size":8}`) },
		"hint without a file":  func(t *testing.T, st *store.Memory) { overwrite(t, st, lastCheckpointKey, `{"version":7,"size":8}`) },
		"hint from the future": func(t *testing.T, st *store.Memory) { overwrite(t, st, lastCheckpointKey, `{"version":70,"size":8}`) },
		"wrong checksum": func(t *testing.T, st *store.Memory) {
			overwrite(t, st, lastCheckpointKey, `{"version":10,"size":8,"checksum":"00"}`)
		},
		"damaged checkpoint": func(t *testing.T, st *store.Memory) { overwrite(t, st, checkpointKey(10), "PAR1 nothing PAR1") },
		"empty checkpoint":   func(t *testing.T, st *store.Memory) { overwrite(t, st, checkpointKey(10), " ") },
		"checkpoint is gone": func(t *testing.T, st *store.Memory) { overwrite(t, st, checkpointKey(10), "") },
		"all checkpoints wrong": func(t *testing.T, st *store.Memory) {
			overwrite(t, st, checkpointKey(10), "x")
			overwrite(t, st, checkpointKey(5), "y")
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := checkpointedTable(t)
			damage(t, st)
			s, err := NewTable(st).Snapshot(ctx)
			require.NoError(t, err)
			require.Equal(t, int64(12), s.Version())
			require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}, pathsOf(s))
		})
	}
}

func TestLogsThatCannotBeRead(t *testing.T) {
	st := checkpointedTable(t)
	for v := range int64(11) {
		require.NoError(t, st.Delete(ctx, commitKey(v)))
	}
	_, err := NewTable(st).SnapshotAt(ctx, 7)
	require.ErrorIs(t, err, ErrNoVersion, "its commits have been cleaned up")
	s, err := NewTable(st).SnapshotAt(ctx, 5)
	require.NoError(t, err)
	require.Equal(t, 5, s.NumFiles())

	overwrite(t, st, checkpointKey(10), "x")
	_, err = NewTable(st).Snapshot(ctx)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "00000000000000000010.checkpoint.parquet", "the checkpoint is to blame")

	st = checkpointedTable(t)
	require.NoError(t, st.Delete(ctx, commitKey(11)))
	_, err = NewTable(st).Snapshot(ctx)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "commit 11 is missing")

	overwrite(t, st, commitKey(11), "{\"add\":{\"path\":\"x\"")
	_, err = NewTable(st).Snapshot(ctx)
	require.ErrorContains(t, err, "00000000000000000011.json, line 1")
}

// TestErrorsOfTheStoreAreNotDamage: a store that fails is no reason to take an older state.
func TestErrorsOfTheStoreAreNotDamage(t *testing.T) {
	down := errors.New("the network is down")
	for _, kind := range []faultstore.Kind{faultstore.Get, faultstore.List, faultstore.Map} {
		st := faultstore.New(checkpointedTable(t))
		st.Add(faultstore.Rule{Match: func(op faultstore.Op) bool { return op.Kind == kind && op.Key != lastCheckpointKey }, Before: faultstore.Fail(down)})
		_, err := NewTable(st).Snapshot(ctx)
		require.ErrorIs(t, err, down)
	}
}

// TestWaitingEndsWithTheContext: a caller does not hang behind another one's slow store.
func TestWaitingEndsWithTheContext(t *testing.T) {
	st := faultstore.New(checkpointedTable(t))
	entered, release := make(chan struct{}), make(chan struct{})
	st.Add(faultstore.Rule{Match: faultstore.Is(faultstore.List), Nth: 1, Before: func(context.Context, faultstore.Op) error {
		close(entered)
		<-release
		return nil
	}})
	table, done := NewTable(st), make(chan error)
	go func() {
		_, err := table.Snapshot(ctx)
		done <- err
	}()
	<-entered
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := table.Snapshot(ended)
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	require.NoError(t, <-done)
}

// tornListing hides a commit from the first listings, as a folder can that is being written to.
type tornListing struct {
	store.Store
	hidden string
	times  int
}

func (l *tornListing) List(ctx context.Context, prefix, startAfter, delimiter string) iter.Seq2[store.Info, error] {
	l.times--
	return func(yield func(store.Info, error) bool) {
		for info, err := range l.Store.List(ctx, prefix, startAfter, delimiter) {
			if l.times >= 0 && info.Key == l.hidden {
				continue
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func TestTornListing(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, nil, nil)
	appendFiles(t, table, "a")
	appendFiles(t, table, "b")
	s, err := NewTable(&tornListing{st, commitKey(1), 2}).Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(2), s.Version())
	_, err = NewTable(&tornListing{st, commitKey(1), 99}).Snapshot(ctx)
	require.ErrorIs(t, err, ErrCorrupt)
}
