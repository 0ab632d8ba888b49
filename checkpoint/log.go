package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lakesql/store"
)

// KeepBatches is how many batches stay in offsets/ and commits/, as Spark's spark.sql.streaming.minBatchesToRetain, so that
// people can rewind by hand as they do there.
const KeepBatches = 100

// log is a folder of files named after batch ids: offsets/ and commits/.
type log struct {
	st  store.Store
	dir string
}

// logIDs is one listing of a log.
type logIDs struct {
	all []int64         // ascending
	crc map[string]bool // keys of the checksum files that Hadoop's local file system writes beside each file
}

func (l logIDs) first() int64 {
	if len(l.all) == 0 {
		return -1
	}
	return l.all[0]
}

func (l logIDs) latest() int64 { return newest(l.all) }

// newest is the last of ascending ids, -1 of none.
func newest(ids []int64) int64 {
	if len(ids) == 0 {
		return -1
	}
	return ids[len(ids)-1]
}

func (l *log) key(id int64) string { return l.dir + "/" + strconv.FormatInt(id, 10) }

// crcKey is the checksum file that belongs to a log file.
func crcKey(key string) string {
	i := strings.LastIndexByte(key, '/') + 1
	return key[:i] + "." + key[i:] + ".crc"
}

func isCRC(name string) bool { return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".crc") }

// parseID reads a file name; a name that is no batch id in plain decimal is not part of a log.
func parseID(name string) (id int64, ok bool) {
	id, err := strconv.ParseInt(name, 10, 64)
	return id, err == nil && id >= 0 && strconv.FormatInt(id, 10) == name
}

func (l *log) list(ctx context.Context) (logIDs, error) {
	ids := logIDs{crc: map[string]bool{}}
	for key, err := range store.ListNames(ctx, l.st, l.dir+"/", "") {
		if err != nil {
			return logIDs{}, gone(l.st, fmt.Errorf("list %s/ of the checkpoint: %w", l.dir, err))
		}
		name := strings.TrimPrefix(key, l.dir+"/")
		if id, ok := parseID(name); ok {
			ids.all = append(ids.all, id)
		} else if isCRC(name) {
			ids.crc[key] = true
		}
	}
	slices.Sort(ids.all)
	return ids, nil
}

// checked lists and refuses holes.
func (l *log) checked(ctx context.Context) (logIDs, error) {
	ids, err := l.list(ctx)
	if err != nil {
		return logIDs{}, err
	}
	for i, id := range ids.all {
		if want := ids.first() + int64(i); id != want {
			hint := hintCopy
			if l.dir == "commits" {
				hint = hintCommit(l.st, want)
			}
			return logIDs{}, damaged(l.st, l.key(want), hint, "the file is missing, though %d and %d are there", want-1, id)
		}
	}
	return ids, nil
}

// Latest returns the newest batch id, -1 when the log is empty.
func (l *log) Latest(ctx context.Context) (int64, error) {
	ids, err := l.list(ctx)
	if err != nil {
		return 0, err
	}
	return ids.latest(), nil
}

// read returns the lines of a file behind its version.
func (l *log) read(ctx context.Context, id int64) ([]string, error) {
	data, err := l.st.Get(ctx, l.key(id))
	if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRootMissing) {
		return nil, &Error{Kind: Damaged, URI: store.ObjectURI(l.st, l.key(id)), Found: "the file is missing", Hint: hintCopy, Err: err}
	}
	if err != nil {
		return nil, gone(l.st, err)
	}
	lines, kind, err := splitLog(data)
	if err != nil {
		return nil, l.bad(id, kind, err)
	}
	return lines, nil
}

// bad reports a file that cannot be read.
func (l *log) bad(id int64, kind Kind, err error) error {
	hint := "if it is the newest batch and the table does not have it, rm -f " + shellPath(l.st, l.key(id)) + " " + shellPath(l.st, crcKey(l.key(id))) +
		" and the batch is planned again; otherwise put it back from a copy"
	if l.dir == "commits" {
		hint = "rm -f " + shellPath(l.st, l.key(id)) + " " + shellPath(l.st, crcKey(l.key(id))) + " and it is written again when the table has the batch"
	}
	if kind == UnsupportedVersion {
		hint = "continue this checkpoint with the engine that wrote it, or give the stream a new one"
	}
	return &Error{Kind: kind, URI: store.ObjectURI(l.st, l.key(id)), Found: err.Error(), Hint: hint}
}

// splitLog checks the first line of a log file and returns the others. Line ends may be LF or CR LF; a final one means nothing.
func splitLog(data []byte) (lines []string, kind Kind, err error) {
	if len(data) == 0 {
		return nil, Damaged, errors.New("the file is empty (0 bytes), as after a power loss")
	}
	lines = strings.Split(strings.TrimRight(string(data), "\r\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	if lines[0] == "v1" {
		return lines[1:], 0, nil
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(lines[0], "v")); err == nil && n > 0 && lines[0][0] == 'v' {
		return nil, UnsupportedVersion, fmt.Errorf("the log has version v%d, only v1 is supported", n)
	}
	return nil, Damaged, fmt.Errorf("the first line is %s, want v1", excerpt(lines[0]))
}

// add publishes batch id, which must follow the newest.
func (l *log) add(ctx context.Context, id int64, data []byte) error {
	ids, err := l.list(ctx)
	if err != nil {
		return err
	}
	key := l.key(id)
	switch latest := ids.latest(); {
	case latest >= id:
		// A process that slept while others purged this id would otherwise write a file below a hole.
		return concurrent(l.st, l.key(latest), id, store.ErrExists)
	case latest < id-1:
		return damaged(l.st, l.key(id-1), hintCopy, "the file is missing: the log ends at %s, and %d is to be written", batchName(latest), id)
	}
	if ids.crc[crcKey(key)] { // left without its file, it would block Spark
		if err := l.st.Delete(ctx, crcKey(key)); err != nil {
			return gone(l.st, err)
		}
	}
	return putLog(ctx, l.st, key, id, data)
}

func putLog(ctx context.Context, st store.Store, key string, id int64, data []byte) error {
	err := st.PutIfAbsent(ctx, key, data)
	if errors.Is(err, store.ErrExists) {
		return concurrent(st, key, id, err)
	}
	return gone(st, err)
}

func concurrent(st store.Store, key string, id int64, err error) error {
	return &Error{Kind: Concurrent, URI: store.ObjectURI(st, key), Err: err,
		Found: fmt.Sprintf("it appeared while batch %d ran: another process works on this checkpoint", id),
		Hint:  "stop the other one (SHOW STREAMS there), then START STREAM"}
}

// Purge deletes the batches below an id, each with its checksum file, oldest first; the last two always stay. A deletion costs
// a sync, so callers purge several batches at a time.
func (l *log) Purge(ctx context.Context, below int64) error {
	ids, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids.all {
		if id >= below || id >= ids.latest()-1 {
			break
		}
		if err := deleteWithCRC(ctx, l.st, l.key(id), ids.crc); err != nil {
			return err
		}
	}
	return nil
}

// deleteWithCRC deletes a log file behind its checksum file: the other way round a crash would leave a checksum without a file,
// which blocks Spark.
func deleteWithCRC(ctx context.Context, st store.Store, key string, crc map[string]bool) error {
	if crc[crcKey(key)] {
		if err := st.Delete(ctx, crcKey(key)); err != nil {
			return gone(st, err)
		}
	}
	return gone(st, st.Delete(ctx, key))
}
