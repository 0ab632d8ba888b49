package kafka

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"lakesql/stream/source"
)

// partition is a partition of a topic.
type partition struct {
	topic  string
	number int32
}

func (p partition) String() string { return fmt.Sprintf("%s/%d", p.topic, p.number) }

func (p partition) compare(o partition) int {
	if c := strings.Compare(p.topic, o.topic); c != 0 {
		return c
	}
	return int(p.number) - int(o.number)
}

// offsets are the next record of each partition.
type offsets map[partition]int64

// partitions are in order: by topic, then by number.
func (o offsets) partitions() []partition {
	return slices.SortedFunc(maps.Keys(o), partition.compare)
}

// format is Spark's JsonUtils.partitionOffsets: topics in order, and numbers in order.
func (o offsets) format() source.Offset {
	var b strings.Builder
	b.WriteByte('{')
	topic, first := "", true
	for _, p := range o.partitions() {
		switch {
		case first || p.topic != topic:
			if !first {
				b.WriteString("},")
			}
			b.Write(quoted(p.topic))
			b.WriteString(":{")
		default:
			b.WriteByte(',')
		}
		topic, first = p.topic, false
		fmt.Fprintf(&b, `"%d":%d`, p.number, o[p])
	}
	if !first {
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return source.Offset(b.String())
}

// quoted is a topic's name as JSON. Names are letters, digits, dots, underscores and hyphens.
func quoted(name string) []byte {
	text, err := json.Marshal(name)
	if err != nil {
		panic(fmt.Sprintf("encode a string: %v", err)) // it always can be
	}
	return text
}

// parseOffset reads an offset of the checkpoint.
func parseOffset(o source.Offset) (offsets, error) {
	out, err := parsePartitions(string(o), 0)
	if err != nil {
		return nil, fmt.Errorf(`offset %s in the checkpoint is not one of a Kafka source, such as {"topic":{"0":123}}: %w`, o, errors.Join(source.ErrChanged, err))
	}
	return out, nil
}

// parsePartitions reads {"topic":{"0":123}} whose numbers are at least least.
func parsePartitions(text string, least int64) (offsets, error) {
	var topics map[string]map[string]int64
	if err := json.Unmarshal([]byte(text), &topics); err != nil {
		return nil, err
	}
	out := offsets{}
	for topic, partitions := range topics {
		for name, at := range partitions {
			n, err := strconv.ParseInt(name, 10, 32)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("%q is no number of a partition", name)
			}
			if at < least {
				return nil, fmt.Errorf("partition %s/%s has %d, and %d is the least", topic, name, at, least)
			}
			out[partition{topic, int32(n)}] = at
		}
	}
	return out, nil
}

// parseAssignment reads {"topic":[0,1]}.
func parseAssignment(text string) ([]partition, error) {
	var topics map[string][]int32
	if err := json.Unmarshal([]byte(text), &topics); err != nil {
		return nil, err
	}
	var out []partition
	for topic, numbers := range topics {
		for _, n := range numbers {
			out = append(out, partition{topic, n})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it names no partition")
	}
	slices.SortFunc(out, partition.compare)
	return slices.Compact(out), nil
}

// count is how many records lie between from and to at the most. A partition that from has not begins at begin's.
func count(from, to, begin offsets) (n int64) {
	for p, end := range to {
		if size := end - startOf(p, from, begin); size > 0 {
			n += size
		}
	}
	return n
}

func startOf(p partition, from, begin offsets) int64 {
	if at, ok := from[p]; ok {
		return at
	}
	return begin[p]
}

// limited is to, cut so that about limit records lie behind from: each partition has the share of what it has, one record at the
// least. Source: KafkaMicroBatchStream.rateLimit of Apache Spark 3.5.
func limited(from, to, begin offsets, limit int64) offsets {
	total := count(from, to, begin)
	if total <= limit {
		return to
	}
	out := make(offsets, len(to))
	for p, end := range to {
		start := startOf(p, from, begin)
		size := end - start
		if size <= 0 {
			out[p] = end
			continue
		}
		share := float64(limit) * (float64(size) / float64(total))
		if share < 1 {
			share = math.Ceil(share)
		}
		out[p] = min(end, start+int64(share))
	}
	return out
}
