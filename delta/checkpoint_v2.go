package delta

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lakesql/batch"
)

// A V2 checkpoint is a file with a unique name and, beside it, sidecars that hold its adds and removes. Each sidecar is whole before
// the checkpoint names it, so that a process that dies leaves sidecars that nobody names; the clean-up of the log finds them.

const sidecarFolder = logFolder + "_sidecars/"

// sidecar names a file that holds actions of a checkpoint.
type sidecar struct {
	path    string // the encoded name below _sidecars
	size    int64  // bytes
	modTime int64  // milliseconds since the epoch
}

func (s sidecar) write(f *actionFile) {
	w := f.row("sidecar")
	w.text(s.path)
	w.int(s.size)
	w.int(s.modTime)
	w.null()
	w.end()
}

// checkpointMetadata is the action that makes a checkpoint a V2 one.
type checkpointMetadata struct {
	version int64
	tags    map[string]string
}

func (m checkpointMetadata) write(f *actionFile) {
	w := f.row("checkpointMetadata")
	w.int(m.version)
	w.textMap(m.tags)
	w.end()
}

// sidecarWriter writes one sidecar after the other.
type sidecarWriter struct {
	c       *checkpointing
	schema  *batch.Schema
	open    *actionFile // nil: none
	done    []sidecar
	actions int64 // in done
	bytes   int64 // in done
}

// next is the sidecar that the next action goes to.
func (w *sidecarWriter) next(ctx context.Context) (*actionFile, error) {
	if w.open != nil && w.open.rows < sidecarActions {
		return w.open, w.open.err
	}
	if err := w.close(ctx); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%020d.checkpoint.%010d.%s.parquet", w.c.s.Version(), len(w.done)+1, uuid.NewString())
	var err error
	w.open, err = createActionFile(ctx, w.c.st, sidecarFolder+name, w.schema)
	return w.open, err
}

// close ends the open sidecar, if there is one.
func (w *sidecarWriter) close(ctx context.Context) error {
	f := w.open
	if w.open = nil; f == nil {
		return nil
	}
	size, err := f.close(ctx, true)
	if err != nil {
		return err
	}
	w.done = append(w.done, sidecar{f.key[len(sidecarFolder):], size, time.Now().UnixMilli()})
	w.actions += f.rows
	w.bytes += size
	return nil
}

// abort drops the open sidecar. After close it does nothing.
func (w *sidecarWriter) abort() error {
	if w.open == nil {
		return nil
	}
	return w.open.abort()
}

// tags are what Spark says about the sidecars of a checkpoint.
func (w *sidecarWriter) tags(adds int) map[string]string {
	tags := map[string]string{
		"sidecarNumActions":  strconv.FormatInt(w.actions, 10),
		"sidecarSizeInBytes": strconv.FormatInt(w.bytes, 10),
		"numOfAddFiles":      strconv.Itoa(adds),
	}
	if schema := hintSchema(w.schema); schema != nil {
		tags["sidecarFileSchema"] = string(schema)
	}
	return tags
}

// v2Top is what a V2 checkpoint's own file has beside the table's state.
type v2Top struct {
	metadata checkpointMetadata
	sidecars []sidecar
}

// v2Hint is what the hint says about a V2 checkpoint.
func (c *checkpointing) v2Hint(name string, size int64, top v2Top) *v2HintJSON {
	hint := &v2HintJSON{Path: name, SizeInBytes: size, ModificationTime: time.Now().UnixMilli()}
	if len(top.sidecars) <= maxHintSidecars {
		files := make([]sidecarJSON, len(top.sidecars))
		for i, s := range top.sidecars {
			files[i] = sidecarJSON{s.path, s.size, s.modTime}
		}
		hint.SidecarFiles = &files
	}
	txns := c.s.txns.all()
	if 3+len(txns)+len(c.s.domains) > maxHintActions {
		return hint
	}
	add := func(action string, object any) {
		hint.NonFileActions = append(hint.NonFileActions, mustJSON(map[string]any{action: object}))
	}
	add("protocol", c.s.protocol.json())
	add("metaData", c.s.metadata.json())
	for _, app := range sortedKeys(txns) {
		add("txn", json.RawMessage(appendTxn(nil, txnAction{app, txns[app]})))
	}
	for _, domain := range sortedKeys(c.s.domains) {
		add("domainMetadata", json.RawMessage(appendDomain(nil, domainAction{domain: domain, configuration: c.s.domains[domain]})))
	}
	add("checkpointMetadata", struct {
		Version int64             `json:"version"`
		Tags    map[string]string `json:"tags"`
	}{top.metadata.version, top.metadata.tags})
	return hint
}
