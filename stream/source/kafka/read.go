package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/batch"
	"lakesql/stream/source"
	"lakesql/vector"
)

const (
	fetchWait = 500 * time.Millisecond // how long a broker may wait for what is there already
	// patience is how long a partition of a range may give nothing, because its leader changes or lags behind, until that is an
	// error.
	patience   = 10 * time.Second
	retryAfter = 100 * time.Millisecond
	// A chunk is what is decoded at once.
	chunkRows  = batch.MaxRows
	chunkBytes = 4 << 20
)

// Read returns the records from start up to end, of several partitions at a time.
func (s *Source) Read(ctx context.Context, start, end source.Offset, obs source.Observer) (vector.Operator, error) {
	from, err := s.position(ctx, start)
	if err != nil {
		return nil, err
	}
	to, err := parseOffset(end)
	if err != nil {
		return nil, err
	}
	if s.topology == nil { // the range is an earlier run's
		if err := s.look(ctx, nil); err != nil {
			return nil, err
		}
	}
	begin, err := s.beginnings(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if err := s.newAndCut(begin); err != nil {
		return nil, err
	}
	at := offsets{}
	for p, stop := range to {
		if first := startOf(p, from, begin); first < stop {
			at[p] = first
		}
	}
	r := &reader{source: s, obs: obs, schema: s.schema, at: at, end: to, progress: time.Now(), rounds: make(chan round)}
	r.start(ctx)
	return r, nil
}

// newAndCut tells of partitions that no range has had, and whose first records are gone: where this range is read again, it had them perhaps. It is what
// Spark does.
func (s *Source) newAndCut(begin offsets) error {
	for _, p := range begin.partitions() {
		if first := begin[p]; first > 0 {
			if err := s.lost(p, 0, "partition %s is new to the stream, and begins at offset %d: its records before that are gone, and no batch has read them", p, first); err != nil {
				return err
			}
		}
	}
	return nil
}

// round is what one question to each broker gave.
type round struct {
	records []*kgo.Record
	losses  []source.RowError // borne ones
	err     error
}

// reader is the records of a range. A goroutine asks the brokers, one round ahead of who reads.
type reader struct {
	source *Source
	obs    source.Observer
	schema *batch.Schema

	rounds chan round
	cancel context.CancelFunc
	done   chan struct{} // the goroutine has ended

	records []*kgo.Record // of the round, not decoded yet
	err     error

	// What follows is the goroutine's.
	at       offsets   // where each partition goes on that is not done
	end      offsets   // of the range
	progress time.Time // when records came last
	stale    bool      // the topology is out of date
	losses   []source.RowError
}

func (r *reader) start(ctx context.Context) {
	ctx, r.cancel = context.WithCancel(ctx)
	r.done = make(chan struct{})
	topology := r.source.topology
	go func() {
		defer close(r.done)
		r.run(ctx, topology)
	}()
}

// run asks round after round, until all partitions are done or one is at fault.
func (r *reader) run(ctx context.Context, t topology) {
	defer close(r.rounds)
	for len(r.at) > 0 {
		records, err := r.round(ctx, &t)
		if err == nil && len(records) == 0 && len(r.losses) == 0 {
			continue
		}
		select {
		case r.rounds <- round{records, r.losses, err}:
			r.losses = nil
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// round asks each broker once for its partitions.
func (r *reader) round(ctx context.Context, t *topology) (records []*kgo.Record, err error) {
	defer asError(&err)
	c := r.source.cluster
	if r.stale {
		if err := sleep(ctx, retryAfter); err != nil {
			return nil, err
		}
		now, err := c.look(ctx)
		if err != nil {
			return nil, err
		}
		*t, r.stale = now, false
		if err := r.missing(now); err != nil {
			return nil, err
		}
	}
	type answer struct {
		list []fetched
		err  error
	}
	groups := byLeader(*t, r.at)
	answers := make(chan answer, len(groups))
	for leader, at := range groups {
		go func() {
			if leader < 0 {
				answers <- answer{err: kerr.LeaderNotAvailable}
				return
			}
			list, err := c.fetch(ctx, leader, at, fetchWait, c.fetchBytes, c.partitionBytes)
			answers <- answer{list, err}
		}()
	}
	var list []fetched
	var fault error
	for range groups { // all of them, so that none outlives the round
		a := <-answers
		if a.err != nil {
			fault = a.err
		}
		list = append(list, a.list...)
	}
	for _, f := range list {
		got, err := r.take(ctx, f)
		if err != nil {
			return nil, err
		}
		records = append(records, got...)
	}
	return records, r.settle(ctx, len(records) > 0, fault)
}

// settle decides about a broker that did not answer, and partitions that gave nothing, whose leader may be another one now.
func (r *reader) settle(ctx context.Context, some bool, fault error) error {
	if some {
		r.progress = time.Now()
		r.stale = r.stale || fault != nil
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fault != nil {
		r.stale = true
	}
	if len(r.at) > 0 && time.Since(r.progress) > patience {
		p := r.at.partitions()[0]
		if fault == nil {
			fault = fmt.Errorf("the broker gives nothing from offset %d on, and the range ends at %d", r.at[p], r.end[p])
		}
		return unreachable(r.source.opts.client, "read partition "+p.String(), fault)
	}
	return nil
}

// take keeps what of an answer is in the range.
func (r *reader) take(ctx context.Context, f fetched) ([]*kgo.Record, error) {
	switch {
	case errors.Is(f.err, kerr.OffsetOutOfRange):
		return nil, r.outOfRange(ctx, f.partition)
	case f.err != nil && kerr.IsRetriable(f.err):
		r.stale = true
		return nil, nil
	case f.err != nil:
		return nil, unreachable(r.source.opts.client, fmt.Sprintf("read partition %s from offset %d on", f.partition, r.at[f.partition]), f.err)
	}
	end := r.end[f.partition]
	records := f.records
	if n := len(records); n > 0 && records[n-1].Offset >= end {
		at, _ := slices.BinarySearchFunc(records, end, func(rec *kgo.Record, end int64) int {
			return int(min(1, max(-1, rec.Offset-end)))
		})
		records = records[:at]
	}
	r.advance(f.partition, f.next)
	return records, nil
}

// missing tells of partitions that are not there any more. A broker that has just started may not know all at first.
func (r *reader) missing(t topology) error {
	if time.Since(r.progress) < goneLooks*gonePause {
		return nil
	}
	for _, p := range r.at.partitions() {
		if _, ok := t[p]; ok {
			continue
		}
		if err := r.lose(p, r.end[p], "partition %s is gone, with its records from offset %d up to %d that no batch has read: its topic was deleted",
			p, r.at[p], r.end[p]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) advance(p partition, next int64) {
	if next > r.at[p] {
		r.at[p], r.progress = next, time.Now()
	}
	if r.at[p] >= r.end[p] {
		delete(r.at, p)
	}
}

// outOfRange finds out what is gone of a partition: its first records, by retention, or all behind a new end.
func (r *reader) outOfRange(ctx context.Context, p partition) error {
	only := topology{p: 0}
	begins, err := r.source.cluster.begins(ctx, only)
	if err != nil {
		return err
	}
	ends, err := r.source.cluster.ends(ctx, only)
	if err != nil {
		return err
	}
	at, end := r.at[p], r.end[p]
	first, last := begins[p], ends[p]
	switch {
	case at < first:
		return r.lose(p, min(first, end), "partition %s has no records before offset %d any more, and those from %d up to %d have not been read: retention deleted them",
			p, first, at, min(first, end))
	case at > last:
		return r.lose(p, end, "partition %s ends at offset %d, and the records from %d up to %d have not been read: its topic was made anew, or its end was cut off",
			p, last, at, end)
	}
	r.stale = true // the broker that said so lags behind
	return nil
}

// lose passes over the records up to next, where that may be.
func (r *reader) lose(p partition, next int64, format string, args ...any) error {
	if r.source.fail {
		return &source.LossError{Err: fmt.Errorf(format, args...)}
	}
	r.losses = append(r.losses, source.RowError{File: fileOf(p), Line: r.at[p], Message: fmt.Sprintf(format, args...)})
	r.advance(p, next)
	return nil
}

// Schema is the source's.
func (r *reader) Schema() *batch.Schema { return r.schema }

// Next decodes the next records.
func (r *reader) Next(ctx context.Context) (*batch.Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	for len(r.records) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case next, ok := <-r.rounds:
			if !ok {
				r.err = io.EOF
				return nil, r.err
			}
			if r.err = next.err; r.err != nil {
				return nil, r.err
			}
			r.source.notices = append(r.source.notices, next.losses...)
			r.records = next.records
		}
	}
	n := chunkOf(r.records)
	b, err := r.source.decode(ctx, r.records[:n], r.obs)
	clear(r.records[:n]) // their memory is not needed any more
	r.records = r.records[n:]
	if err != nil {
		r.err = err
	}
	return b, err
}

// chunkOf is how many of the records are decoded at once.
func chunkOf(records []*kgo.Record) int {
	size := 0
	for n, rec := range records {
		size += len(rec.Key) + len(rec.Value)
		if n == chunkRows || size > chunkBytes && n > 0 {
			return n
		}
	}
	return len(records)
}

// Close stops the goroutine and waits for it.
func (r *reader) Close() error {
	r.cancel()
	<-r.done
	if r.err == nil {
		r.err = errors.New("the reader is closed")
	}
	return nil
}
