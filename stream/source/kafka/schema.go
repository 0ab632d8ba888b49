package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/batch"
	"lakesql/files"
	"lakesql/format"
	"lakesql/format/csv"
	"lakesql/format/json"
	"lakesql/stream/source"
)

// inferBytes is how much of each broker, and a tenth of that of each partition, the columns of values are inferred from.
const inferBytes = 10 << 20

// inferWait is how long a broker may wait for records that are there.
const inferWait = 100 * time.Millisecond

// Inferred reports whether the columns of values are inferred from them.
func (s *Source) Inferred() bool {
	v := &s.opts.value
	return v.text != nil && v.text.Schema() == nil
}

// Schema returns the columns of records. What is inferred is in the checkpoint before it is returned.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	if s.schema != nil {
		return s.schema, nil
	}
	records, err := s.sample(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.opts.value.infer(records, s.opts.value.text)
	if err != nil {
		return nil, err
	}
	schema := s.withMeta(s.retyped(found))
	problem, err := s.problem(ctx, schema)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		return nil, fmt.Errorf("%w: the columns (%s), told from %d records of %s: %s", source.ErrData, found, len(records), s.Description(), problem)
	}
	if err := s.keep(ctx, schema); err != nil {
		return nil, err
	}
	return s.schema, nil
}

// fixedSchema takes up a schema that does not depend on what the topics have.
func (s *Source) fixedSchema() error {
	v := &s.opts.value
	switch {
	case v.format == "":
		s.schema = batch.NewSchema(recordFields(true, s.opts.headers)...)
	case v.format == "text":
		s.take(s.withMeta(batch.NewSchema(batch.Field{Name: "value", Type: textType, Nullable: true})))
	case v.avro != nil:
		s.take(s.withMeta(v.avro.schema.Columns()))
	case v.text.Schema() != nil:
		given := batch.NewSchema(slices.Clone(v.text.Schema().Fields)...)
		v.text.Hint(given)
		s.take(s.withMeta(given))
	default:
		return nil
	}
	if s.value != nil && s.value.Index(metaColumn) >= 0 {
		return argumentError("the schema has a column %s, which is the name of what Kafka knows of a record: give it another name", metaColumn)
	}
	return nil
}

// withMeta is the columns of values, and what Kafka knows of the record.
func (s *Source) withMeta(value *batch.Schema) *batch.Schema {
	out := batch.NewSchema(slices.Clone(value.Fields)...)
	out.Fields = append(out.Fields, batch.Field{Name: metaColumn, Type: batch.StructOf(recordFields(false, s.opts.headers)...), Nullable: true})
	return out
}

// take makes a schema the source's: its last column is what Kafka knows.
func (s *Source) take(schema *batch.Schema) {
	s.schema = schema
	s.value = batch.NewSchema(schema.Fields[:len(schema.Fields)-1]...)
}

// loadSchema takes up what an earlier run has kept.
func (s *Source) loadSchema(ctx context.Context) error {
	if s.opts.value.text == nil {
		return nil
	}
	kept, err := s.env.KeptSchema(ctx)
	if err != nil || kept == nil {
		return err
	}
	kept.Fields = slices.DeleteFunc(kept.Fields, func(f batch.Field) bool { return f.Name == metaColumn })
	s.opts.value.text.AddRescued(kept)
	if s.value != nil { // the option schema; what ON SCHEMA CHANGE ADD COLUMNS has added to it stays
		kept = source.Widen(s.value, kept)
	}
	s.take(s.withMeta(kept))
	return nil
}

func (s *Source) keep(ctx context.Context, schema *batch.Schema) error {
	if err := s.env.KeepSchema(ctx, schema); err != nil {
		return err
	}
	s.take(schema)
	return nil
}

// problem says why the stream cannot work with a schema; "" where it can.
func (s *Source) problem(ctx context.Context, schema *batch.Schema) (string, error) {
	for _, f := range schema.Fields[:len(schema.Fields)-1] {
		if strings.EqualFold(f.Name, metaColumn) {
			return fmt.Sprintf("values have a field %s, which is the name of what Kafka knows of a record: read them without a format, or give a schema", f.Name), nil
		}
	}
	if s.env.Fits == nil {
		return "", nil
	}
	return s.env.Fits(ctx, schema)
}

