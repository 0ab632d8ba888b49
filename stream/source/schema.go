package source

import (
	"context"
	"fmt"
	"slices"

	"lakesql/batch"
	"lakesql/delta"
)

// KeptSchema returns the schema that KeepSchema has kept for the source in the checkpoint; nil when nothing has been, or there is no checkpoint.
func (e *Env) KeptSchema(ctx context.Context) (*batch.Schema, error) {
	if e.Checkpoint == nil {
		return nil, nil
	}
	text, ok, err := e.Checkpoint.Schema(ctx, e.Index)
	if err != nil || !ok {
		return nil, err
	}
	kept, err := delta.ParseSchema(string(text))
	if err != nil {
		return nil, e.Checkpoint.DamagedSchema(e.Index, err)
	}
	return kept, nil
}

// KeepSchema makes a source's schema durable, in the place of the one before. Without a checkpoint there is nothing to do.
func (e *Env) KeepSchema(ctx context.Context, schema *batch.Schema) error {
	if e.Checkpoint == nil {
		return nil
	}
	if err := e.Checkpoint.SaveSchema(ctx, e.Index, []byte(delta.FormatSchema(schema))); err != nil {
		return fmt.Errorf("keep the schema of source %d: %w", e.Index, err)
	}
	return nil
}

// Widen returns schema with the fields of more that it lacks behind it.
func Widen(schema, more *batch.Schema) *batch.Schema {
	out := batch.NewSchema(slices.Clone(schema.Fields)...)
	for _, f := range more.Fields {
		if out.Index(f.Name) < 0 {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}
