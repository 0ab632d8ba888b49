package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"time"
)

// race is how suites are measured: each query on lakesql and on DuckDB by turns, over the same files and with the same threads.
type race struct {
	data    string
	match   *regexp.Regexp // of the names of queries
	threads int
	runs    int           // of each engine, after one that is not counted
	limit   time.Duration // of one query
	explain bool          // only show the plans
	profile string        // the file for a CPU profile of lakesql's runs, which then run alone; empty: none
	log     func(string, ...any)
}

// lap is what one query cost.
type lap struct {
	query      suiteQuery
	path       string // what executed it: columns, rows, columns below rows, or the log's statistics
	lake, duck []usage
	failure    string // why it has no ratio, or a wrong answer
}

// ratio is lakesql's CPU time by DuckDB's, NaN where there is none.
func (l lap) ratio() float64 {
	if len(l.lake) == 0 || len(l.duck) == 0 {
		return math.NaN()
	}
	return float64(median(l.lake, cpu)) / float64(median(l.duck, cpu))
}

// patience is how long the runs of a query may take in all before it gets fewer runs.
const patience = 30 * time.Second

// run measures the queries of a suite.
func (r race) run(s suite) ([]lap, error) {
	if err := s.prepare(r.data, r.log); err != nil {
		return nil, err
	}
	queries, err := s.queries(r.match)
	if err != nil || len(queries) == 0 {
		return nil, err
	}
	runtime.GOMAXPROCS(r.threads)
	lake, err := openLake(r.data, r.limit)
	if err != nil {
		return nil, err
	}
	laps, err := r.measure(s, queries, lake)
	return laps, errors.Join(err, lake.close())
}

func (r race) measure(s suite, queries []suiteQuery, lake *lake) ([]lap, error) {
	if err := lake.use(s); err != nil {
		return nil, err
	}
	if r.explain {
		return nil, r.explainQueries(queries, lake)
	}
	if r.profile != "" {
		return nil, r.profileQueries(queries, lake)
	}
	duck, err := openDuck(r.threads)
	if err != nil {
		return nil, err
	}
	defer duck.close()
	if err := duck.use(r.data, s); err != nil {
		return nil, err
	}
	var laps []lap
	for _, q := range queries {
		l, err := r.lap(q, lake, duck)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", s.name, q.name, err)
		}
		r.log("%s", l.line())
		laps = append(laps, l)
	}
	return laps, nil
}

// lap runs one query on both engines by turns.
func (r race) lap(q suiteQuery, lake *lake, duck *duck) (lap, error) {
	ctx := context.Background()
	l := lap{query: q}
	want, err := duck.query(ctx, q.text)
	if err != nil {
		return l, err
	}
	if _, l.path, err = lake.explain(ctx, q.text); err != nil {
		l.failure = err.Error()
		return l, nil
	}
	began := time.Now()
	got, err := lake.query(ctx, q.text)
	if err != nil {
		l.failure = r.why(err)
		return l, nil
	}
	if l.failure = compare(got, want); l.failure != "" {
		l.failure = "wrong: " + l.failure
	}
	for n := 0; n < r.runs && (n == 0 || time.Since(began) < patience); n++ {
		runtime.GC() // what an engine left is not the other's to clear away
		u, err := timed(func() error { _, err := lake.query(ctx, q.text); return err })
		if err != nil {
			l.failure = r.why(err)
			return l, nil
		}
		l.lake = append(l.lake, u)
		runtime.GC()
		if u, err = timed(func() error { _, err := duck.query(ctx, q.text); return err }); err != nil {
			return l, err
		}
		l.duck = append(l.duck, u)
	}
	return l, nil
}

func (r race) why(err error) string {
	if isLate(err) {
		return fmt.Sprintf("not within %v", r.limit)
	}
	return err.Error()
}

// explainQueries prints the plans of lakesql.
func (r race) explainQueries(queries []suiteQuery, lake *lake) error {
	for _, q := range queries {
		plan, _, err := lake.explain(context.Background(), q.text)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		fmt.Printf("%s\n%s\n", q.name, plan)
	}
	return nil
}

// profileQueries runs lakesql alone.
func (r race) profileQueries(queries []suiteQuery, lake *lake) error {
	f, err := os.Create(r.profile)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for _, q := range queries {
		_, all, err := lake.repeat(q.text, r.runs)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		r.log("%-16s CPU %s, wall %s", q.name, milliseconds(median(all, cpu)), milliseconds(median(all, wall)))
	}
	return nil
}

// line is a lap for the terminal.
func (l lap) line() string {
	if l.failure != "" && len(l.lake) == 0 {
		return fmt.Sprintf("%-16s %-11s %s", l.query.name, l.path, l.failure)
	}
	return fmt.Sprintf("%-16s %-11s lakesql %8s  DuckDB %8s  ratio %5.2f  (wall %8s and %8s)  %s", l.query.name, l.path,
		milliseconds(median(l.lake, cpu)), milliseconds(median(l.duck, cpu)), l.ratio(), milliseconds(median(l.lake, wall)), milliseconds(median(l.duck, wall)), l.failure)
}

// geometricMean is that of the ratios that there are, and their number.
func geometricMean(laps []lap) (mean float64, n int) {
	sum := 0.0
	for _, l := range laps {
		if ratio := l.ratio(); !math.IsNaN(ratio) {
			sum += math.Log(ratio)
			n++
		}
	}
	return math.Exp(sum / float64(n)), n
}
