package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/files"
	"lakesql/store"
	"lakesql/stream/source"
)

const (
	// pollEvery is how often the folder is listed where nothing hints.
	pollEvery = time.Second
	// entriesAhead is how many entries of the source log are read while as many before them are taken in.
	entriesAhead = 1024
)

// Source reads the files of a folder or glob, each once. See the package's comment for what is durable when.
//
// Invariants:
//   - seen has exactly the entries of the source log, whose newest id is last.
//   - The backlog has nothing that seen has as it is.
type Source struct {
	env  source.Env
	spec source.Spec
	opts *files.Options
	bare *files.Options // opts without the option schema: what new columns are inferred by
	set  *files.Set

	log     *checkpoint.SourceLog // nil: only to be looked at
	facts   *checkpoint.FileLog
	schemas *schemaLocation // nil: schemas are kept in the checkpoint
	cleaner *cleaner        // nil: files stay
	watcher *files.Watcher

	backlog

	schema *batch.Schema
	given  bool // the option schema

	seen     map[string]int64 // URI -> id of the log entry
	last     int64
	first    int64              // files of entries before it are left out: they were there when the stream began
	versions map[string]version // by URI, what the file's newest entry is of; nil without allowOverwrites
	newest   []files.File       // the files of entry last, where this source has recorded it
	frozen   map[string]bool    // nil: not frozen

	unreadable map[string]string // files left out because reading failed, with the reason
	noticed    map[string]bool   // files whose change after they were recorded has been told
	notices    []source.RowError // not given out yet
	results    []checkpoint.FileResult
}

var (
	_ source.Source     = (*Source)(nil)
	_ source.Noticer    = (*Source)(nil)
	_ source.FileLister = (*Source)(nil)
	_ source.Rescuer    = (*Source)(nil)
	_ source.Preparer   = (*Source)(nil)
	_ source.OpenFunc   = Open
)

// Open opens a file source. With a checkpoint it reads the whole source log and starts to watch the folder.
func Open(ctx context.Context, spec source.Spec, env source.Env) (source.Source, error) {
	opts, err := files.ParseOptions(spec.Options)
	if err != nil {
		return nil, fmt.Errorf("read_files('%s'): %w", spec.Path, err)
	}
	applyMode(opts, spec.Options, env.Malformed)
	bare, err := withoutSchema(spec.Options)
	if err != nil {
		return nil, err
	}
	if env.NewColumns, err = evolution(opts, env.NewColumns); err != nil {
		return nil, fmt.Errorf("read_files('%s'): %w", spec.Path, err)
	}
	if env.NewColumns == source.RescueColumns {
		if err := errors.Join(opts.Rescue(), bare.Rescue()); err != nil {
			return nil, fmt.Errorf("read_files('%s'): %w", spec.Path, err)
		}
	}
	set, err := files.NewSet(env.Open, env.Fence, spec.Path, opts)
	if err != nil {
		return nil, err
	}
	s := &Source{
		env: env, spec: spec, opts: opts, bare: bare, set: set, given: opts.Schema() != nil, schema: opts.Schema(),
		backlog: backlog{names: map[string]struct{}{}}, seen: map[string]int64{}, last: -1, unreadable: map[string]string{}, noticed: map[string]bool{},
	}
	if s.cleaner, err = newCleaner(ctx, spec, env, opts, set.Base()); err != nil {
		return nil, fmt.Errorf("read_files('%s'): %w", spec.Path, err)
	}
	if opts.SchemaLocation != "" {
		if s.schemas, err = openSchemaLocation(env, opts.SchemaLocation); err != nil {
			return nil, fmt.Errorf("read_files('%s'): %w", spec.Path, err)
		}
	}
	if env.Checkpoint == nil {
		return s, nil
	}
	s.log, s.facts = env.Checkpoint.Source(env.Index), env.Checkpoint.Files(env.Index)
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	if s.watcher, err = set.Watch(env.Notifier); err != nil {
		s.watcher = nil // the listing is the truth: it is only repeated more often
	}
	return s, nil
}

// load reads the log into seen, and the schema that an earlier run has kept.
func (s *Source) load(ctx context.Context) error {
	var err error
	if s.last, err = s.log.Latest(ctx); err != nil {
		return fmt.Errorf("read the log of the files seen: %w", err)
	}
	about, err := s.log.About(ctx)
	if err != nil {
		return fmt.Errorf("read the log of the files seen: %w", err)
	}
	s.seen = make(map[string]int64, about+about/4) // a map that is nearly full by then would grow all the same
	for e, err := range store.Ahead(s.log.All(ctx), entriesAhead) {
		if err != nil {
			return fmt.Errorf("read the log of the files seen: %w", err)
		}
		s.seen[e.Path] = e.BatchID
	}
	if err := s.loadVersions(ctx); err != nil {
		return err
	}
	if err := s.retry(ctx); err != nil {
		return err
	}
	return s.loadSchema(ctx)
}

