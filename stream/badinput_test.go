package stream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	sourcefiles "lakesql/files"
	"lakesql/store/faultstore"
	"lakesql/stream/source"
	"lakesql/stream/source/files"
)

// copyObjects copies what lies below one prefix to another.
func (l *lake) copyObjects(from, to string) {
	l.t.Helper()
	for _, key := range l.keys(from) {
		data, err := l.mem.Get(l.t.Context(), from+key)
		require.NoError(l.t, err)
		require.NoError(l.t, l.mem.PutIfAbsent(l.t.Context(), to+key, data))
	}
}

// TestCopiedCheckpointIsRefused: two streams of one id would each take the other's batches for their own.
func TestCopiedCheckpointIsRefused(t *testing.T) {
	l := newLake(t)
	l.input(2)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	s.stop()
	l.copyObjects("checkpoints/sales/", "checkpoints/copy/")
	second := sales(func(d *Definition) { d.Name, d.Checkpoint = "second", "file:///lake/checkpoints/copy" })
	_, err := s.Create(t.Context(), second, CreateOptions{})
	require.Equal(t, KindCheckpointHeld, KindOf(err))
	require.ErrorContains(t, err, "belongs to stream lake.sales_in")

	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", false))
	s.create(second)
	require.NoError(t, s.WaitFor(t.Context(), "lake", "second", Until{}, 0), "a checkpoint that was moved is taken")
	require.Len(t, l.rows("sales"), 4)
}

// TestCreateNamesNoReset: a statement that fails leaves no stream that could be reset.
func TestCreateNamesNoReset(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", false))
	_, err := s.Create(t.Context(), sales(func(d *Definition) { d.Target.Table = "other" }), CreateOptions{})
	require.ErrorContains(t, err, "WITH CHECKPOINT")
	require.NotContains(t, err.Error(), "RESET")

	for _, key := range []string{"commits/0", "offsets/0"} {
		require.NoError(t, l.mem.Delete(t.Context(), "checkpoints/sales/"+key))
	}
	_, err = s.Create(t.Context(), sales(), CreateOptions{})
	require.Equal(t, KindCheckpointStale, KindOf(err))
	require.NotContains(t, err.Error(), "RESET")
}

// TestSourceLogEndsBeforeTheOffsets: new files recorded under ids that count as read would never be.
func TestSourceLogEndsBeforeTheOffsets(t *testing.T) {
	l := newLake(t)
	l.input(2)
	s := l.serve()
	s.create(sales(oneFileABatch))
	s.caughtUp()
	s.stop()
	for _, gone := range []string{"checkpoints/sales/sources/0/1", "checkpoints/sales/_lakesql/files/"} {
		deletePrefix(t, l, gone)
	}
	s.restart()
	l.put("new.csv", "id,name\n9,x\n")
	reason := s.failed()
	require.Contains(t, reason, "the offsets name entry 1, and the last one here is 0")
	require.Contains(t, reason, "RESET")
	require.Len(t, l.rows("sales"), 4)
}

