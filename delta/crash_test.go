package delta

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/store"
	"lakesql/store/faultstore"
)

// streamBatch does what a stream does for its batch n: unless the table has it, it writes a file of one row, commits it with
// a txn, and maintains the table.
func streamBatch(st store.Store, n int64) error {
	table := NewTable(st)
	s, err := table.Snapshot(ctx)
	if err != nil {
		return err
	}
	if done, ok := s.Txn("app"); ok && done >= n {
		return nil
	}
	w, err := NewFileWriter(st, s, s.Metadata(), FileWriterOptions{})
	if err != nil {
		return err
	}
	defer w.Abort()
	rows := batch.NewBuilder(testSchema)
	rows.Column(0).AppendInt64(n)
	rows.Column(1).AppendInt32(19_000)
	if err := w.Write(ctx, rows.Finish()); err != nil {
		return err
	}
	adds, err := w.Close(ctx)
	if err != nil {
		return err
	}
	x := table.Begin(s)
	x.Add(adds...)
	x.SetTxn("app", n)
	if _, err := x.Commit(ctx, Operation{Name: "STREAMING UPDATE"}); err != nil {
		return err
	}
	_, err = table.Maintain(ctx)
	return err
}

// batchesOf is the value of the column id in each live file, which is the batch that wrote it.
func batchesOf(t testing.TB, s *Snapshot) map[int64]int {
	out := map[int64]int{}
	for f := range s.Files() {
		stats, err := f.Stats()
		require.NoError(t, err)
		require.Equal(t, int64(1), stats.NumRecords)
		out[stats.Columns[0].Min.I64[0]]++
	}
	return out
}

func tableBeforeCheckpoint(t testing.TB) *store.Memory {
	st := memoryStore(t)
	createTable(t, st, testSchema, nil, map[string]string{"delta.checkpointInterval": "3"})
	require.NoError(t, streamBatch(st, 0))
	require.NoError(t, streamBatch(st, 1))
	return st
}

// TestEveryCrashPoint stops the process before and after every durable operation of a batch whose commit also makes a
// checkpoint due, and runs the batch again on what is left.
func TestEveryCrashPoint(t *testing.T) {
	whole := faultstore.New(tableBeforeCheckpoint(t))
	require.NoError(t, streamBatch(whole, 2))
	require.Regexp(t, `^commit-if-absent part-00000-\S+ ok
put-if-absent _delta_log/00000000000000000003.json ok
commit _delta_log/00000000000000000003.checkpoint.parquet ok
commit _delta_log/_last_checkpoint ok
put-if-absent _delta_log/00000000000000000003.crc ok
$`, whole.Log(faultstore.Durable...))

	for n := 1; n <= 5; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after=%v", n, after), func(t *testing.T) {
				memory := tableBeforeCheckpoint(t)
				st := faultstore.New(memory)
				if after {
					st.CrashAfter(n)
				} else {
					st.CrashBefore(n)
				}
				require.ErrorIs(t, streamBatch(st, 2), faultstore.ErrCrashed)

				left := memory.Clone()
				require.NoError(t, streamBatch(left, 2))
				require.NoError(t, streamBatch(left, 3))
				s, err := NewTable(left).Snapshot(ctx)
				require.NoError(t, err)
				require.Equal(t, int64(4), s.Version())
				require.Equal(t, map[int64]int{0: 1, 1: 1, 2: 1, 3: 1}, batchesOf(t, s))
				version, _ := s.Txn("app")
				require.Equal(t, int64(3), version)
			})
		}
	}
}

// TestFullDisk fails every kind of write once; nothing is half there and the same batch succeeds later.
func TestFullDisk(t *testing.T) {
	for _, kind := range []faultstore.Kind{faultstore.Create, faultstore.Write, faultstore.CommitIfAbsent, faultstore.PutIfAbsent, faultstore.Commit} {
		t.Run(string(kind), func(t *testing.T) {
			memory := tableBeforeCheckpoint(t)
			st := faultstore.New(memory)
			st.Add(faultstore.Rule{Match: faultstore.Is(kind), Nth: 1, Before: faultstore.Fail(syscall.ENOSPC)})
			require.ErrorIs(t, streamBatch(st, 2), syscall.ENOSPC)
			require.NoError(t, streamBatch(st, 2))
			s, err := NewTable(memory).Snapshot(ctx)
			require.NoError(t, err)
			require.Equal(t, map[int64]int{0: 1, 1: 1, 2: 1}, batchesOf(t, s))
		})
	}
}

