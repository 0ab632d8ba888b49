package files

import (
	"context"
	"fmt"
	"slices"
)

// begin finds out which files includeExistingFiles => false leaves out: at the first start those that are there, whole or not. They go into the source log's first
// entry, so that Spark takes them for seen, too.
//
//  1. The number of entries that are left out, 0 or 1, is kept.
//  2. The entry is written. A start that finds the one without the other does it then.
//
// A checkpoint that has entries already, ours or Spark's, had its first start before.
func (s *Source) begin(ctx context.Context) error {
	first, ok, err := s.facts.Begin(ctx)
	if err != nil {
		return fmt.Errorf("read where the stream began: %w", err)
	}
	s.first = first
	if ok && s.last+1 >= first || !ok && s.opts.IncludeExistingFiles {
		return nil
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	existing := slices.Concat(s.ready, s.waiting)
	if !ok {
		if s.last < 0 && len(existing) > 0 {
			s.first = 1
		}
		if err := s.facts.SaveBegin(ctx, s.first); err != nil {
			return fmt.Errorf("keep where the stream begins: %w", err)
		}
	}
	if s.last+1 >= s.first {
		return nil
	}
	s.take(len(s.ready))
	s.waiting = nil
	return s.record(ctx, existing)
}
