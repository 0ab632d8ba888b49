package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// page is what goes into docs/benchmarks.md.
type page struct {
	began   time.Time
	load    [2]float64 // the load average over a minute before anything was measured, and at the end
	threads int        // of the engines in races
	races   []raced
	// What is nil was not measured.
	spilled []spillLap
	sparked []sparkLap
	loaded  []ingested
	sent    *wireResult
	asked   *dashboardResult
	fresh   *freshnessResult
	bursts  *burstResult
	lasting *longResult
	known   *knownResult
	big     *bigResult
	logs    *logsResult
}

func loadAverage() (one float64, err error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("the load is taken from Linux' /proc: %w", err)
	}
	_, err = fmt.Sscan(string(text), &one)
	return one, err
}

// busy is the load average above which the page says that other work shared the machine: bench keeps one core busy, and at times two.
const busy = 2

func (p page) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nMade by `make bench` on %s, %s/%s, %d cores, %s; the load average was %.1f before and %.1f after.\n",
		p.began.UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), p.load[0], p.load[1])
	if max(p.load[0], p.load[1]) > busy {
		b.WriteString("Other work shared the machine: wall times are longer than on a quiet one, CPU times by less.\n")
	}
	b.WriteString("What misses its goal, and why: [misses.md](misses.md).\n\n")
	for _, r := range p.races {
		p.race(&b, r)
	}
	if p.spilled != nil {
		p.spill(&b)
	}
	if p.loaded != nil {
		p.ingest(&b)
	}
	if p.sparked != nil {
		p.spark(&b)
	}
	if p.sent != nil {
		p.wire(&b)
	}
	if p.asked != nil {
		p.dashboards(&b)
	}
	if p.fresh != nil {
		p.freshness(&b)
	}
	if p.bursts != nil {
		p.burst(&b)
	}
	if p.lasting != nil {
		p.longStream(&b)
	}
	if p.known != nil {
		p.knownFiles(&b)
	}
	if p.big != nil {
		p.bigFile(&b)
	}
	if p.logs != nil {
		p.tables(&b)
	}
	return b.String()
}

func (p page) freshness(b *strings.Builder) {
	f := p.fresh
	fmt.Fprintf(b, "## From a file renamed into the folder to its rows in a SELECT\n\n")
	fmt.Fprintf(b, "%d files, one every %v, on a quiet stream; a connection that stays open asks until it sees the new row,\n", f.files, f.every)
	fmt.Fprintf(b, "resting %v between questions. Every batch is durable (fsync of data, folder and log) before it is visible.\n\n", pause)
	fmt.Fprintf(b, "| | milliseconds | goal |\n|---|---|---|\n")
	for _, row := range []struct {
		name, goal string
		q          float64
	}{{"p50", "<= 25", 0.50}, {"p90", "", 0.90}, {"p99", "<= 150", 0.99}, {"max", "", 1}} {
		fmt.Fprintf(b, "| %s | %.1f | %s |\n", row.name, quantile(f.delays, row.q).Seconds()*1e3, row.goal)
	}
	fmt.Fprintf(b, "\nOne SELECT takes %.1f ms at the median, which is part of each number.\n\n", f.query.Seconds()*1e3)
}

func (p page) tables(b *strings.Builder) {
	fmt.Fprintf(b, "## Tables of many files and versions\n\n")
	fmt.Fprintf(b, "Each file is an action with statistics of three columns; there is no data behind them. What counts memory runs %d times, each in a process of\n", processes)
	fmt.Fprintf(b, "its own: memory is by how much the peak of the resident set (VmHWM) exceeds what was resident before. CPU time is user and system, of all\n")
	fmt.Fprintf(b, "threads. Times are medians, memory is the most of all runs.\n\n")
	fmt.Fprintf(b, "| | wall | CPU | memory | goal |\n|---|---|---|---|---|\n")
	for _, row := range p.logs.rows() {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", row.name, milliseconds(row.Wall), milliseconds(row.CPU), megabytes(row.Memory), row.goal)
	}
	short, long := p.logs.short, p.logs.long
	fmt.Fprintf(b, "\nA commit at version 10,000 takes %.2f times as long as one at version 100 (goal <= 1.2). Both tables got %d commits, by turns, each fsynced.\n",
		float64(long.Wall)/float64(short.Wall), commitsOfEach)
}

func milliseconds(d time.Duration) string {
	switch ms := d.Seconds() * 1e3; {
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	default:
		return fmt.Sprintf("%.0f ms", ms)
	}
}

// megabytes is empty where memory was not measured.
func megabytes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
