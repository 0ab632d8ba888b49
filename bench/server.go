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
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// server is a running `lakesql serve`.
type server struct {
	addr string
	cmd  *exec.Cmd
}

var readyAddress = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// serve starts the server in dir, with the lake dir/lake.
func serve(bin, dir string) (*server, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(bin, "serve", "--warehouse", "./lake", "--listen", "127.0.0.1:0")}
	s.cmd.Dir, s.cmd.Stderr = dir, io.Discard
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if s.addr = readyAddress.FindString(lines.Text()); s.addr != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return s, nil
		}
	}
	s.stop()
	return nil, fmt.Errorf("the server ended before it was ready")
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// connect opens one connection.
func (s *server) connect() (*sql.DB, error) {
	db, err := sql.Open("mysql", "root@tcp("+s.addr+")/lake")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, db.Ping()
}

// timed runs fn and takes the server's CPU time instead of this process's.
func (s *server) timed(fn func() error) (usage, error) {
	before, err := s.cpu()
	if err != nil {
		return usage{}, err
	}
	began := time.Now()
	if err := fn(); err != nil {
		return usage{}, err
	}
	u := usage{Wall: time.Since(began)}
	after, err := s.cpu()
	u.CPU = after - before
	return u, err
}

// tick is the unit of the CPU time of other processes.
const tick = 10 * time.Millisecond

// cpu is the CPU time of the server so far, in ticks: user and system, the 12th and the 13th number behind its name.
func (s *server) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, behind, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(behind)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is %q", s.cmd.Process.Pid, stat)
	}
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, errors.Join(err, err2)
}
