package files

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lakesql/checkpoint"
	"lakesql/files"
)

// version is what a recorded file looked like.
type version struct {
	size    int64 // -1: not known
	modTime time.Time
}

// loadVersions finds out what the recorded files looked like, where allowOverwrites wants to know.
func (s *Source) loadVersions(ctx context.Context) error {
	if !s.opts.AllowOverwrites {
		return nil
	}
	s.versions = map[string]version{}
	for e, err := range s.log.All(ctx) {
		if err != nil {
			return fmt.Errorf("read the log of the files seen: %w", err)
		}
		s.versions[e.Path] = version{-1, time.UnixMilli(e.TimestampMs)}
	}
	for fact, err := range s.facts.All(ctx) {
		if err != nil {
			return fmt.Errorf("read what the files looked like: %w", err)
		}
		if s.seen[fact.Path] == fact.LogID {
			s.versions[fact.Path] = version{fact.Size, time.Unix(0, fact.ModTimeNs)}
		}
	}
	return nil
}

// overwritten leaves of a listing the files that no range has as they are.
func (s *Source) overwritten(list []files.File) []files.File {
	return slices.DeleteFunc(list, func(f files.File) bool {
		v, ok := s.versions[f.URI]
		switch {
		case !ok:
			return false
		case v.size < 0:
			return sameTime(f.ModTime.UnixMilli(), v.modTime.UnixMilli())
		}
		return v.size == f.Size && v.modTime.Equal(f.ModTime)
	})
}

// newestOf leaves of the entries of one range the last of each file: what it was before is gone.
func newestOf(entries []checkpoint.SourceEntry) []checkpoint.SourceEntry {
	last := make(map[string]int, len(entries))
	for i, e := range entries {
		last[e.Path] = i
	}
	if len(last) == len(entries) {
		return entries
	}
	var out []checkpoint.SourceEntry
	for i, e := range entries {
		if last[e.Path] == i {
			out = append(out, e)
		}
	}
	return out
}
