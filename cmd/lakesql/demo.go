package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
)

// demoCommand is `lakesql demo`.
type demoCommand struct{}

// Run plays the demo in a new folder. On a terminal the server stays up until Ctrl-C and the folder is kept.
func (demoCommand) Run(std streams) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "lakesql-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "landing"), 0o755); err != nil {
		return fmt.Errorf("make a folder for the demo's files: %w", err)
	}
	d := &demo{out: std.out, dir: dir}
	defer func() { err = errors.Join(err, d.disconnect(), d.end(err)) }()
	if err := d.play(ctx); err != nil {
		return fmt.Errorf("the demo did not go as it should: %w\nwhat it left is in %s", err, dir)
	}
	if isTerminal(std.out) {
		d.keep = true
		d.invite()
		<-ctx.Done()
	}
	return nil
}

// demo is a run of the demo.
type demo struct {
	out    io.Writer
	dir    string
	child  *child
	client *client
	keep   bool // the folder, when all went well
}

// end stops the server and removes the folder, unless somebody wants to look into it.
func (d *demo) end(failure error) error {
	if d.child == nil {
		return nil
	}
	err := d.child.stop()
	if d.keep || failure != nil || err != nil {
		return err
	}
	return os.RemoveAll(d.dir)
}

// start starts the server and connects to it.
func (d *demo) start(ctx context.Context) (err error) {
	if d.child, err = startChild(ctx, d.dir); err != nil {
		return err
	}
	d.client, err = connect(ctx, login{address: d.child.address, user: "root", database: "lake"})
	return err
}

func (d *demo) disconnect() error {
	if d.client == nil {
		return nil
	}
	c := d.client
	d.client = nil
	return c.close()
}

// say prints a word on what follows.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "\n-- %s\n", strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n-- "))
}

// widest is how many columns a table may have; one with more is printed one column a line.
const widest = 8

// run prints a statement, runs it and prints its result.
func (d *demo) run(ctx context.Context, statement string) (*result, error) {
	fmt.Fprintf(d.out, "lakesql> %s;\n", statement)
	r, err := d.client.run(ctx, statement)
	if err != nil {
		fmt.Fprintln(d.out, describeError(err, 1))
		return nil, err
	}
	return r, show(d.out, r, asTable, len(r.columns) > widest)
}

// do runs a statement that has to succeed.
func (d *demo) do(ctx context.Context, statement string) error {
	if _, err := d.run(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// expect runs a statement that has to give these rows.
func (d *demo) expect(ctx context.Context, statement string, want ...[]string) error {
	r, err := d.run(ctx, statement)
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	var got [][]string
	for _, row := range r.rows {
		line := make([]string, len(row))
		for i, value := range row {
			line[i] = plain(value)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s gave other rows (- expected, + found):\n%s", statement, diff)
	}
	return nil
}

// refuse runs a statement that has to fail with a message that has these words.
func (d *demo) refuse(ctx context.Context, statement string, words ...string) error {
	_, err := d.run(ctx, statement)
	var refused *gomysql.MySQLError
	if !errors.As(err, &refused) {
		return fmt.Errorf("%s should have been refused: %w", statement, errors.Join(err, errNoRefusal))
	}
	for _, word := range words {
		if !strings.Contains(refused.Message, word) {
			return fmt.Errorf("%s was refused, but its message does not say %q: %w", statement, word, refused)
		}
	}
	return nil
}

var errNoRefusal = errors.New("it was not")

// drop puts a file into the landing folder at once, as a careful producer does: written elsewhere, then renamed.
func (d *demo) drop(name, content string) error {
	fmt.Fprintf(d.out, "$ mv %s landing/\n", name)
	tmp := filepath.Join(d.dir, name)
	if err := os.WriteFile(tmp, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(d.dir, "landing", name))
}

// invite tells how to go on by hand.
func (d *demo) invite() {
	host, port, _ := net.SplitHostPort(d.child.address)
	d.say("The server stays up until Ctrl-C. In another terminal:\n\n  lakesql sql --port %s\n  mysql -h %s -P %s -u root lake\n\n"+
		"More files for %s become rows by themselves.\nThe folder stays when the server has ended.", port, host, port, filepath.Join(d.dir, "landing"))
}
