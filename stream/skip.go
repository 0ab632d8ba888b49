package stream

import (
	"context"
	"errors"
	"fmt"

	"lakesql/checkpoint"
	"lakesql/stream/source"
)

// skipped is the files of a stream that a person has decided to leave out. The decision is in the checkpoint, beside the
// ranges that name the files: it holds for every run of a batch that is not committed yet, and changes none that is.
type skipped map[string]bool

func (s skipped) has(uri string) bool { return s[uri] }

func loadSkipped(ctx context.Context, cp *checkpoint.Checkpoint) (skipped, error) {
	list, err := cp.SkippedFiles(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which files are to be left out: %w", err)
	}
	out := skipped{}
	for _, uri := range list {
		out[uri] = true
	}
	return out, nil
}

// skipFile keeps the decision. One of the sources must know the file as one that is still to be read: another one is in the
// table already, or would be left out one day without anybody knowing why.
func (m *Manager) skipFile(ctx context.Context, d *Definition, fileURI string) error {
	cp, err := m.openCheckpoint(ctx, d)
	if err != nil {
		return err
	}
	ss := &session{attachment: attachment{def: *d, cp: cp}, s: &stream{m: m}}
	defer ss.closeSources()
	if err := ss.openSources(ctx); err != nil {
		return err
	}
	committed := make([]source.Offset, len(ss.sources))
	last, err := cp.Commits().Latest(ctx)
	if err != nil {
		return fmt.Errorf("read the commit log: %w", err)
	}
	if last >= 0 {
		o, err := ss.readOffsets(ctx, last, len(ss.sources))
		if err != nil {
			return err
		}
		committed = offsetsOf(o.Sources)
	}
	var reasons []error
	for i, src := range ss.sources {
		skipper, ok := src.(source.FileSkipper)
		if !ok {
			continue
		}
		err := skipper.CanSkip(ctx, fileURI, committed[i])
		if err == nil {
			return cp.SkipFile(ctx, fileURI)
		}
		reasons = append(reasons, err)
	}
	return ss.fail(KindInvalid, errors.Join(reasons...), "stream %s cannot leave out file %s: %v. Type the file's whole path, as LAST_ERROR and SHOW STREAM FILES FOR %s have it: "+
		"a relative one begins at the folder that the server was started in, not at the source", d.FullName(), fileURI, errors.Join(reasons...), d.FullName())
}
