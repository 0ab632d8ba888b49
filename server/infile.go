package server

import (
	"context"
	"io"

	"github.com/dolthub/vitess/go/mysql"
)

// loadInfile returns GMS' way to ask a client for a file. While the file comes, the connection's packets are data, and nobody watches for others.
func loadInfile(ctx context.Context, c *mysql.Conn, watching *watch) func(string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) {
		watching.end()
		loading := &front(c).requests.loading
		loading.Store(true)
		file, err := c.LoadInfile(name)
		if err != nil {
			loading.Store(false)
			return nil, err
		}
		f := &infile{ctx: ctx, file: file, watching: watching, over: make(chan struct{})}
		f.whole = context.AfterFunc(ctx, f.skip)
		front(c).infile = f
		return f, nil
	}
}

// infile is a file that the client sends. The protocol has no answer before the client is through with it. So that a statement ends when it is ended from outside,
// however slow its client is:
//
//  1. The end of the statement's context ends Read, and what is left of the file is read beside the statement, which fails and holds nothing any more.
//  2. Its error is sent when the client is through (finishInfile).
//
// A client that takes longer than net_read_timeout for a packet loses its connection: what it would send next could be anything.
type infile struct {
	ctx      context.Context // the statement's
	file     io.ReadCloser   // vitess': Close reads what is left
	watching *watch
	whole    func() bool   // the statement is not ended from outside, and will not be; false: skip runs, or has
	over     chan struct{} // closed when the client is through with the file
}

// skip reads what is left of the file of a statement that was ended.
func (f *infile) skip() {
	defer close(f.over)
	_ = f.file.Close() // why the statement was ended is its error; a connection that is broken is retired where it is read
}

// Read reads from the file.
func (f *infile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	if err != nil && err != io.EOF && f.ctx.Err() != nil {
		err = context.Cause(f.ctx)
	}
	return n, err
}

// Close reads what is left, unless the statement was ended.
func (f *infile) Close() error {
	if !f.whole() {
		return nil
	}
	err := f.file.Close()
	close(f.over)
	f.watching.c.finishInfile()
	f.watching.begin()
	return err
}

// finishInfile waits until the client is through with the file that it was asked for, and begins to take commands again.
func (c *frontConn) finishInfile() {
	if c.infile == nil {
		return
	}
	<-c.infile.over
	c.infile = nil
	c.requests.loading.Store(false)
}
