package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// envDir names the folder that scripts/interop-env made.
const envDir = "LAKESQL_INTEROP"

func TestMain(m *testing.M) {
	if points := os.Getenv(crashEnv); points != "" {
		fmt.Fprintln(os.Stderr, harness.ServeOver(newCrashes(points).open))
		os.Exit(1)
	}
	if os.Getenv(envDir) == "" {
		os.Exit(m.Run()) // every test says why it is skipped
	}
	code := harness.Main(m)
	for _, e := range engines {
		e.stop()
	}
	os.Exit(code)
}

// engine is another program in a process of its own, which answers one request after the other. It starts with the first.
type engine struct {
	name    string
	folder  string   // below the environment
	command []string // behind its Python

	mu     sync.Mutex
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// The engines that lakesql shares tables with.
var (
	spark35 = &engine{name: "Spark 3.5", folder: "spark35", command: []string{"sparkserver.py"}}
	spark40 = &engine{name: "Spark 4.0", folder: "spark40", command: []string{"sparkserver.py"}}
	others  = &engine{name: "delta-rs and DuckDB", folder: "others", command: []string{"otherserver.py"}}
	engines = []*engine{spark35, spark40, others}
)

func environment(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(envDir)
	if dir == "" {
		t.Skipf("%s is not set: run `make interop`", envDir)
	}
	return dir
}

// start needs the lock.
func (e *engine) start(dir string) error {
	folder := filepath.Join(dir, e.folder)
	args := e.command
	if e != others {
		scratch, err := os.MkdirTemp("", "lakesql-spark-")
		if err != nil {
			return err
		}
		args = append(slices.Clone(args), filepath.Join(folder, "jars"), scratch)
	}
	e.cmd = exec.Command(filepath.Join(folder, "venv", "bin", "python"), args...)
	e.cmd.Stderr = &e.stderr
	var err error
	if e.stdin, err = e.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	e.stdout = bufio.NewReaderSize(out, 1<<20)
	return e.cmd.Start()
}

// stop ends the process by the end of its input.
func (e *engine) stop() {
	if e.cmd == nil {
		return
	}
	e.stdin.Close()
	_ = e.cmd.Wait() // its answers have been judged
	if len(e.cmd.Args) > 3 {
		os.RemoveAll(e.cmd.Args[3])
	}
}

// ask sends a request and decodes the answer into into. An error that the engine answered is returned.
func (e *engine) ask(t *testing.T, into any, command string, args ...any) error {
	t.Helper()
	dir := environment(t)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cmd == nil {
		require.NoError(t, e.start(dir), e.name)
	}
	if args == nil {
		args = []any{}
	}
	request, err := json.Marshal(map[string]any{"command": command, "args": args})
	require.NoError(t, err)
	_, err = e.stdin.Write(append(request, '\n'))
	require.NoError(t, err, "%s: %s", e.name, &e.stderr)
	for {
		line, err := e.stdout.ReadBytes('\n')
		require.NoError(t, err, "%s: %s", e.name, &e.stderr)
		var answer struct {
			Error  string
			Answer json.RawMessage
		}
		if json.Unmarshal(line, &answer) != nil {
			continue // Spark's own chatter
		}
		if answer.Error != "" {
			return errors.New(answer.Error)
		}
		return json.Unmarshal(answer.Answer, into)
	}
}

// must is ask where an error fails the test.
func (e *engine) must(t *testing.T, into any, command string, args ...any) {
	t.Helper()
	require.NoError(t, e.ask(t, into, command, args...), "%s: %s %v", e.name, command, args)
}

// sql runs statements in a Spark and returns the rows of the last one.
func (e *engine) sql(t *testing.T, statements ...string) [][]string {
	t.Helper()
	var rows [][]*string
	e.must(t, &rows, "sql", statements)
	return canonical(rows)
}

// contents is a table as an engine sees it.
type contents struct {
	Schema [][2]string `json:"schema"`
	Rows   [][]*string `json:"rows"`
}

// canonical sorts rows, and writes NULL for null, and JSON and floating point numbers in one form.
func canonical(rows [][]*string) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = make([]string, len(row))
		for c, v := range row {
			out[i][c] = "NULL"
			if v != nil {
				out[i][c] = canonicalValue(*v)
			}
		}
	}
	return sortRows(out)
}

// goFloats are the texts that Go's driver makes of what lakesql sends.
var goFloats = map[string]string{"-0": "-0.0", "+Inf": "Infinity", "-Inf": "-Infinity"}

// exponent is a floating point number that engines spell in several ways.
var exponent = regexp.MustCompile(`^-?\d+(\.\d+)?[eE][-+]?\d+$`)

func canonicalValue(v string) string {
	if word, ok := goFloats[v]; ok {
		return word
	}
	if exponent.MatchString(v) {
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			return strconv.FormatFloat(n, 'g', -1, 64)
		}
	}
	if !strings.HasPrefix(v, "{") && !strings.HasPrefix(v, "[") {
		return v
	}
	var decoded any
	if json.Unmarshal([]byte(v), &decoded) != nil {
		return v
	}
	text, err := json.Marshal(decoded)
	if err != nil {
		return v
	}
	return string(text)
}

func sortRows(rows [][]string) [][]string {
	slices.SortFunc(rows, func(a, b []string) int { return slices.Compare(a, b) })
	return rows
}

// ours reads a query of lakesql in the same form.
func ours(t *testing.T, p *harness.Process, query string) [][]string {
	t.Helper()
	rows := p.Rows(t, query)
	for _, row := range rows {
		for i, v := range row {
			row[i] = canonicalValue(v)
		}
	}
	return sortRows(rows)
}

func quoted(path string) string { return fmt.Sprintf("delta.`%s`", path) }
