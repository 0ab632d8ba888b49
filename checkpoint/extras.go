package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"lakesql/store"
)

// Our own part of a checkpoint. Spark does not look at it.
const (
	extrasDir   = "_lakesql/"
	bindingKey  = extrasDir + "binding.json"
	schemaDir   = extrasDir + "schema/"
	startDir    = extrasDir + "start/"
	progressKey = extrasDir + "progress.jsonl"
	errorsKey   = extrasDir + "errors.jsonl"
	filesDir    = extrasDir + "files/"
	skipDir     = extrasDir + "skip/"
	retryDir    = extrasDir + "retry/"
	leaseDir    = extrasDir + "lease/"
	resetKey    = extrasDir + "reset.json"
)

// Binding ties a checkpoint to its stream and its target.
type Binding struct {
	StreamName string `json:"streamName"` // db.name
	TableID    string `json:"tableId"`    // metaData.id of the target
	TableURI   string `json:"tableUri"`
}

// Binding returns the binding; ok is false when the checkpoint is not bound, as a new one or one of Spark's.
func (c *Checkpoint) Binding(ctx context.Context) (b Binding, ok bool, err error) {
	data, ok, err := c.getExtra(ctx, bindingKey)
	if !ok || err != nil {
		return Binding{}, false, err
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return Binding{}, false, damaged(c.st, bindingKey, "rm "+shellPath(c.st, bindingKey)+" and it is written again", "%v", err)
	}
	return b, true, nil
}

// Bind writes the binding once. The same one again is no error; another one is Kind Bound.
func (c *Checkpoint) Bind(ctx context.Context, b Binding) error {
	data, err := marshal(b)
	if err != nil {
		return err
	}
	err = c.putExtra(ctx, bindingKey, data)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	found, ok, err := c.Binding(ctx)
	if err != nil {
		return err
	}
	if !ok || found != b {
		return &Error{Kind: Bound, URI: c.st.URI(),
			Found: fmt.Sprintf("it belongs to stream %s with table %s at %s", found.StreamName, found.TableID, found.TableURI),
			Hint:  "give the stream a checkpoint of its own, or DROP that stream"}
	}
	return nil
}

// Rebind replaces the binding: after a rename of the stream, or when a new stream takes over the checkpoint of a dropped one.
func (c *Checkpoint) Rebind(ctx context.Context, b Binding) error {
	data, err := marshal(b)
	if err != nil {
		return err
	}
	return c.replaceExtra(ctx, bindingKey, data)
}

func schemaKey(source int) string { return schemaDir + strconv.Itoa(source) + ".json" }

// SaveSchema keeps the schema of a source, as JSON text, and replaces the one before.
func (c *Checkpoint) SaveSchema(ctx context.Context, source int, schema []byte) error {
	return c.replaceExtra(ctx, schemaKey(source), schema)
}

// Schema returns what SaveSchema has kept; ok is false when nothing has been.
func (c *Checkpoint) Schema(ctx context.Context, source int) (schema []byte, ok bool, err error) {
	return c.getExtra(ctx, schemaKey(source))
}

// DamagedSchema is the error for a schema kept here that cannot be read.
func (c *Checkpoint) DamagedSchema(source int, err error) error {
	return damaged(c.st, schemaKey(source), "put it back from a copy, or rm "+shellPath(c.st, schemaKey(source))+
		" and the columns are told from the source again", "it is not a schema: %v", err)
}

func startKey(source int) string { return startDir + strconv.Itoa(source) + ".json" }

// SaveStart keeps the version from which on a source reads its table, where the options name it in a way that may mean another one later. It is kept once:
// ErrExists when something is there.
func (c *Checkpoint) SaveStart(ctx context.Context, source int, s Start) error {
	data, err := marshal(s)
	if err != nil {
		return err
	}
	return c.putExtra(ctx, startKey(source), data)
}

// Start returns what SaveStart has kept; ok is false when nothing has been.
func (c *Checkpoint) Start(ctx context.Context, source int) (s Start, ok bool, err error) {
	data, ok, err := c.getExtra(ctx, startKey(source))
	if !ok || err != nil {
		return Start{}, false, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return Start{}, false, damaged(c.st, startKey(source), hintCopy, "%v", err)
	}
	return s, true, nil
}

// Start is where a source of a table begins.
type Start struct {
	TableID string `json:"tableId"` // metaData.id of the source; "" where there was no table yet
	Version int64  `json:"version"` // the first commit that is read
}

func (c *Checkpoint) getExtra(ctx context.Context, key string) (data []byte, ok bool, err error) {
	data, err = c.st.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRootMissing) {
		return nil, false, nil
	}
	return data, err == nil, gone(c.st, err)
}

// putExtra publishes a new object, unless the checkpoint is gone. ErrExists when it is there.
func (c *Checkpoint) putExtra(ctx context.Context, key string, data []byte) error {
	if err := c.Verify(ctx); err != nil {
		return err
	}
	return gone(c.st, c.st.PutIfAbsent(ctx, key, data))
}

// replaceExtra publishes an object in place of the one that may be there, unless the checkpoint is gone.
func (c *Checkpoint) replaceExtra(ctx context.Context, key string, data []byte) error {
	if err := c.Verify(ctx); err != nil {
		return err
	}
	return gone(c.st, replace(ctx, c.st, key, data))
}

func replace(ctx context.Context, st store.Store, key string, data []byte) error {
	w, err := st.Create(ctx, key)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit(ctx, false)
}

// marshal writes JSON without escaping & < > and without a final newline.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %T for the checkpoint: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