func (s *Source) known(uri string) bool {
	_, ok := s.seen[uri]
	return ok || s.env.Known != nil && s.env.Known(uri)
}

// notice keeps a word about recorded files that were written to, or replaced, since: what came later is in no range.
func (s *Source) notice(ctx context.Context, touched []string) error {
	for _, uri := range touched {
		id, ok := s.seen[uri]
		if !ok || s.noticed[uri] || s.log == nil {
			continue
		}
		list, err := s.rangeFiles(ctx, id, id)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(list, func(f recorded) bool { return f.URI == uri })
		if at < 0 {
			continue
		}
		now, err := s.stat(ctx, uri)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		was := list[at].File
		if list[at].err == nil && now.Size == was.Size && now.ModTime.Equal(was.ModTime) {
			continue
		}
		s.noticed[uri] = true
		s.notices = append(s.notices, source.RowError{File: uri, Message: fmt.Sprintf(
			"the file was written to after it was recorded with %d bytes, and has %d now: a file is read once, so what came later is not in the table. "+
				"Put new rows into the folder as a file with a new name", was.Size, now.Size)})
	}
	return nil
}

// Notices gives out what was noticed since the last call.
func (s *Source) Notices() []source.RowError {
	out := s.notices
	s.notices = nil
	return out
}

// allowed leaves what was there when the source was frozen.
func (s *Source) allowed(list []files.File) []files.File {
	if s.frozen == nil {
		return list
	}
	out := list[:0]
	for _, f := range list {
		if s.frozen[f.URI] {
			out = append(out, f)
		}
	}
	return out
}

// Freeze limits the source to what is there now.
func (s *Source) Freeze(ctx context.Context) error {
	s.frozen = nil
	if err := s.look(ctx); err != nil {
		return err
	}
	s.frozen = map[string]bool{}
	for _, list := range [][]files.File{s.ready, s.waiting} {
		for _, f := range list {
			s.frozen[f.URI] = true
		}
	}
	return nil
}

// Latest records the next range in the source log. An entry that an earlier run, ours or Spark's, recorded and that no
// offset covers yet is the next range as it is.
func (s *Source) Latest(ctx context.Context, start source.Offset, limit source.Limit) (source.Offset, bool, error) {
	from, err := parseOffset(start)
	if err != nil {
		return "", false, err
	}
	if err := s.clean(ctx, from); err != nil {
		return "", false, err
	}
	if s.last > from {
		if s.log != nil {
			if err := s.pinOrphans(ctx, from+1, s.last); err != nil {
				return "", false, err
			}
		}
		return formatOffset(s.last), true, nil
	}
	if s.last < from {
		return "", false, s.beyond(from)
	}
	taken, err := s.choose(ctx, limit)
	if err != nil || len(taken) == 0 {
		return start, false, err
	}
	if err := s.record(ctx, taken); err != nil {
		for _, f := range taken { // they are found and not given out: a stream that goes on failing is stalled
			s.size = s.counted(s.size, f, 1)
		}
		return "", false, err
	}
	return formatOffset(s.last), len(s.ready) > 0, nil
}

// choose takes the files of the next range.
func (s *Source) choose(ctx context.Context, limit source.Limit) ([]files.File, error) {
	for {
		fresh := false
		if s.due(s.env.Now(), s.opts.LatestFirst) {
			fresh = len(s.ready) == 0
			if err := s.lookForNews(ctx); err != nil {
				return nil, err
			}
		}
		n := s.count(limit)
		if n == 0 {
			return nil, nil
		}
		taken := s.take(n)
		if fresh {
			return taken, nil
		}
		if taken, err := s.still(ctx, taken); err != nil || len(taken) > 0 {
			return taken, err
		}
	}
}

// beyond is the error of offsets that name entries which the source log does not have. Going on would record new files under
// the ids of entries that count as read.
func (s *Source) beyond(id int64) error {
	return &checkpoint.Error{Kind: checkpoint.Damaged, URI: fmt.Sprintf("%s/sources/%d", s.env.Checkpoint.URI(), s.env.Index),
		Found: fmt.Sprintf("the offsets name entry %d, and the last one here is %d: files were removed", id, s.last), Hint: "put them back from a copy"}
}

