package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SourceEntry is one file that a file source has seen.
type SourceEntry struct {
	Path        string // URI text as store.FileURI writes it; two spellings would be two files
	TimestampMs int64  // modification time, epoch ms
	BatchID     int64  // the batch of the source log in which it was first seen; not the query's batch
}

const (
	entryPath      = `{"path":"`
	entryTimestamp = `","timestamp":`
	entryBatch     = `,"batchId":`
)

// appendEntry writes an entry as Spark does: these fields in this order, no spaces, nothing escaped but what JSON demands.
func appendEntry(dst []byte, e SourceEntry) ([]byte, error) {
	dst = append(dst, entryPath...)
	if plainJSON(e.Path) {
		dst = append(dst, e.Path...)
	} else {
		quoted, err := quoteJSON(e.Path)
		if err != nil {
			return nil, err
		}
		dst = append(dst, quoted[1:len(quoted)-1]...)
	}
	dst = append(dst, entryTimestamp...)
	dst = strconv.AppendInt(dst, e.TimestampMs, 10)
	dst = append(dst, entryBatch...)
	dst = strconv.AppendInt(dst, e.BatchID, 10)
	return append(dst, '}'), nil
}

// plainJSON tells whether a text is its own JSON spelling.
func plainJSON(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return utf8.ValidString(s)
}

// quoteJSON quotes without escaping & < >.
func quoteJSON(s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("the path %q is not UTF-8; a URI encodes such bytes as %%XX", s)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// parseEntry reads one line. The spelling of appendEntry is taken apart directly, anything else by encoding/json.
func parseEntry(line string) (SourceEntry, error) {
	if e, ok := parsePlainEntry(line); ok {
		return e, nil
	}
	var e struct {
		Path      *string
		Timestamp *int64
		BatchID   *int64
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return SourceEntry{}, fmt.Errorf(`want {"path":...,"timestamp":...,"batchId":...}, found %s: %w`, excerpt(line), err)
	}
	if e.Path == nil || e.Timestamp == nil || e.BatchID == nil {
		return SourceEntry{}, fmt.Errorf(`want {"path":...,"timestamp":...,"batchId":...}, found %s`, excerpt(line))
	}
	return SourceEntry{Path: *e.Path, TimestampMs: *e.Timestamp, BatchID: *e.BatchID}, nil
}

func parsePlainEntry(line string) (e SourceEntry, ok bool) {
	rest, ok := strings.CutPrefix(line, entryPath)
	if !ok {
		return e, false
	}
	path, rest, ok := strings.Cut(rest, entryTimestamp)
	if !ok || !plainJSON(path) {
		return e, false
	}
	timestamp, rest, ok := strings.Cut(rest, entryBatch)
	if !ok {
		return e, false
	}
	batch, ok := strings.CutSuffix(rest, "}")
	if !ok {
		return e, false
	}
	ts, err1 := plainInt(timestamp)
	id, err2 := plainInt(batch)
	return SourceEntry{Path: path, TimestampMs: ts, BatchID: id}, err1 == nil && err2 == nil
}

// plainInt reads an integer in JSON's spelling only.
func plainInt(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil && strconv.FormatInt(n, 10) != s {
		err = strconv.ErrSyntax
	}
	return n, err
}
