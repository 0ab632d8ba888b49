package deltatable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/store"
	"lakesql/stream/source"
	"lakesql/vector"
)

// Read returns the rows of the files of a range; with a change feed, the changes.
func (s *Source) Read(ctx context.Context, start, end source.Offset, _ source.Observer) (vector.Operator, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	if start == end {
		return vector.NewBatches(schema), nil
	}
	sets, err := s.rangeOf(ctx, start, end)
	if err != nil {
		return nil, err
	}
	if sets, err = s.wanted(ctx, sets); err != nil {
		return nil, err
	}
	op, err := s.open(sets)
	if err != nil {
		return nil, err
	}
	return &rows{Operator: op, schema: schema, uri: s.uri}, nil
}

// rangeOf are the files of a range, in order.
func (s *Source) rangeOf(ctx context.Context, start, end source.Offset) ([]delta.ChangeSet, error) {
	to, err := parseOffset(end)
	if err != nil {
		return nil, err
	}
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	if snap == nil {
		return nil, s.gone()
	}
	if err := s.checkPlace(to, snap); err != nil {
		return nil, err
	}
	var from position
	if start == source.None {
		from, err = s.firstOf(ctx, to, snap)
	} else if from, err = parseOffset(start); err == nil {
		err = s.checkID(from.id, to.id)
	}
	if err != nil {
		return nil, err
	}
	var sets []delta.ChangeSet
	if from.initial {
		if sets, err = s.ofSnapshot(ctx, from, to); err != nil || to.initial {
			return sets, err
		}
		from = before(from.id, from.version+1)
	}
	return s.ofCommits(ctx, snap, from, to, sets)
}

// ofSnapshot are the files of the initial snapshot behind from: up to to where that lies in it, too, else all.
func (s *Source) ofSnapshot(ctx context.Context, from, to position) ([]delta.ChangeSet, error) {
	files, err := s.initial(ctx, from.version)
	if err != nil {
		return nil, err
	}
	if err := s.checkSchema(files.version, files.schema, files.meta); err != nil {
		return nil, err
	}
	upTo := int64(len(files.list))
	if to.initial {
		if to.version != from.version || to.index >= upTo {
			return nil, s.beyond(to, upTo)
		}
		upTo = to.index + 1
	}
	var sets []delta.ChangeSet
	for i := from.index + 1; i < upTo; i++ {
		set := files.set
		set.File = files.list[i]
		sets = append(sets, set)
	}
	return sets, nil
}

// beyond is the error of an offset that names more files than the version has.
func (s *Source) beyond(p position, files int64) error {
	return refuse(source.ErrChanged, "the checkpoint has file %d of version %d of source table %s, and that version has %d files: it is another table, or another log, than the stream has read",
		p.index, p.version, s.uri, files)
}

