package stream

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/store"
	"lakesql/store/faultstore"
	"lakesql/stream/source"
	"lakesql/stream/source/files"
	"lakesql/vector"
)

func TestStopAndStartOutlastTheServer(t *testing.T) {
	l := newLake(t)
	want := l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	s.stop()
	require.Equal(t, Paused, s.state().State)
	l.put("more.csv", "id,name\n7,x\n")
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "it may be called twice")

	s = l.serve()
	require.NoError(t, s.Start(t.Context()))
	require.Equal(t, Paused, s.state().State)
	err := s.WaitFor(t.Context(), "lake", "sales_in", Until{}, patience)
	require.Equal(t, KindWrongState, KindOf(err))
	require.ErrorContains(t, err, "START STREAM lake.sales_in")
	s.restart()
	s.caughtUp()
	require.Equal(t, append(want, "7|x"), l.rows("sales"))
	require.NoError(t, s.Close())

	s = l.serve()
	require.NoError(t, s.Start(t.Context()))
	s.caughtUp()
	require.Equal(t, append(want, "7|x"), l.rows("sales"))
	require.EqualValues(t, 1, s.state().LastBatchID)
	require.NoError(t, s.WaitFor(t.Context(), "lake", "sales_in", Until{Batch: new(int64(1))}, patience))
}

func TestKillStopAllAndDrop(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.create(sales(func(d *Definition) { d.Name, d.Checkpoint = "other", "file:///lake/checkpoints/other" }))
	found, err := s.Kill(t.Context(), s.state().ProcessID)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, Paused, s.state().State)
	found, err = s.Kill(t.Context(), 17)
	require.NoError(t, err)
	require.False(t, found)
	require.NoError(t, s.StopAll(t.Context()))
	for _, st := range s.List() {
		require.Equal(t, Paused, st.State)
	}
	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", true))
	require.Empty(t, l.keys("checkpoints/sales/"))
	require.NotEmpty(t, l.keys("checkpoints/other/"))
	require.Len(t, s.List(), 1)
	require.Equal(t, KindNotFound, KindOf(s.StopStream(t.Context(), "lake", "sales_in")))
}

func TestFinishedStaysFinished(t *testing.T) {
	l := newLake(t)
	want := l.input(2)
	s := l.serve()
	s.create(sales(availableNow))
	s.caughtUp()
	s.finished()
	require.NoError(t, s.Close())
	l.put("more.csv", "id,name\n7,x\n")
	s = l.serve()
	require.NoError(t, s.Start(t.Context()))
	require.Equal(t, Finished, s.state().State)
	s.caughtUp()
	require.Equal(t, want, l.rows("sales"))
	s.restart()
	s.finished()
	require.Equal(t, append(want, "7|x"), l.rows("sales"))
}

func TestOnceTakesAllInOneBatch(t *testing.T) {
	l := newLake(t)
	want := l.input(5)
	s := l.serve()
	s.create(sales(oneFileABatch, func(d *Definition) { d.Trigger.Kind = Once }))
	s.finished()
	require.Equal(t, want, l.rows("sales"))
	require.Zero(t, l.version("sales"))
}

func TestRename(t *testing.T) {
	l := newLake(t)
	want := l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	before := l.crashed()
	require.NoError(t, s.Rename(t.Context(), "lake", "sales_in", "shop"))
	l.put("more.csv", "id,name\n7,x\n")
	require.NoError(t, s.WaitFor(t.Context(), "lake", "shop", Until{}, patience))
	require.Equal(t, append(want, "7|x"), l.rows("sales"))
	require.Equal(t, []string{"lake.shop"}, l.keys("catalog/"))
	require.Equal(t, KindNotFound, KindOf(s.StopStream(t.Context(), "lake", "sales_in")))

	// A crash between the two changes of the catalog.
	crashing := before.serve()
	require.NoError(t, crashing.Start(t.Context()))
	crashing.faults.Add(faultstore.Rule{Match: faultstore.On(faultstore.Delete, "catalog/"), Before: faultstore.Fail(errors.New("crash"))})
	require.Error(t, crashing.Rename(t.Context(), "lake", "sales_in", "shop"))
	require.NoError(t, crashing.Close())
	after := before.serve()
	require.NoError(t, after.Start(t.Context()))
	require.Equal(t, []string{"lake.shop"}, before.keys("catalog/"))
	require.Len(t, after.List(), 1)
}

