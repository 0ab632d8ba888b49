package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/stream/source"
)

// openToShow opens a stream's checkpoint to look at its records. Where it is gone, the error says so, and what to type.
func (m *Manager) openToShow(ctx context.Context, database, name string) (*checkpoint.Checkpoint, Definition, error) {
	s, err := m.find(database, name)
	if err != nil {
		return nil, Definition{}, err
	}
	d := s.definition()
	cp := s.liveCheckpoint()
	if cp != nil {
		return cp, d, nil
	}
	cp, err = m.openCheckpoint(ctx, &d)
	return cp, d, err
}

// showError is the error of reading the records of a checkpoint that was there when it was opened.
func showError(d *Definition, what string, err error) error {
	if errors.Is(err, store.ErrRootMissing) {
		return checkpointError(d, &checkpoint.Error{Kind: checkpoint.Gone, URI: d.Checkpoint, Found: "no folder", Err: err})
	}
	return fmt.Errorf("read the %s of stream %s: %w", what, d.FullName(), err)
}

// recallLook bounds how long it is looked what a stream that does not run has committed: a checkpoint that is slow to read holds
// up no start.
const recallLook = 2 * time.Second

// recall takes the last batch of a stream that does not run from its checkpoint, where no run of this server has told it. A
// checkpoint that cannot be read tells nothing: START STREAM says what is wrong.
func (s *stream) recall(ctx context.Context) {
	s.mu.Lock()
	d, known := s.def, s.run != nil || s.status.LastBatchID >= 0 || s.def.Resetting
	s.mu.Unlock()
	if known {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recallLook)
	defer cancel()
	last := int64(-1)
	cp, err := s.m.openCheckpoint(ctx, &d)
	if err == nil {
		last, err = cp.Commits().Latest(ctx)
	}
	if err != nil {
		s.m.log.Warn("the last batch of a stream could not be read", "stream", d.FullName(), "error", err)
		return
	}
	s.update(func(st *Status) { st.LastBatchID = max(st.LastBatchID, last) })
}

// liveCheckpoint is the one that the stream's session has open, which knows what is not flushed yet.
func (s *stream) liveCheckpoint() *checkpoint.Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

func (s *stream) setLive(cp *checkpoint.Checkpoint) {
	s.mu.Lock()
	s.live = cp
	s.mu.Unlock()
}