// TestUnknownOutcomes: a put that was done or not, or that lost, is told apart by the commit's id.
func TestUnknownOutcomes(t *testing.T) {
	commits := faultstore.On(faultstore.PutIfAbsent, logFolder)
	rival := func(memory *store.Memory) func(context.Context, faultstore.Op) error {
		return func(context.Context, faultstore.Op) error { return streamBatchOf(memory, "rival") }
	}
	for name, rule := range map[string]func(*store.Memory) faultstore.Rule{
		"done": func(*store.Memory) faultstore.Rule {
			return faultstore.Rule{Match: commits, Nth: 1, After: faultstore.Obscure()}
		},
		"not done": func(*store.Memory) faultstore.Rule {
			return faultstore.Rule{Match: commits, Nth: 1, Before: faultstore.Lose()}
		},
		"lost": func(m *store.Memory) faultstore.Rule {
			before := rival(m)
			return faultstore.Rule{Match: commits, Nth: 1, Before: func(c context.Context, op faultstore.Op) error {
				if err := before(c, op); err != nil {
					return err
				}
				return store.ErrAmbiguous
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			memory := tableBeforeCheckpoint(t)
			st := faultstore.New(memory)
			st.Add(rule(memory))
			require.NoError(t, streamBatch(st, 2))
			s, err := NewTable(memory).Snapshot(ctx)
			require.NoError(t, err)
			require.Equal(t, 1, batchesOf(t, s)[2])
			version, _ := s.Txn("app")
			require.Equal(t, int64(2), version)
		})
	}

	t.Run("unknown, then a failure", func(t *testing.T) {
		st := faultstore.New(tableBeforeCheckpoint(t))
		st.Add(faultstore.Rule{Match: commits, Nth: 1, Before: faultstore.Lose()})
		st.Add(faultstore.Rule{Match: commits, Nth: 2, Before: faultstore.Fail(syscall.ENOSPC)})
		err := streamBatch(st, 2)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorIs(t, err, store.ErrAmbiguous, "the first put may still arrive")
	})

	t.Run("unreadable", func(t *testing.T) {
		st := faultstore.New(tableBeforeCheckpoint(t))
		st.Add(faultstore.Rule{Match: commits, Nth: 1, After: faultstore.Obscure()})
		st.Add(faultstore.Rule{Match: faultstore.On(faultstore.Get, commitKey(3)), Before: faultstore.Fail(errors.New("the network is down"))})
		err := streamBatch(st, 2)
		require.ErrorIs(t, err, store.ErrAmbiguous, "whether it is committed is not known")
		st.ClearRules()
		require.NoError(t, streamBatch(st, 2))
		s, err := NewTable(st).Snapshot(ctx)
		require.NoError(t, err)
		require.Equal(t, 1, batchesOf(t, s)[2])
	})
}

// streamBatchOf commits an empty batch of another application.
func streamBatchOf(st store.Store, app string) error {
	table := NewTable(st)
	s, err := table.Snapshot(ctx)
	if err != nil {
		return err
	}
	x := table.Begin(s)
	x.SetTxn(app, 1)
	_, err = x.Commit(ctx, Operation{Name: "STREAMING UPDATE"})
	return err
}

// TestNoCommitBehindAReplacedLog: a handle must not write into a table that took the place of its own.
func TestNoCommitBehindAReplacedLog(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, nil, nil)
	appendFiles(t, table, "a")
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	require.NoError(t, st.DeletePrefix(ctx, logFolder))
	x := table.Begin(s)
	x.Add(addOf("b"))
	_, err = x.Commit(ctx, Operation{Name: "WRITE"})
	require.ErrorIs(t, err, ErrConflict)
	_, err = table.Snapshot(ctx)
	require.ErrorIs(t, err, ErrNoTable)

	createTable(t, st, testSchema, nil, nil)
	_, err = x.Commit(ctx, Operation{Name: "WRITE"})
	require.ErrorIs(t, err, ErrConflict)
	again, err := table.Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(0), again.Version())
	require.NotEqual(t, s.Metadata().ID, again.Metadata().ID)
}

func TestCreateOnlyWhereNothingIs(t *testing.T) {
	st := store.NewMemory("mem://t")
	meta, err := NewMetadata(testSchema, nil, nil)
	require.NoError(t, err)
	create := func() error {
		x := NewTable(st).Begin(nil)
		x.SetMetadata(meta)
		_, err := x.Commit(ctx, Operation{Name: "CREATE TABLE"})
		return err
	}
	require.ErrorIs(t, create(), store.ErrRootMissing, "a commit does not make the table's folder")
	require.NoError(t, st.MakeRoot(ctx))
	require.NoError(t, create())
	require.ErrorIs(t, create(), ErrConflict)
	require.NoError(t, st.PutIfAbsent(ctx, commitKey(1), []byte("{}\n")))
	require.NoError(t, st.Delete(ctx, commitKey(0)), "as after a clean-up")
	require.ErrorIs(t, create(), ErrConflict, "a log without version 0 is a log")
}
