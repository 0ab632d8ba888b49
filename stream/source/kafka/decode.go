package kafka

import (
	"bytes"
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/stream/source"
)

// decode makes a batch of records.
func (s *Source) decode(ctx context.Context, records []*kgo.Record, obs source.Observer) (*batch.Batch, error) {
	if s.opts.value.format == "" {
		return batch.New(s.schema, recordColumns(records, true, s.opts.headers)...), nil
	}
	t, err := s.opts.value.decode(records, s.value)
	if err != nil {
		return nil, err
	}
	if len(t.extra) > 0 {
		if err := s.newColumns(ctx, records, t.extra); err != nil {
			return nil, err
		}
	}
	if err := s.report(records, t, obs); err != nil {
		return nil, err
	}
	meta := &batch.Vector{Type: s.schema.Fields[len(s.schema.Fields)-1].Type, Len: len(records), Children: recordColumns(records, false, s.opts.headers)}
	b := batch.New(s.schema, append(t.cols, meta)...)
	if t.bad != nil && s.opts.value.mode == format.DropMalformed {
		b.Sel = sound(t.bad)
	}
	return b, nil
}

// sound are the rows that are not bad; not nil, which would be all of them.
func sound(bad []bool) []int32 {
	rows := make([]int32, 0, len(bad))
	for row, b := range bad {
		if !b {
			rows = append(rows, int32(row))
		}
	}
	return rows
}

// report tells of malformed values, or ends with the first of them.
func (s *Source) report(records []*kgo.Record, t *table, obs source.Observer) error {
	for _, r := range t.rejects {
		rec := records[r.record]
		p := partition{rec.Topic, rec.Partition}
		if s.opts.value.mode == format.FailFast {
			column := ""
			if r.column != "" {
				column = fmt.Sprintf(", field %q", r.column)
			}
			return fmt.Errorf("%w: [MALFORMED_RECORD_IN_PARSING] partition %s, offset %d%s: %s. %s", source.ErrData, p, rec.Offset, column, r.message, s.env.RowHint)
		}
		if obs.Row != nil {
			obs.Row(source.RowError{File: fileOf(p), Line: rec.Offset, Column: r.column, Raw: bytes.Clone(rec.Value), Message: r.message})
		}
	}
	return nil
}