// Progress returns the last batches, newest first; limit 0 gives all that are kept.
func (m *Manager) Progress(ctx context.Context, database, name string, limit int) ([]Progress, error) {
	cp, d, err := m.openToShow(ctx, database, name)
	if err != nil {
		return nil, err
	}
	items, err := cp.Progress().Items(ctx)
	if err != nil {
		return nil, showError(&d, "progress", err)
	}
	var out []Progress
	for _, item := range slices.Backward(items) {
		if limit > 0 && len(out) == limit {
			break
		}
		var p Progress
		if err := json.Unmarshal(item.Data, &p); err != nil {
			return nil, fmt.Errorf("read the progress of batch %d of stream %s.%s: %w", item.Batch, database, name, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// Errors returns the malformed rows and the files left out that are kept, newest batch first.
func (m *Manager) Errors(ctx context.Context, database, name string) ([]RowError, error) {
	cp, d, err := m.openToShow(ctx, database, name)
	if err != nil {
		return nil, err
	}
	items, err := cp.Errors().Items(ctx)
	if err != nil {
		return nil, showError(&d, "row errors", err)
	}
	out := make([]RowError, 0, len(items))
	for _, item := range items {
		var e keptError
		if err := json.Unmarshal(item.Data, &e); err != nil {
			return nil, fmt.Errorf("read the row errors of batch %d of stream %s.%s: %w", item.Batch, database, name, err)
		}
		out = append(out, RowError{Time: e.Time, BatchID: item.Batch, File: e.File, Line: e.Line, Column: e.Column, Raw: e.Raw, Message: e.Message})
	}
	slices.SortStableFunc(out, func(a, b RowError) int { return int(b.BatchID - a.BatchID) })
	return out, nil
}

// Files returns the files that the stream has taken in, oldest first.
func (m *Manager) Files(ctx context.Context, database, name string) ([]FileStatus, error) {
	cp, d, err := m.openToShow(ctx, database, name)
	if err != nil {
		return nil, err
	}
	specs, err := m.cfg.Compiler.Sources(ctx, d)
	if err != nil {
		return nil, err
	}
	out, err := m.files(ctx, cp, specs)
	if err != nil {
		return nil, showError(&d, "files", err)
	}
	return out, nil
}

// files joins the source logs with what is known of each file. A file is committed when a committed batch is at or behind
// its newest entry: that is what the log says, also for files of which nothing else was kept. Files that no range has, and that are to be left out, come last.
func (m *Manager) files(ctx context.Context, cp *checkpoint.Checkpoint, specs []source.Spec) ([]FileStatus, error) {
	committed, err := committedOffsets(ctx, cp, specs)
	if err != nil {
		return nil, err
	}
	skipped, err := loadSkipped(ctx, cp)
	if err != nil {
		return nil, err
	}
	var out []FileStatus
	left := maps.Clone(skipped)
	for i, spec := range specs {
		if spec.Kind != "files" {
			continue
		}
		list, err := sourceFiles(ctx, cp, i, committed[i], skipped)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			delete(left, f.Path)
		}
		out = append(out, list...)
	}
	for _, uri := range slices.Sorted(maps.Keys(left)) {
		out = append(out, FileStatus{Path: uri, Size: -1, State: FileSkipped, SourceLog: -1, BatchID: -1, Rows: -1})
	}
	return out, nil
}

// sourceFiles are the files of one source's log. Of a file that was taken several times the last one counts.
func sourceFiles(ctx context.Context, cp *checkpoint.Checkpoint, index int, committed int64, skipped skipped) ([]FileStatus, error) {
	facts := map[string]checkpoint.FileFact{}
	for f, err := range cp.Files(index).All(ctx) {
		if err != nil {
			return nil, err
		}
		facts[f.Path] = f
	}
	var out []FileStatus
	newest := map[string]int64{}
	for e, err := range cp.Source(index).All(ctx) {
		if err != nil {
			return nil, err
		}
		newest[e.Path] = e.BatchID
		st := FileStatus{
			Path: e.Path, Size: -1, ModTime: time.UnixMilli(e.TimestampMs).UTC(), State: FilePending, BatchID: -1,
			SourceID: index, SourceLog: e.BatchID, Rows: -1, committed: e.BatchID <= committed,
		}
		if f, ok := facts[e.Path]; ok {
			st.Size, st.ModTime = f.Size, time.Unix(0, f.ModTimeNs).UTC()
			if f.Batch >= 0 && st.committed {
				st.Rows, st.Rejected, st.Error, st.BatchID = f.Rows, f.Rejected, f.Error, f.Batch
			}
		}
		switch {
		case st.Error != "", skipped.has(e.Path) && st.BatchID < 0:
			st.State = FileSkipped
		case st.committed:
			st.State = FileCommitted
		}
		out = append(out, st)
	}
	return slices.DeleteFunc(out, func(f FileStatus) bool { return f.SourceLog != newest[f.Path] }), nil
}

// committedOffsets is the source log entry up to which each source's files are in the table; -1 where there is none, and for other sources.
func committedOffsets(ctx context.Context, cp *checkpoint.Checkpoint, specs []source.Spec) ([]int64, error) {
	out := slices.Repeat([]int64{-1}, len(specs))
	last, err := cp.Commits().Latest(ctx)
	if err != nil || last < 0 {
		return out, err
	}
	o, err := cp.Offsets().Read(ctx, last)
	if err != nil {
		return nil, err
	}
	for i := range min(len(specs), len(o.Sources)) {
		var text struct{ LogOffset int64 }
		if specs[i].Kind != "files" || o.Sources[i] == checkpoint.NoOffset {
			continue
		}
		if err := json.Unmarshal([]byte(o.Sources[i]), &text); err != nil {
			return nil, errors.Join(source.ErrChanged, err)
		}
		out[i] = text.LogOffset
	}
	return out, nil
}
