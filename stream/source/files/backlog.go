package files

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"lakesql/files"
	"lakesql/store"
	"lakesql/stream/source"
)

const (
	// listingFresh is how long a listing is used for further ranges before the folder is looked at for news.
	listingFresh = 10 * time.Second
	// lookShare bounds the time that looks take while files wait: one comes no sooner than so many times its cost after the last.
	lookShare = 10
)

// backlog is what the looks have found and no range has.
//
// While files wait, a look asks for news only: of what it has found before it reads no more than the names, and not even those where no folder has changed. So a file is
// looked at once more when a range takes it, because that may be long after it was found.
type backlog struct {
	ready   []files.File        // whole, in the order in which ranges take them
	names   map[string]struct{} // URIs of ready
	waiting []files.File        // still being written, as of the last look
	looked  time.Time           // of the last look; zero: there has been none, or one is due
	took    time.Duration       // by the last look
	size    source.Backlog      // of ready, without the files that are to be left out
}

// look lists the files that the log does not have, all of them anew; with allowOverwrites, as they are now.
func (s *Source) look(ctx context.Context) error {
	s.set.Reread()
	return s.list(ctx, s.forget())
}

// lookForNews lists the files that neither the log nor the backlog has.
func (s *Source) lookForNews(ctx context.Context) error { return s.list(ctx, nil) }

// forget makes the backlog empty and returns what was ready in it.
func (s *Source) forget() []files.File {
	was := s.ready
	s.ready, s.names, s.size = nil, map[string]struct{}{}, source.Backlog{}
	return was
}

// list is a look. whole are files that an earlier one found to be: they stay so while they are as they were, whatever has been forgotten of how they came to be.
func (s *Source) list(ctx context.Context, whole []files.File) error {
	known := func(uri string) bool { return s.found(uri) || s.known(uri) }
	if s.versions != nil {
		// What is known may come to be unknown by being taken, as it then is known as it was: so each file is looked at.
		known = s.env.Known
		whole = append(whole, s.forget()...)
	}
	begun := s.env.Now()
	ready, waiting, err := s.set.ListNew(ctx, known)
	if err != nil {
		return err // names the folder
	}
	ready, waiting = stillWhole(ready, waiting, whole)
	if s.versions != nil {
		ready, waiting = s.overwritten(ready), s.overwritten(waiting)
	}
	if len(ready)+len(waiting) == 0 {
		if err := s.away(ctx); err != nil {
			return err
		}
	}
	s.merge(s.allowed(ready))
	s.waiting, s.looked = s.allowed(waiting), s.env.Now()
	s.took = s.looked.Sub(begun)
	return s.notice(ctx, s.set.Touched())
}

// stillWhole takes the files that were whole before, and are as they were, from those that are waited for.
func stillWhole(ready, waiting, whole []files.File) (_, _ []files.File) {
	was := make(map[string]files.File, len(whole))
	for _, f := range whole {
		was[f.URI] = f
	}
	out := waiting[:0]
	for _, f := range waiting {
		if before, ok := was[f.URI]; ok && before.Size == f.Size && before.ModTime.Equal(f.ModTime) && before.ETag == f.ETag {
			ready = append(ready, f)
		} else {
			out = append(out, f)
		}
	}
	return ready, out
}

// due says whether the folder is to be looked at before the next range. The newest files first means that each range wants to know them.
func (b *backlog) due(now time.Time, latestFirst bool) bool {
	age := now.Sub(b.looked)
	return len(b.ready) == 0 || b.looked.IsZero() || (latestFirst || age > listingFresh) && age >= lookShare*b.took
}

// merge puts new files among those that wait.
func (s *Source) merge(news []files.File) {
	if len(news) == 0 {
		return
	}
	for _, f := range news {
		s.names[f.URI] = struct{}{}
		s.size = s.counted(s.size, f, 1)
	}
	order := func(a, b files.File) int { return cmp.Or(a.ModTime.Compare(b.ModTime), cmp.Compare(a.URI, b.URI)) }
	if s.opts.LatestFirst {
		older := order
		order = func(a, b files.File) int { return older(b, a) }
	}
	s.ready = slices.Concat(s.ready, news) // ranges have parts of the old one
	slices.SortFunc(s.ready, order)
}

// found says whether a file is in the backlog as a whole one.
func (s *Source) found(uri string) bool {
	_, ok := s.names[uri]
	return ok
}

// take takes the next range's files out of the backlog.
func (s *Source) take(n int) []files.File {
	taken := s.ready[:n:n]
	s.ready = s.ready[n:]
	for _, f := range taken {
		delete(s.names, f.URI)
		s.size = s.counted(s.size, f, -1)
	}
	return taken
}

// still leaves of files that were found some time ago those that are there as they were. What has changed is found anew by the next look, and decided about as a new file is.
func (s *Source) still(ctx context.Context, taken []files.File) ([]files.File, error) {
	out := make([]files.File, 0, len(taken))
	gone := false
	for _, f := range taken {
		info, err := s.stat(ctx, f.URI)
		switch {
		case errors.Is(err, store.ErrNotFound):
			gone = true
		case err != nil:
			return nil, err
		case info.Size == f.Size && info.ModTime.Equal(f.ModTime) && info.ETag == f.ETag:
			out = append(out, f)
		default:
			s.set.Reread()
			s.looked = time.Time{}
		}
	}
	if gone {
		if err := s.away(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// counted adds a file to a backlog, or with -1 takes it off, unless it is to be left out.
func (s *Source) counted(b source.Backlog, f files.File, n int64) source.Backlog {
	if s.env.Skipped == nil || !s.env.Skipped(f.URI) {
		b.Files, b.Bytes = b.Files+n, b.Bytes+n*f.Size
	}
	return b
}

// Backlog counts what the looks have found and no range has, without the files that are to be left out.
func (s *Source) Backlog() source.Backlog {
	b := s.size
	for _, f := range s.waiting {
		b = s.counted(b, f, 1)
	}
	b.Waiting = int64(len(s.waiting))
	return b
}

// pending says which files the last looks have found.
func (s *Source) pending() func(uri string) bool {
	waiting := make(map[string]bool, len(s.waiting))
	for _, f := range s.waiting {
		waiting[f.URI] = true
	}
	return func(uri string) bool { return s.found(uri) || waiting[uri] }
}
