package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"lakesql/batch"
	"lakesql/files"
	"lakesql/stream/source"
)

// recheckAfter is how often new partitions and topics are looked for; of new records the watch tells.
const recheckAfter = time.Second

// A partition that is missing, or whose end has gone back, is looked for again so often before it counts as gone: brokers that have just
// started, and leaders that have just changed, do not know better at first.
const (
	goneLooks = 6
	gonePause = 500 * time.Millisecond
)

// Source reads the partitions of topics. See the package's comment for what is durable when.
//
// Invariants:
//   - begin is what the checkpoint has as the beginning, nil until it is known.
//   - last are the ends as of the last look, and given is the end of the last range.
type Source struct {
	env     source.Env
	opts    *options
	cluster *cluster
	watch   *watch // nil without a checkpoint

	fail   bool // failOnDataLoss, of the stream or of the source
	schema *batch.Schema
	value  *batch.Schema // the columns of values, where a format is given and they are known

	begin     offsets
	last      offsets
	given     offsets
	topology  topology
	frozen    offsets   // nil: not frozen
	lastRange time.Time // when the last range was given

	notices []source.RowError // not given out yet
}

var (
	_ source.Source   = (*Source)(nil)
	_ source.Noticer  = (*Source)(nil)
	_ source.Rescuer  = (*Source)(nil)
	_ source.OpenFunc = Open
)

// Open opens a Kafka source. It asks no broker: that its brokers are away is an error of Latest, which passes.
func Open(ctx context.Context, spec source.Spec, env source.Env) (source.Source, error) {
	opts, err := parseOptions(spec.Options)
	if err != nil {
		return nil, err
	}
	opts.value.applyMode(env.Malformed)
	if env.NewColumns == source.RescueColumns && opts.value.text != nil {
		if err := errors.Join(opts.value.text.Rescue(), opts.value.bare.Rescue()); err != nil {
			return nil, asArgument(err)
		}
	}
	conn, err := connect(opts.client, env.Secret)
	if err != nil {
		return nil, err
	}
	c, err := newCluster(opts, conn)
	if err != nil {
		return nil, err
	}
	s := &Source{env: env, opts: opts, cluster: c, fail: opts.failOnDataLoss, lastRange: env.Now()}
	if env.FailOnDataLoss != nil {
		s.fail = *env.FailOnDataLoss
	}
	if err := s.open(ctx); err != nil {
		c.close()
		return nil, err
	}
	return s, nil
}

func (s *Source) open(ctx context.Context) error {
	if err := s.fixedSchema(); err != nil {
		return err
	}
	if s.env.Checkpoint == nil {
		return nil
	}
	text, ok, err := s.env.Checkpoint.Initial(ctx, s.env.Index)
	if err != nil {
		return err
	}
	if ok {
		if s.begin, err = parseOffset(source.Offset(text)); err != nil {
			return s.env.Checkpoint.DamagedInitial(s.env.Index, err.Error())
		}
	}
	if err := s.loadSchema(ctx); err != nil {
		return err
	}
	s.watch = newWatch(s.cluster)
	return nil
}

// Latest looks at the ends of the partitions, and gives the range up to them or to the limit.
func (s *Source) Latest(ctx context.Context, start source.Offset, limit source.Limit) (source.Offset, bool, error) {
	from, err := s.position(ctx, start)
	if err != nil {
		return "", false, err
	}
	if err := s.look(ctx, from); err != nil {
		return "", false, err
	}
	ends := s.allowed(from)
	begin, err := s.beginnings(ctx, from, ends)
	if err != nil {
		return "", false, err
	}
	s.given = from
	there := count(from, ends, begin)
	if moved, err := s.losses(from, ends); err != nil {
		return "", false, err
	} else if there == 0 && !moved || s.tooFew(there) {
		s.watch.from(s.topology, s.last)
		return start, false, nil
	}
	end := ends
	if most := s.limit(limit); most > 0 {
		end = limited(from, ends, begin, most)
	}
	s.given, s.lastRange = end, s.env.Now()
	return end.format(), count(end, ends, begin) > 0, nil
}

// position is where a range begins: at the beginning, which is made durable here, where nothing has been read.
func (s *Source) position(ctx context.Context, start source.Offset) (offsets, error) {
	if start != source.None {
		return parseOffset(start)
	}
	if s.begin == nil {
		if err := s.start(ctx); err != nil {
			return nil, err
		}
	}
	return s.begin, nil
}

// look asks for the partitions and their ends. What of from is missing, or has gone back, is looked for several times.
func (s *Source) look(ctx context.Context, from offsets) error {
	for n := 1; ; n++ {
		t, err := s.cluster.look(ctx)
		if err != nil {
			return err
		}
		if err := s.present(t); err != nil {
			return err
		}
		s.topology = t
		if s.last, err = s.cluster.ends(ctx, t); err != nil {
			return err
		}
		if n == goneLooks || !s.anyGone(from) {
			return nil
		}
		if err := sleep(ctx, gonePause); err != nil {
			return err
		}
	}
}

// present refuses to begin without a topic that is named.
func (s *Source) present(t topology) error {
	if s.begin != nil {
		return nil // then it was deleted, which losses tells
	}
	for _, name := range s.opts.names() {
		found := false
		for p := range t {
			found = found || p.topic == name
		}
		if !found {
			return fmt.Errorf("topic %s is not there on the Kafka brokers %s; the stream begins when it is", name, s.opts.client["bootstrap.servers"])
		}
	}
	return nil
}

