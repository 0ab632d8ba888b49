package files

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/files"
	"lakesql/stream/source"
)

// ranged is the rows of one range, for one reader or for several at once. Its files are dealt out to them in the order of the log: small ones whole, large ones in pieces
// where their format has some. Whichever reader is faster, what is told of files and malformed rows comes in that order, and so does the first fault:
//
//  1. Each share that is dealt out has the next number. A reader has one at a time, from take until it is finished.
//  2. A share is told when it is finished and all before it are told. One of which all before are told tells its malformed rows as they come.
//  3. A fault ends the dealing, and is the range's when all shares before its own are told: none of them had one.
type ranged struct {
	source  *Source
	schema  *batch.Schema
	list    []recorded
	obs     source.Observer
	several bool // readers; set before the first share

	mu      sync.Mutex
	changed sync.Cond // of what follows
	users   int       // readers that are not closed
	at      int       // the next of list
	open    *parted   // whose pieces are dealt out; nil: the next file's turn has come
	opened  []*parted // that are not closed; each is when all of its pieces are finished
	dealt   int64     // the number of the next share
	told    int64     // all shares before it are
	waiting map[int64]*share
	held    int // bytes of malformed rows that are not told
	ended   bool
	gone    bool              // a reader was closed before its share was finished: not all will be told
	fault   error             // of the range
	sum     source.FileResult // of the file that is being told
}

// share is what one reader reads at a time, a file or a piece of one, or what is only to be told in its turn.
type share struct {
	number   int64
	file     recorded
	toRead   bool
	parted   *parted // toRead: nil is the whole file
	piece    files.Piece
	rows     int64
	rejected int64
	bad      []source.RowError // malformed rows that are not told
	last     bool              // of its file
	skipped  string            // why the file is not read
	existed  bool              // it was there when the stream began, and is not read: no fault, and there may be many
}

// parted is a file that is dealt out in pieces.
type parted struct {
	*files.Parts
	file   recorded
	unread int  // pieces that are dealt out and not finished
	whole  bool // all are dealt out
}

const (
	// maxHeld is how many bytes of malformed rows may wait until those before them are told.
	maxHeld = 16 << 20
	// rowErrorBytes is about what one takes besides its text.
	rowErrorBytes = 256
)

func heldBytes(e source.RowError) int { return rowErrorBytes + len(e.Raw) }

func newRanged(s *Source, list []recorded, obs source.Observer) *ranged {
	r := &ranged{source: s, schema: s.readAs(s.schema), list: list, obs: obs, users: 1, waiting: make(map[int64]*share)}
	r.changed.L = &r.mu
	return r
}

// take deals the next share out that is to be read; io.EOF after the last. An error may come with the share that it is of. spare is a piece whose memory is free.
func (r *ranged) take(ctx context.Context, spare files.Piece) (*share, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.held > maxHeld && r.told < r.dealt && !r.ended && !r.gone {
			r.wait(ctx)
			continue
		}
		if r.ended || r.open == nil && r.at == len(r.list) {
			return nil, io.EOF
		}
		p, err := r.deal(ctx, spare)
		p.number = r.dealt
		r.dealt++
		if err != nil || p.toRead {
			return p, err
		}
		r.finish(p)
	}
}

// deal makes the next share.
func (r *ranged) deal(ctx context.Context, spare files.Piece) (*share, error) {
	if r.open != nil {
		p := &share{file: r.open.file, parted: r.open, toRead: true}
		var err error
		p.piece, err = r.open.Cut(ctx, spare)
		switch {
		case err == nil:
			p.parted.unread++
		case errors.Is(err, io.EOF):
			p.parted.whole = true
			err = r.closeRead(p.parted)
			p.last, p.toRead, p.parted, r.open = true, err != nil, nil, nil
		}
		return p, err
	}
	p := &share{file: r.list[r.at], last: true}
	r.at++
	if p.existed = r.source.existed(p.file.URI); p.existed {
		return p, nil
	}
	if p.skipped = r.source.leftOut(p.file.URI); p.skipped != "" {
		return p, nil
	}
	p.toRead = true
	if p.file.err != nil || !r.several {
		return p, p.file.err
	}
	parts, err := files.OpenParts(ctx, r.source.env.Open, p.file.File, r.schema, r.source.opts)
	if parts != nil {
		r.open, p.toRead, p.last = &parted{Parts: parts, file: p.file}, false, false
		r.opened = append(r.opened, r.open)
	}
	return p, err
}

