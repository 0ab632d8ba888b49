package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// burstFiles are renamed into the folder as fast as this process can.
const burstFiles = 10_000

// burstResult is what it took to take them in.
type burstResult struct {
	sent    time.Duration // until the last file was there
	visible usage         // until its row was, of the server
	commits int
}

// landingServer is a server with a folder that a stream reads into a table t of numbers and texts.
type landingServer struct {
	dir string
	*child
	db *sql.DB
}

// openLanding serves a new lake. clauses of the stream go before its AS.
func openLanding(bin, clauses string) (l landingServer, err error) {
	if l.dir, err = os.MkdirTemp("", "lakesql-bench-"); err != nil {
		return l, err
	}
	if err = os.Mkdir(filepath.Join(l.dir, "landing"), 0o755); err != nil {
		return l, err
	}
	if l.child, err = serve(bin, l.dir, "./lake"); err != nil {
		return l, err
	}
	if l.db, err = l.connect(); err != nil {
		return l, err
	}
	for _, s := range []string{
		"CREATE TABLE t (n INT, text VARCHAR(20))",
		"CREATE STREAM s INTO t WITH CHECKPOINT './lake/_checkpoints/t' " + clauses + " AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true, schema => 'n INT, text STRING')",
	} {
		if _, err := l.db.Exec(s); err != nil {
			return l, fmt.Errorf("%s: %w", s, err)
		}
	}
	return l, awaitIdle(l.db)
}

func (l landingServer) close() {
	if l.db != nil {
		_ = l.db.Close()
	}
	if l.child != nil {
		l.stop()
	}
	_ = os.RemoveAll(l.dir)
}

// dropFiles renames the files [from, to) into the folder.
func (l landingServer) dropFiles(from, to int) error {
	for n := from; n < to; n++ {
		if _, err := drop(l.dir, n); err != nil {
			return err
		}
	}
	return nil
}

// rowsVisible waits until the table has so many rows; it asks again after every.
func (l landingServer) rowsVisible(rows int, every time.Duration) error {
	for began, n := time.Now(), 0; ; time.Sleep(every) {
		if err := l.db.QueryRow("SELECT COUNT(*) FROM t").Scan(&n); err != nil {
			return err
		}
		if n == rows {
			return nil
		}
		if n > rows || time.Since(began) > 5*time.Minute {
			return fmt.Errorf("the table has %d rows instead of %d after %v", n, rows, time.Since(began))
		}
	}
}

// commits is how many versions the table has.
func (l landingServer) commits() (int, error) {
	names, err := filepath.Glob(filepath.Join(l.dir, "lake", "lake", "t", "_delta_log", "*.json"))
	return len(names), err
}

func measureBurst(bin string) (r burstResult, err error) {
	l, err := openLanding(bin, "TRIGGER EVERY 1 SECOND OPTIONS (maxFilesPerTrigger = 100000)")
	defer l.close()
	if err != nil {
		return r, err
	}
	before, err := l.commits()
	if err != nil {
		return r, err
	}
	r.visible, err = l.timed(func() error {
		began := time.Now()
		if err := l.dropFiles(0, burstFiles); err != nil {
			return err
		}
		r.sent = time.Since(began)
		return l.rowsVisible(burstFiles, pause)
	})
	if err != nil {
		return r, err
	}
	r.commits, err = l.commits()
	r.commits -= before
	return r, err
}

// burst writes its table.
func (p page) burst(b *strings.Builder) {
	r := p.bursts
	seconds := r.visible.Wall.Seconds()
	fmt.Fprintf(b, "## Small files\n\n`make bench BENCH='-suite %s'`: %d files of one row, renamed into the folder one after the other as fast as a client can, into a stream that has TRIGGER EVERY 1 SECOND.\n\n", burstName, burstFiles)
	fmt.Fprintf(b, "| | | goal |\n|---|---|---|\n")
	fmt.Fprintf(b, "| files that the client sent | %.0f a second | |\n", burstFiles/r.sent.Seconds())
	fmt.Fprintf(b, "| files whose rows were visible | %.0f a second | >= 1,000 |\n", burstFiles/seconds)
	fmt.Fprintf(b, "| commits | %.1f a second | <= 2 |\n", float64(r.commits)/seconds)
	fmt.Fprintf(b, "| the server's CPU | %.3f ms a file | |\n\n", r.visible.CPU.Seconds()*1e3/burstFiles)
}