// ofCommits appends the files of commits behind from up to to.
func (s *Source) ofCommits(ctx context.Context, snap *delta.Snapshot, from, to position, sets []delta.ChangeSet) ([]delta.ChangeSet, error) {
	last := to.version
	if to.index == beforeFirst {
		last--
	}
	if from.version > last {
		return sets, nil
	}
	if err := s.lookAhead(ctx, snap, from, last, 0); err != nil {
		return nil, err
	}
	for i := range s.ahead {
		c := &s.ahead[i]
		if c.Version > last {
			break
		}
		if err := s.judge(c.Commit, from.id); err != nil {
			return nil, err
		}
		first, upTo := c.first(from), int64(len(c.files()))
		if c.Version == to.version {
			if to.index >= upTo && !c.whole {
				return nil, s.beyond(to, upTo)
			}
			upTo = min(upTo, to.index+1)
		}
		var err error
		if sets, err = s.appendCommit(ctx, sets, c, first, upTo, from, to); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// appendCommit appends the files first to upTo of a commit, or its changes.
func (s *Source) appendCommit(ctx context.Context, sets []delta.ChangeSet, c *aheadCommit, first, upTo int64, from, to position) ([]delta.ChangeSet, error) {
	if !s.opts.changeFeed {
		for _, f := range c.files()[first:upTo] {
			sets = append(sets, delta.ChangeSet{Version: c.Version, File: f})
		}
		return sets, nil
	}
	changes, err := c.Changes(ctx)
	if errors.Is(err, delta.ErrRefused) {
		return nil, refuse(source.ErrData, "source table %s: %w", s.uri, err)
	}
	if err != nil {
		return nil, s.unreadable(err)
	}
	if !c.whole {
		return append(sets, changes[first:upTo]...), nil
	}
	if c.Version == to.version || c.Version == from.version && from.index > beforeFirst {
		return nil, refuse(source.ErrChanged, "the checkpoint has a place within version %d of source table %s, which changes rows: Spark has read a part of its changes, "+
			"and which one cannot be told here. Let Spark read the version to its end", c.Version, s.uri)
	}
	return append(sets, changes...), nil
}

// wanted leaves out files that excludeRegex names, and those that are gone where failOnDataLoss is false.
func (s *Source) wanted(ctx context.Context, sets []delta.ChangeSet) ([]delta.ChangeSet, error) {
	if s.opts.exclude != nil {
		sets = slices.DeleteFunc(sets, func(c delta.ChangeSet) bool { return s.opts.exclude.MatchString(c.File.LogPath()) })
	}
	if !s.opts.dataLoss {
		return sets, nil
	}
	out := sets[:0]
	for _, c := range sets {
		st, key, err := s.table.Locate(c.File.Path)
		if err != nil {
			return nil, s.unreadable(err)
		}
		_, err = st.Stat(ctx, key)
		switch {
		case err == nil:
			out = append(out, c)
		case isGone(err):
			s.noticeLoss(store.ObjectURI(st, key), fmt.Sprintf(
				"file %s of version %d of source table %s is gone: its rows are not in the target (failOnDataLoss is false)", c.File.Path, c.Version, s.uri))
		default:
			return nil, s.unreadable(err)
		}
	}
	return out, nil
}

// isGone says whether a file is gone, and not the folder that it was in.
func isGone(err error) bool {
	return errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRootMissing)
}

// open reads files, or changes, by the reader's schema.
func (s *Source) open(sets []delta.ChangeSet) (vector.Operator, error) {
	if s.opts.changeFeed {
		columns := make([]batch.Field, len(s.schema.Fields))
		for i, f := range s.schema.Fields {
			columns[i] = s.reader.Schema().Fields[s.reader.Schema().Index(f.Name)]
		}
		all := func(yield func(delta.ChangeSet, error) bool) {
			for _, set := range sets {
				if !yield(set, nil) {
					return
				}
			}
		}
		return vector.NewChanges(s.table, s.reader, columns, all, s.cache), nil
	}
	scan, err := vector.NewScan(s.table, s.reader, s.schema.Names(), nil)
	if err != nil {
		return nil, err
	}
	scan.UseCache(s.cache)
	scan.UseFiles(numbered(sets))
	return scan, nil
}

func numbered(sets []delta.ChangeSet) iter.Seq2[int64, delta.File] {
	return func(yield func(int64, delta.File) bool) {
		for i, set := range sets {
			if !yield(int64(i), set.File) {
				return
			}
		}
	}
}

// rows are those of a range, in the columns that the source has given.
type rows struct {
	vector.Operator
	schema *batch.Schema
	uri    string
}

// Schema is the source's.
func (r *rows) Schema() *batch.Schema { return r.schema }

// Next returns the next rows. A data file that is gone does not come back by itself.
func (r *rows) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := r.Operator.Next(ctx)
	if err == nil || errors.Is(err, io.EOF) {
		return b, err
	}
	if isGone(err) {
		return nil, &source.LossError{Err: fmt.Errorf("[DELTA_FILE_NOT_FOUND] source table %s: %w. The stream has not read its rows yet. Put the file back; RESET reads the table again", r.uri, err)}
	}
	return nil, fmt.Errorf("source table %s: %w", r.uri, err)
}
