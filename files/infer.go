package files

import (
	"context"
	"errors"
	"slices"

	"lakesql/batch"
	"lakesql/format/csv"
	"lakesql/store"
)

// How much is looked at to find a schema. Files beyond that bind by name to the schema found; their columns that it lacks
// are reported by Reader.Extra.
const (
	// inferFiles is Auto Loader's own limit.
	inferFiles = 1000
	// inferFileBytes of each file: enough rows for the types, and most files whole.
	inferFileBytes = 16 << 20
	// inferBytes of all files together take about a second.
	inferBytes = 256 << 20
)

// ErrNoData says that there is nothing to infer a schema from yet.
var ErrNoData = errors.New("no file to infer a schema from")

// InferSchema finds the schema of the files: that of the option schema, or what their headers and first rows say, with
// schemaHints on top; then the columns of key=value folders. All columns are nullable. ErrNoData when neither the options
// nor any file names a column.
func InferSchema(ctx context.Context, open store.Opener, list []File, opts *Options) (*batch.Schema, error) {
	schema := &batch.Schema{}
	if opts.schema != nil {
		schema.Fields = slices.Clone(opts.schema.Fields)
	} else if err := inferFromFiles(ctx, open, list, opts, schema); err != nil {
		return nil, err
	}
	partitioned := csv.Inference{}
	for _, f := range list {
		values, err := opts.partitionsOf(f)
		if err != nil {
			return nil, &UnreadableError{File: f, Err: err}
		}
		for _, v := range values {
			if err := partitioned.Add(v.name, v.value, v.null, opts.CSV); err != nil {
				return nil, err
			}
		}
	}
	for _, field := range partitioned.Schema().Fields {
		switch at := schema.Index(field.Name); {
		case at < 0:
			schema.Fields = append(schema.Fields, field)
		case opts.schema == nil: // the path's value is the one that is read
			schema.Fields[at].Type = field.Type
		}
	}
	if len(schema.Fields) == 0 {
		return nil, ErrNoData
	}
	opts.Hint(schema)
	return schema, nil
}

// Hint gives the columns of a schema the types of the option schemaHints, and adds those that it lacks; last the column of rescued data.
func (o *Options) Hint(schema *batch.Schema) {
	defer o.AddRescued(schema)
	if o.hints == nil {
		return
	}
	for _, hint := range o.hints.Fields {
		if at := schema.Index(hint.Name); at >= 0 {
			schema.Fields[at].Type = hint.Type
		} else {
			schema.Fields = append(schema.Fields, hint)
		}
	}
}

func inferFromFiles(ctx context.Context, open store.Opener, list []File, opts *Options, schema *batch.Schema) error {
	all := opts.newInference()
	var looked int64
	var last File
	for i, f := range list {
		if i >= inferFiles || looked >= inferBytes {
			break
		}
		looked += min(f.Size, inferFileBytes)
		if err := inferFile(ctx, open, f, all); opts.LeavesOut(err) {
			continue
		} else if err != nil {
			return err
		}
		last = f
	}
	found, err := all.schema()
	if err != nil {
		return &UnreadableError{File: last, Err: err}
	}
	schema.Fields = found.Fields
	return nil
}

func inferFile(ctx context.Context, open store.Opener, f File, into inference) error {
	c, err := openContents(ctx, open, f)
	if err != nil {
		return err
	}
	if err = into.add(c); err != nil && !ours(err) {
		return &UnreadableError{File: f, Err: err}
	}
	return err
}

// partitionsOf is what the file's path says of columns.
func (o *Options) partitionsOf(f File) ([]partitionValue, error) {
	if o.recursive {
		return nil, nil
	}
	values, err := partitions(f.URI)
	if err != nil || !o.somePartitions {
		return values, err
	}
	return slices.DeleteFunc(values, func(v partitionValue) bool {
		return !containsFold(o.partitions, v.name)
	}), nil
}