// count is how many of the ready files the next range has.
func (s *Source) count(limit source.Limit) int {
	if limit.All {
		return len(s.ready)
	}
	maxFiles, maxBytes := limit.Files, limit.Bytes
	if maxFiles == 0 {
		maxFiles = s.opts.MaxFilesPerTrigger
	}
	if maxFiles == 0 {
		maxFiles = source.DefaultMaxFiles
	}
	if maxBytes == 0 {
		maxBytes = s.opts.MaxBytesPerTrigger
	}
	n, bytes := 0, int64(0)
	for n < len(s.ready) && n < maxFiles {
		bytes += s.ready[n].Size
		if n > 0 && maxBytes > 0 && bytes > maxBytes {
			break
		}
		n++
	}
	return n
}

// record writes the files to the source log, and then what they look like. Without a checkpoint it only remembers them.
func (s *Source) record(ctx context.Context, taken []files.File) error {
	id := s.last + 1
	entries := entriesOf(taken, id)
	if s.log != nil {
		if err := s.log.Add(ctx, id, entries); err != nil {
			return fmt.Errorf("record %d files in the source log: %w", len(taken), err)
		}
	}
	s.last, s.newest = id, nil
	for _, f := range taken {
		s.seen[f.URI] = id
		if s.versions != nil {
			s.versions[f.URI] = version{f.Size, f.ModTime}
			delete(s.unreadable, f.URI)
		}
	}
	if s.log != nil {
		pins := make([]checkpoint.FilePin, len(taken))
		for i, f := range taken {
			pins[i] = pinOf(f)
		}
		if err := s.pin(ctx, id, pins); err != nil {
			return err
		}
	}
	s.newest = slices.Clone(taken)
	return nil
}

func entriesOf(taken []files.File, id int64) []checkpoint.SourceEntry {
	out := make([]checkpoint.SourceEntry, len(taken))
	for i, f := range taken {
		out[i] = checkpoint.SourceEntry{Path: f.URI, TimestampMs: f.ModTime.UnixMilli(), BatchID: id}
	}
	return out
}

// Newest returns the files of the newest range, which this source has recorded.
func (s *Source) Newest() []checkpoint.SourceEntry { return entriesOf(s.newest, s.last) }

// Prepare records what became of the range's files where that could not be told after a crash: some were left out, or cleanSource has to know of each that it was not.
func (s *Source) Prepare(ctx context.Context, batchID int64, start, end source.Offset) error {
	from, to, err := parseRange(start, end)
	if err != nil || from == to || s.facts == nil {
		return err
	}
	if leftOut := slices.ContainsFunc(s.results, func(r checkpoint.FileResult) bool { return r.Error != "" && !s.existed(r.Path) }); leftOut || s.cleaner != nil && s.mayLeaveOut() {
		return s.facts.FinishAhead(ctx, batchID, from+1, to, s.results)
	}
	return nil
}

// mayLeaveOut tells whether a file of a range may be left out for what it is when its turn comes.
func (s *Source) mayLeaveOut() bool {
	return s.env.SkipUnreadable || s.opts.IgnoreCorrupt || s.opts.IgnoreMissing || s.versions != nil
}

// Committed records what became of the range's files.
func (s *Source) Committed(ctx context.Context, batchID int64, start, end source.Offset) error {
	from, to, err := parseRange(start, end)
	if err != nil {
		return err
	}
	results := s.results
	s.results = nil
	if from == to {
		return nil
	}
	return s.finish(ctx, batchID, from+1, to, results)
}

// finish keeps what became of a range's files, which may go then.
func (s *Source) finish(ctx context.Context, batchID, from, to int64, results []checkpoint.FileResult) error {
	if err := s.facts.Finish(ctx, batchID, from, to, s.env.Now(), results); err != nil {
		return err
	}
	return s.clean(ctx, to)
}

// mark is the files that were there at one moment and had not been recorded as they were, and the newest log entry of that moment.
type mark struct {
	logID int64
	files map[string]struct{}
}

// Mark looks what is there now.
func (s *Source) Mark(ctx context.Context) (source.Mark, error) {
	if err := s.lookForNews(ctx); err != nil {
		return nil, err
	}
	m := &mark{logID: s.last, files: make(map[string]struct{}, len(s.ready)+len(s.waiting))}
	for _, list := range [][]files.File{s.ready, s.waiting} {
		for _, f := range list {
			m.files[f.URI] = struct{}{}
		}
	}
	return m, nil
}