// TestColumnsThatNoTableCanHave: the stream fails at once, names the file, and goes on without it.
func TestColumnsThatNoTableCanHave(t *testing.T) {
	for _, header := range []string{"id,na me", "id,\xff;", "id , name"} {
		l := newLake(t)
		l.put("a.csv", "id,name\n1,a\n")
		s := l.serve()
		s.create(sales())
		s.caughtUp()
		l.put("bad.csv", header+"\n2,b\n")
		reason := s.failed()
		require.Contains(t, reason, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", header)
		require.Contains(t, reason, "SKIP FILE 'file:///lake/landing/bad.csv'", header)
		l.put("c.csv", "id,name\n3,c\n")
		require.NoError(t, s.SkipFile(t.Context(), "lake", "sales_in", "file:///lake/landing/bad.csv"))
		s.caughtUp()
		require.Equal(t, []string{"1|a", "3|c"}, l.rows("sales"), header)
		require.NoError(t, s.Close())
	}
}

// TestFirstFileWithSuchColumns: the schema of a file that the stream cannot work with is not kept.
func TestFirstFileWithSuchColumns(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	l.put("bad.csv", "a b,c=d\n2,b\n")
	require.Contains(t, s.failed(), "bad.csv")
	require.NoError(t, s.SkipFile(t.Context(), "lake", "sales_in", "file:///lake/landing/bad.csv"))
	l.put("good.csv", "id,name\n3,c\n")
	s.caughtUp()
	require.Equal(t, []string{"3|c"}, l.rows("sales"))
}

// TestFullDiskLeavesNothingBehind: what a failed batch has begun to write would keep the disk full.
func TestFullDiskLeavesNothingBehind(t *testing.T) {
	l := newLake(t)
	want := l.input(1)
	s := l.serve()
	s.faults.Add(faultstore.Rule{Match: faultstore.On(faultstore.Write, "tables/sales/part-"), Nth: 1, Before: faultstore.Fail(syscall.ENOSPC)})
	s.create(sales())
	s.caughtUp()
	require.Equal(t, want, l.rows("sales"))
	require.Equal(t, 1, strings.Count(s.faults.Log(faultstore.Abort), "abort tables/sales/part-"))
}

// TestPlacesInOneAnother refuses a source, a checkpoint and a table that lie in one another.
func TestPlacesInOneAnother(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	for _, c := range []struct {
		name, source, checkpoint string
		ok                       bool
	}{
		{"reads its own table", "file:///lake/tables/sales", "file:///lake/checkpoints/x", false},
		{"reads all tables", "file:///lake/tables/*", "file:///lake/checkpoints/x", false},
		{"reads below its table", "file:///lake/tables/sales/in", "file:///lake/checkpoints/x", false},
		{"checkpoint is the table", "file:///lake/landing", "file:///lake/tables/sales", false},
		{"checkpoint in the log", "file:///lake/landing", "file:///lake/tables/sales/_delta_log/x", false},
		{"checkpoint among the table's data", "file:///lake/landing", "file:///lake/tables/sales/cp", false},
		{"table in the checkpoint", "file:///lake/landing", "file:///lake/tables", false},
		{"as Spark's users have it", "file:///lake/landing", "file:///lake/tables/sales/_checkpoints/a", true},
	} {
		d := sales(func(d *Definition) { d.SelectSQL, d.Checkpoint = c.source, c.checkpoint })
		_, err := s.Create(t.Context(), d, CreateOptions{})
		if c.ok {
			require.NoError(t, err, c.name)
			continue
		}
		require.Equal(t, KindInvalid, KindOf(err), "%s: %v", c.name, err)
		_, err = s.Explain(t.Context(), d)
		require.Equal(t, KindInvalid, KindOf(err), "%s: %v", c.name, err)
	}
}

// TestNoticesAreKept adds what a source noticed to the errors, and a later batch does not take it away.
func TestNoticesAreKept(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	cp := s.lookup(keyOf("lake", "sales_in")).liveCheckpoint()
	cp.Errors().Add(0, json.RawMessage(`{"file":"f","message":"changed"}`))
	require.NoError(t, cp.Errors().Flush(t.Context()))
	l.put("bad.csv", "id,name\nx,c\n")
	s.caughtUp()
	list, err := s.Errors(t.Context(), "lake", "sales_in")
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "changed", list[1].Message)
}

// TestStateIsSettledWhenAWaitEnds: a script that waits and then looks finds what the wait has said.
func TestStateIsSettledWhenAWaitEnds(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	s.create(sales())
	for range 5 {
		l.input(1)
		l.put("more.csv", "id,name\n7,x\n")
		s.caughtUp()
		require.Equal(t, Idle, s.state().State)
	}
}

// TestDamagedKeptSchema names the file that is damaged, and removing it is a way on.
func TestDamagedKeptSchema(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	s.stop()
	const key = "checkpoints/sales/_lakesql/schema/0.json"
	require.NoError(t, l.mem.Delete(t.Context(), key))
	require.NoError(t, l.mem.PutIfAbsent(t.Context(), key, nil))
	s.restart()
	reason := s.failed()
	require.Contains(t, reason, "_lakesql/schema/0.json")
	require.Contains(t, reason, "rm ")
	require.NoError(t, l.mem.Delete(t.Context(), key))
	l.put("more.csv", "id,name\n7,x\n")
	s.restart()
	s.caughtUp()
	require.Len(t, l.rows("sales"), 3)
}

// TestOptionThatIsNotTakenAnyMore: an option that this version does not take ends the stream, which no retry would mend and for which no file is to blame.
func TestOptionThatIsNotTakenAnyMore(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve(func(c *Config) {
		c.Sources = map[string]source.OpenFunc{"files": func(ctx context.Context, spec source.Spec, env source.Env) (source.Source, error) {
			if env.Checkpoint != nil {
				return nil, &sourcefiles.ArgumentError{Err: errors.New("unknown option old")}
			}
			return files.Open(ctx, spec, env)
		}}
	})
	s.create(sales(onError(SkipFile, 0)))
	require.Equal(t, "stream lake.sales_in: open source 0: unknown option old. Change it with CREATE OR REPLACE STREAM, which keeps the checkpoint", s.failed())
}

// TestBadFileSaysWhatHelps: a file of a recorded range is not read once it has changed, so mending it in place is no way on.
func TestBadFileSaysWhatHelps(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,a\n")
	s := l.serve()
	s.create(sales(onError(Fail, 0)))
	s.caughtUp()
	l.put("b.csv", "id,name\nx,c\n")
	reason := s.failed()
	require.Contains(t, reason, "ON ERROR PERMISSIVE")
	require.Contains(t, reason, "under a new name")
	require.NotContains(t, reason, "mode =>")
	require.Equal(t, 1, strings.Count(reason, "SKIP FILE"))
}
