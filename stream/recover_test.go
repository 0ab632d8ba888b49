package stream

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name                  string
		offsets, commits, txn int64
		do                    step
		kind                  ErrorKind
	}{
		{"new", -1, -1, -1, goOn, 0},
		{"all done", 4, 4, 4, goOn, 0},
		{"P2, P3: recorded, not committed", 4, 3, 3, runAgain, 0},
		{"P2 of the first batch", 0, -1, -1, runAgain, 0},
		{"P4: committed, not recorded", 4, 3, 4, recordCommit, 0},
		{"P4 of the first batch", 0, -1, 0, recordCommit, 0},
		{"P9: a hole in commits/", 4, 2, 3, runAgain, 0},
		{"P13: an old copy of the checkpoint", 4, 4, 7, 0, KindCheckpointStale},
		{"P13: an old copy from before the first batch", -1, -1, 7, 0, KindCheckpointStale},
		{"P14: the table was created anew", 4, 4, -1, 0, KindBatchesLost},
		{"P15: txn expired, and a batch is due", 4, 3, -1, 0, KindBatchesLost},
		{"the table was restored by one batch", 4, 4, 3, 0, KindBatchesLost},
		{"the table was restored by more", 4, 3, 1, 0, KindBatchesLost},
		{"P11: offsets/ rewound by hand", 2, 4, 2, 0, KindCheckpoint},
	} {
		do, kind := position{c.offsets, c.commits, c.txn}.decide()
		require.Equal(t, c.kind, kind, c.name)
		require.Equal(t, c.do, do, c.name)
	}
}

func deletePrefix(t *testing.T, l *lake, prefix string) {
	t.Helper()
	require.NoError(t, store.DeletePrefix(t.Context(), l.mem, prefix))
}

func TestDeletedCheckpointIsRefusedAndResetReadsAgain(t *testing.T) {
	l := newLake(t)
	want := l.input(2)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	s.stop()
	oldID := s.state().Definition.ID
	deletePrefix(t, l, "checkpoints/sales/")
	require.Contains(t, s.refused(), "ALTER STREAM lake.sales_in RESET")
	require.Empty(t, l.keys("checkpoints/sales/"), "the folder is not made anew")

	report, err := s.Reset(t.Context(), "lake", "sales_in", Begin{})
	require.NoError(t, err)
	require.Equal(t, oldID, report.OldID)
	require.NotEqual(t, oldID, report.NewID)
	require.EqualValues(t, 2, report.Files)
	require.Equal(t, Paused, s.state().State)
	s.restart()
	s.caughtUp()
	require.Len(t, l.rows("sales"), 2*len(want))
}

func TestCheckpointDeletedUnderARunningStream(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	deletePrefix(t, l, "checkpoints/sales/")
	l.put("more.csv", "id,name\n7,x\n")
	reason := s.failed()
	require.Contains(t, reason, "is gone")
	require.Contains(t, reason, "RESET")
	require.Empty(t, l.keys("checkpoints/sales/"))
	require.Equal(t, []string{"0|a", "1|b"}, l.rows("sales"))
}

// TestResetOfADamagedCheckpoint makes it anew, and leaves what somebody else keeps in its folder.
func TestResetOfADamagedCheckpoint(t *testing.T) {
	l := newLake(t)
	want := l.input(2)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	s.stop()
	l.write("checkpoints/sales/metadata", "{")
	l.write("checkpoints/sales/notes.txt", "mine")
	require.Contains(t, s.refused(), "metadata")
	_, err := s.Reset(t.Context(), "lake", "sales_in", Begin{})
	require.NoError(t, err)
	require.Contains(t, l.keys("checkpoints/sales/"), "notes.txt")
	s.restart()
	s.caughtUp()
	require.Len(t, l.rows("sales"), 2*len(want))
}

func TestPurgeLeavesWhatIsNotOurs(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	l.write("checkpoints/sales/notes.txt", "mine")
	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", true))
	require.Equal(t, []string{"notes.txt"}, l.keys("checkpoints/sales/"))
}

func TestResetWantsAStoppedStream(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	_, err := s.Reset(t.Context(), "lake", "sales_in", Begin{})
	require.Equal(t, KindWrongState, KindOf(err))
	require.ErrorContains(t, err, "STOP STREAM lake.sales_in")
}

