package delta

import (
	"bytes"
	"strconv"
	"strings"
	"sync/atomic"
)

// fileLog holds the files of a table in columns, for all snapshots of one Table at once.
//
// Files only ever get appended: each has a position, in the order of the versions. A snapshot sees the positions below its
// own length, except those that died at or before its version. So a newer version costs what it changes, not what
// the table holds, and an old snapshot stays as it was while the log grows.
//
// Invariants:
//  1. Only the goroutine that holds the Table's lock appends, and only to the log of the Table's newest snapshot.
//  2. What a snapshot can see is never changed, but for died, which is atomic and only gets values above its version.
//  3. index holds, for each key (path, deletion vector), the newest position.
type fileLog struct {
	root   string // URI of the table
	chunks []*fileChunk
	n      int
	dead   int // positions whose file has been removed or replaced
	index  keyIndex
	text   textArena
	stats  statsArena
	parts  map[string]map[string]string // one map for each distinct set of partition values
	exact  *atomic.Pointer[viewExact]   // holds nil until it is asked for

	tombstones tombstones // append-only
}

// chunkFiles is small, so that a small table costs little, and large enough for the list of chunks to stay short. It is the number of bits of
// chunkExact.alive.
const chunkFiles = 64

// fileChunk holds chunkFiles files in columns.
type fileChunk struct {
	path      [chunkFiles]string // decoded
	size      [chunkFiles]int64
	modTime   [chunkFiles]int64        // milliseconds since the epoch
	records   [chunkFiles]int64        // -1: unknown
	died      [chunkFiles]atomic.Int64 // 1 + the version that removed it; 0: alive
	stats     [chunkFiles]statsRef
	partition [chunkFiles]map[string]string
	extra     [chunkFiles]*fileExtra
	exact     atomic.Pointer[chunkExact] // nil: not asked for yet
}

// fileView is what one snapshot sees of a fileLog.
type fileView struct {
	version    int64
	chunks     []*fileChunk
	n          int
	live       int
	bytes      int64 // of the live files
	rows       int64 // of the live files whose number of rows is known
	uncounted  int   // live files whose number of rows is not known
	withDV     int   // live files that have a deletion vector
	stats      []*statsBlock
	tombstones tombstones
	exact      *atomic.Pointer[viewExact] // of the log: of the view that was asked last, whichever it is
}

func newFileLog(root string) *fileLog {
	return &fileLog{root: root, index: newKeyIndex(), parts: make(map[string]map[string]string), exact: new(atomic.Pointer[viewExact])}
}

// alive tells whether the view sees the position's file.
func (v *fileView) alive(c *fileChunk, i int) bool {
	died := c.died[i].Load()
	return died == 0 || died > v.version+1
}

// aliveIn has a bit for each file of the nth chunk that the view sees.
func (v *fileView) aliveIn(c *fileChunk, n int) (alive uint64) {
	for i := range min(v.n-n*chunkFiles, chunkFiles) {
		if v.alive(c, i) {
			alive |= 1 << i
		}
	}
	return alive
}

// apply appends the file actions of one commit. view is the newest view of this log and becomes that of the commit.
func (l *fileLog) apply(view *fileView, c *commit) {
	l.applyFiles(view, c, true)
}

// applyCheckpoint appends file actions of a checkpoint, in which no key is twice.
func (l *fileLog) applyCheckpoint(view *fileView, c *commit) { l.applyFiles(view, c, false) }

func (l *fileLog) applyFiles(view *fileView, c *commit, replaces bool) {
	for i := range c.removes {
		r := &c.removes[i]
		path := l.path(r.path)
		if replaces {
			l.kill(view, path, r.extra, c.version)
		}
		l.tombstones = append(l.tombstones, tombstone{path: path, deletionTimestamp: r.deletionTimestamp, size: r.size,
			partition: l.intern(r.partition), extra: r.extra, extended: r.extendedFileMetadata})
	}
	for i := range c.adds {
		a := &c.adds[i]
		path := l.path(a.path)
		if replaces {
			l.kill(view, path, a.extra, c.version)
		}
		l.append(view, path, a)
	}
	view.version = c.version
	view.chunks, view.n, view.stats, view.tombstones, view.exact = l.chunks, l.n, l.stats.blocks, l.tombstones, l.exact
}

