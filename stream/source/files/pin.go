package files

import (
	"context"
	"fmt"
	"slices"

	"lakesql/checkpoint"
	"lakesql/files"
)

// pinOrphans records what the files of the entries from..to look like, where that is not recorded: another engine wrote the entry, or a crash came between it and its pins.
// No offset covers them yet. A file that is gone, or that changed since, gets no pin: reading it says so.
func (s *Source) pinOrphans(ctx context.Context, from, to int64) error {
	entries, err := s.log.Entries(ctx, from, to)
	if err != nil {
		return fmt.Errorf("read the log of the files seen: %w", err)
	}
	pinned := map[int64]bool{}
	for fact, err := range s.facts.Range(ctx, from, to) {
		if err != nil {
			return fmt.Errorf("read what the files looked like: %w", err)
		}
		pinned[fact.LogID] = true
	}
	entries = slices.DeleteFunc(entries, func(e checkpoint.SourceEntry) bool { return pinned[e.BatchID] })
	pins := map[int64][]checkpoint.FilePin{}
	for _, e := range entries {
		f, err := s.unpinned(ctx, e)
		if err != nil {
			return err
		}
		if f.err == nil {
			pins[e.BatchID] = append(pins[e.BatchID], pinOf(f.File))
		}
	}
	for id, list := range pins {
		if err := s.pin(ctx, id, list); err != nil {
			return err
		}
	}
	return nil
}

func pinOf(f files.File) checkpoint.FilePin {
	return checkpoint.FilePin{Path: f.URI, Size: f.Size, ModTimeNs: f.ModTime.UnixNano(), ETag: f.ETag}
}

func (s *Source) pin(ctx context.Context, id int64, pins []checkpoint.FilePin) error {
	if err := s.facts.Pin(ctx, id, pins); err != nil {
		return fmt.Errorf("record what %d files look like: %w", len(pins), err)
	}
	return nil
}