// TestResetCrashes crashes RESET at every durable operation: afterwards the stream either goes on where it was, or reads
// everything again; it never fails, and never reads a part.
func TestResetCrashes(t *testing.T) {
	l := newLake(t)
	want := l.input(2)
	first := l.serve()
	first.create(sales(oneFileABatch))
	first.caughtUp()
	first.stop()
	require.NoError(t, first.Close())
	for n := 1; ; n++ {
		after := l.crashed()
		s := after.serve()
		require.NoError(t, s.Start(t.Context()))
		s.faults.CrashBefore(n)
		_, err := s.Reset(t.Context(), "lake", "sales_in", Begin{})
		crashed := s.faults.Crashed()
		require.Equal(t, crashed, err != nil)
		require.NoError(t, s.Close())

		again := after.serve()
		require.NoError(t, again.Start(t.Context()))
		again.restart()
		again.caughtUp()
		rows := len(after.rows("sales"))
		require.Contains(t, []int{len(want), 2 * len(want)}, rows, "operation %d", n)
		require.NoError(t, again.Close())
		if !crashed {
			require.Equal(t, 2*len(want), rows)
			require.Greater(t, n, 10)
			return
		}
	}
}

func TestStaleCheckpoint(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	s.stop()
	old := l.crashed()
	l.put("more.csv", "id,name\n7,x\n")
	s.restart()
	s.caughtUp()
	s.stop()
	deletePrefix(t, l, "checkpoints/sales/")
	copyPrefix(t, old, l, "checkpoints/sales/")
	reason := s.refused()
	require.Contains(t, reason, "older copy")
	require.Contains(t, reason, "RESET")
	require.Equal(t, []string{"0|a", "1|b", "7|x"}, l.rows("sales"))
}

func copyPrefix(t *testing.T, from, to *lake, prefix string) {
	t.Helper()
	require.NoError(t, store.Sub(to.mem, prefix).(store.RootMaker).MakeRoot(t.Context()))
	for _, key := range from.keys(prefix) {
		data, err := from.mem.Get(t.Context(), prefix+key)
		require.NoError(t, err)
		require.NoError(t, to.mem.PutIfAbsent(t.Context(), prefix+key, data))
	}
}

func TestReplacedTarget(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	deletePrefix(t, l, "tables/sales/")
	l.put("more.csv", "id,name\n7,x\n")
	require.Contains(t, s.failed(), "there is no table")

	// Somebody makes another table of that name.
	other := l.serve()
	other.create(sales(func(d *Definition) { d.Name, d.Checkpoint = "other", "file:///lake/checkpoints/other" }))
	require.NoError(t, other.WaitFor(t.Context(), "lake", "other", Until{}, patience))
	require.Regexp(t, `with id [0-9a-f-]{36}, and now the table there has id [0-9a-f-]{36}`, s.refused())
}

func TestRestoredTableIsNoticedUnderARunningStream(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	l.put("more.csv", "id,name\n7,x\n")
	s.caughtUp()
	deletePrefix(t, l, "tables/sales/_delta_log/00000000000000000001.json")
	l.put("third.csv", "id,name\n8,x\n")
	reason := s.failed()
	require.Contains(t, reason, "has lost batches")
	require.Contains(t, reason, "RESET")
}

func TestSecondStreamOnACheckpoint(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	s.create(sales())
	for _, uri := range []string{"file:///lake/checkpoints/sales", "file:///lake/checkpoints/sales/", "file:/lake/checkpoints/./sales",
		"file:///lake/x/../checkpoints/sales", "file:///lake/checkpoints/sales/inner", "file:///lake/checkpoints"} {
		_, err := s.Create(t.Context(), sales(func(d *Definition) { d.Name, d.Checkpoint = "second", uri }), CreateOptions{})
		require.Equal(t, KindCheckpointHeld, KindOf(err), uri)
		require.ErrorContains(t, err, "stream lake.sales_in", uri)
	}
	_, err := s.Create(t.Context(), sales(), CreateOptions{})
	require.Equal(t, KindExists, KindOf(err))
	created, err := s.Create(t.Context(), sales(), CreateOptions{IfNotExists: true})
	require.NoError(t, err)
	require.False(t, created)
}

