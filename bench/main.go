// Command bench measures lakesql and writes what it finds to a Markdown page. It is a module of its own, so that the
// peers it will be measured against are no dependencies of lakesql.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

func main() {
	bin := flag.String("bin", "../bin/lakesql", "the lakesql binary to measure")
	out := flag.String("out", "", "the page to write; empty: only print")
	files := flag.Int("files", 200, "freshness: how many files")
	every := flag.Duration("every", 300*time.Millisecond, "freshness: one file each")
	flag.Parse()
	if err := run(*bin, *out, *files, *every); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(bin, out string, files int, every time.Duration) error {
	fresh, err := freshness(bin, files, every)
	if err != nil {
		return fmt.Errorf("freshness: %w", err)
	}
	page := report(fresh)
	fmt.Print(page)
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(page), 0o644)
}

func report(f freshnessResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nMade by `make bench` on %s, %s/%s, %d cores, %s.\n\n",
		time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(&b, "## From a file renamed into the folder to its rows in a SELECT\n\n")
	fmt.Fprintf(&b, "%d files, one every %v, on a quiet stream; a connection that stays open asks until it sees the new row,\n", f.files, f.every)
	fmt.Fprintf(&b, "resting %v between questions. Every batch is durable (fsync of data, folder and log) before it is visible.\n\n", pause)
	fmt.Fprintf(&b, "| | milliseconds | goal |\n|---|---|---|\n")
	for _, row := range []struct {
		name, goal string
		q          float64
	}{{"p50", "<= 25", 0.50}, {"p90", "", 0.90}, {"p99", "<= 150", 0.99}, {"max", "", 1}} {
		fmt.Fprintf(&b, "| %s | %.1f | %s |\n", row.name, f.quantile(row.q).Seconds()*1e3, row.goal)
	}
	fmt.Fprintf(&b, "\nOne SELECT takes %.1f ms at the median, which is part of each number.\n", f.query.Seconds()*1e3)
	return b.String()
}
