package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lakesql/store"
)

// FilePin is what a file looked like when it went into the source log. A replay refuses a file that looks otherwise.
type FilePin struct {
	Path      string `json:"path"`      // as SourceEntry.Path
	Size      int64  `json:"size"`      // bytes
	ModTimeNs int64  `json:"modTimeNs"` // epoch ns
	ETag      string `json:"etag"`
}

// FileResult is what became of a file when its batch was done.
type FileResult struct {
	Path     string `json:"path"`
	Rows     int64  `json:"rows"`            // read and not rejected
	Rejected int64  `json:"rejected"`        // rows with an error
	Error    string `json:"error,omitempty"` // why the file was not read whole
}

// FileFact is all that is known of one file.
type FileFact struct {
	FilePin
	LogID    int64  `json:"logId"` // the source log's batch
	Batch    int64  `json:"batch"` // the query's batch that read it, -1 when none is known to; it counts once that is committed
	Rows     int64  `json:"rows"`  // -1 when unknown: no batch has finished, or another engine ran it
	Rejected int64  `json:"rejected"`
	Error    string `json:"error,omitempty"`
	DoneMs   int64  `json:"doneMs,omitempty"` // when the batch was done, epoch ms; 0 when unknown
}

// blockSizes are how many batches of the source log one block covers. A block is written once all of its batches are done, so that each fact
// is rewritten as often as there are sizes, and reading all facts opens few objects.
var blockSizes = []int64{100, 10_000}

// FileLog keeps facts about the files of one source in objects that never change, under _lakesql/files/<i>/:
//
//	<id>.pin            the pins of batch id of the source log
//	<from>-<to>.done    the results of the query's batch that read from..to, behind a line {"batch":N,"doneMs":T}
//	<from>-<to>.read    the same before the batch is committed, where files are left out or might be: it counts where there is no .done
//	<first>-<last>.all  the facts of a whole block, which replaces the other two for its batches
//	begin.json          the first entry of the source log whose files are read, where those before it were there when the stream began
//
// Ids have 20 digits. Each object is one JSON object a line.
type FileLog struct {
	c   *Checkpoint
	dir string
}

// Files is the file log of source i.
func (c *Checkpoint) Files(i int) *FileLog {
	return &FileLog{c: c, dir: filesDir + strconv.Itoa(i) + "/"}
}

// fileObject is one object of a FileLog, covering from..to.
type fileObject struct {
	key      string
	from, to int64
}

// fileObjects is one listing, each kind in the order of from.
type fileObjects struct {
	pins, done, read, blocks []fileObject
	inner                    []fileObject // blocks that lie in a larger one: what a crash leaves between writing that and deleting its parts
}

func (l *FileLog) key(from, to int64, suffix string) string {
	if suffix == ".pin" {
		return fmt.Sprintf("%s%020d%s", l.dir, from, suffix)
	}
	return fmt.Sprintf("%s%020d-%020d%s", l.dir, from, to, suffix)
}

