// Command bench measures lakesql and writes what it finds to a Markdown page. It is a module of its own, so that the
// peers it will be measured against are no dependencies of lakesql.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	bin := flag.String("bin", "../bin/lakesql", "the lakesql binary to measure")
	out := flag.String("out", "", "the page to write; empty: only print")
	files := flag.Int("files", 200, "freshness: how many files")
	every := flag.Duration("every", 300*time.Millisecond, "freshness: one file each")
	name := flag.String("measure", "", "do this measurement alone, in this process, and print it as JSON; what bench itself starts")
	tables := flag.String("tables", "", "the folder of the tables that -measure is over")
	flag.Parse()
	err := error(nil)
	if *name != "" {
		err = measureHere(*name, *tables)
	} else {
		err = run(*bin, *out, *files, *every)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(bin, out string, files int, every time.Duration) error {
	p := page{began: time.Now()}
	var err error
	if p.load[0], err = loadAverage(); err != nil {
		return err
	}
	if p.fresh, err = freshness(bin, files, every); err != nil {
		return fmt.Errorf("freshness: %w", err)
	}
	if p.logs, err = measureLogs(bin); err != nil {
		return fmt.Errorf("logs: %w", err)
	}
	if p.load[1], err = loadAverage(); err != nil {
		return err
	}
	text := p.text()
	fmt.Print(text)
	if out == "" {
		return nil
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

// measureHere is what inProcess starts.
func measureHere(name, dir string) error {
	fn, ok := measurements[name]
	if !ok {
		return fmt.Errorf("no measurement %q", name)
	}
	found, err := fn(dir)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}
