package main

import (
	"fmt"
	"math"
	"strings"
)

// raced is a suite and what it cost.
type raced struct {
	suite suite
	laps  []lap
	rows  []rowLap // empty: not measured
}

// race writes a suite's table.
func (p page) race(b *strings.Builder, r raced) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n", r.suite.title, r.suite.about)
	fmt.Fprintf(b, "`make bench BENCH='-suite %s'`: lakesql and DuckDB in one process, over the same files, each with %d threads, by turns; medians. The ratio is of CPU\n", r.suite.name, p.threads)
	fmt.Fprintf(b, "times, user and system: below 1, lakesql needs less. lakesql's are those of the whole server and of its client, over the wire. Answers are compared.\n\n")
	fmt.Fprintf(b, "| query | | executed on | DuckDB CPU | lakesql CPU | ratio | DuckDB wall | lakesql wall |\n|---|---|---|---|---|---|---|---|\n")
	worst := 0.0
	for _, l := range r.laps {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", l.query.name, l.query.title, l.path, l.cells())
		if ratio := l.ratio(); ratio > worst {
			worst = ratio
		}
	}
	mean, n := geometricMean(r.laps)
	if n > 0 {
		fmt.Fprintf(b, "\n%d of %d queries: geometric mean %.2f (goal <= 1.0), worst %.2f (goal <= 1.5).\n\n", n, len(r.laps), mean, worst)
	}
	if len(r.rows) > 0 {
		r.rowTable(b)
	}
}

// cells are the numbers of a lap's row.
func (l lap) cells() string {
	if math.IsNaN(l.ratio()) {
		return fmt.Sprintf(" | %s | | |", l.failure)
	}
	ratio := fmt.Sprintf("%.2f", l.ratio())
	if l.failure != "" {
		ratio += " " + l.failure
	}
	return fmt.Sprintf("%s | %s | %s | %s | %s", milliseconds(median(l.duck, cpu)), milliseconds(median(l.lake, cpu)), ratio,
		milliseconds(median(l.duck, wall)), milliseconds(median(l.lake, wall)))
}
