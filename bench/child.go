package main

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// child is a running MySQL server: `lakesql serve`, or a peer.
type child struct {
	addr     string
	database string // that connections begin in
	cmd      *exec.Cmd
}

var readyAddress = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// serve starts the server in dir, which also has what it keeps for itself.
func serve(bin, dir, warehouse string, flags ...string) (*child, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	c := &child{database: "lake", cmd: exec.Command(bin, append([]string{"serve", "--warehouse", warehouse, "--data-dir", "./data", "--listen", "127.0.0.1:0"}, flags...)...)}
	c.cmd.Dir, c.cmd.Stderr = dir, io.Discard
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if c.addr = readyAddress.FindString(lines.Text()); c.addr != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return c, nil
		}
	}
	c.stop()
	return nil, fmt.Errorf("the server ended before it was ready")
}

func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
}

// memoryEvery is how often the memory of a child is looked at.
const memoryEvery = 5 * time.Millisecond

// watchMemory looks at the server's memory until stop is called, which gives the most that it saw: bytes that are resident and no mapped files, which the
// system takes back as it likes.
func (c *child) watchMemory() (stop func() (int64, error)) {
	done := make(chan struct{})
	var most int64
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(memoryEvery)
		defer tick.Stop()
		for {
			now, e := memoryOf(strconv.Itoa(c.cmd.Process.Pid), "RssAnon")
			if most, err = max(most, now), e; err != nil {
				return
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() (int64, error) {
		close(done)
		wg.Wait()
		return most, err
	}
}

// connect opens one connection.
func (c *child) connect() (*sql.DB, error) {
	db, err := sql.Open("mysql", "root@tcp("+c.addr+")/"+c.database)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, db.Ping()
}

// timed runs fn and takes the server's CPU time instead of this process's.
func (c *child) timed(fn func() error) (usage, error) {
	before, err := c.cpu()
	if err != nil {
		return usage{}, err
	}
	began := time.Now()
	if err := fn(); err != nil {
		return usage{}, err
	}
	u := usage{Wall: time.Since(began)}
	after, err := c.cpu()
	u.CPU = after - before
	return u, err
}

// tick is the unit of the CPU time of other processes.
const tick = 10 * time.Millisecond

// cpu is the CPU time of the server so far, in ticks: user and system, the 12th and the 13th number behind its name.
func (c *child) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, behind, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(behind)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", c.cmd.Process.Pid, stat)
	}
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, errors.Join(err, err2)
}