func TestCheckpointPlace(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	for _, c := range []struct{ source, checkpoint, want string }{
		{"file:///lake/landing", "file:///lake/landing/_cp", "inside the source"},
		{"file:///lake/landing", "file:///lake/landing", "inside the source"},
		{"file:///lake/*", "file:///lake/cp/x", "inside the source"},
		{"file:///lake/{a,b}/*.csv", "file:///lake/a/cp", "inside the source"},
		{"file:///lake/cp/in", "file:///lake/cp", "inside the checkpoint"},
		{"file:///lake/cp/in/*.csv", "file:///lake/cp", "inside the checkpoint"},
		{"file:///lake/*.csv", "file:///lake/lake/_checkpoints/x", ""},
		{"file:///lake/landing", "file:///lake/landing2", ""},
	} {
		d := sales(func(d *Definition) { d.SelectSQL, d.Checkpoint = c.source, c.checkpoint })
		_, err := s.Create(t.Context(), d, CreateOptions{})
		if c.want == "" {
			require.NoError(t, err, "%v", c)
			require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", true))
			continue
		}
		require.Equal(t, KindInvalid, KindOf(err), "%v: %v", c, err)
		require.ErrorContains(t, err, c.want)
	}
}

func TestContinueACheckpoint(t *testing.T) {
	l := newLake(t)
	want := l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	id := s.state().Definition.ID
	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", false))

	_, err := s.Create(t.Context(), sales(func(d *Definition) { d.Target.Table = "elsewhere" }), CreateOptions{})
	require.Equal(t, KindTableReplaced, KindOf(err), "%v", err)
	deletePrefix(t, l, "checkpoints/sales/_lakesql/binding.json") // as Spark's checkpoints have none
	_, err = s.Create(t.Context(), sales(func(d *Definition) { d.Target.Table = "elsewhere" }), CreateOptions{})
	require.Equal(t, KindCheckpoint, KindOf(err), "%v", err)
	require.ErrorContains(t, err, "foreign")
	_, err = s.Create(t.Context(), sales(func(d *Definition) { d.SelectSQL += " + file:///lake/other" }), CreateOptions{})
	require.ErrorContains(t, err, "there are 1 sources in the offsets")

	s.create(sales(func(d *Definition) { d.Name = "renamed" }))
	l.put("more.csv", "id,name\n7,x\n")
	require.NoError(t, s.WaitFor(t.Context(), "lake", "renamed", Until{}, patience))
	require.Equal(t, append(want, "7|x"), l.rows("sales"))
	st, err := s.Status("lake", "renamed")
	require.NoError(t, err)
	require.Equal(t, id, st.Definition.ID)
}

// TestSparksCheckpoint continues a checkpoint without anything of ours in it, in the middle of a batch, with an orphan entry.
func TestSparksCheckpoint(t *testing.T) {
	l := newLake(t)
	want := l.input(3)
	s := l.serve()
	s.create(sales(availableNow, oneFileABatch))
	s.finished()
	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", false))
	deletePrefix(t, l, "checkpoints/sales/_lakesql/")
	deletePrefix(t, l, "checkpoints/sales/commits/2")
	deletePrefix(t, l, "tables/sales/_delta_log/00000000000000000002.json")
	l.put("orphan.csv", "id,name\n8,x\n")
	info, err := l.mem.Stat(t.Context(), "landing/orphan.csv")
	require.NoError(t, err)
	require.NoError(t, l.mem.PutIfAbsent(t.Context(), "checkpoints/sales/sources/0/3", []byte(sourceLine("file:///lake/landing/orphan.csv", info.ModTime, 3))))
	l.put("new.csv", "id,name\n9,y\n")

	s.create(sales())
	s.caughtUp()
	require.Equal(t, append(want, "8|x", "9|y"), l.rows("sales"))
}

func TestReplayOfAChangedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in time that the test makes: a heartbeat of the lease would be an operation more
		l := newLake(t)
		l.input(1)
		require.True(t, crashAt(l, "after", offsetsWritten, sales()))
		after := l.crashed()
		require.Equal(t, []string{"0"}, after.keys("checkpoints/sales/offsets/"))
		after.put("f000.csv", "id,name\n100,changed\n")
		s := after.serve()
		require.NoError(t, s.Start(t.Context()))
		reason := s.failed()
		require.Contains(t, reason, "file:///lake/landing/f000.csv")
		require.Contains(t, reason, "changed")
		require.Equal(t, KindOf(s.WaitFor(t.Context(), "lake", "sales_in", Until{}, patience)), KindStreamFailed)
		require.NoError(t, s.Close())
	})
}
