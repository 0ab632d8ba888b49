package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// freshnessResult holds, for each file, the time from its rename to the first SELECT that saw its row.
type freshnessResult struct {
	files  int
	every  time.Duration
	delays []time.Duration // ascending
	query  time.Duration   // median time of one SELECT
}

// quantile is that of times in ascending order.
func quantile(times []time.Duration, q float64) time.Duration {
	return times[min(int(q*float64(len(times))), len(times)-1)]
}

// pause is what the client rests between two questions: asking without one would take a core from the server.
const pause = time.Millisecond

func freshness(bin string, files int, every time.Duration) (freshnessResult, error) {
	dir, err := os.MkdirTemp("", "lakesql-bench-")
	if err != nil {
		return freshnessResult{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "landing"), 0o755); err != nil {
		return freshnessResult{}, err
	}
	server, err := serve(bin, dir, "./lake")
	if err != nil {
		return freshnessResult{}, err
	}
	defer server.stop()
	db, err := server.connect()
	if err != nil {
		return freshnessResult{}, err
	}
	defer db.Close()
	return dropAndAsk(db, dir, files, every)
}

func dropAndAsk(db *sql.DB, dir string, files int, every time.Duration) (freshnessResult, error) {
	for _, s := range []string{
		"CREATE TABLE t (n INT, text VARCHAR(20))",
		"CREATE STREAM s INTO t WITH CHECKPOINT './lake/_checkpoints/t' AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true)",
	} {
		if _, err := db.Exec(s); err != nil {
			return freshnessResult{}, fmt.Errorf("%s: %w", s, err)
		}
	}
	if err := awaitIdle(db); err != nil {
		return freshnessResult{}, err
	}
	r := freshnessResult{files: files, every: every}
	var queries []time.Duration
	next := time.Now()
	for n := 1; n <= files; n++ {
		time.Sleep(time.Until(next))
		next = next.Add(every)
		renamed, err := drop(dir, n)
		if err != nil {
			return r, err
		}
		for seen := 0; seen < n; {
			asked := time.Now()
			var newest sql.NullInt64
			if err := db.QueryRow("SELECT MAX(n) FROM t").Scan(&newest); err != nil {
				return r, err
			}
			queries = append(queries, time.Since(asked))
			seen = int(newest.Int64)
			if seen < n {
				time.Sleep(pause)
			}
			if time.Since(renamed) > time.Minute {
				return r, fmt.Errorf("file %d was not visible after a minute", n)
			}
		}
		r.delays = append(r.delays, time.Since(renamed))
	}
	slices.Sort(r.delays)
	slices.Sort(queries)
	r.query = queries[len(queries)/2]
	return r, nil
}

// awaitIdle waits until the stream has opened its source and watches the folder.
func awaitIdle(db *sql.DB) error {
	var state string
	var reason sql.NullString
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(pause) {
		if err := db.QueryRow("SELECT STATE, STATE_REASON FROM information_schema.STREAMS").Scan(&state, &reason); err != nil {
			return err
		}
		if state == "IDLE" {
			return nil
		}
	}
	return fmt.Errorf("the stream is %s after a minute: %s", state, reason.String)
}

// drop renames file n, one row of value n, into the folder, and returns the time before the rename.
func drop(dir string, n int) (time.Time, error) {
	tmp := filepath.Join(dir, "tmp.csv")
	if err := os.WriteFile(tmp, fmt.Appendf(nil, "n,text\n%d,row\n", n), 0o644); err != nil {
		return time.Time{}, err
	}
	before := time.Now()
	return before, os.Rename(tmp, filepath.Join(dir, "landing", fmt.Sprintf("f%05d.csv", n)))
}
