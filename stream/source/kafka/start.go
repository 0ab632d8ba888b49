package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"

	"lakesql/stream/source"
)

// start finds out where the source begins, and makes that durable.
func (s *Source) start(ctx context.Context) error {
	if err := s.look(ctx, nil); err != nil {
		return err
	}
	begin, err := s.cluster.starting(ctx, s.topology)
	if err != nil {
		return err
	}
	if cp := s.env.Checkpoint; cp != nil {
		if err := cp.SaveInitial(ctx, s.env.Index, string(begin.format()), true); err != nil {
			return err
		}
	}
	s.begin = begin
	return nil
}

// starting are the offsets that the options mean now.
func (c *cluster) starting(ctx context.Context, t topology) (offsets, error) {
	from := c.opts.starting
	switch {
	case from.time > 0:
		return c.atTime(ctx, t, from.time)
	case from.times != nil:
		return c.atTimes(ctx, t)
	case from.offsets != nil:
		return c.atOffsets(ctx, t)
	case from.at == earliest:
		return c.begins(ctx, t)
	}
	return c.ends(ctx, t)
}

// atOffsets are those of startingOffsets, which has to name each partition.
func (c *cluster) atOffsets(ctx context.Context, t topology) (offsets, error) {
	given := c.opts.starting.offsets
	if err := c.eachNamed("startingOffsets", given, t, "-1 means its end, -2 its first record"); err != nil {
		return nil, err
	}
	begins, err := c.begins(ctx, t)
	if err != nil {
		return nil, err
	}
	ends, err := c.ends(ctx, t)
	if err != nil {
		return nil, err
	}
	out := offsets{}
	for p, at := range given {
		switch {
		case at == earliest:
			at = begins[p]
		case at == latest:
			at = ends[p]
		case at < begins[p] || at > ends[p]:
			return nil, fmt.Errorf("option startingOffsets: partition %s has offset %d, and the brokers have its records from %d to %d: %w", p, at, begins[p], ends[p], source.ErrData)
		}
		out[p] = at
	}
	return out, nil
}

func (c *cluster) atTimes(ctx context.Context, t topology) (offsets, error) {
	times := c.opts.starting.times
	if err := c.eachNamed("startingOffsetsByTimestamp", times, t, "each needs its time"); err != nil {
		return nil, err
	}
	out := offsets{}
	byTime := map[int64]topology{}
	for p, at := range times {
		if byTime[at] == nil {
			byTime[at] = topology{}
		}
		byTime[at][p] = t[p]
	}
	for at, some := range byTime {
		found, err := c.atTime(ctx, some, at)
		if err != nil {
			return nil, err
		}
		for p, offset := range found {
			out[p] = offset
		}
	}
	return out, nil
}

// atTime are the first records at or behind a time, in epoch ms. Where there is none, that is an error, or the end, as
// startingOffsetsByTimestampStrategy says.
func (c *cluster) atTime(ctx context.Context, t topology, ms int64) (offsets, error) {
	var none *partition
	out, err := c.list(ctx, t, func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
		listed, err := c.adm.ListOffsetsAfterMilli(ctx, ms, topics...)
		for p := range t {
			if at, ok := listed.Lookup(p.topic, p.number); ok && at.Err == nil && at.Timestamp < 0 {
				none = &p
			}
		}
		return listed, err
	})
	if err != nil {
		return nil, err
	}
	if none != nil && !c.opts.starting.orLatest {
		return nil, fmt.Errorf("partition %s has no record at or behind timestamp %d (ms); startingOffsetsByTimestampStrategy => 'latest' begins at its end: %w", none, ms, source.ErrData)
	}
	return out, nil
}

// eachNamed refuses a list of partitions that is not the one there is.
func (c *cluster) eachNamed(option string, given offsets, t topology, hint string) error {
	for _, p := range given.partitions() {
		if _, ok := t[p]; !ok {
			return fmt.Errorf("option %s names partition %s, which is not among what is read: %w", option, p, source.ErrData)
		}
	}
	for p := range t {
		if _, ok := given[p]; !ok {
			return fmt.Errorf("option %s does not name partition %s; %s: %w", option, p, hint, source.ErrData)
		}
	}
	return nil
}
