package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lakesql/store"
)

const (
	// CompactInterval is how many batches of a source log go into one compact file when the log does not show another interval
	// already: Spark's spark.sql.streaming.fileSource.log.compactInterval.
	CompactInterval = 10

	compactSuffix = ".compact"

	// recentAdds is how many batches stay in memory for the batch that reads them next, so that it need not parse a compact file.
	recentAdds = 10

	// bytesAnEntry is the length of a line with a path that is rather long: too much room costs more memory than too little costs time.
	bytesAnEntry = 128
)

// SourceLog is sources/<i>/: which files a file source has seen. Batch M is a file M, or M.compact where (M+1) is a multiple of
// the interval: that one holds all entries so far.
//
// It remembers the newest id, so that adding does not list. That is safe because an Add of another process has
// taken the next name, and the loser gets Kind Concurrent.
type SourceLog struct {
	st  store.Store
	dir string // sources/<i>

	mu       sync.Mutex
	known    bool                    // guarded by mu; whether the fields below are those of the disk
	latest   int64                   // guarded by mu
	base     int64                   // guarded by mu; the newest compact batch, -1: none
	interval int64                   // guarded by mu
	kept     int64                   // guarded by mu; the batch below which deleteOld has deleted
	crc      map[string]bool         // guarded by mu; checksum files found
	recent   map[int64][]SourceEntry // guarded by mu
	pending  *pendingCompact         // guarded by mu; see Prepare
	own      ownCompact              // guarded by mu; the newest one; no bytes: none
}

func newSourceLog(st store.Store, i int) *SourceLog {
	return &SourceLog{st: st, dir: "sources/" + strconv.Itoa(i), recent: map[int64][]SourceEntry{}}
}

// sourceIDs is one listing of a source log.
type sourceIDs struct {
	plain, compact []int64         // ascending
	crc            map[string]bool // keys
}

// base is the newest compact batch, -1 when there is none.
func (s sourceIDs) base() int64 { return newest(s.compact) }

func (s sourceIDs) latest() int64 { return max(s.base(), newest(s.plain)) }

func (l *SourceLog) plainKey(id int64) string { return l.dir + "/" + strconv.FormatInt(id, 10) }

func (l *SourceLog) compactKey(id int64) string { return l.plainKey(id) + compactSuffix }

func (l *SourceLog) list(ctx context.Context) (sourceIDs, error) {
	ids := sourceIDs{crc: map[string]bool{}}
	for key, err := range store.ListNames(ctx, l.st, l.dir+"/", "") {
		if err != nil {
			return sourceIDs{}, gone(l.st, fmt.Errorf("list %s/ of the checkpoint: %w", l.dir, err))
		}
		name := strings.TrimPrefix(key, l.dir+"/")
		stem, isCompact := strings.CutSuffix(name, compactSuffix)
		switch id, ok := parseID(stem); {
		case ok && isCompact:
			ids.compact = append(ids.compact, id)
		case ok:
			ids.plain = append(ids.plain, id)
		case isCRC(name):
			ids.crc[key] = true
		}
	}
	slices.Sort(ids.plain)
	slices.Sort(ids.compact)
	return ids, nil
}

// compactInterval finds the interval of a log as Spark does at each start, so that both go on with the same one: the distance of the
// last two compact files; with one, a divisor of its id + 1; else the default.
func compactInterval(compact []int64) (int64, error) {
	switch n := len(compact); n {
	case 0:
		return CompactInterval, nil
	case 1:
		return oneCompactInterval(compact[0] + 1), nil
	default:
		last := compact[n-1]
		k := last - compact[n-2]
		if (last+1)%k != 0 {
			return 0, fmt.Errorf("the compact files %d and %d are %d apart, which does not divide %d", compact[n-2], last, k, last+1)
		}
		return k, nil
	}
}

// oneCompactInterval is the smallest divisor of n that is not below the default, but n itself when the default is n/2 or more: Spark
// takes 20, not 10, where 19.compact stands alone.
func oneCompactInterval(n int64) int64 {
	if CompactInterval < n/2 {
		for k := int64(CompactInterval); k <= n/2; k++ {
			if n%k == 0 {
				return k
			}
		}
	}
	return n
}

// load lists once. The caller holds mu.
func (l *SourceLog) load(ctx context.Context) error {
	if l.known {
		return nil
	}
	ids, err := l.list(ctx)
	if err != nil {
		return err
	}
	if err := l.checkHoles(ids); err != nil {
		return err
	}
	k, err := compactInterval(ids.compact)
	if err != nil {
		return damaged(l.st, l.compactKey(ids.base()), hintCopy, "%v", err)
	}
	l.latest, l.base, l.interval, l.crc, l.known = ids.latest(), ids.base(), k, ids.crc, true
	return nil
}

// checkHoles wants every batch behind the newest compact file.
func (l *SourceLog) checkHoles(ids sourceIDs) error {
	next := ids.base() + 1
	for _, id := range ids.plain {
		if id < next {
			continue
		}
		if id != next {
			return damaged(l.st, l.plainKey(next), hintCopy, "the file is missing, though %d is there", id)
		}
		next++
	}
	return nil
}

