package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// suiteTimeout ends a suite that hangs.
const suiteTimeout = "10m"

// outcome is what became of the tests of a suite, those that have no further tests in them.
type outcome struct {
	passed, skipped int
	failed          map[string]string // the reason by test
}

// event is a line of go tool test2json.
type event struct {
	Action, Test, Output string
}

// runSuite runs a suite with lakesql_vector on or off.
func runSuite(binary, name, vector string) (*outcome, error) {
	cmd := exec.Command("go", "tool", "test2json", binary, "-test.v", "-test.timeout", suiteTimeout, "-test.run", "^TestSuites$/^"+name+"$")
	cmd.Env = append(os.Environ(), "LAKESQL_VECTOR="+vector)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	out, err := read(pipe)
	if err != nil {
		return nil, errors.Join(err, cmd.Wait())
	}
	if err := cmd.Wait(); err != nil && len(out.failed) == 0 {
		return nil, fmt.Errorf("suite %s: %w", name, err)
	}
	return out, nil
}

func read(r io.Reader) (*outcome, error) {
	ended, output := make(map[string]string), make(map[string][]string)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, err
		}
		switch e.Action {
		case "pass", "fail", "skip":
			ended[e.Test] = e.Action
		case "output":
			output[e.Test] = append(output[e.Test], e.Output)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	parents := make(map[string]bool)
	for test := range ended {
		for at := strings.LastIndexByte(test, '/'); at > 0; at = strings.LastIndexByte(test, '/') {
			test = test[:at]
			parents[test] = true
		}
	}
	out := &outcome{failed: make(map[string]string)}
	for test, action := range ended {
		switch {
		case parents[test] || strings.Count(test, "/") == 0:
		case action == "pass":
			out.passed++
		case action == "skip":
			out.skipped++
		default:
			out.failed[strings.SplitN(test, "/", 3)[len(strings.SplitN(test, "/", 3))-1]] = reason(output[test])
		}
	}
	return out, nil
}

// reason is the first line that tells why a test failed.
func reason(output []string) string {
	text := strings.Join(output, "")
	_, after, ok := strings.Cut(text, "Error:")
	if !ok {
		return firstLine(text)
	}
	first := firstLine(after)
	if first != "Received unexpected error:" && first != "Not equal:" {
		return first
	}
	rest := strings.Split(after, "\n")
	for _, line := range rest[1:] {
		if line = strings.TrimSpace(line); line != "" {
			return cut(line)
		}
	}
	return first
}

func firstLine(text string) string {
	lines := strings.Split(text, "\n")
	i := slices.IndexFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return l != "" && !strings.HasPrefix(l, "===") && !strings.HasPrefix(l, "---")
	})
	if i < 0 {
		return "ended without a word"
	}
	return cut(strings.TrimSpace(lines[i]))
}

// maxText is how much of a reason or a name is shown.
const maxText = 140

func cut(text string) string {
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText]) + "…"
	}
	return text
}
