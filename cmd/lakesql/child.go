package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// readyTimeout is how long a server may take to start on a busy machine.
	readyTimeout = 60 * time.Second
	// stopTimeout is how long a server may take to end its running batches.
	stopTimeout = 60 * time.Second
)

// child is a `lakesql serve` that runs as a process of its own, so that it can be killed.
type child struct {
	cmd     *exec.Cmd
	address string
	log     *tail
	ended   chan struct{} // closed when the process is gone and err is set
	err     error
}

// startChild starts a server in dir, on the lake dir/lake, and waits until it is ready.
func startChild(ctx context.Context, dir string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	c := &child{log: &tail{}, ended: make(chan struct{})}
	c.cmd = exec.Command(program, "serve", "--warehouse", filepath.Join(dir, "lake"), "--listen", "127.0.0.1:0",
		"--data-dir", filepath.Join(dir, "data"), "--allow-path", dir)
	c.cmd.Dir, c.cmd.Stderr = dir, c.log
	c.cmd.Env = withoutSettings(os.Environ())
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is the parent's to act on
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("read what the server says: %w", err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(c.ended)
		c.read(output, ready)
		c.err = c.cmd.Wait()
	}()
	select {
	case c.address = <-ready:
		return c, nil
	case <-c.ended:
		return nil, fmt.Errorf("the server ended before it was ready: %w\n%s", c.err, c.log)
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), c.kill())
	case <-time.After(readyTimeout):
		return nil, errors.Join(fmt.Errorf("the server was not ready after %s\n%s", readyTimeout, c.log), c.kill())
	}
}

// withoutSettings leaves out what would change the child's settings.
func withoutSettings(environ []string) []string {
	var kept []string
	for _, e := range environ {
		if !strings.HasPrefix(e, "LAKESQL_") {
			kept = append(kept, e)
		}
	}
	return kept
}

var readyLine = regexp.MustCompile(`is ready on (\S+)$`)

// read reads the server's output to its end, and hands on the address in its ready line.
func (c *child) read(output io.Reader, ready chan<- string) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if m := readyLine.FindStringSubmatch(lines.Text()); m != nil {
			select {
			case ready <- m[1]:
			default:
			}
		}
	}
}

// kill ends the process the way a power cut would: it gets no chance to do anything.
func (c *child) kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-c.ended
	return nil
}

// stop asks the process to end and waits for it.
func (c *child) stop() error {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the server: %w", err)
	}
	select {
	case <-c.ended:
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the server did not end within %s", stopTimeout), c.kill())
	}
	if c.err != nil {
		return fmt.Errorf("the server ended with: %w\n%s", c.err, c.log)
	}
	return nil
}

// tailBytes is how much of a child's log is kept.
const tailBytes = 16 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps p and forgets what is too old.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
