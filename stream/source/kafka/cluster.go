package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// cluster asks the brokers.
type cluster struct {
	*connection
	opts   *options
	cl     *kgo.Client
	adm    *kadm.Client
	unpack kgo.Decompressor
}

func newCluster(opts *options, conn *connection) (*cluster, error) {
	cl, err := kgo.NewClient(conn.client...)
	if err != nil {
		return nil, argumentError("%w", err)
	}
	return &cluster{connection: conn, opts: opts, cl: cl, adm: kadm.NewClient(cl), unpack: kgo.DefaultDecompressor()}, nil
}

// topology is which partitions there are, and which broker has each; -1 where none has it now.
type topology map[partition]int32

// ask bounds one question, so that a broker that does not answer becomes an error.
func (c *cluster) ask(ctx context.Context, what string, question func(context.Context) error) error {
	asked, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	err := question(asked)
	if err != nil && ctx.Err() == nil {
		return unreachable(c.opts.client, what, err)
	}
	return err
}

// look asks which partitions there are of what is read. A topic that is named and not there is left out.
func (c *cluster) look(ctx context.Context) (out topology, err error) {
	err = c.ask(ctx, "list the topics", func(ctx context.Context) error {
		out, err = c.lookOnce(ctx)
		return err
	})
	return out, err
}

func (c *cluster) lookOnce(ctx context.Context) (topology, error) {
	meta, err := c.adm.Metadata(ctx, c.opts.names()...)
	if err != nil {
		return nil, err
	}
	out := topology{}
	for _, topic := range meta.Topics {
		if c.opts.pattern != nil && (topic.IsInternal || !c.opts.pattern.MatchString(topic.Topic)) {
			continue
		}
		if errors.Is(topic.Err, kerr.UnknownTopicOrPartition) {
			continue
		}
		if topic.Err != nil {
			return nil, fmt.Errorf("topic %s: %w", topic.Topic, topic.Err)
		}
		for _, p := range topic.Partitions {
			if at := (partition{topic.Topic, p.Partition}); c.opts.has(at) {
				out[at] = p.Leader
			}
		}
	}
	return out, nil
}

// topics are those of a topology.
func (t topology) topics() []string {
	names := map[string]bool{}
	for p := range t {
		names[p.topic] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// lister is one of kadm's questions for offsets.
type lister func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)

// ends are the ends of the partitions: with read_committed behind the last record that no open transaction has.
func (c *cluster) ends(ctx context.Context, t topology) (offsets, error) {
	list := c.adm.ListEndOffsets
	if c.committed {
		list = c.adm.ListCommittedOffsets
	}
	return c.list(ctx, t, list)
}

// begins are the first records that the brokers still have.
func (c *cluster) begins(ctx context.Context, t topology) (offsets, error) {
	return c.list(ctx, t, c.adm.ListStartOffsets)
}

// list asks for an offset of each partition; one that there is none for is left out.
func (c *cluster) list(ctx context.Context, t topology, list lister) (offsets, error) {
	out := make(offsets, len(t))
	if len(t) == 0 {
		return out, nil
	}
	err := c.ask(ctx, "list the offsets", func(ctx context.Context) error {
		listed, err := list(ctx, t.topics()...)
		if err != nil {
			return err
		}
		for p := range t {
			at, ok := listed.Lookup(p.topic, p.number)
			switch {
			case !ok:
				return fmt.Errorf("partition %s: no answer", p)
			case errors.Is(at.Err, kerr.UnknownTopicOrPartition): // deleted since
			case at.Err != nil:
				return fmt.Errorf("partition %s: %w", p, at.Err)
			case at.Offset >= 0:
				out[p] = at.Offset
			}
		}
		return nil
	})
	return out, err
}

// fetched is what a broker has of one partition.
type fetched struct {
	partition
	records []*kgo.Record
	next    int64 // behind what the broker gave, also of records that are not for readers
	hwm     int64 // the partition's end
	err     error
}

// fetch asks one broker for what lies at these offsets, in one question. wait is how long the broker may wait for the first byte.
func (c *cluster) fetch(ctx context.Context, broker int32, at offsets, wait time.Duration, bytes, partitionBytes int32) (out []fetched, err error) {
	defer asError(&err)
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.Rack = int32(wait.Milliseconds()), 1, bytes, c.rack
	req.SessionEpoch = -1 // no session
	if c.committed {
		req.IsolationLevel = 1
	}
	for _, p := range at.partitions() {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != p.topic {
			topic := kmsg.NewFetchRequestTopic()
			topic.Topic = p.topic
			req.Topics = append(req.Topics, topic)
		}
		part := kmsg.NewFetchRequestTopicPartition()
		part.Partition, part.FetchOffset, part.PartitionMaxBytes = p.number, at[p], partitionBytes
		part.CurrentLeaderEpoch, part.LogStartOffset = -1, -1
		topic := &req.Topics[len(req.Topics)-1]
		topic.Partitions = append(topic.Partitions, part)
	}
	var resp *kmsg.FetchResponse
	err = c.ask(ctx, "read records", func(ctx context.Context) error {
		answer, err := c.cl.Broker(int(broker)).RetriableRequest(ctx, req)
		if err != nil {
			return err
		}
		resp = answer.(*kmsg.FetchResponse)
		return kerr.ErrorForCode(resp.ErrorCode)
	})
	if err != nil {
		return nil, err
	}
	for _, topic := range resp.Topics {
		for i := range topic.Partitions {
			p := partition{strings.Clone(topic.Topic), topic.Partitions[i].Partition}
			if start, asked := at[p]; asked {
				out = append(out, c.take(p, start, &topic.Partitions[i]))
			}
		}
	}
	return out, nil
}

// take decodes the records of a partition, from start on.
func (c *cluster) take(p partition, start int64, answer *kmsg.FetchResponseTopicPartition) fetched {
	opts := kgo.ProcessFetchPartitionOpts{Offset: start, Topic: p.topic, Partition: p.number, DisableCRCValidation: c.skipCRC}
	if c.committed {
		opts.IsolationLevel = kgo.ReadCommitted()
	}
	f := fetched{partition: p, next: start, hwm: answer.HighWatermark}
	if f.err = kerr.ErrorForCode(answer.ErrorCode); f.err != nil {
		return f
	}
	part, next := kgo.ProcessFetchPartition(opts, answer, c.unpack, nil)
	f.records, f.next, f.err = part.Records, next, part.Err
	return f
}

// asError is deferred where a goroutine has nobody above it: a panic, such as one about an answer that is none, becomes the stream's error.
func asError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic while records are read: %v", p)
	}
}

func (c *cluster) close() { c.cl.Close() }
