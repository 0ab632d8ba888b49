package rate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"lakesql/batch"
	"lakesql/files"
	"lakesql/stream/source"
	"lakesql/vector"
)

var schema = batch.NewSchema(
	batch.Field{Name: "timestamp", Type: batch.Type{Kind: batch.Timestamp}},
	batch.Field{Name: "value", Type: batch.Type{Kind: batch.Int64}},
)

// Source makes rows from the moment when its checkpoint began.
type Source struct {
	env    source.Env
	opts   options
	begin  time.Time // whole milliseconds; zero: opened to be looked at, and not begun
	frozen int64     // the last second that Latest gives; -1: not frozen
}

var (
	_ source.Source   = (*Source)(nil)
	_ source.OpenFunc = Open
)

// Open opens a rate source, and lets it begin where the checkpoint is new.
func Open(ctx context.Context, spec source.Spec, env source.Env) (source.Source, error) {
	opts, err := parseOptions(spec.Options)
	if err != nil {
		return nil, &files.ArgumentError{Err: err}
	}
	s := &Source{env: env, opts: opts, frozen: -1}
	if env.Checkpoint == nil {
		return s, nil
	}
	text, ok, err := env.Checkpoint.Initial(ctx, env.Index)
	if err != nil {
		return nil, err
	}
	if !ok {
		s.begin = env.Now().Truncate(time.Millisecond)
		return s, env.Checkpoint.SaveInitial(ctx, env.Index, strconv.FormatInt(s.begin.UnixMilli(), 10), false)
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, env.Checkpoint.DamagedInitial(env.Index, fmt.Sprintf("want the milliseconds at which the source began, found %q", text))
	}
	s.begin = time.UnixMilli(ms)
	return s, nil
}

// Schema is timestamp and value.
func (s *Source) Schema(context.Context) (*batch.Schema, error) { return schema, nil }

// Inferred is false.
func (s *Source) Inferred() bool { return false }

// now is how many whole seconds have passed. A clock that was set back gives none.
func (s *Source) now() int64 {
	if s.begin.IsZero() {
		return 0
	}
	return max(0, int64(s.env.Now().Sub(s.begin)/time.Second))
}

// Latest ends at the last whole second, or after maxRowsPerBatch rows, unless there is no limit at all.
func (s *Source) Latest(_ context.Context, start source.Offset, limit source.Limit) (source.Offset, bool, error) {
	from, err := parseOffset(start)
	if err != nil {
		return "", false, err
	}
	to := s.now()
	if s.frozen >= 0 {
		to = min(to, s.frozen)
	}
	if to <= from {
		return start, false, nil
	}
	last := to
	if most := max(1, maxRowsPerBatch/s.opts.rowsPerSecond); !limit.All {
		last = min(last, from+most)
	}
	return formatOffset(last), last < to, nil
}

// Read makes the rows of the seconds behind start.
func (s *Source) Read(_ context.Context, start, end source.Offset, _ source.Observer) (vector.Operator, error) {
	from, err := parseOffset(start)
	if err != nil {
		return nil, err
	}
	to, err := parseOffset(end)
	if err != nil {
		return nil, err
	}
	first, err := s.opts.rowsUntil(from)
	if err != nil {
		return nil, err
	}
	last, err := s.opts.rowsUntil(to)
	if err != nil {
		return nil, err
	}
	r := &rows{first: first, next: first, end: last, start: s.begin.Add(time.Duration(from) * time.Second).UnixMilli()}
	if last > first {
		r.msPerRow = float64(to-from) * 1000 / float64(last-first)
	}
	return r, nil
}

// Committed has nothing to record.
func (s *Source) Committed(context.Context, int64, source.Offset, source.Offset) error { return nil }

// Backlog is empty: rows that nobody has asked for do not exist.
func (s *Source) Backlog() source.Backlog { return source.Backlog{} }

// Mark is the second of now.
func (s *Source) Mark(context.Context) (source.Mark, error) { return s.now(), nil }

// Reached compares seconds.
func (s *Source) Reached(_ context.Context, m source.Mark, committed source.Offset) (bool, error) {
	second, ok := m.(int64)
	if !ok {
		return false, fmt.Errorf("a mark of another source: %T", m)
	}
	at, err := parseOffset(committed)
	return at >= second, err
}

// Freeze lets the source end with this second.
func (s *Source) Freeze(context.Context) error {
	s.frozen = s.now()
	return nil
}

// Wake is nil: nothing hints.
func (s *Source) Wake() <-chan struct{} { return nil }

// RecheckAfter is when the next second is over.
func (s *Source) RecheckAfter() time.Duration {
	return time.Second - s.env.Now().Sub(s.begin)%time.Second
}

// Description names the source and its speed.
func (s *Source) Description() string {
	return fmt.Sprintf("RateStream[rowsPerSecond=%d, rampUpTimeSeconds=%d]", s.opts.rowsPerSecond, s.opts.rampUp)
}

// Close has nothing to stop.
func (s *Source) Close() error { return nil }

// rows are those of one range.
type rows struct {
	first, next, end int64 // values
	start            int64 // of the range, epoch ms
	msPerRow         float64
}

// Schema is timestamp and value.
func (r *rows) Schema() *batch.Schema { return schema }

// Next makes the next rows. Their times are spread over the range's seconds.
func (r *rows) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.next == r.end {
		return nil, io.EOF
	}
	b := batch.NewBuilder(schema)
	for n := min(r.end-r.next, batch.MaxRows); n > 0; n-- {
		ms := r.start + int64(math.Round(float64(r.next-r.first)*r.msPerRow))
		b.Column(0).AppendInt64(ms * 1000)
		b.Column(1).AppendInt64(r.next)
		r.next++
	}
	return b.Finish(), nil
}

// Close has nothing to free.
func (r *rows) Close() error { return nil }

// formatOffset is Spark's LongOffset.
func formatOffset(seconds int64) source.Offset { return source.Offset(strconv.FormatInt(seconds, 10)) }

func parseOffset(o source.Offset) (int64, error) {
	if o == source.None {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(o), 10, 64)
	if err == nil && n < 0 {
		err = errors.New("it is negative")
	}
	if err != nil {
		return 0, fmt.Errorf("offset %s in the checkpoint is not one of a rate source, a number of seconds: %w", o, errors.Join(source.ErrChanged, err))
	}
	return n, nil
}
