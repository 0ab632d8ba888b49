package deltatable

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/stream/source"
	"lakesql/vector"
)

// Inferred is true: the schema is the table's, and follows it.
func (s *Source) Inferred() bool { return true }

// Schema returns the table's columns as of the newest version, all of them nullable, or where ON SCHEMA CHANGE does not add columns those that were there when the
// stream began. They are in the checkpoint before they are returned.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	if s.schema != nil {
		return s.given(), nil
	}
	kept, err := s.keptSchema(ctx)
	if err != nil {
		return nil, err
	}
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	if snap == nil {
		return nil, source.ErrNoData
	}
	now := plain(snap.Schema())
	if kept != nil {
		if now, err = s.follow(kept, now); err != nil {
			return nil, err
		}
	}
	if kept == nil || !kept.Equal(now) {
		if err := s.keepSchema(ctx, now, kept != nil); err != nil {
			return nil, err
		}
	}
	s.reader, s.schema = snap, now
	return s.given(), nil
}

// given are the columns with those of the change feed.
func (s *Source) given() *batch.Schema {
	if !s.opts.changeFeed {
		return s.schema
	}
	return batch.NewSchema(slices.Concat(s.schema.Fields, vector.ChangeFields)...)
}

// plain are columns without what is said of them for the table's own files, all of them nullable: what a version lacks is null.
func plain(schema *batch.Schema) *batch.Schema {
	out := batch.NewSchema(slices.Clone(schema.Fields)...)
	for i := range out.Fields {
		f := &out.Fields[i]
		f.Type, f.Nullable, f.Metadata = f.Type.WithoutMetadata(), true, maps.Clone(f.Metadata)
		maps.DeleteFunc(f.Metadata, func(key, _ string) bool {
			return strings.HasPrefix(key, "delta.") || key == delta.DefaultKey || key == existsDefaultKey || key == delta.CharVarcharKey
		})
		if len(f.Metadata) == 0 {
			f.Metadata = nil
		}
	}
	return out
}

// existsDefaultKey is what old files have for a column that was added with a default.
const existsDefaultKey = "EXISTS_DEFAULT"

func (s *Source) keptSchema(ctx context.Context) (*batch.Schema, error) {
	kept, err := s.env.KeptSchema(ctx)
	if err == nil && kept != nil && s.opts.changeFeed {
		kept = batch.NewSchema(slices.DeleteFunc(kept.Fields, func(f batch.Field) bool {
			return slices.ContainsFunc(vector.ChangeFields, func(c batch.Field) bool { return c.Name == f.Name })
		})...)
	}
	return kept, err
}

// keepSchema makes columns durable that the stream can work with.
func (s *Source) keepSchema(ctx context.Context, schema *batch.Schema, changed bool) error {
	given := schema
	if s.opts.changeFeed {
		given = batch.NewSchema(slices.Concat(schema.Fields, vector.ChangeFields)...)
	}
	if changed && s.env.Fits != nil {
		problem, err := s.env.Fits(ctx, given)
		if err != nil {
			return err
		}
		if problem != "" {
			return refuse(source.ErrData, "source table %s has other columns now (%s): %s", s.uri, schema, problem)
		}
	}
	return s.env.KeepSchema(ctx, given)
}

// follow is what becomes of the columns that a stream has when the table's are others now.
func (s *Source) follow(kept, now *batch.Schema) (*batch.Schema, error) {
	change := delta.CompareSchemas(kept, now)
	if change.Broken != "" {
		return nil, s.broken("since the stream began with it", change.Broken)
	}
	if len(change.Added) == 0 || s.addsColumns() {
		return now, nil
	}
	if s.env.NewColumns == source.RefuseColumns {
		return nil, s.newColumns("", change.Added)
	}
	return batch.NewSchema(slices.DeleteFunc(now.Fields, func(f batch.Field) bool { return slices.Contains(change.Added, f.Name) })...), nil
}

func (s *Source) addsColumns() bool {
	return s.env.NewColumns == source.AddColumns || s.env.NewColumns == source.AddWhereInferred
}

// checkSchema says why a version cannot be read by the reader's schema: it is younger and has more, or its columns were others.
func (s *Source) checkSchema(version int64, schema *batch.Schema, meta *delta.Metadata) error {
	if s.reader == nil || schema == s.reader.Schema() || schema == s.fits {
		return nil
	}
	when := fmt.Sprintf("in version %d", version)
	if !slices.Equal(meta.PartitionColumns, s.reader.Metadata().PartitionColumns) {
		return s.broken(when, fmt.Sprintf("it is partitioned by (%s) there, and by (%s) in version %d", strings.Join(meta.PartitionColumns, ", "),
			strings.Join(s.reader.Metadata().PartitionColumns, ", "), s.reader.Version()))
	}
	if version <= s.reader.Version() {
		if change := delta.CompareSchemas(schema, s.reader.Schema()); change.Broken != "" {
			return s.broken(fmt.Sprintf("after version %d, which the stream has still to read,", version), change.Broken)
		}
		s.fits = schema
		return nil
	}
	change := delta.CompareSchemas(s.reader.Schema(), schema)
	switch {
	case change.Broken != "":
		return s.broken(when, change.Broken)
	case len(change.Changed) > 0, len(change.Added) > 0 && s.addsColumns():
		return source.ErrSchemaEvolved
	case len(change.Added) > 0 && s.env.NewColumns == source.RefuseColumns:
		return s.newColumns(when, change.Added)
	}
	s.fits = schema
	return nil
}

func (s *Source) broken(when, what string) error {
	return refuse(source.ErrData, "[DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG] the columns of source table %s have changed %s in a way that the stream cannot follow: %s. "+
		"Begin a new stream, with another checkpoint, that has startingVersion at the change; RESET reads the table again", s.uri, when, what)
}

func (s *Source) newColumns(when string, columns []string) error {
	return refuse(source.ErrData, "[DELTA_SCHEMA_CHANGED] source table %s has new columns (%s) %s, and ON SCHEMA CHANGE FAIL stops the stream there. "+
		"CREATE OR REPLACE STREAM with ON SCHEMA CHANGE ADD COLUMNS takes them, with IGNORE leaves them out",
		s.uri, strings.Join(columns, ", "), strings.TrimSpace(when))
}