// path decodes a path of the log into the arena. Most paths stay what they are.
func (l *fileLog) path(encoded []byte) string {
	if bytes.IndexByte(encoded, '%') < 0 && bytes.IndexByte(encoded, ':') < 0 && !bytes.HasPrefix(encoded, []byte("/")) {
		return l.text.addBytes(encoded)
	}
	return l.text.add(decodePath(l.root, string(encoded)))
}

// kill ends the life of the file with that key, if there is one.
func (l *fileLog) kill(view *fileView, path string, extra *fileExtra, version int64) {
	pos, ok := l.index.find(l, l.n, path, extra.dvID())
	if !ok {
		return
	}
	c, i := l.at(pos)
	if c.died[i].Load() != 0 {
		return
	}
	c.died[i].Store(version + 1)
	l.dead++
	view.live--
	view.bytes -= c.size[i]
	view.count(liveRecords(c.records[i], c.extra[i]), -1)
	if c.extra[i].dvID() != "" {
		view.withDV--
	}
}

func (l *fileLog) append(view *fileView, path string, a *addAction) {
	if l.n%chunkFiles == 0 {
		l.chunks = append(l.chunks, new(fileChunk))
	}
	c, i := l.at(l.n)
	c.path[i], c.size[i], c.modTime[i] = path, a.size, a.modTime
	c.records[i] = numRecords(a.stats)
	c.partition[i] = l.intern(a.partition)
	c.extra[i] = a.extra
	c.stats[i] = l.stats.add(a.stats)
	l.n++
	view.live++
	view.bytes += a.size
	view.count(liveRecords(c.records[i], a.extra), 1)
	if a.extra.dvID() != "" {
		view.withDV++
	}
}

// count adds the rows of one file, or takes them away: sign is 1 or -1. Negative rows are not known.
func (v *fileView) count(rows, sign int64) {
	if rows < 0 {
		v.uncounted += int(sign)
	} else {
		v.rows += sign * rows
	}
}

// keyAt implements keyed.
func (l *fileLog) keyAt(pos int) (path, dvID string) {
	c, i := l.at(pos)
	return c.path[i], c.extra[i].dvID()
}

func (l *fileLog) at(pos int) (*fileChunk, int) { return l.chunks[pos/chunkFiles], pos % chunkFiles }

// intern gives equal partition values one map. Nulls and empty strings, which are the same, are left out.
func (l *fileLog) intern(values map[string]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	var key strings.Builder
	for _, k := range sortedKeys(values) {
		if v := values[k]; v != "" {
			key.WriteString(strconv.Quote(k))
			key.WriteString(strconv.Quote(v))
		}
	}
	if m, ok := l.parts[key.String()]; ok {
		return m
	}
	m := make(map[string]string, len(values))
	for k, v := range values {
		if v != "" {
			m[l.text.add(k)] = l.text.add(v)
		}
	}
	l.parts[key.String()] = m
	return m
}

// minDeadToCompact keeps small logs from being rebuilt often.
const minDeadToCompact = 1024

// wasteful tells that most of the log is dead, so that a new log of the live files pays.
func (l *fileLog) wasteful() bool { return l.dead > minDeadToCompact && l.dead > l.n/2 }

// compact returns a log of the live files of the view alone, with the tombstones made since notBefore (milliseconds), and
// the view of it. Its cost is spread over the removals that made it due.
func (l *fileLog) compact(view fileView, notBefore int64) (*fileLog, fileView) {
	out := newFileLog(l.root)
	out.stats.unread = true
	next := fileView{version: view.version}
	reader := statsReader{blocks: view.stats}
	for pos := range view.n {
		c, i := l.at(pos)
		if !view.alive(c, i) {
			continue
		}
		a := addAction{partition: c.partition[i], size: c.size[i], modTime: c.modTime[i], extra: c.extra[i], stats: reader.at(c.stats[i])}
		out.append(&next, out.text.add(c.path[i]), &a)
	}
	for t := range view.tombstones.since(notBefore).each() {
		out.tombstones = append(out.tombstones, *t)
	}
	out.stats.share()
	next.chunks, next.n, next.stats, next.tombstones, next.exact = out.chunks, out.n, out.stats.blocks, out.tombstones, out.exact
	return out, next
}
