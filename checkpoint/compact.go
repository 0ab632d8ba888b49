package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"

	"lakesql/store"
)

const (
	// chunkBytes is how much of a file of a source log is in memory at a time.
	chunkBytes = 1 << 20
	// prepareBytes is the size of a compact file from which preparing the next one pays for its open temporary file.
	prepareBytes = 1 << 20
)

// pendingCompact is a compact file being written: its temporary file holds all entries of the batches up to upTo.
type pendingCompact struct {
	id    int64
	upTo  int64
	w     store.Writer
	bytes int64 // written
}

func (p *pendingCompact) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.bytes += int64(n)
	return n, err
}

// ownCompact is a compact file that this process wrote.
type ownCompact struct {
	id    int64
	bytes int64
}

// Prepare does ahead what can be: it copies into the next compact file what that will hold of the batches so far, so that its Add has
// only the rest to write, and deletes the files that no reader needs any more. It is optional; callers run it between batches. A small log is
// left to the Add.
func (l *SourceLog) Prepare(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(ctx); err != nil {
		return err
	}
	if err := l.deleteOld(ctx); err != nil {
		return err
	}
	if l.base < 0 {
		return nil
	}
	switch info, err := l.st.Stat(ctx, l.compactKey(l.base)); {
	case err != nil:
		return gone(l.st, err)
	case info.Size < prepareBytes:
		return nil
	}
	if err := l.fill(ctx, l.nextCompact()); err != nil {
		return errors.Join(err, l.dropPending())
	}
	if s, ok := l.pending.w.(store.Syncer); ok {
		if err := s.Sync(); err != nil {
			return errors.Join(err, l.dropPending())
		}
	}
	return nil
}

// nextCompact is the next batch that becomes a compact file. The caller holds mu.
func (l *SourceLog) nextCompact() int64 {
	return (l.latest+1)/l.interval*l.interval + l.interval - 1
}

// Close drops what Prepare has begun.
func (l *SourceLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropPending()
}

func (l *SourceLog) dropPending() error {
	if l.pending == nil {
		return nil
	}
	w := l.pending.w
	l.pending = nil
	return w.Abort()
}

// compact publishes batch id as a compact file. The caller holds mu.
func (l *SourceLog) compact(ctx context.Context, id int64, lines []byte) error {
	err := l.fill(ctx, id)
	if err == nil {
		_, err = l.pending.Write(lines)
	}
	if err != nil {
		return errors.Join(gone(l.st, err), l.dropPending())
	}
	written := *l.pending
	l.pending = nil
	err = written.w.Commit(ctx, true)
	if errors.Is(err, store.ErrExists) {
		return concurrent(l.st, l.compactKey(id), id, err)
	}
	if err == nil {
		l.own = ownCompact{id: id, bytes: written.bytes}
	}
	return gone(l.st, err)
}

// fill brings the pending compact file of batch id up to the newest batch. The caller holds mu.
func (l *SourceLog) fill(ctx context.Context, id int64) error {
	if l.pending != nil && l.pending.id != id {
		if err := l.dropPending(); err != nil {
			return err
		}
	}
	if l.pending == nil {
		w, err := l.st.Create(ctx, l.compactKey(id))
		if err != nil {
			return gone(l.st, err)
		}
		l.pending = &pendingCompact{id: id, upTo: -1, w: w}
		if err := l.beginCompact(ctx); err != nil {
			return err
		}
		l.pending.upTo = l.base
	}
	for l.pending.upTo < l.latest {
		if err := l.copyEntries(ctx, l.plainKey(l.pending.upTo+1)); err != nil {
			return err
		}
		l.pending.upTo++
	}
	return nil
}

// beginCompact puts into the pending compact file what the one before has. The caller holds mu.
func (l *SourceLog) beginCompact(ctx context.Context) error {
	if l.own.bytes > 0 && l.base == l.own.id {
		return l.copyOwn(ctx)
	}
	if _, err := l.pending.Write([]byte("v1")); err != nil || l.base < 0 {
		return err
	}
	return l.copyEntries(ctx, l.compactKey(l.base))
}

