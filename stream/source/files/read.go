package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
	return &reader{ranged: newRanged(s, list, obs)}, nil
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
