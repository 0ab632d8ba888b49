package files

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lakesql/batch"
	"lakesql/files"
	"lakesql/stream/source"
)

// inferFiles is how many of the first files the schema is inferred from, as Auto Loader does.
const inferFiles = 1000

// Inferred reports whether the option schema is missing.
func (s *Source) Inferred() bool { return !s.given }

// RescuedColumn names the column that has what the others do not take.
func (s *Source) RescuedColumn() string { return s.opts.RescuedColumn() }

// Schema returns the columns of the files. An inferred schema is in the checkpoint before it is returned.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	if s.schema == nil {
		if err := s.findSchema(ctx); err != nil {
			return nil, err
		}
	}
	return s.readAs(s.schema), nil
}

// readAs is what rows of a schema are read as: with the hidden columns where the SELECT looks at them.
func (s *Source) readAs(schema *batch.Schema) *batch.Schema {
	if s.spec.Metadata {
		return files.WithMetadata(schema)
	}
	return schema
}

// findSchema infers the schema from the files that are there, and keeps it.
func (s *Source) findSchema(ctx context.Context) error {
	if err := s.look(ctx); err != nil {
		return err
	}
	list, err := s.sample(ctx)
	if err != nil {
		return err
	}
	schema, err := s.infer(ctx, list)
	if err != nil {
		return err
	}
	problem, err := s.problem(ctx, schema)
	if err != nil {
		return err
	}
	if problem != "" {
		return &source.FileError{URI: list[0].URI, Class: source.ErrData, Err: fmt.Errorf(
			"the columns (%s), told from file %s and %d more: %s", schema, list[0].URI, len(list)-1, problem)}
	}
	return s.keepSchema(ctx, schema)
}

// problem says why the stream cannot work with a schema; "" where it can.
func (s *Source) problem(ctx context.Context, schema *batch.Schema) (string, error) {
	if s.env.Fits == nil {
		return "", nil
	}
	return s.env.Fits(ctx, s.readAs(schema))
}

// loadSchema takes up the schema that an earlier run has kept.
func (s *Source) loadSchema(ctx context.Context) error {
	kept, err := s.keptSchema(ctx)
	if err != nil || kept == nil {
		return err
	}
	s.opts.AddRescued(kept)
	if !s.given {
		s.schema = kept
		return nil
	}
	s.schema = source.Widen(s.schema, kept)
	return nil
}

// keptSchema is the schema that an earlier run has kept, in the checkpoint or at schemaLocation; nil: none has.
func (s *Source) keptSchema(ctx context.Context) (*batch.Schema, error) {
	if s.schemas != nil {
		return s.schemas.load(ctx)
	}
	return s.env.KeptSchema(ctx)
}

func (s *Source) keepSchema(ctx context.Context, schema *batch.Schema) error {
	var err error
	if s.schemas == nil {
		err = s.env.KeepSchema(ctx, schema)
	} else if s.log != nil {
		err = s.schemas.save(ctx, schema)
	}
	if err != nil {
		return err
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
	list = slices.DeleteFunc(list, func(f files.File) bool { return s.existed(f.URI) || s.leftOut(f.URI) != "" })
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
		err = s.awayInstead(ctx, err)
		if about, _ := fileOf(err); about == "" {
			return nil, fmt.Errorf("infer the schema of %s: %w", s.spec.Path, err)
		}
		uri := s.skips(err)
		if uri == "" {
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
		return asFileError(s.awayInstead(ctx, err))
	}
	wider := source.Widen(s.schema, s.retyped(nullable(found)))
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
	out := s.env.Retype(schema)
	if s.opts.Typed() {
		for i, f := range schema.Fields {
			if f.Type.Fields() != nil { // it is no text that could be read as another type
				out.Fields[i].Type = f.Type
			}
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