// copyOwn copies the compact file that this process wrote: each of its lines has been looked at.
func (l *SourceLog) copyOwn(ctx context.Context) error {
	key, buf := l.compactKey(l.own.id), make([]byte, min(l.own.bytes, chunkBytes))
	for l.pending.bytes < l.own.bytes {
		n, err := store.ReadRange(ctx, l.st, key, l.pending.bytes, buf[:min(l.own.bytes-l.pending.bytes, int64(len(buf)))])
		if err != nil {
			return readError(l.st, key, err)
		}
		if n == 0 {
			return damaged(l.st, key, hintCopy, "it has %d bytes, and %d were written", l.pending.bytes, l.own.bytes)
		}
		if _, err := l.pending.Write(buf[:n]); err != nil {
			return err
		}
	}
	return nil
}

// copyEntries appends the lines of a file to the pending one, as they are: fields that a newer Spark may have added stay.
func (l *SourceLog) copyEntries(ctx context.Context, key string) error {
	w := l.pending
	var buf bytes.Buffer
	for line, err := range logLines(ctx, l.st, key) {
		if err != nil {
			return err
		}
		if _, err := parseEntry(line); err != nil {
			return damaged(l.st, key, hintCopy, "%v", err)
		}
		buf.WriteByte('\n')
		buf.WriteString(line)
		if buf.Len() >= chunkBytes {
			if _, err := w.Write(buf.Bytes()); err != nil {
				return err
			}
			buf.Reset()
		}
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// logLines yields the lines of a log file behind its version, a chunk at a time. Lines share the memory of their chunk.
func logLines(ctx context.Context, st store.Store, key string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		rest, first := "", true // rest is of the chunk before, without a line end
		emit := func(line string) bool {
			line = strings.TrimSuffix(line, "\r")
			if !first {
				return len(line) == 0 || yield(line, nil)
			}
			first = false
			if _, kind, err := splitLog([]byte(line)); err != nil {
				yield("", &Error{Kind: kind, URI: store.ObjectURI(st, key), Found: err.Error(), Hint: hintCopy})
				return false
			}
			return true
		}
		for off := int64(0); ; {
			chunk, err := st.GetRange(ctx, key, off, chunkBytes)
			if err != nil {
				yield("", readError(st, key, err))
				return
			}
			off += int64(len(chunk))
			text := string(chunk)
			for {
				line, behind, ok := strings.Cut(text, "\n")
				if !ok {
					rest += line
					break
				}
				if !emit(rest + line) {
					return
				}
				rest, text = "", behind
			}
			if len(chunk) < chunkBytes {
				break
			}
		}
		if first || len(rest) > 0 {
			emit(rest)
		}
	}
}

func readError(st store.Store, key string, err error) error {
	if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRootMissing) {
		return &Error{Kind: Damaged, URI: store.ObjectURI(st, key), Found: "the file is missing", Hint: hintCopy, Err: err}
	}
	return gone(st, err)
}

// deleteOld deletes the files below the compaction that still covers the last KeepBatches batches, as Spark does, each with its
// checksum file. The caller holds mu.
func (l *SourceLog) deleteOld(ctx context.Context) error {
	oldest := l.latest + 1 - KeepBatches
	keep := min(oldest-oldest%l.interval-1, l.base)
	if keep <= l.kept {
		return nil
	}
	ids, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids.plain {
		if id < keep {
			if err := deleteWithCRC(ctx, l.st, l.plainKey(id), ids.crc); err != nil {
				return err
			}
		}
	}
	for _, id := range ids.compact {
		if id < keep {
			if err := deleteWithCRC(ctx, l.st, l.compactKey(id), ids.crc); err != nil {
				return err
			}
		}
	}
	l.kept = keep
	return nil
}