func TestReplaceKeepsTheCheckpoint(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	id := s.state().Definition.ID
	replace := func(change func(*Definition)) error {
		_, err := s.Create(t.Context(), sales(change), CreateOptions{OrReplace: true})
		return err
	}
	require.NoError(t, replace(func(d *Definition) { d.Comment, d.OnError.Mode = "changed", SkipRow }))
	require.Equal(t, id, s.state().Definition.ID)
	require.Equal(t, "changed", s.state().Definition.Comment)
	require.ErrorContains(t, replace(func(d *Definition) { d.Target.Table = "other" }), "another target")
	require.ErrorContains(t, replace(func(d *Definition) { d.SelectSQL = "file:///lake/other" }), "another source")
	require.ErrorContains(t, replace(func(d *Definition) { d.SelectSQL += " + file:///lake/other" }), "another number of sources")
	require.ErrorContains(t, replace(func(d *Definition) { d.Checkpoint += "2" }), "another checkpoint")
	l.put("more.csv", "id,name\n7,x\n")
	s.caughtUp()
	require.Equal(t, []string{"0|a", "1|b", "7|x"}, l.rows("sales"))
	_, err := s.Create(t.Context(), sales(), CreateOptions{OrReplace: true, IfNotExists: true})
	require.Equal(t, KindInvalid, KindOf(err))
}

// pickyCompiler refuses a SELECT that streams had before.
type pickyCompiler struct{ compilerFake }

func (c pickyCompiler) Sources(ctx context.Context, d Definition) ([]source.Spec, error) {
	if strings.HasPrefix(d.SelectSQL, "old ") {
		return nil, errors.New("refused now")
	}
	return c.compilerFake.Sources(ctx, d)
}

// TestReplaceOfASelectThatIsRefusedNow: a stream whose SELECT this version does not take goes on with another one behind DROP STREAM and CREATE STREAM.
func TestReplaceOfASelectThatIsRefusedNow(t *testing.T) {
	l := newLake(t)
	want := l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	d := s.state().Definition
	require.NoError(t, s.Close())
	d.SelectSQL = "old " + d.SelectSQL
	require.NoError(t, catalogFake{l.mem}.Put(t.Context(), d))
	s = l.serve(func(c *Config) { c.Compiler = pickyCompiler{} })
	require.NoError(t, s.Start(t.Context()))
	require.Contains(t, s.failed(), "refused now")
	_, err := s.Create(t.Context(), sales(), CreateOptions{OrReplace: true})
	require.ErrorContains(t, err, "refused now. Type DROP STREAM lake.sales_in, which keeps the checkpoint")
	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", false))
	s.create(sales())
	l.put("more.csv", "id,name\n7,x\n")
	s.caughtUp()
	require.Equal(t, append(want, "7|x"), l.rows("sales"))
}

func TestSetOptionsAndTrigger(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	s.create(sales())
	require.NoError(t, s.SetOptions(t.Context(), "lake", "sales_in", map[string]string{"cloudFiles.maxFilesPerTrigger": "2"}))
	require.Equal(t, map[string]string{"cloudFiles.maxFilesPerTrigger": "2"}, s.state().Definition.Options)
	require.NoError(t, s.SetOptions(t.Context(), "lake", "sales_in", map[string]string{"MAXFILESPERTRIGGER": "3", "mergeSchema": "True"}))
	require.Equal(t, map[string]string{"MAXFILESPERTRIGGER": "3", "mergeSchema": "True"}, s.state().Definition.Options, "in place of the one of that name")
	for options, refused := range map[[2]string]string{
		{"maxFilesPerTrigger", "a"}: "option maxFilesPerTrigger = 'a': give a whole number from 1 on", {"maxOffsetsPerTrigger", "0"}: "give a whole number from 1 on",
		{"mergeSchema", "maybe"}: "option mergeSchema = 'maybe': give true or false", {"maxBytesPerTrigger", "1 parsec"}: "give a number of bytes",
	} {
		require.ErrorContains(t, s.SetOptions(t.Context(), "lake", "sales_in", map[string]string{options[0]: options[1]}), refused)
	}
	require.ErrorContains(t, s.SetOptions(t.Context(), "lake", "sales_in", map[string]string{"maxFilesPerTrigger": "1", "cloudFiles.maxFilesPerTrigger": "2"}), "is given twice")
	require.Error(t, s.SetOptions(t.Context(), "lake", "sales_in", map[string]string{"what": "2"}))
	require.ErrorContains(t, s.SetOptions(t.Context(), "lake", "sales_in", map[string]string{"failOnDataLoss": "false"}), "it is for kafka and delta")
	require.NoError(t, s.SetTrigger(t.Context(), "lake", "sales_in", Trigger{Kind: AvailableNow}))
	s.finished()
}