// forget makes the next call list again, and drops what Prepare has begun. The caller holds mu.
func (l *SourceLog) forget() error {
	l.known, l.own = false, ownCompact{}
	clear(l.recent)
	return l.dropPending()
}

// Latest returns the newest batch of the log, -1 when it is empty.
func (l *SourceLog) Latest(ctx context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.load(ctx)
	return l.latest, err
}

// Add writes batch id, which must be Latest + 1, and gives the entries that BatchID. When it returns, it is durable. Kind Concurrent when another
// process has written the batch.
func (l *SourceLog) Add(ctx context.Context, id int64, entries []SourceEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(ctx); err != nil {
		return err
	}
	if id <= l.latest {
		return concurrent(l.st, l.plainKey(id), id, store.ErrExists)
	}
	if id != l.latest+1 {
		return fmt.Errorf("write %s/%d of the checkpoint: the batch does not follow %d", l.dir, id, l.latest)
	}
	entries = slices.Clone(entries)
	var lines []byte
	for i := range entries {
		entries[i].BatchID = id
		var err error
		if lines, err = appendEntry(append(lines, '\n'), entries[i]); err != nil {
			return fmt.Errorf("write %s/%d of the checkpoint: %w", l.dir, id, err)
		}
	}
	if err := l.write(ctx, id, lines); err != nil {
		return errors.Join(err, l.forget())
	}
	l.latest = id
	l.recent[id] = entries
	delete(l.recent, id-recentAdds)
	return nil
}

// write publishes a batch, whose lines begin with LF each. The caller holds mu.
func (l *SourceLog) write(ctx context.Context, id int64, lines []byte) error {
	key := l.plainKey(id)
	isCompact := (id+1)%l.interval == 0
	if isCompact {
		key = l.compactKey(id)
	}
	if l.crc[crcKey(key)] { // left without its file, it would block Spark
		if err := l.st.Delete(ctx, crcKey(key)); err != nil {
			return gone(l.st, err)
		}
	}
	if !isCompact {
		return putLog(ctx, l.st, key, id, append([]byte("v1"), lines...))
	}
	if err := l.compact(ctx, id, lines); err != nil {
		return err
	}
	l.base = id
	return nil
}

// Entries returns what the batches from..to, both included, saw first, in the order of the log.
func (l *SourceLog) Entries(ctx context.Context, from, to int64) ([]SourceEntry, error) {
	if entries, ok := l.fromMemory(from, to); ok {
		return entries, nil
	}
	ids, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	var out []SourceEntry
	for id := from; id <= to; {
		if _, ok := slices.BinarySearch(ids.plain, id); ok {
			for e, err := range l.file(ctx, l.plainKey(id)) {
				if err != nil {
					return nil, err
				}
				out = append(out, e)
			}
			id++
			continue
		}
		i, _ := slices.BinarySearch(ids.compact, id)
		if i == len(ids.compact) {
			return nil, damaged(l.st, l.plainKey(id), hintCopy, "the file is missing")
		}
		last := min(ids.compact[i], to)
		for e, err := range l.file(ctx, l.compactKey(ids.compact[i])) {
			if err != nil {
				return nil, err
			}
			if e.BatchID >= id && e.BatchID <= last {
				out = append(out, e)
			}
		}
		id = last + 1
	}
	return out, nil
}

func (l *SourceLog) fromMemory(from, to int64) ([]SourceEntry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []SourceEntry
	for id := from; id <= to; id++ {
		entries, ok := l.recent[id]
		if !ok {
			return nil, false
		}
		out = append(out, entries...)
	}
	return out, true
}

// About is roughly how many entries the log has, to make room for them.
func (l *SourceLog) About(ctx context.Context) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(ctx); err != nil || l.base < 0 {
		return 0, err
	}
	info, err := l.st.Stat(ctx, l.compactKey(l.base))
	if err != nil {
		return 0, gone(l.st, err)
	}
	return int(info.Size / bytesAnEntry), nil
}

// All yields every entry of the log: the newest compact file and the batches behind it.
func (l *SourceLog) All(ctx context.Context) iter.Seq2[SourceEntry, error] {
	return func(yield func(SourceEntry, error) bool) {
		ids, err := l.list(ctx)
		if err == nil {
			err = l.checkHoles(ids)
		}
		if err != nil {
			yield(SourceEntry{}, err)
			return
		}
		var keys []string
		if base := ids.base(); base >= 0 {
			keys = append(keys, l.compactKey(base))
		}
		for id := ids.base() + 1; id <= ids.latest(); id++ {
			keys = append(keys, l.plainKey(id))
		}
		for _, key := range keys {
			for e, err := range l.file(ctx, key) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// file yields the entries of one file.
func (l *SourceLog) file(ctx context.Context, key string) iter.Seq2[SourceEntry, error] {
	return func(yield func(SourceEntry, error) bool) {
		for line, err := range logLines(ctx, l.st, key) {
			var e SourceEntry
			if err == nil {
				if e, err = parseEntry(line); err != nil {
					err = damaged(l.st, key, hintCopy, "%v", err)
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
