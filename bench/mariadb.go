package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// unpackMariaDB has script unpack Debian's MariaDB, unless that is done, and returns its folder.
func unpackMariaDB(script string) (string, error) {
	var out, said bytes.Buffer
	cmd := exec.Command(script)
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", script, err, said.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// startMariaDB starts the MariaDB in the folder at, on a data directory of its own below dir and a free port of this machine.
func startMariaDB(at, dir string) (*child, error) {
	data := filepath.Join(dir, "mariadb")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	c := &child{addr: addr, database: "test", cmd: exec.Command(filepath.Join(at, "usr/sbin/mariadbd"), "--no-defaults", "--user=root", "--skip-grant-tables", "--datadir="+data,
		"--lc-messages-dir="+filepath.Join(at, "usr/share/mysql"), "--bind-address=127.0.0.1", "--port="+port,
		"--socket="+filepath.Join(data, "socket"), "--pid-file="+filepath.Join(data, "pid"), "--secure-file-priv="+dir, "--innodb-buffer-pool-size=1G")}
	c.cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Join(at, "usr/lib/x86_64-linux-gnu"))
	c.cmd.Stdout, c.cmd.Stderr = io.Discard, io.Discard
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.makeDatabase(); err != nil {
		c.stop()
		return nil, fmt.Errorf("start MariaDB: %w", err)
	}
	return c, nil
}

// makeDatabase waits until MariaDB takes connections.
func (c *child) makeDatabase() (err error) {
	db, err := sql.Open("mysql", "root@tcp("+c.addr+")/")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, err = db.Exec("CREATE DATABASE " + c.database); err == nil || time.Since(began) > time.Minute {
			return err
		}
	}
}

// freeAddress is one that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
