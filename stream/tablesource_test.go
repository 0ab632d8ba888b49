package stream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/store"
	"lakesql/stream/source"
	"lakesql/stream/source/deltatable"
	"lakesql/stream/source/files"
)

// tableCompiler understands SELECT * over the folder of a table, "table folder", and what compilerFake does.
type tableCompiler struct{ compilerFake }

func (c tableCompiler) Sources(ctx context.Context, d Definition) ([]source.Spec, error) {
	folder, ok := strings.CutPrefix(d.SelectSQL, "table ")
	if !ok {
		return c.compilerFake.Sources(ctx, d)
	}
	folder, options, _ := strings.Cut(folder, " ")
	spec := source.Spec{Kind: "delta", Path: folder, Table: true, Options: map[string]string{}}
	if options != "" {
		name, value, _ := strings.Cut(options, "=")
		spec.Options[name] = value
	}
	return []source.Spec{spec}, nil
}

// overTables makes a server one whose streams may read tables. Each opens a handle of its own.
func overTables(c *Config) {
	open := c.Open
	tables := func(uri string) (*delta.Table, error) {
		st, err := open(uri)
		return delta.NewTable(st), err
	}
	c.Compiler = tableCompiler{}
	c.Sources = map[string]source.OpenFunc{"files": files.Open, "delta": deltatable.Opener(tables, nil)}
}

// ofTable reads lake.input, a table.
func ofTable(d *Definition) { d.SelectSQL = "table file:///lake/tables/input" }

// inputTable is a handle on it.
func (l *lake) inputTable() *delta.Table {
	st := store.Sub(l.mem, "tables/input")
	require.NoError(l.t, st.(store.RootMaker).MakeRoot(l.t.Context()))
	return delta.NewTable(st)
}

// appendInput commits one file for each id, and makes the table first.
func (l *lake) appendInput(ids ...int) (want []string) {
	l.t.Helper()
	table := l.inputTable()
	snap, err := currentSnapshot(l.t.Context(), table)
	require.NoError(l.t, err)
	if snap == nil {
		meta, err := delta.NewMetadata(salesSchema, nil, nil)
		require.NoError(l.t, err)
		tx := table.Begin(nil)
		tx.SetMetadata(meta)
		_, err = tx.Commit(l.t.Context(), delta.Operation{Name: "CREATE TABLE"})
		require.NoError(l.t, err)
		snap, err = table.Snapshot(l.t.Context())
		require.NoError(l.t, err)
	}
	tx := table.Begin(snap)
	for _, id := range ids {
		w, err := delta.NewFileWriter(table.Store(), snap, snap.Metadata(), delta.FileWriterOptions{})
		require.NoError(l.t, err)
		b := batch.NewBuilder(salesSchema)
		require.NoError(l.t, b.AppendRow(int32(id), "n"))
		require.NoError(l.t, w.Write(l.t.Context(), b.Finish()))
		adds, err := w.Close(l.t.Context())
		require.NoError(l.t, err)
		tx.Add(adds...)
		want = append(want, fmt.Sprintf("%d|n", id))
	}
	_, err = tx.Commit(l.t.Context(), delta.Operation{Name: "WRITE"})
	require.NoError(l.t, err)
	slices.Sort(want)
	return want
}

// TestLatestSurvivesACrash: rows that came between the first start and the first batch are there, whatever crashed.
func TestLatestSurvivesACrash(t *testing.T) {
	l := newLake(t)
	l.appendInput(1)
	s := l.serve(overTables)
	s.create(sales(func(d *Definition) { d.SelectSQL = "table file:///lake/tables/input startingVersion=latest" }))
	s.caughtUp()
	require.NoError(t, s.Close())
	want := l.appendInput(2)
	for n := 1; ; n++ {
		from := l.crashed()
		crashed := crash(from, "after", n, func(s *server) error { return s.Start(t.Context()) }, overTables)
		after := from.crashed()
		all := append(after.appendInput(3), want...)
		slices.Sort(all)
		s := after.serve(overTables)
		require.NoError(t, s.Start(t.Context()))
		s.caughtUp()
		require.Equal(t, all, after.rows("sales"), "operation %d", n)
		require.NoError(t, s.Close())
		if !crashed {
			require.Greater(t, n, 5)
			return
		}
	}
}

func TestPlacesOfTables(t *testing.T) {
	l := newLake(t)
	l.appendInput(1)
	s := l.serve(overTables)
	at := func(checkpoint, target string) error {
		_, err := s.Create(t.Context(), sales(ofTable, availableNow, func(d *Definition) {
			d.Checkpoint, d.Target.Table, d.Paused = "file:///lake/"+checkpoint, target, true
		}), CreateOptions{})
		return err
	}
	require.ErrorContains(t, at("checkpoints/x", "input"), "would read what it writes")
	require.ErrorContains(t, at("tables/input/cp", "sales"), "lies inside the source")
	require.ErrorContains(t, at("tables/input/_delta_log", "sales"), "lies inside the source")
	require.ErrorContains(t, at("tables", "sales"), "inside the checkpoint")
	require.NoError(t, at("tables/input/_checkpoints/x", "sales"))
}