// Reached strikes off the files that are committed, or that were gone before they were recorded.
func (s *Source) Reached(ctx context.Context, taken source.Mark, committed source.Offset) (bool, error) {
	m, ok := taken.(*mark)
	if !ok {
		return false, fmt.Errorf("a mark of another source: %T", taken)
	}
	id, err := parseOffset(committed)
	if err != nil {
		return false, err
	}
	unseen := false
	for uri := range m.files {
		if at, ok := s.seen[uri]; !ok || at <= m.logID {
			unseen = true
		} else if at <= id {
			delete(m.files, uri)
		}
	}
	if unseen {
		if err := s.strikeGone(ctx, m); err != nil {
			return false, err
		}
	}
	return (m.logID <= id || m.logID < s.first) && len(m.files) == 0, nil
}

// strikeGone strikes off the files that no look finds any more. Only a look of this source can tell; a frozen one does not
// show all that is there, so nothing is struck off then.
func (s *Source) strikeGone(ctx context.Context, m *mark) error {
	if s.frozen != nil {
		return nil
	}
	if s.looked.IsZero() {
		if err := s.look(ctx); err != nil {
			return err
		}
	}
	there := s.pending()
	for uri := range m.files {
		if at, ok := s.seen[uri]; (!ok || at <= m.logID) && !there(uri) {
			delete(m.files, uri)
		}
	}
	return nil
}

// CanSkip accepts the files of ranges that are not committed, and those in the folder that no range has yet.
func (s *Source) CanSkip(ctx context.Context, uri string, committed source.Offset) error {
	id, err := parseOffset(committed)
	if err != nil {
		return err
	}
	if at, ok := s.seen[uri]; ok {
		switch {
		case at < s.first:
			return fmt.Errorf("it was there when the stream began, and is left out already")
		case at <= id:
			return fmt.Errorf("its rows are in the table already")
		}
		return nil
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	if !s.pending()(uri) {
		return fmt.Errorf("no such file is waiting to be read in %s", s.spec.Path)
	}
	return nil
}

// Wake hints that files may be new.
func (s *Source) Wake() <-chan struct{} {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Events()
}

// RecheckAfter is when a file that is still being written may be whole, or when the folder is listed without a watcher.
func (s *Source) RecheckAfter() time.Duration {
	after := s.set.RecheckAfter()
	if s.watcher == nil && (after == 0 || after > pollEvery) {
		return pollEvery
	}
	return after
}

// Upkeep prepares the next compaction of the source log, and merges small objects.
func (s *Source) Upkeep(ctx context.Context) error {
	if s.log == nil {
		return nil
	}
	if err := s.log.Prepare(ctx); err != nil {
		return err
	}
	return s.facts.Compact(ctx)
}

// Description names the source as Spark does.
func (s *Source) Description() string {
	return "FileStreamSource[" + strings.Replace(s.spec.Path, "file:///", "file:/", 1) + "]"
}

// Close stops watching.
func (s *Source) Close() error {
	var errs []error
	if s.watcher != nil {
		errs = append(errs, s.watcher.Close())
	}
	if s.log != nil {
		errs = append(errs, s.log.Close())
	}
	return errors.Join(errs...)
}

// formatOffset is Spark's FileStreamSourceOffset.
func formatOffset(id int64) source.Offset {
	if id < 0 {
		return source.None
	}
	return source.Offset(`{"logOffset":` + strconv.FormatInt(id, 10) + `}`)
}

// parseRange reads the offsets of a range: its entries are those behind from, up to and with to.
func parseRange(start, end source.Offset) (from, to int64, err error) {
	if from, err = parseOffset(start); err != nil {
		return 0, 0, err
	}
	to, err = parseOffset(end)
	return from, to, err
}

// parseOffset reads an offset; Spark also accepts a bare number.
func parseOffset(o source.Offset) (int64, error) {
	if o == source.None {
		return -1, nil
	}
	if id, err := strconv.ParseInt(string(o), 10, 64); err == nil {
		return id, nil
	}
	var text struct {
		LogOffset *int64 `json:"logOffset"`
	}
	if err := json.Unmarshal([]byte(o), &text); err != nil || text.LogOffset == nil {
		return 0, fmt.Errorf("offset %s in the checkpoint is not one of a file source such as {\"logOffset\":3}: %w", o, source.ErrChanged)
	}
	return *text.LogOffset, nil
}
