// Command enginetest runs go-mysql-server's own suites over a lakesql catalog, on columns and on rows, writes the counts and what fails, with the reason, to
// a document, and fails where a count is lower than the document says. It is a module of its own, so that the suites' dependencies are none of lakesql.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "../../docs/enginetest.md", "the document")
	flag.Parse()
	if err := run(*out); err != nil {
		log.Fatal(err)
	}
}

func run(out string) error {
	before, err := os.ReadFile(out)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	dir, err := os.MkdirTemp("", "enginetest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "suites")
	build := exec.Command("go", "test", "-tags", "gms_pure_go", "-c", "-o", binary, ".")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the suites: %w", err)
	}
	names, err := suiteNames()
	if err != nil {
		return err
	}
	var all []suite
	for _, name := range names {
		s := suite{name: name, runs: make(map[string]*outcome)}
		for _, vector := range []string{"ON", "OFF"} {
			if s.runs[vector], err = runSuite(binary, name, vector); err != nil {
				return err
			}
		}
		log.Print(s.row())
		all = append(all, s)
	}
	fallen := fallen(string(before), all)
	for _, f := range fallen {
		log.Print(f)
	}
	if len(fallen) > 0 {
		return fmt.Errorf("%d counts have fallen, %s stays as it is", len(fallen), out)
	}
	return os.WriteFile(out, []byte(document(all)), 0o644)
}

var suiteName = regexp.MustCompile(`(?m)^\t\t\{"(\w+)", `)

// suiteNames are those of suites_test.go, in order.
func suiteNames() ([]string, error) {
	text, err := os.ReadFile("suites_test.go")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range suiteName.FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out, nil
}