// closeRead closes a file whose pieces are all finished. It needs mu.
func (r *ranged) closeRead(p *parted) error {
	if !p.whole || p.unread > 0 {
		return nil
	}
	r.opened = slices.DeleteFunc(r.opened, func(other *parted) bool { return other == p })
	return p.Close()
}

// finished is told of a share whose rows were all given.
func (r *ranged) finished(p *share) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of := p.parted; of != nil {
		p.parted, p.piece = nil, files.Piece{}
		of.unread--
		if err := r.closeRead(of); err != nil {
			return err
		}
	}
	r.finish(p)
	return nil
}

// wait waits until something changes, or ctx ends. It needs mu.
func (r *ranged) wait(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.changed.Broadcast()
	})()
	r.changed.Wait()
}

// fail says what the range ends with when a share has this fault: that of the first share that has one.
func (r *ranged) fail(ctx context.Context, p *share, fault func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for r.fault == nil && r.told < p.number && !r.gone {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.wait(ctx)
	}
	if r.fault == nil {
		r.tellBad(p)
		r.fault = fault()
	}
	r.changed.Broadcast()
	return r.fault
}

// malformed takes a malformed row of a share.
func (r *ranged) malformed(ctx context.Context, p *share, e source.RowError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.told < p.number && r.held > maxHeld && !r.ended && !r.gone && ctx.Err() == nil {
		r.wait(ctx)
	}
	p.bad = append(p.bad, e)
	r.held += heldBytes(e)
	if r.told == p.number {
		r.tellBad(p)
	}
}

// finish tells the share, and those behind it that are finished, when its turn has come. It needs mu.
func (r *ranged) finish(p *share) {
	r.waiting[p.number] = p
	for p = r.waiting[r.told]; p != nil; p = r.waiting[r.told] {
		delete(r.waiting, r.told)
		r.tell(p)
		r.told++
	}
	r.changed.Broadcast()
}

// tell tells what is not told of a share. It needs mu.
func (r *ranged) tell(p *share) {
	r.tellBad(p)
	f := p.file
	switch {
	case p.existed:
		r.source.results = append(r.source.results, checkpoint.FileResult{Path: f.URI, Error: "includeExistingFiles => false: it was there when the stream began"})
		return
	case p.skipped != "":
		r.report(source.FileResult{URI: f.URI, Size: f.Size, ModTime: f.ModTime, Skipped: p.skipped})
		return
	}
	r.sum.Rows += p.rows
	r.sum.Rejected += p.rejected
	if p.last {
		r.report(source.FileResult{URI: f.URI, Size: f.Size, ModTime: f.ModTime, Rows: r.sum.Rows, Rejected: r.sum.Rejected})
		r.sum = source.FileResult{}
	}
}

// tellBad tells malformed rows. It needs mu.
func (r *ranged) tellBad(p *share) {
	for _, e := range p.bad {
		r.held -= heldBytes(e)
		if r.obs.Row != nil {
			r.obs.Row(e)
		}
	}
	p.bad = nil
}

// report tells the observer, and remembers for Committed.
func (r *ranged) report(f source.FileResult) {
	r.source.results = append(r.source.results, checkpoint.FileResult{Path: f.URI, Rows: f.Rows, Rejected: f.Rejected, Error: f.Skipped})
	if r.obs.File != nil {
		r.obs.File(f)
	}
}

// leave is called once by each reader. unfinished: it has a share that is not finished.
func (r *ranged) leave(unfinished bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = r.gone || unfinished
	r.changed.Broadcast()
	if r.users--; r.users > 0 {
		return nil
	}
	var all []error
	for _, p := range r.opened {
		all = append(all, p.Close())
	}
	r.opened, r.open, r.ended = nil, nil, true
	return errors.Join(all...)
}
