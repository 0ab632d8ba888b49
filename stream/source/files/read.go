package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/files"
	"lakesql/store"
	"lakesql/stream/source"
	"lakesql/vector"
)

// recorded is one file of a range, or why it is not what was recorded.
type recorded struct {
	files.File
	err error // a *source.FileError; nil: the file is as it was
}

// Read returns the rows of the files of a range, file by file in the order of the log.
func (s *Source) Read(ctx context.Context, start, end source.Offset, obs source.Observer) (vector.Operator, error) {
	from, to, err := parseRange(start, end)
	if err != nil {
		return nil, err
	}
	if to > s.last {
		return nil, s.beyond(to)
	}
	list, err := s.rangeFiles(ctx, from+1, to)
	if err != nil {
		return nil, err
	}
	s.results = nil
	return &reader{source: s, schema: s.readAs(s.schema), list: list, obs: obs}, nil
}

// rangeFiles returns what the log entries from..to name, as the files were when they were recorded.
func (s *Source) rangeFiles(ctx context.Context, from, to int64) ([]recorded, error) {
	if from == s.last && to == s.last && s.newest != nil { // a new batch: what was recorded need not be read again
		out := make([]recorded, len(s.newest))
		for i, f := range s.newest {
			out[i].File = f
		}
		return out, nil
	}
	entries, err := s.log.Entries(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("read the log of the files seen: %w", err)
	}
	if s.versions != nil {
		entries = newestOf(entries)
	}
	pins, err := s.facts.Pins(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("read what the files looked like: %w", err)
	}
	byPath := make(map[string]checkpoint.FilePin, len(pins))
	for _, p := range pins {
		byPath[p.Path] = p
	}
	out := make([]recorded, len(entries))
	for i, e := range entries {
		if p, ok := byPath[e.Path]; ok {
			out[i].File = files.File{URI: p.Path, Size: p.Size, ModTime: time.Unix(0, p.ModTimeNs), ETag: p.ETag}
			continue
		}
		if out[i], err = s.unpinned(ctx, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unpinned is a file that another engine recorded, or that a crash kept from being pinned: its time is all that is known.
func (s *Source) unpinned(ctx context.Context, e checkpoint.SourceEntry) (recorded, error) {
	f := files.File{URI: e.Path, ModTime: time.UnixMilli(e.TimestampMs)}
	info, err := s.stat(ctx, e.Path)
	if errors.Is(err, store.ErrNotFound) {
		return recorded{File: f, err: asFileError(&files.GoneError{File: f, Err: err})}, nil
	}
	if err != nil {
		return recorded{}, err
	}
	now := files.File{URI: e.Path, Size: info.Size, ModTime: info.ModTime, ETag: info.ETag}
	if !sameTime(info.ModTime.UnixMilli(), e.TimestampMs) {
		return recorded{File: f, err: asFileError(&files.ChangedError{File: f, Now: now})}, nil
	}
	return recorded{File: now}, nil
}

// stat looks at a file as it is now; store.ErrNotFound when it is gone.
func (s *Source) stat(ctx context.Context, uri string) (store.Info, error) {
	at := strings.LastIndexByte(uri, '/')
	st, err := s.env.Open(uri[:at])
	if err != nil {
		return store.Info{}, err
	}
	key, err := decodeName(uri[at+1:])
	if err != nil {
		return store.Info{}, err
	}
	info, err := st.Stat(ctx, key)
	if err != nil {
		return info, fmt.Errorf("look at %s: %w", uri, err)
	}
	return info, nil
}

// sameTime compares a file's time with the log's; older Hadoops wrote whole seconds.
func sameTime(have, logged int64) bool {
	return have == logged || logged%1000 == 0 && have/1000 == logged/1000
}

// decodeName is a key of one component from its URI text.
func decodeName(name string) (string, error) {
	path, err := store.ParseFileURI("file:///" + name)
	if err != nil {
		return "", fmt.Errorf("file name %s in the source log: %w", name, err)
	}
	return strings.TrimPrefix(path, "/"), nil
}

// leftOut says why a file is not to be read; "" when it is.
func (s *Source) leftOut(uri string) string {
	if s.env.Skipped != nil && s.env.Skipped(uri) {
		return "ALTER STREAM ... SKIP FILE"
	}
	return s.unreadable[uri]
}

// existed tells of a file that was there when the stream began, and is not to be read.
func (s *Source) existed(uri string) bool {
	at, ok := s.seen[uri]
	return ok && at < s.first
}

// reader is the rows of one range.
type reader struct {
	source *Source
	schema *batch.Schema
	list   []recorded
	obs    source.Observer
	at     int // of the current file

	current files.Reader // nil between files
	rows    int64
}

// Schema is the source's.
func (r *reader) Schema() *batch.Schema { return r.schema }

// Next returns the next rows.
func (r *reader) Next(ctx context.Context) (*batch.Batch, error) {
	for r.at < len(r.list) {
		b, err := r.next(ctx)
		if errors.Is(err, io.EOF) {
			r.at++
			continue
		}
		if err != nil {
			return nil, r.fault(ctx, err)
		}
		return b, nil
	}
	return nil, io.EOF
}

// next returns rows of the current file; io.EOF at its end.
func (r *reader) next(ctx context.Context) (*batch.Batch, error) {
	f := r.list[r.at]
	if r.current == nil {
		if r.source.existed(f.URI) { // as asked for: no fault, and there may be many
			r.source.results = append(r.source.results, checkpoint.FileResult{Path: f.URI, Error: "includeExistingFiles => false: it was there when the stream began"})
			return nil, io.EOF
		}
		if why := r.source.leftOut(f.URI); why != "" {
			r.report(source.FileResult{URI: f.URI, Size: f.Size, ModTime: f.ModTime, Skipped: why})
			return nil, io.EOF
		}
		if f.err != nil {
			return nil, f.err
		}
		var err error
		if r.current, err = r.openFile(ctx, f.File); err != nil {
			return nil, err
		}
		r.rows = 0
	}
	b, err := r.current.Next(ctx)
	if err == nil || errors.Is(err, io.EOF) {
		if extra := r.current.Extra(); len(extra) > 0 {
			if err := r.newColumns(ctx, f.File, extra); err != nil {
				return nil, err
			}
		}
	}
	if errors.Is(err, io.EOF) {
		r.report(source.FileResult{URI: f.URI, Size: f.Size, ModTime: f.ModTime, Rows: r.rows, Rejected: r.current.Rejected()})
		return nil, r.closeFile(io.EOF)
	}
	if err == nil {
		r.rows += int64(b.Rows())
	}
	return b, err
}

func (r *reader) openFile(ctx context.Context, f files.File) (files.Reader, error) {
	onError := func(e files.RowError) {
		if r.obs.Row != nil {
			r.obs.Row(source.RowError{File: f.URI, Line: e.Line, Column: e.Column, Raw: e.Raw, Message: e.Message})
		}
	}
	return files.OpenFile(ctx, r.source.env.Open, f, r.schema, r.source.opts, onError)
}

// report tells the observer, and remembers for Committed.
func (r *reader) report(f source.FileResult) {
	r.source.results = append(r.source.results, checkpoint.FileResult{Path: f.URI, Rows: f.Rows, Rejected: f.Rejected, Error: f.Skipped})
	if r.obs.File != nil {
		r.obs.File(f)
	}
}

// newColumns decides about columns that the schema does not have.
func (r *reader) newColumns(ctx context.Context, f files.File, extra []string) error {
	s := r.source
	switch s.env.NewColumns {
	case source.AddColumns:
		return s.evolve(ctx, f)
	case source.AddWhereInferred:
		if s.Inferred() {
			return s.evolve(ctx, f)
		}
	case source.RefuseColumns:
		return &source.FileError{URI: f.URI, Class: source.ErrData, Err: fmt.Errorf(
			"file %s has columns that the schema (%s) does not have: %s; ON SCHEMA CHANGE ADD COLUMNS takes them in, IGNORE leaves them out",
			f.URI, s.schema, strings.Join(extra, ", "))}
	}
	return nil
}

// fault closes the file, and decides whether it can be left out: then the range has to be read again without it, because
// rows of it may have been given already.
func (r *reader) fault(ctx context.Context, err error) error {
	var rows *files.RowsError
	if errors.As(err, &rows) {
		err = &source.FileError{URI: rows.File.URI, Class: source.ErrData, Err: fmt.Errorf("file %s: %s. %s", rows.File.URI, rows.Err.Found(), r.source.env.RowHint)}
	}
	err = r.closeFile(asFileError(r.source.awayInstead(ctx, err)))
	if uri := r.source.skips(err); uri != "" {
		r.source.unreadable[uri] = err.Error()
		return source.ErrAgain
	}
	return err
}

func (r *reader) closeFile(err error) error {
	if r.current == nil {
		return err
	}
	closeErr := r.current.Close()
	r.current = nil
	if closeErr != nil && errors.Is(err, io.EOF) {
		return closeErr
	}
	return err
}

// Close closes the current file.
func (r *reader) Close() error { return r.closeFile(nil) }

// fileOf names the file that an error is about, and says whether it is one that ON ERROR SKIP FILE leaves out: gone, or
// not what the options say. A file that changed since it was recorded is not, and neither is one whose disk fails.
func fileOf(err error) (uri string, unreadable bool) {
	var gone *files.GoneError
	var changed *files.ChangedError
	var broken *files.UnreadableError
	switch {
	case errors.As(err, &gone):
		return gone.File.URI, true
	case errors.As(err, &broken):
		return broken.File.URI, !isOutside(err)
	case errors.As(err, &changed):
		return changed.File.URI, false
	}
	return "", false
}

// skips names the file that an error is about and that is left out for it; "": none is.
func (s *Source) skips(err error) string {
	uri, unreadable := fileOf(err)
	var changed *files.ChangedError
	if unreadable && (s.env.SkipUnreadable || s.opts.LeavesOut(err)) ||
		s.versions != nil && errors.As(err, &changed) { // a later range has what it is now
		return uri
	}
	return ""
}

// asFileError classifies an error of a file: what a retry does not mend is a *source.FileError.
func asFileError(err error) error {
	var already *source.FileError
	if err == nil || errors.As(err, &already) {
		return err
	}
	uri, _ := fileOf(err)
	var changed *files.ChangedError
	var gone *files.GoneError
	class := source.ErrData
	switch {
	case errors.As(err, &changed), errors.As(err, &gone):
		class = source.ErrChanged
	case uri == "", isOutside(err):
		return err
	}
	return &source.FileError{URI: uri, Class: class, Err: err}
}
