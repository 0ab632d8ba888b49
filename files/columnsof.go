package files

import (
	"context"

	"lakesql/store"
)

// ColumnsOf returns the names that a file gives columns, in its own order: those of its first record, where it is CSV, and those of the key=value folders
// of its path. A file without a record has no header. *GoneError, *ChangedError and *UnreadableError as OpenFile.
func ColumnsOf(ctx context.Context, open store.Opener, f File, opts *Options) (header, folders []string, err error) {
	values, err := opts.partitionsOf(f)
	if err != nil {
		return nil, nil, &UnreadableError{File: f, Err: err}
	}
	for _, v := range values {
		folders = append(folders, v.name)
	}
	if opts.Format != "csv" {
		return nil, folders, nil
	}
	names := &csvInference{opts: opts}
	names.MaxBytes = 1 // the rows behind the header say nothing of names
	if err := inferFile(ctx, open, f, names); err != nil {
		return nil, nil, err
	}
	return names.Schema().Names(), folders, nil
}