// TestTwoServers runs one stream in two servers on one lake: one holds the lease, the other waits; when the first is gone, the
// second goes on.
func TestTwoServers(t *testing.T) {
	l := newLake(t)
	want := l.input(1)
	first := l.serve()
	first.create(sales())
	first.caughtUp()
	second := l.serve(func(c *Config) { c.Owner = "second" })
	require.NoError(t, second.Start(t.Context()))
	require.Eventually(t, func() bool { return second.state().State == Retrying }, patience, time.Millisecond)
	require.Contains(t, second.state().Reason, "in use by test")
	l.put("more.csv", "id,name\n7,x\n")
	first.caughtUp()
	require.NoError(t, first.Close())
	second.restart()
	second.caughtUp()
	require.Equal(t, append(want, "7|x"), l.rows("sales"))
	require.EqualValues(t, 1, l.version("sales"))
}

// TestLateWriterLosesTheFirstBatch stops a server at its first commit, lets another program make the table with that batch,
// and lets the first go on: it loses, and finds the batch done.
func TestLateWriterLosesTheFirstBatch(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales(func(d *Definition) { d.Paused = true }))
	id := s.state().Definition.ID
	s.faults.Add(faultstore.Rule{Match: salesCommit, Nth: 1,
		Before: func(c context.Context, _ faultstore.Op) error { return commitAs(c, l, id, 0) }})
	s.restart()
	s.caughtUp()
	require.Empty(t, l.rows("sales"), "the other program committed the batch, without rows")
	require.Zero(t, l.version("sales"))
	require.Contains(t, s.state().LastError, "version 0 won")
}

// salesCommit matches the put of a commit of the target. The log's checksums are put beside them, at times of their own.
func salesCommit(op faultstore.Op) bool {
	return op.Kind == faultstore.PutIfAbsent && strings.HasPrefix(op.Key, "tables/sales/_delta_log/") && strings.HasSuffix(op.Key, ".json")
}

// commitAs commits a batch without rows in the name of a stream, as another program would.
func commitAs(c context.Context, l *lake, id string, batchID int64) error {
	t := delta.NewTable(store.Sub(l.mem, "tables/sales"))
	snap, err := currentSnapshot(c, t)
	if err != nil {
		return err
	}
	tx := t.Begin(snap)
	if snap == nil {
		meta, err := delta.NewMetadata(salesSchema, nil, nil)
		if err != nil {
			return err
		}
		tx.SetMetadata(meta)
	}
	tx.SetTxn(id, batchID)
	_, err = tx.Commit(c, delta.Operation{Name: "STREAMING UPDATE"})
	return err
}

func TestLateWriterLosesLaterBatches(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	id := s.state().Definition.ID
	s.faults.Add(faultstore.Rule{Match: salesCommit, Nth: 1,
		Before: func(c context.Context, _ faultstore.Op) error { return commitAs(c, l, id, 1) }})
	l.put("more.csv", "id,name\n7,x\n")
	reason := s.failed()
	require.Contains(t, reason, "CONCURRENT_STREAM_LOG_UPDATE")
	require.Contains(t, reason, "START STREAM lake.sales_in")
	require.Equal(t, KindStreamFailed, KindOf(s.WaitFor(t.Context(), "lake", "sales_in", Until{}, patience)))
	require.EqualValues(t, 1, l.version("sales"))
}

