package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// FinishAhead is Finish before the batch is committed: what a crash between the commit and Finish would lose, and cannot be told from the files. A run of the batch that comes
// later puts its own in the place; where two runs did not leave out the same files, nothing is said about those that they differ in.
func (l *FileLog) FinishAhead(ctx context.Context, batch, from, to int64, results []FileResult) error {
	key := l.key(from, to, ".read")
	_, there, err := l.c.getExtra(ctx, key)
	if err != nil {
		return err
	}
	if there {
		before := &resultReader{l: l}
		if err := before.load(ctx, fileObject{key, from, to}); err != nil {
			return err
		}
		results = slices.DeleteFunc(slices.Clone(results), func(r FileResult) bool {
			was, ok := before.byPath[r.Path]
			return !ok || (was.Error == "") != (r.Error == "")
		})
	}
	data, err := marshalResults(batch, time.Time{}, results)
	if err != nil {
		return err
	}
	return l.c.replaceExtra(ctx, key, data)
}

// marshalResults writes results behind the line that names their batch, and when it was done: the zero time is not known.
func marshalResults(batch int64, done time.Time, results []FileResult) ([]byte, error) {
	data, err := marshalLines(results)
	if err != nil {
		return nil, err
	}
	ms := int64(0)
	if !done.IsZero() {
		ms = done.UnixMilli()
	}
	return append(fmt.Appendf(nil, "{\"batch\":%d,\"doneMs\":%d}\n", batch, ms), data...), nil
}

// resultReader finds the results for facts that come in the order of ids.
type resultReader struct {
	l          *FileLog
	done, read []fileObject
	at         fileObject // the one that is read
	batch      int64
	doneMs     int64
	byPath     map[string]FileResult
}

// join adds to a fact what is known of its batch.
func (r *resultReader) join(ctx context.Context, fact *FileFact) error {
	found, done := covering(&r.done, fact.LogID)
	if !done {
		var ok bool
		if found, ok = covering(&r.read, fact.LogID); !ok {
			return nil
		}
	}
	if r.at != found {
		if err := r.load(ctx, found); err != nil {
			return err
		}
	}
	res, listed := r.byPath[fact.Path]
	if listed || done {
		fact.Batch, fact.DoneMs = r.batch, r.doneMs
	}
	if listed {
		fact.Rows, fact.Rejected, fact.Error = res.Rows, res.Rejected, res.Error
	}
	return nil
}

// covering is the object that has an id. Those before it are dropped: ids come in their order.
func covering(objects *[]fileObject, id int64) (fileObject, bool) {
	for len(*objects) > 0 && (*objects)[0].to < id {
		*objects = (*objects)[1:]
	}
	if len(*objects) == 0 || (*objects)[0].from > id {
		return fileObject{}, false
	}
	return (*objects)[0], true
}

func (r *resultReader) load(ctx context.Context, o fileObject) error {
	type line struct {
		Batch  *int64 `json:"batch"`
		DoneMs int64  `json:"doneMs"`
		FileResult
	}
	lines, err := readLines[line](ctx, r.l, o.key)
	if err != nil {
		return err
	}
	if len(lines) == 0 || lines[0].Batch == nil {
		return r.l.damaged(o.key, errors.New("the first line does not name the batch"))
	}
	r.at, r.batch, r.doneMs, r.byPath = o, *lines[0].Batch, lines[0].DoneMs, map[string]FileResult{}
	for _, l := range lines[1:] {
		r.byPath[l.Path] = l.FileResult
	}
	return nil
}
