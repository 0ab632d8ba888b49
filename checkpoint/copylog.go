package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"lakesql/store"
)

// CopyLog is which files COPY INTO has put into a table. It lies in the table's folder, below _lakesql/copy/:
//
//	<id>     an entry: "v1", a line {"table":<metaData.id>,"before":<id>}, and a SourceEntry a line
//	known    made behind the first commit: from then on the table's txn says which entry is the last
//
// An entry is written before the commit that has its rows. What has been copied is the entry that the table's txn names, the one
// before that, and so on; an entry that this chain does not reach is what a crash, or a loser, has left.
//
// Why each file is in the table once, without a lease:
//
//  1. An entry never changes, and its id is greater than that of every entry and every txn before it.
//  2. The commit of an entry names it as the table's txn, and began where the txn was its before: of two that began
//     at one place, one loses, because a concurrent txn of one application is a conflict.
//  3. What is deleted lies below the table's txn and off its chain, so no commit can name it any more.
//
// An entry takes over those before it that have no more files than itself. So the chain has about log2 of the number of files, and a
// file is written about that often.
type CopyLog struct{ st store.Store }

// NewCopyLog is the log in a table's folder. It reads nothing.
func NewCopyLog(table store.Store) *CopyLog { return &CopyLog{st: table} }

const (
	copyDir  = "_lakesql/copy/"
	copyMark = copyDir + "known"
)

func copyKey(id int64) string { return fmt.Sprintf("%s%020d", copyDir, id) }

// Copied is the files that had been copied at one version of a table.
type Copied struct {
	table string
	chain []copyEntry // the newest first
	paths map[string]struct{}
}

// copyEntry is one entry that counts. before is -1 for the first.
type copyEntry struct {
	id, before int64
	files      []SourceEntry
}

// copyHead is the first line of an entry.
type copyHead struct {
	Table  string `json:"table"`
	Before int64  `json:"before"`
}

// Has tells whether the file has been copied.
func (c *Copied) Has(path string) bool {
	_, ok := c.paths[path]
	return ok
}

// None is a table of which nothing is known to have been copied.
func None(table string) *Copied { return &Copied{table: table, paths: map[string]struct{}{}} }

// Read returns what the table's txn says: last is its version, -1 where nothing has been copied, and ok is false where the table has none.
// Files that another table had, which was at the same place, do not count. Kind Damaged where an entry is missing.
func (l *CopyLog) Read(ctx context.Context, table string, last int64, ok bool) (*Copied, error) {
	out := None(table)
	if !ok {
		return out, l.checkUnknown(ctx, table)
	}
	n := 0
	for id := last; id >= 0; {
		e, of, err := l.entry(ctx, id)
		if err != nil {
			return nil, err
		}
		if of != table {
			break
		}
		out.chain = append(out.chain, e)
		n += len(e.files)
		id = e.before
	}
	out.paths = make(map[string]struct{}, n)
	for _, e := range out.chain {
		for _, f := range e.files {
			out.paths[f.Path] = struct{}{}
		}
	}
	return out, nil
}

// hintForce is what goes on without the log.
const hintForce = "put it back from a copy, or COPY INTO with COPY_OPTIONS ('force' = 'true'), which loads every file again and begins anew"

// checkUnknown refuses a table that has lost its txn: its files would be copied twice.
func (l *CopyLog) checkUnknown(ctx context.Context, table string) error {
	ids, marked, err := l.list(ctx)
	if err != nil || !marked || len(ids) == 0 {
		return err
	}
	_, of, err := l.entry(ctx, newest(ids))
	if err != nil || of != table {
		return err
	}
	return damaged(l.st, copyMark, "COPY INTO with COPY_OPTIONS ('force' = 'true') loads every file again",
		"files have been copied into the table, and its log does not say any more up to which entry: another engine has dropped the transaction identifier")
}

func (l *CopyLog) entry(ctx context.Context, id int64) (copyEntry, string, error) {
	e, head, key := copyEntry{id: id}, copyHead{}, copyKey(id)
	first := true
	for line, err := range logLines(ctx, l.st, key) {
		switch {
		case err != nil:
			var own *Error
			if errors.As(err, &own) {
				own.Hint = hintForce
			}
			return e, "", err
		case first:
			if err := json.Unmarshal([]byte(line), &head); err != nil || head.Table == "" || head.Before >= id {
				return e, "", damaged(l.st, key, hintForce, `want {"table":...,"before":...}, found %s`, excerpt(line))
			}
			first = false
		default:
			f, err := parseEntry(line)
			if err != nil {
				return e, "", damaged(l.st, key, hintForce, "%v", err)
			}
			e.files = append(e.files, f)
		}
	}
	if first {
		return e, "", damaged(l.st, key, hintForce, "the file ends behind its first line")
	}
	e.before = head.Before
	return e, head.Table, nil
}

