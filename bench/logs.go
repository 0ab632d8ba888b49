package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"lakesql/delta"
)

// The tables that logs measures, by their folders.
const (
	millionTable  = "million"
	millionFiles  = 1_000_000
	longTable     = "long"
	longCommits   = 10_000
	shortTable    = "short"
	shortCommits  = 100
	countedTable  = "counted"
	countedFiles  = 100_000
	opensOfTables = 5   // of the long table, in one process
	processes     = 3   // that each measure the million files once
	commitsOfEach = 300 // of the short and the long table, by turns
)

// measurements are what a process of its own does, over the tables below dir. Each returns one usage or more.
var measurements = map[string]func(dir string) ([]usage, error){
	"make million": made(func(dir string) error { return makeWide(dir, millionTable, millionFiles) }),
	"make counted": made(func(dir string) error { return makeWide(dir, countedTable, countedFiles) }),
	"make long": made(func(dir string) error {
		if err := makeLong(dir, shortTable, shortCommits); err != nil {
			return err
		}
		return makeLong(dir, longTable, longCommits)
	}),
	"open million":       func(dir string) ([]usage, error) { return measureOpen(dir, millionTable, millionFiles, 1) },
	"open long":          func(dir string) ([]usage, error) { return measureOpen(dir, longTable, longCommits, opensOfTables) },
	"checkpoint million": measureCheckpoint,
	"commit":             measureCommits,
}

func made(fn func(dir string) error) func(dir string) ([]usage, error) {
	return func(dir string) ([]usage, error) { return nil, fn(dir) }
}

// measureOpen opens a table for the first time, as often as times says.
func measureOpen(dir, name string, files, times int) ([]usage, error) {
	st, err := openStore(dir, name)
	if err != nil {
		return nil, err
	}
	var out []usage
	for range times {
		var s *delta.Snapshot
		u, err := measure(func() (err error) {
			s, err = delta.NewTable(st).Snapshot(context.Background())
			return err
		})
		if err != nil {
			return nil, err
		}
		if s.NumFiles() != files {
			return nil, fmt.Errorf("%s has %d files instead of %d", name, s.NumFiles(), files)
		}
		out = append(out, u)
	}
	return out, nil
}

// measureCheckpoint writes a checkpoint of the million files, beside the snapshot that the table holds.
func measureCheckpoint(dir string) ([]usage, error) {
	ctx := context.Background()
	st, err := openStore(dir, millionTable)
	if err != nil {
		return nil, err
	}
	table := delta.NewTable(st)
	s, err := table.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	x := table.Begin(s)
	for f := range s.Files() { // one file goes for one that comes: it stays a million
		x.Remove(f)
		break
	}
	x.Add(fileAt(millionFiles + int(s.Version())))
	if _, err := x.Commit(ctx, delta.Operation{Name: "WRITE"}); err != nil {
		return nil, err
	}
	u, err := measure(func() error { return checkpoint(ctx, table) })
	runtime.KeepAlive(table)
	return []usage{u}, err
}

// measureCommits commits one file to the short and to the long table, by turns, and after each commit another handle takes it in. The usages
// are those of a commit to the short table, its refresh, a commit to the long table, its refresh, and so on.
func measureCommits(dir string) ([]usage, error) {
	ctx := context.Background()
	var steps []func(i int) error
	for _, name := range []string{shortTable, longTable} {
		st, err := openStore(dir, name)
		if err != nil {
			return nil, err
		}
		writer, reader := delta.NewTable(st), delta.NewTable(st)
		refresh := func(int) error {
			_, err := reader.Snapshot(ctx)
			return err
		}
		if err := errors.Join(appendFile(ctx, writer, 0), refresh(0)); err != nil {
			return nil, err
		}
		steps = append(steps, func(i int) error { return appendFile(ctx, writer, i) }, refresh)
	}
	var out []usage
	for i := range commitsOfEach {
		for _, step := range steps {
			u, err := timed(func() error { return step(longCommits + 1 + i) })
			if err != nil {
				return nil, err
			}
			out = append(out, u)
		}
	}
	return out, nil
}

// logsResult is what the page says of tables of many files and versions.
type logsResult struct {
	open, checkpoint, replay  usage
	answers                   []answer
	short, long               usage // a commit to the table of that name
	shortRefresh, longRefresh usage // what another handle pays for it
}

// measureLogs makes the tables in a folder of their own and measures.
func measureLogs(bin string) (r logsResult, err error) {
	dir, err := os.MkdirTemp("", "lakesql-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"make million", "make counted", "make long"} {
		if _, err := inProcess(name, dir); err != nil {
			return r, err
		}
	}
	if r.open, err = worst("open million", dir); err != nil {
		return r, err
	}
	if r.checkpoint, err = worst("checkpoint million", dir); err != nil {
		return r, err
	}
	replays, err := inProcess("open long", dir)
	if err != nil {
		return r, err
	}
	r.replay = usage{Wall: median(replays, wall), CPU: median(replays, cpu)}
	if r.answers, err = countFromStatistics(bin, dir); err != nil {
		return r, err
	}
	commits, err := inProcess("commit", dir)
	if err != nil {
		return r, err
	}
	turns := []*usage{&r.short, &r.shortRefresh, &r.long, &r.longRefresh}
	for i, of := range turns {
		var own []usage
		for at := i; at < len(commits); at += len(turns) {
			own = append(own, commits[at])
		}
		*of = usage{Wall: median(own, wall), CPU: median(own, cpu)}
	}
	return r, nil
}

// worst does a measurement in several processes: the medians of the times, and the most memory.
func worst(name, dir string) (usage, error) {
	var all []usage
	for range processes {
		found, err := inProcess(name, dir)
		if err != nil {
			return usage{}, err
		}
		all = append(all, found...)
	}
	out := usage{Wall: median(all, wall), CPU: median(all, cpu)}
	for _, u := range all {
		out.Memory = max(out.Memory, u.Memory)
	}
	return out, nil
}

// logsRow is one line of the page's table.
type logsRow struct {
	name, goal string
	usage
}

func (r logsResult) rows() []logsRow {
	out := []logsRow{
		{"open 1,000,000 files from a checkpoint", "<= 1 s and <= 250 MB", r.open},
		{"open 10,000 commits without a checkpoint", "<= 150 ms", r.replay},
		{"write a checkpoint of 1,000,000 files", "<= 200 MB", r.checkpoint},
	}
	for _, a := range r.answers {
		out = append(out, logsRow{fmt.Sprintf("`%s` of 100,000 files, over the wire", a.query), "<= 10 ms", a.then}, logsRow{"the same, the first time: the table is opened", "", a.first})
	}
	return append(out,
		logsRow{"commit of one file at version 100", "", r.short},
		logsRow{"commit of one file at version 10,000", "<= 1.2 times that at version 100", r.long},
		logsRow{"take in one commit of another at version 100", "", r.shortRefresh},
		logsRow{"take in one commit of another at version 10,000", "", r.longRefresh})
}
