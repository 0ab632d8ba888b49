package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"

	"golang.org/x/term"

	"lakesql/server"
)

// sqlCommand is `lakesql sql`.
type sqlCommand struct {
	Host     string `default:"127.0.0.1" help:"The server's host."`
	Port     int    `default:"3306" help:"The server's port."`
	User     string `short:"u" default:"root" help:"The user."`
	Password bool   `short:"p" help:"Ask for the password; without it, it is taken from MYSQL_PWD, or there is none."`
	SSLCA    string `name:"ssl-ca" placeholder:"FILE" help:"Certificates, PEM, one of which must vouch for the server, such as its server-cert.pem (default: whoever answers is believed)."`
	Database string `short:"D" placeholder:"NAME" help:"The database to begin in (default: lake)."`
	Execute  string `short:"e" placeholder:"STATEMENTS" help:"Run these statements and end."`
	File     string `short:"f" placeholder:"FILE" help:"Run the statements of a file and end."`
	Table    bool   `short:"t" help:"Print tables also where the output is no terminal."`

	Warehouse string   `placeholder:"DIR" help:"Open this lake here instead of connecting to a server."`
	AllowPath []string `placeholder:"DIR" sep:"none" help:"With --warehouse: a folder outside of the lake that statements may name."`
	DataDir   string   `placeholder:"DIR" help:"With --warehouse: the folder for lakesql's own data."`
}

// Run runs statements, or the shell where there are none and the input is a terminal.
func (c *sqlCommand) Run(std streams) (err error) {
	ctx := context.Background()
	text, interactive, err := c.input(std.in)
	if err != nil {
		return err
	}
	to := login{address: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)), user: c.User, password: os.Getenv("MYSQL_PWD"), database: c.Database, ca: c.SSLCA}
	if c.Password {
		if to.password, err = askPassword(std); err != nil {
			return err
		}
	}
	if c.Warehouse != "" {
		local, err := c.openLake(ctx, std.err)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, local.close()) }()
		to.address, to.ca = local.address(), ""
		if c.User == "root" && !c.Password {
			to.password = local.password // who owns the data folder is its root
		}
	}
	session, err := connect(ctx, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.close()) }()
	s := &script{client: session, out: std.out, err: std.err, format: asTSV}
	if c.Table || isTerminal(std.out) {
		s.format = asTable
	}
	if interactive {
		return newShell(s).loop(ctx)
	}
	return s.run(ctx, text)
}

// askPassword reads a password from the terminal, without showing it.
func askPassword(std streams) (string, error) {
	file, ok := std.in.(*os.File)
	if !ok || !isTerminal(std.in) {
		return "", errors.New("-p asks for the password at a terminal, and the input is none: set MYSQL_PWD")
	}
	fmt.Fprint(std.err, "Enter password: ")
	password, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(std.err)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(password), nil
}

// input is the text to run; interactive: a person will type it.
func (c *sqlCommand) input(in io.Reader) (text string, interactive bool, err error) {
	switch {
	case c.Execute != "" && c.File != "":
		return "", false, errors.New("-e and -f exclude each other")
	case c.Execute != "":
		return c.Execute, false, nil
	case c.File != "":
		data, err := os.ReadFile(c.File)
		return string(data), false, err
	case isTerminal(in):
		return "", true, nil
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return "", false, fmt.Errorf("read the statements: %w", err)
	}
	return string(data), false, nil
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// localLake is a lake that the command itself serves, on a port that only it knows.
type localLake struct {
	*instance
	stop context.CancelFunc
	done chan error
}

func (c *sqlCommand) openLake(ctx context.Context, logTo io.Writer) (*localLake, error) {
	s, err := resolve("", os.Getenv, settings{Warehouse: c.Warehouse, Listen: "127.0.0.1:0", DataDir: c.DataDir, AllowPaths: c.AllowPath, LogLevel: "warn"})
	if err != nil {
		return nil, err
	}
	s.HTTP = ""
	log, err := newLogger(s, logTo)
	if err != nil {
		return nil, err
	}
	server.BridgeLogs(log)
	slog.SetDefault(log)
	i, err := newInstance(ctx, s, log)
	if err != nil {
		return nil, err
	}
	if err := i.start(ctx); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	l := &localLake{instance: i, stop: stop, done: make(chan error, 1)}
	go func() { l.done <- i.serve(ctx) }()
	return l, nil
}

func (l *localLake) address() string { return l.server.Addr().String() }

// close lets running batches end.
func (l *localLake) close() error {
	l.stop()
	return <-l.done
}