// list returns the ids of all entries, ascending, and whether the mark is there.
func (l *CopyLog) list(ctx context.Context) (ids []int64, marked bool, err error) {
	for info, err := range l.st.List(ctx, copyDir, "", "") {
		if err != nil {
			return nil, false, fmt.Errorf("list %s of the table: %w", copyDir, err)
		}
		if info.Key == copyMark {
			marked = true
		} else if id, ok := parseCopyKey(info.Key); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, marked, nil
}

func parseCopyKey(key string) (id int64, ok bool) {
	name := strings.TrimLeft(strings.TrimPrefix(key, copyDir), "0")
	if name == "" {
		name = "0"
	}
	id, ok = parseID(name)
	return id, ok && copyKey(id) == key
}

// CopyEntry is an entry that was written, and counts when the table's txn is its ID.
type CopyEntry struct {
	ID    int64
	chain []int64 // the entries that count with it
}

// Add writes the entry of files that are about to be committed, on top of what had been copied where that commit begins. last is the table's txn there,
// -1 for none.
func (l *CopyLog) Add(ctx context.Context, c *Copied, last int64, files []SourceEntry) (CopyEntry, error) {
	for {
		ids, _, err := l.list(ctx)
		if err != nil {
			return CopyEntry{}, err
		}
		id := max(newest(ids), last) + 1
		merged, chain := c.merge(id, files)
		head := copyHead{Table: c.table, Before: -1}
		out := CopyEntry{ID: id, chain: []int64{id}}
		for i, e := range chain {
			if i == 0 {
				head.Before = e.id
			}
			out.chain = append(out.chain, e.id)
		}
		err = l.write(ctx, id, head, merged)
		if errors.Is(err, store.ErrExists) {
			continue // another COPY INTO took the id
		}
		return out, err
	}
}

// merge returns the lines of an entry of these files, and the part of the chain that stays below it.
func (c *Copied) merge(id int64, files []SourceEntry) ([][]SourceEntry, []copyEntry) {
	own := make([]SourceEntry, len(files))
	seen := make(map[string]struct{}, len(files))
	for i, f := range files {
		f.BatchID = id
		own[i], seen[f.Path] = f, struct{}{}
	}
	out, n, chain := [][]SourceEntry{own}, len(own), c.chain
	for ; len(chain) > 0 && len(chain[0].files) <= n; chain = chain[1:] {
		var old []SourceEntry
		for _, f := range chain[0].files {
			if _, again := seen[f.Path]; !again {
				old, seen[f.Path] = append(old, f), struct{}{}
			}
		}
		out, n = append(out, old), n+len(old)
	}
	return out, chain
}

func (l *CopyLog) write(ctx context.Context, id int64, head copyHead, parts [][]SourceEntry) error {
	line, err := marshal(head)
	if err != nil {
		return err
	}
	w, err := l.st.Create(ctx, copyKey(id))
	if err != nil {
		return err
	}
	for chunk, err := range entryChunks(append([]byte("v1\n"), line...), parts) {
		if err == nil {
			_, err = w.Write(chunk)
		}
		if err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Commit(ctx, true)
}

// entryChunks yields the text of an entry, which begins with head, a chunk at a time.
func entryChunks(head []byte, parts [][]SourceEntry) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		buf := head
		for _, part := range parts {
			for _, f := range part {
				var err error
				if buf, err = appendEntry(append(buf, '\n'), f); err != nil {
					yield(nil, err)
					return
				}
				if len(buf) >= chunkBytes {
					if !yield(buf, nil) {
						return
					}
					buf = buf[:0]
				}
			}
		}
		yield(buf, nil)
	}
}

// Committed is called behind the commit that names the entry. It deletes what nothing reaches any more.
func (l *CopyLog) Committed(ctx context.Context, e CopyEntry) error {
	ids, marked, err := l.list(ctx)
	if err != nil {
		return err
	}
	if !marked {
		if err := l.st.PutIfAbsent(ctx, copyMark, []byte("v1")); err != nil && !errors.Is(err, store.ErrExists) {
			return err
		}
	}
	for _, id := range ids {
		if id < e.ID && !slices.Contains(e.chain, id) {
			if err := l.st.Delete(ctx, copyKey(id)); err != nil {
				return err
			}
		}
	}
	return nil
}