func (l *FileLog) list(ctx context.Context) (fileObjects, error) {
	var objects fileObjects
	for key, err := range store.ListNames(ctx, l.c.st, l.dir, "") {
		if err != nil {
			return fileObjects{}, gone(l.c.st, err)
		}
		name := strings.TrimPrefix(key, l.dir)
		stem, suffix, _ := strings.Cut(name, ".")
		first, last, isRange := strings.Cut(stem, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.ParseInt(first, 10, 64)
		to, err2 := strconv.ParseInt(last, 10, 64)
		if err1 != nil || err2 != nil || l.key(from, to, "."+suffix) != key {
			continue
		}
		o := fileObject{key, from, to}
		switch suffix {
		case "pin":
			objects.pins = append(objects.pins, o)
		case "done":
			objects.done = append(objects.done, o)
		case "read":
			objects.read = append(objects.read, o)
		case "all":
			objects.blocks = append(objects.blocks, o)
		}
	}
	objects.dropInner()
	return objects, nil
}

func (o *fileObjects) dropInner() {
	slices.SortFunc(o.blocks, func(a, b fileObject) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var outer []fileObject
	for _, b := range o.blocks {
		if n := len(outer); n > 0 && b.to <= outer[n-1].to {
			o.inner = append(o.inner, b)
		} else {
			outer = append(outer, b)
		}
	}
	o.blocks = outer
}

// inBlock tells whether a block holds the facts of batch id.
func (o fileObjects) inBlock(id int64) bool {
	return slices.ContainsFunc(o.blocks, func(b fileObject) bool { return b.from <= id && id <= b.to })
}

// Pin records the files of batch id. It is called behind SourceLog.Add(id) and before the offsets that cover id are written, so
// that only the winner of the batch pins, and every batch that is read is pinned. The same again is no error.
func (l *FileLog) Pin(ctx context.Context, id int64, pins []FilePin) error {
	data, err := marshalLines(pins)
	if err != nil {
		return err
	}
	return l.put(ctx, l.key(id, id, ".pin"), id, data)
}

// Finish records what became of the files of the batches from..to of the source log, which the query's batch has read. It is called once that
// batch is committed, off the commit path; where a crash comes before it, what FinishAhead has kept is all that is known.
func (l *FileLog) Finish(ctx context.Context, batch, from, to int64, done time.Time, results []FileResult) error {
	data, err := marshalResults(batch, done, results)
	if err != nil {
		return err
	}
	return l.put(ctx, l.key(from, to, ".done"), batch, data)
}

// fileBegin is the object begin.json of a FileLog.
type fileBegin struct {
	FirstEntry int64 `json:"firstEntry"`
}

// SaveBegin keeps the first entry of the source log whose files are read, once: what lies before it was there when the stream began, and is not to be
// read. The same again is no error.
func (l *FileLog) SaveBegin(ctx context.Context, first int64) error {
	data, err := marshal(fileBegin{first})
	if err != nil {
		return err
	}
	return l.put(ctx, l.dir+"begin.json", first, data)
}

// Begin returns what SaveBegin has kept; ok is false when nothing has been. A reset forgets it.
func (l *FileLog) Begin(ctx context.Context) (first int64, ok bool, err error) {
	key := l.dir + "begin.json"
	data, ok, err := l.c.getExtra(ctx, key)
	if !ok || err != nil {
		return 0, false, err
	}
	var b fileBegin
	if err := json.Unmarshal(data, &b); err != nil {
		return 0, false, l.damaged(key, err)
	}
	return b.FirstEntry, true, nil
}

// put publishes an object; one with the same content is no error.
func (l *FileLog) put(ctx context.Context, key string, batch int64, data []byte) error {
	err := l.c.putExtra(ctx, key, data)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	if found, ok, getErr := l.c.getExtra(ctx, key); getErr == nil && ok && bytes.Equal(found, data) {
		return nil
	}
	return concurrent(l.c.st, key, batch, err)
}

// Pins returns the pins of the batches from..to, both included, in their order. Batches that another engine wrote have none.
func (l *FileLog) Pins(ctx context.Context, from, to int64) ([]FilePin, error) {
	var pins []FilePin
	for fact, err := range l.facts(ctx, from, to) {
		if err != nil {
			return nil, err
		}
		pins = append(pins, fact.FilePin)
	}
	return pins, nil
}

// Range yields the facts of the files of the batches from..to of the source log, in its order. Batches that another engine wrote have none.
func (l *FileLog) Range(ctx context.Context, from, to int64) iter.Seq2[FileFact, error] {
	return l.facts(ctx, from, to)
}

// All yields the facts of all files, in the order of the source log.
func (l *FileLog) All(ctx context.Context) iter.Seq2[FileFact, error] {
	return l.facts(ctx, 0, math.MaxInt64)
}

// facts yields what is known about the batches from..to. When Compact of another goroutine or process has deleted an object between listing
// and reading, it lists again and goes on behind what it has yielded.
func (l *FileLog) facts(ctx context.Context, from, to int64) iter.Seq2[FileFact, error] {
	return func(yield func(FileFact, error) bool) {
		const attempts = 3
		for attempt := 1; ; attempt++ {
			enough := false
			objects, err := l.list(ctx)
			if err == nil {
				from, err = l.scan(ctx, objects, from, to, func(fact FileFact) bool {
					enough = !yield(fact, nil)
					return !enough
				})
			}
			switch {
			case err == nil || enough:
				return
			case !errors.Is(err, store.ErrNotFound) || IsKind(err, Gone) || attempt == attempts:
				yield(FileFact{}, err)
				return
			}
		}
	}
}

// scan yields blocks and pins in the order of ids, pins joined with their results. It returns the id behind the last object that was
// yielded whole.
func (l *FileLog) scan(ctx context.Context, objects fileObjects, from, to int64, yield func(FileFact) bool) (next int64, err error) {
	sources := slices.Clone(objects.blocks)
	for _, p := range objects.pins {
		if !objects.inBlock(p.from) {
			sources = append(sources, p)
		}
	}
	slices.SortFunc(sources, func(a, b fileObject) int { return cmp.Compare(a.from, b.from) })
	results := &resultReader{l: l, done: objects.done, read: objects.read}
	next = from
	for _, o := range sources {
		if o.to < from || o.from > to {
			continue
		}
		facts, err := l.objectFacts(ctx, o, results)
		if err != nil {
			return next, err
		}
		for _, fact := range facts {
			if fact.LogID >= from && fact.LogID <= to && !yield(fact) {
				return next, nil
			}
		}
		next = o.to + 1
	}
	return next, nil
}

// objectFacts reads a block, or the pins of one batch with their results.
func (l *FileLog) objectFacts(ctx context.Context, o fileObject, results *resultReader) ([]FileFact, error) {
	if strings.HasSuffix(o.key, ".all") {
		return readLines[FileFact](ctx, l, o.key)
	}
	pins, err := readLines[FilePin](ctx, l, o.key)
	if err != nil {
		return nil, err
	}
	facts := make([]FileFact, len(pins))
	for i, pin := range pins {
		facts[i] = FileFact{FilePin: pin, LogID: o.from, Batch: -1, Rows: -1}
		if err := results.join(ctx, &facts[i]); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// Compact merges small objects into blocks whose batches are all done, and deletes what the blocks replace. It is for the time between
// batches.
func (l *FileLog) Compact(ctx context.Context) error {
	objects, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, size := range blockSizes {
		written := false
		for first := int64(0); first+size-1 <= objects.finished(); first += size {
			if objects.covers(first, first+size-1) {
				continue
			}
			if err := l.writeBlock(ctx, first, first+size-1); err != nil {
				return err
			}
			written = true
		}
		if !written {
			continue
		}
		if objects, err = l.list(ctx); err != nil {
			return err
		}
	}
	return l.deleteReplaced(ctx, objects)
}

// finished is the last batch of the source log that is known to be done.
func (o fileObjects) finished() int64 {
	last := int64(-1)
	for _, objects := range [][]fileObject{o.done, o.blocks} {
		if n := len(objects); n > 0 {
			last = max(last, objects[n-1].to)
		}
	}
	return last
}

// covers tells whether one block holds all of first..last.
func (o fileObjects) covers(first, last int64) bool {
	return slices.ContainsFunc(o.blocks, func(b fileObject) bool { return b.from <= first && last <= b.to })
}

func (l *FileLog) writeBlock(ctx context.Context, first, last int64) error {
	var facts []FileFact
	for fact, err := range l.facts(ctx, first, last) {
		if err != nil {
			return err
		}
		facts = append(facts, fact)
	}
	data, err := marshalLines(facts)
	if err != nil {
		return err
	}
	err = l.c.putExtra(ctx, l.key(first, last, ".all"), data)
	if errors.Is(err, store.ErrExists) {
		return nil // another process has merged the same facts
	}
	return err
}

// deleteReplaced deletes what lies in blocks. Results that reach beyond one stay: they are of the next block too.
func (l *FileLog) deleteReplaced(ctx context.Context, objects fileObjects) error {
	for _, o := range slices.Concat(objects.pins, objects.done, objects.read, objects.inner) {
		if !objects.inBlock(o.from) || !objects.inBlock(o.to) {
			continue
		}
		if err := l.c.st.Delete(ctx, o.key); err != nil {
			return gone(l.c.st, err)
		}
	}
	return nil
}

func (l *FileLog) damaged(key string, err error) error {
	return damaged(l.c.st, key, "put it back from a copy, or rm "+shellPath(l.c.st, key)+", after which a replay cannot tell whether its files have changed", "%v", err)
}

func marshalLines[T any](items []T) ([]byte, error) {
	var b bytes.Buffer
	for _, it := range items {
		line, err := marshal(it)
		if err != nil {
			return nil, err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

func readLines[T any](ctx context.Context, l *FileLog, key string) ([]T, error) {
	data, err := l.c.st.Get(ctx, key)
	if err != nil {
		return nil, gone(l.c.st, err)
	}
	var items []T
	for line := range bytes.Lines(data) {
		var it T
		if err := json.Unmarshal(line, &it); err != nil {
			return nil, l.damaged(key, fmt.Errorf("found %s: %w", excerpt(string(line)), err))
		}
		items = append(items, it)
	}
	return items, nil
}