// retyped is an inferred schema in the types that whoever opened the source wants to read.
func (s *Source) retyped(schema *batch.Schema) *batch.Schema {
	if s.env.Retype == nil {
		return schema
	}
	return s.env.Retype(schema)
}

// sample is records to infer from: the first that the source has not read.
func (s *Source) sample(ctx context.Context) ([]*kgo.Record, error) {
	from, err := s.position(ctx, source.None)
	if err != nil {
		return nil, err
	}
	if err := s.look(ctx, nil); err != nil {
		return nil, err
	}
	begins, err := s.cluster.begins(ctx, s.topology)
	if err != nil {
		return nil, err
	}
	at := offsets{}
	for p, end := range s.allowed(from) {
		if first := max(startOf(p, from, begins), begins[p]); first < end {
			at[p] = first
		}
	}
	var records []*kgo.Record
	for leader, at := range byLeader(s.topology, at) {
		list, err := s.cluster.fetch(ctx, leader, at, inferWait, inferBytes, inferBytes/10)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			if f.err != nil {
				return nil, unreachable(s.opts.client, "read partition "+f.partition.String()+", to infer the columns of its values,", f.err)
			}
			records = append(records, f.records...)
		}
	}
	if len(records) == 0 {
		return nil, source.ErrNoData
	}
	return records, nil
}

// infer finds the columns of values, with schemaHints on top. source.ErrNoData when no record has a value.
func (v *valueOptions) infer(records []*kgo.Record, opts *files.Options) (*batch.Schema, error) {
	text, live := v.lines(records, func(int, string) {})
	found, err := inferLines(text, opts)
	if err != nil {
		return nil, fmt.Errorf("infer the columns of values: %w", errors.Join(source.ErrData, err))
	}
	if len(live) == 0 || len(found.Fields) == 0 {
		return nil, source.ErrNoData
	}
	opts.Hint(found)
	for i := range found.Fields {
		found.Fields[i].Nullable = true
	}
	return found, nil
}

func inferLines(text []byte, opts *files.Options) (*batch.Schema, error) {
	if opts.Format == "json" {
		o, in := opts.JSON, json.Inference{}
		o.SizeHint, o.Mode = int64(len(text)), format.Permissive
		if err := json.Infer(bytes.NewReader(text), o, &in); err != nil {
			return nil, err
		}
		return in.Schema()
	}
	o, in := opts.CSV, csv.Inference{}
	o.SizeHint, o.Mode = int64(len(text)), format.Permissive
	err := csv.Infer(bytes.NewReader(text), o, &in)
	return in.Schema(), err
}

// newColumns decides about fields of values that the schema does not have.
func (s *Source) newColumns(ctx context.Context, records []*kgo.Record, extra []string) error {
	switch s.env.NewColumns {
	case source.AddColumns:
		return s.evolve(ctx, records)
	case source.AddWhereInferred:
		if s.Inferred() {
			return s.evolve(ctx, records)
		}
	case source.RefuseColumns:
		return fmt.Errorf("%w: values of %s have fields that the schema (%s) does not have: %s; ON SCHEMA CHANGE ADD COLUMNS takes them in, IGNORE leaves them out",
			source.ErrData, s.Description(), s.value, strings.Join(extra, ", "))
	}
	return nil
}

// evolve adds the fields of these records that the schema lacks, and makes that durable.
func (s *Source) evolve(ctx context.Context, records []*kgo.Record) error {
	found, err := s.opts.value.infer(records, s.opts.value.bare)
	if err != nil {
		return err
	}
	wider := source.Widen(s.value, s.retyped(found))
	if len(wider.Fields) == len(s.value.Fields) {
		return nil // the fields have no value but null
	}
	schema := s.withMeta(wider)
	problem, err := s.problem(ctx, schema)
	if err != nil {
		return err
	}
	if problem != "" {
		return fmt.Errorf("%w: values of %s have new fields: they give (%s), and the stream has (%s): %s", source.ErrData, s.Description(), found, s.value, problem)
	}
	if err := s.keep(ctx, schema); err != nil {
		return err
	}
	return source.ErrSchemaEvolved
}

// RescuedColumn names the column that has what the others do not take.
func (s *Source) RescuedColumn() string {
	if s.opts.value.text == nil {
		return ""
	}
	return s.opts.value.text.RescuedColumn()
}
