package files

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/files"
	"lakesql/stream/source"
)

// inferFiles is how many of the first files the schema is inferred from, as Auto Loader does.
const inferFiles = 1000

// Inferred reports whether the option schema is missing.
func (s *Source) Inferred() bool { return !s.given }

// Schema returns the columns of the files. An inferred schema is in the checkpoint before it is returned.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	if s.schema != nil {
		return s.schema, nil
	}
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	list, err := s.sample(ctx)
	if err != nil {
		return nil, err
	}
	schema, err := s.infer(ctx, list)
	if err != nil {
		return nil, err
	}
	problem, err := s.problem(ctx, schema)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		return nil, &source.FileError{URI: list[0].URI, Class: source.ErrData, Err: fmt.Errorf(
			"the columns (%s), told from file %s and %d more: %s", schema, list[0].URI, len(list)-1, problem)}
	}
	return schema, s.keepSchema(ctx, schema)
}

// problem says why the stream cannot work with a schema; "" where it can.
func (s *Source) problem(ctx context.Context, schema *batch.Schema) (string, error) {
	if s.env.Fits == nil {
		return "", nil
	}
	return s.env.Fits(ctx, schema)
}

// loadSchema takes up the schema that an earlier run has kept.
func (s *Source) loadSchema(ctx context.Context) error {
	text, ok, err := s.env.Checkpoint.Schema(ctx, s.env.Index)
	if err != nil || !ok {
		return err
	}
	kept, err := delta.ParseSchema(string(text))
	if err != nil {
		return s.env.Checkpoint.DamagedSchema(s.env.Index, err)
	}
	if !s.given {
		s.schema = kept
		return nil
	}
	s.schema = widen(s.schema, kept)
	return nil
}

func (s *Source) keepSchema(ctx context.Context, schema *batch.Schema) error {
	if s.env.Checkpoint != nil {
		if err := s.env.Checkpoint.SaveSchema(ctx, s.env.Index, []byte(delta.FormatSchema(schema))); err != nil {
			return fmt.Errorf("keep the inferred schema: %w", err)
		}
	}
	s.schema = schema
	return nil
}

// sample is the files to infer from: those that are recorded already, then those that the last look found.
func (s *Source) sample(ctx context.Context) ([]files.File, error) {
	var list []files.File
	if s.last >= 0 {
		recorded, err := s.rangeFiles(ctx, 0, s.last)
		if err != nil {
			return nil, err
		}
		for _, f := range recorded {
			if f.err == nil {
				list = append(list, f.File)
			}
		}
	}
	list = append(list, s.ready...)
	list = slices.DeleteFunc(list, func(f files.File) bool { return s.leftOut(f.URI) != "" })
	return list[:min(len(list), inferFiles)], nil
}

// infer finds the schema; files that cannot be read are left out where ON ERROR says so.
func (s *Source) infer(ctx context.Context, list []files.File) (*batch.Schema, error) {
	for len(list) > 0 {
		schema, err := files.InferSchema(ctx, s.env.Open, list, s.opts)
		switch {
		case err == nil:
			return s.retyped(nullable(schema)), nil
		case errors.Is(err, files.ErrNoData):
			return nil, source.ErrNoData
		}
		uri, unreadable := fileOf(err)
		if uri == "" {
			return nil, fmt.Errorf("infer the schema of %s: %w", s.spec.Path, err)
		}
		if !unreadable || !s.env.SkipUnreadable {
			return nil, asFileError(err)
		}
		list = slices.DeleteFunc(list, func(f files.File) bool { return f.URI == uri })
	}
	return nil, source.ErrNoData
}

// evolve adds the columns of a file that the schema lacks, and makes that durable.
func (s *Source) evolve(ctx context.Context, f files.File) error {
	found, err := files.InferSchema(ctx, s.env.Open, []files.File{f}, s.bare)
	if err != nil {
		return asFileError(err)
	}
	wider := widen(s.schema, s.retyped(nullable(found)))
	if len(wider.Fields) == len(s.schema.Fields) {
		return fmt.Errorf("file %s has columns beyond (%s), and they cannot be told: %w", f.URI, s.schema, source.ErrData)
	}
	problem, err := s.problem(ctx, wider)
	if err != nil {
		return err
	}
	if problem != "" {
		return &source.FileError{URI: f.URI, Class: source.ErrData, Err: fmt.Errorf(
			"file %s has new columns: it gives (%s), and the stream has (%s): %s", f.URI, found, s.schema, problem)}
	}
	if err := s.keepSchema(ctx, wider); err != nil {
		return err
	}
	return source.ErrSchemaEvolved
}

// retyped is an inferred schema in the types that whoever opened the source wants to read.
func (s *Source) retyped(schema *batch.Schema) *batch.Schema {
	if s.env.Retype == nil || s.given {
		return schema
	}
	return s.env.Retype(schema)
}

// widen adds the fields of more that schema has not.
func widen(schema, more *batch.Schema) *batch.Schema {
	out := batch.NewSchema(slices.Clone(schema.Fields)...)
	for _, f := range more.Fields {
		if out.Index(f.Name) < 0 {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// nullable makes all columns nullable, as Spark does for every file source.
func nullable(schema *batch.Schema) *batch.Schema {
	out := batch.NewSchema(slices.Clone(schema.Fields)...)
	for i := range out.Fields {
		out.Fields[i].Nullable = true
	}
	return out
}
