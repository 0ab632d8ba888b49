package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"
)

// rowLap is what one query cost over the sample: on columns, and on go-mysql-server's rows.
type rowLap struct {
	query         suiteQuery
	columns, rows usage
	failure       string // why it has no ratio, or that the answers differ
}

// ratio is the rows' CPU time by the columns'.
func (l rowLap) ratio() float64 {
	if l.rows.CPU == 0 {
		return math.NaN()
	}
	return float64(l.rows.CPU) / float64(l.columns.CPU)
}

const (
	rowRuns  = 3 // of a query on columns
	rowLimit = 10 * time.Second
)

// runRows measures the queries of a suite on lakesql's columns and on its rows, over the sample.
func (r race) runRows(s suite) ([]rowLap, error) {
	s, r.limit = s.sampled(), rowLimit
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
	laps, err := r.measureRows(s, queries, lake)
	return laps, errors.Join(err, lake.close())
}

func (r race) measureRows(s suite, queries []suiteQuery, lake *lake) ([]rowLap, error) {
	if err := lake.use(s); err != nil {
		return nil, err
	}
	var laps []rowLap
	for _, q := range queries {
		l, err := r.rowLap(q, lake)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", s.database(), q.name, err)
		}
		r.log("%s", l.line())
		laps = append(laps, l)
	}
	return laps, nil
}

func (r race) rowLap(q suiteQuery, lake *lake) (l rowLap, err error) {
	l.query = q
	if err := lake.vector(true); err != nil {
		return l, err
	}
	want, columns, err := lake.repeat(q.text, rowRuns)
	if err != nil {
		l.failure = "on columns: " + r.why(err)
		return l, nil
	}
	l.columns = usage{CPU: median(columns, cpu), Wall: median(columns, wall)}
	if err := lake.vector(false); err != nil {
		return l, err
	}
	runtime.GC()
	var got result
	rows, err := timed(func() (err error) { got, err = lake.query(context.Background(), q.text); return err })
	if err != nil {
		l.failure = r.why(err)
		return l, nil
	}
	l.rows = rows
	if l.failure = compare(got, want); l.failure != "" {
		l.failure = "the answers differ: " + l.failure
	}
	return l, nil
}

// line is a lap for the terminal.
func (l rowLap) line() string {
	return fmt.Sprintf("%-16s columns %8s  rows %8s  ratio %6.1f  %s", l.query.name, milliseconds(l.columns.CPU), milliseconds(l.rows.CPU), l.ratio(), l.failure)
}

// rowTable writes the table of a suite's queries on columns and on rows.
func (r raced) rowTable(b *strings.Builder) {
	fmt.Fprintf(b, "The same queries over %g of the data, executed on columns and, `SET lakesql_vector = OFF`, on go-mysql-server's rows, for %v at most. The ratio is of CPU times:\n", r.suite.sample, rowLimit)
	fmt.Fprintf(b, "how many times as much rows need.\n\n| query | columns CPU | rows CPU | ratio |\n|---|---|---|---|\n")
	for _, l := range r.rows {
		if math.IsNaN(l.ratio()) {
			fmt.Fprintf(b, "| %s | %s | %s | |\n", l.query.name, milliseconds(l.columns.CPU), l.failure)
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %.1f %s |\n", l.query.name, milliseconds(l.columns.CPU), milliseconds(l.rows.CPU), l.ratio(), l.failure)
	}
	b.WriteString("\n")
}
