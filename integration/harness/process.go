// Package harness runs the real binary in a process of its own for the integration tests.
package harness

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// binary is the program under test, which Main builds.
var binary string

// Main builds the program, runs the package's tests and returns their exit code: for TestMain.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lakesql-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "lakesql")
	build := exec.Command("go", "build", "-tags", "gms_pure_go", "-o", binary, "lakesql/cmd/lakesql")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build lakesql: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// startTimeout is how long a server may take to say that it is ready, on a machine that is busy with other tests.
const startTimeout = 60 * time.Second

// Process is a server that runs in a process of its own.
type Process struct {
	Addr string  // host:port
	DB   *sql.DB // connected as root to the database lake
	Log  fmt.Stringer

	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// Command is the program with these arguments.
func Command(args ...string) *exec.Cmd { return exec.Command(binary, args...) }

var readyAddress = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// Start runs `lakesql serve` in dir, whose warehouse is dir/lake and whose own folder is dir/data unless args name another, and waits for its ready line.
func Start(t *testing.T, dir string, args ...string) *Process {
	t.Helper()
	if !slices.Contains(args, "--data-dir") {
		args = append(args, "--data-dir", "./data")
	}
	cmd := Command(append([]string{"serve", "--warehouse", "./lake", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir = dir
	return Await(t, cmd)
}

// Await starts cmd and waits for the line on stdout that names the address it listens on.
func Await(t *testing.T, cmd *exec.Cmd) *Process {
	t.Helper()
	log := &syncBuffer{}
	p := &Process{cmd: cmd, Log: log, done: make(chan struct{})}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = log
	require.NoError(t, cmd.Start())
	t.Cleanup(p.Kill)

	addr := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(io.TeeReader(out, log))
		for lines.Scan() {
			if a := readyAddress.FindString(lines.Text()); a != "" {
				select {
				case addr <- a:
				default:
				}
			}
		}
		_ = cmd.Wait()
		close(p.done)
	}()
	select {
	case p.Addr = <-addr:
	case <-p.done:
		t.Fatalf("the server ended before it was ready:\n%s", p.Log)
	case <-time.After(startTimeout):
		t.Fatalf("the server was not ready after %v:\n%s", startTimeout, p.Log)
	}
	p.DB, err = sql.Open("mysql", "root@tcp("+p.Addr+")/lake?timeout=30s")
	require.NoError(t, err)
	return p
}

// Kill ends the process as kill -9 does. Killing it twice does nothing.
func (p *Process) Kill() {
	if p.DB != nil {
		p.DB.Close()
	}
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.done
}

// Wait waits until the process has ended by itself.
func (p *Process) Wait(t *testing.T) *os.ProcessState {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState
	case <-time.After(startTimeout):
		t.Fatalf("the process did not end:\n%s", p.Log)
		return nil
	}
}

// Stop asks the process to end and wants exit code 0.
func (p *Process) Stop(t *testing.T) {
	t.Helper()
	p.DB.Close()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
	case <-time.After(startTimeout):
		t.Fatalf("the server did not end after SIGTERM:\n%s", p.Log)
	}
	require.Equal(t, 0, p.cmd.ProcessState.ExitCode(), p.Log.String())
}

// Exec runs a statement that has to succeed.
func (p *Process) Exec(t *testing.T, statement string) {
	t.Helper()
	_, err := p.DB.Exec(statement)
	require.NoError(t, err, "%s\n%s", statement, p.Log)
}

// Rows runs a query and returns its values as text; NULL is "NULL".
func (p *Process) Rows(t *testing.T, query string) [][]string {
	t.Helper()
	r, err := p.DB.Query(query)
	require.NoError(t, err, "%s\n%s", query, p.Log)
	values, err := TextRows(r)
	require.NoError(t, err, query)
	return values
}

// TextRows reads all rows as text; NULL is "NULL". It closes r.
func TextRows(r *sql.Rows) ([][]string, error) {
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		return nil, err
	}
	values := [][]string{}
	for r.Next() {
		raw, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range raw {
			into[i] = &raw[i]
		}
		if err := r.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i, v := range raw {
			row[i] = "NULL"
			if v.Valid {
				row[i] = v.String
			}
		}
		values = append(values, row)
	}
	return values, r.Err()
}

// syncBuffer keeps what a process prints.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
