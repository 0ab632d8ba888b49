package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	spark "lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/store"
)

const (
	knownEntries = 10     // of the source log have them all
	knownLinks   = 50_000 // names of one file: file systems allow no more than some ten thousands
)

// knownResult is what it takes to start a stream that has read so many files, all of which are still in its folder.
type knownResult struct {
	files         int
	server, start usage // until it has caught up: of a server's start, and of START STREAM
	memory        int64 // bytes: the peak of the resident set
}

// measureKnown makes a stream of one file into one that has read so many, and starts it.
func measureKnown(bin string, files int) (r knownResult, err error) {
	r.files = files / knownEntries * knownEntries
	l, err := openLanding(bin, "")
	defer func() { l.close() }()
	if err != nil {
		return r, err
	}
	if err := errors.Join(l.dropFiles(0, 1), l.rowsVisible(1, longPause), l.db.Close()); err != nil {
		return r, err
	}
	l.stop()
	l.child, l.db = nil, nil
	if err := makeKnown(l.dir, r.files); err != nil {
		return r, fmt.Errorf("make the checkpoint: %w", err)
	}
	if r.server, err = timed(func() error {
		if l.child, err = serve(bin, l.dir, "./lake"); err != nil {
			return err
		}
		if l.db, err = l.connect(); err != nil {
			return err
		}
		return l.caughtUp()
	}); err != nil {
		return r, err
	}
	if r.server.CPU, err = l.cpu(); err != nil {
		return r, err
	}
	if _, err := l.db.Exec("STOP STREAM s"); err != nil {
		return r, err
	}
	if r.start, err = l.timed(func() error {
		if _, err := l.db.Exec("START STREAM s"); err != nil {
			return err
		}
		return l.caughtUp()
	}); err != nil {
		return r, err
	}
	if r.memory, err = residentPeak(strconv.Itoa(l.cmd.Process.Pid)); err != nil {
		return r, err
	}
	if err := l.dropFiles(1, 2); err != nil { // it works
		return r, err
	}
	return r, l.rowsVisible(2, longPause)
}

func (l landingServer) caughtUp() error {
	_, err := l.db.Exec("WAIT FOR STREAM s UNTIL CAUGHT UP TIMEOUT 600 SECONDS")
	return err
}

// makeKnown puts files into the folder of a stream that has run one batch, and lets its checkpoint and its table say that a second one has read them all.
func makeKnown(dir string, files int) error {
	ctx := context.Background()
	cpStore, err := store.Open(store.FileURI(filepath.Join(dir, "lake", "_checkpoints", "t")))
	if err != nil {
		return err
	}
	cp, err := spark.Open(ctx, cpStore)
	if err != nil {
		return err
	}
	log := cp.Source(0)
	var linked string
	for entry := range knownEntries {
		list := make([]spark.SourceEntry, files/knownEntries)
		for i := range list {
			n := entry*len(list) + i
			path := filepath.Join(dir, "landing", fmt.Sprintf("known-%010d.csv", n))
			if n%knownLinks == 0 {
				linked, err = path, os.WriteFile(path, []byte("n,text\n1,x\n"), 0o644)
			} else {
				err = os.Link(linked, path)
			}
			if err != nil {
				return err
			}
			list[i] = spark.SourceEntry{Path: store.FileURI(path), TimestampMs: 1788920696120}
		}
		if err := log.Add(ctx, int64(entry+1), list); err != nil {
			return err
		}
	}
	if err := cp.Offsets().Add(ctx, 1, spark.Offsets{Conf: spark.NewConf(), Sources: []string{fmt.Sprintf(`{"logOffset":%d}`, knownEntries)}}); err != nil {
		return err
	}
	tableStore, err := store.Open(store.FileURI(filepath.Join(dir, "lake", "lake", "t")))
	if err != nil {
		return err
	}
	table := delta.NewTable(tableStore)
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return err
	}
	tx := table.Begin(snap)
	tx.SetTxn(cp.ID(), 1)
	if _, err := tx.Commit(ctx, delta.Operation{Name: "STREAMING UPDATE"}); err != nil {
		return err
	}
	return errors.Join(cp.Commits().Add(ctx, 1, 0), log.Close())
}

// knownFiles writes its table.
func (p page) knownFiles(b *strings.Builder) {
	r := p.known
	fmt.Fprintf(b, "## A start that knows many files\n\n`make bench BENCH='-suite %s'`: a stream that has read %d files, all of which are still in its folder, until it has caught up.\n\n| | wall | CPU | goal |\n|---|---|---|---|\n", knownName, r.files)
	fmt.Fprintf(b, "| START STREAM | %s | %s | <= 2 s |\n| the start of the server | %s | %s | |\n\nThe peak of the resident set is %s.\n\n", milliseconds(r.start.Wall), milliseconds(r.start.CPU),
		milliseconds(r.server.Wall), milliseconds(r.server.CPU), megabytes(r.memory))
}