func TestPanicIsTheStreamsError(t *testing.T) {
	l := newLake(t)
	s := l.serve(func(c *Config) {
		c.Sources = map[string]source.OpenFunc{"files": func(c context.Context, spec source.Spec, env source.Env) (source.Source, error) {
			if env.Checkpoint != nil {
				panic("a fault")
			}
			return files.Open(c, spec, env)
		}}
	})
	s.create(sales())
	require.Contains(t, s.failed(), "internal fault in the stream: a fault")
}

// brokenPlan fails on the first row, as a SELECT that divides by zero in strict mode does.
type brokenPlan struct{ planFake }

type brokenRows struct{ vector.Operator }

func (brokenRows) Next(context.Context) (*batch.Batch, error) {
	return nil, errors.New("division by zero")
}

func (p brokenPlan) Run(c context.Context, in []vector.Operator, at time.Time, bad func([]source.RowError)) (vector.Operator, error) {
	rows, err := p.planFake.Run(c, in, at, bad)
	return brokenRows{rows}, err
}

type brokenCompiler struct{ compilerFake }

func (brokenCompiler) Compile(_ context.Context, _ Definition, in []*batch.Schema) (Plan, error) {
	return brokenPlan{planFake{in[0]}}, nil
}

func TestSelectThatFailsOnARow(t *testing.T) {
	l := newLake(t)
	want := l.input(1)
	s := l.serve(func(c *Config) { c.Compiler = brokenCompiler{} })
	s.create(sales())
	require.Contains(t, s.failed(), "the SELECT fails on a row: division by zero")
	require.NoError(t, s.Close())
	s = l.serve()
	require.NoError(t, s.Start(t.Context()))
	s.caughtUp()
	require.Equal(t, want, l.rows("sales"))
	require.Zero(t, s.state().Restarts)
}

func TestExplainWritesNothing(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	e, err := s.Explain(t.Context(), sales())
	require.NoError(t, err)
	require.Equal(t, "decided when the first file is there", e.TargetAction)
	l.input(2)
	e, err = s.Explain(t.Context(), sales())
	require.NoError(t, err)
	require.Equal(t, []string{"FileStreamSource[file:/lake/landing]"}, e.Sources)
	require.Equal(t, []ColumnPlan{{"id", "integer", "create"}, {"name", "string", "create"}}, e.Schema)
	require.Contains(t, e.TargetAction, "lake.sales is created by the first batch")
	require.Contains(t, e.Checkpoint, "made new at file:///lake/checkpoints/sales")
	require.EqualValues(t, 2, e.BacklogFiles)
	require.Empty(t, s.faults.Log(faultstore.Durable...))

	s.create(sales())
	s.caughtUp()
	require.NoError(t, s.Drop(t.Context(), "lake", "sales_in", false))
	e, err = s.Explain(t.Context(), sales())
	require.NoError(t, err)
	require.Regexp(t, "continued: .* behind batch 0", e.Checkpoint)
	require.True(t, e.TargetExists)

	l.put("bad.csv", "id,name\nx,y\n")
	e, err = s.Explain(t.Context(), sales())
	require.NoError(t, err, "by the columns that the checkpoint keeps, not by those that the files would tell today")
	require.Equal(t, []ColumnPlan{{"id", "integer", "write"}, {"name", "string", "write"}}, e.Schema)
}

func TestWaitTimesOutWithAReason(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales(func(d *Definition) { d.Paused = true }))
	s.firstBackoff = time.Hour
	s.faults.Add(faultstore.Rule{Match: faultstore.On(faultstore.PutIfAbsent, "tables/"), Before: faultstore.Fail(errors.New("the disk is on fire"))})
	s.restart()
	require.Eventually(t, func() bool { return s.state().State == Retrying }, patience, time.Millisecond) // and so it stays, for an hour
	err := s.WaitFor(t.Context(), "lake", "sales_in", Until{}, time.Millisecond)
	require.Equal(t, KindTimeout, KindOf(err))
	require.ErrorContains(t, err, "RETRYING")
	require.ErrorContains(t, err, "the disk is on fire")
}