func (s *Source) anyGone(from offsets) bool {
	for p, at := range from {
		if end, ok := s.last[p]; !ok || end < at {
			return true
		}
	}
	return false
}

// allowed are the ends that a range behind from may have: of a frozen source those of that moment. What the brokers did not know then, and has
// been read, stays where it is: left out of an offset, it would be read from its first record again.
func (s *Source) allowed(from offsets) offsets {
	if s.frozen == nil {
		return s.last
	}
	out := offsets{}
	for p, now := range s.last {
		end, there := s.frozen[p]
		at, read := from[p]
		if there || read {
			out[p] = min(now, max(at, end))
		}
	}
	return out
}

// beginnings are the first records of partitions that are not in from: those are new.
func (s *Source) beginnings(ctx context.Context, from, ends offsets) (offsets, error) {
	fresh := topology{}
	for p := range ends {
		if _, ok := from[p]; !ok {
			fresh[p] = s.topology[p]
		}
	}
	return s.cluster.begins(ctx, fresh)
}

// losses tells of partitions that are gone, or that have fewer records than have been read. moved says that the next range leaves them
// out, or begins again there.
func (s *Source) losses(from, ends offsets) (moved bool, err error) {
	for _, p := range from.partitions() {
		end, ok := ends[p]
		switch {
		case !ok:
			err = s.lost(p, from[p], "partition %s is gone, of which the records before offset %d have been read: its topic was deleted", p, from[p])
		case end < from[p]:
			err = s.lost(p, from[p], "the end of partition %s was offset %d and is %d now: its topic was made anew, or its end was cut off. "+
				"Records before %d will not be read", p, from[p], end, end)
		default:
			continue
		}
		if err != nil {
			return false, err
		}
		moved = true
	}
	return moved, nil
}

// lost is an error, or a notice where the loss is borne.
func (s *Source) lost(p partition, at int64, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if s.fail {
		return &source.LossError{Err: err}
	}
	s.notices = append(s.notices, source.RowError{File: fileOf(p), Line: at, Message: err.Error()})
	return nil
}

// tooFew says whether the range has to wait for more records.
func (s *Source) tooFew(there int64) bool {
	return there < s.opts.minOffsets && s.frozen == nil && s.env.Now().Sub(s.lastRange) < s.opts.maxDelay
}

func (s *Source) limit(l source.Limit) int64 {
	switch {
	case l.All:
		return 0
	case l.Rows > 0:
		return l.Rows
	}
	return s.opts.maxOffsets
}

// Committed has nothing to record.
func (s *Source) Committed(context.Context, int64, source.Offset, source.Offset) error { return nil }

// Backlog counts offsets, which are records, but for those that compaction took and the marks of transactions.
func (s *Source) Backlog() source.Backlog {
	return source.Backlog{Rows: count(s.given, s.last, s.begin)}
}

// mark is the ends of a moment, and where the source begins that has read nothing.
type mark struct{ begin, ends offsets }

// Mark is the ends of now.
func (s *Source) Mark(ctx context.Context) (source.Mark, error) {
	if _, err := s.position(ctx, source.None); err != nil {
		return nil, err
	}
	if err := s.look(ctx, nil); err != nil {
		return nil, err
	}
	if s.given == nil {
		s.given = s.begin
	}
	begin, err := s.beginnings(ctx, s.begin, s.last)
	if err != nil {
		return nil, err
	}
	maps.Copy(begin, s.begin)
	return mark{begin: begin, ends: s.last}, nil
}

// Reached compares each partition that is still there.
func (s *Source) Reached(_ context.Context, m source.Mark, committed source.Offset) (bool, error) {
	want, ok := m.(mark)
	if !ok {
		return false, fmt.Errorf("a mark of another source: %T", m)
	}
	at := want.begin
	if committed != source.None {
		var err error
		if at, err = parseOffset(committed); err != nil {
			return false, err
		}
	}
	for p, end := range want.ends {
		have, read := at[p]
		if !read {
			have = want.begin[p]
		}
		now, there := s.last[p]
		if have < end && (s.last == nil || there && have < now) {
			return false, nil
		}
	}
	return true, nil
}

// Freeze lets the source end with what is there now.
func (s *Source) Freeze(ctx context.Context) error {
	if err := s.look(ctx, s.begin); err != nil {
		return err
	}
	s.frozen = s.last
	return nil
}

// Wake hints when a broker has new records.
func (s *Source) Wake() <-chan struct{} {
	if s.watch == nil {
		return nil
	}
	return s.watch.hints
}

// RecheckAfter is how often new partitions are looked for.
func (s *Source) RecheckAfter() time.Duration { return recheckAfter }

// Description names the topics as Spark does.
func (s *Source) Description() string { return s.opts.description() }

// Notices are the losses that failOnDataLoss => false bore.
func (s *Source) Notices() []source.RowError {
	out := s.notices
	s.notices = nil
	return out
}

// Close stops the watch and closes the connections.
func (s *Source) Close() error {
	s.watch.stop()
	s.cluster.close()
	return nil
}

// fileOf is what a partition is in lists of errors.
func fileOf(p partition) string { return "kafka:" + p.String() }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// asArgument makes an error of the value's options one of kafka().
func asArgument(err error) error {
	if err == nil {
		return nil
	}
	later, _ := err.(*files.ArgumentError)
	return &files.ArgumentError{Err: fmt.Errorf("kafka(): %w", err), Later: later != nil && later.Later}
}
