package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/stream/source"
	"lakesql/stream/source/kafka"
)

// topicFake is SELECT * over a topic of brokers in this process (kfake), two records a batch.
type topicFake struct {
	compilerFake
	servers string
}

func (f topicFake) Sources(context.Context, Definition) ([]source.Spec, error) {
	return []source.Spec{{Kind: "kafka", Options: map[string]string{
		kafka.Brokers: f.servers, "topic": "orders", "startingOffsets": "earliest", "format": "text", "maxOffsetsPerTrigger": "2",
	}}}, nil
}

// newTopic makes brokers with records in two partitions of a topic, and returns the values.
func newTopic(t *testing.T, records int) (brokers *kfake.Cluster, f topicFake, want []string) {
	brokers, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"))
	require.NoError(t, err)
	t.Cleanup(brokers.Close)
	f.servers = strings.Join(brokers.ListenAddrs(), ",")
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	defer cl.Close()
	for i := range records {
		value := fmt.Sprintf("v%02d", i)
		require.NoError(t, cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Partition: int32(i % 2), Value: []byte(value)}).FirstErr())
		want = append(want, value)
	}
	return brokers, f, want
}

func (f topicFake) of(c *Config) {
	c.Compiler = f
	c.Sources = map[string]source.OpenFunc{"kafka": kafka.Open}
}

// texts are the values in the table, sorted.
func (l *lake) texts() (out []string) {
	for _, row := range l.rows("sales") {
		value, _, _ := strings.Cut(row, "|")
		out = append(out, value)
	}
	slices.Sort(out)
	return out
}

// TestBrokersGoAndCome takes the brokers away from a running stream, which says so and goes on when they are back.
func TestBrokersGoAndCome(t *testing.T) {
	dir := t.TempDir()
	open := func(port int) *kfake.Cluster {
		brokers, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.SeedTopics(2, "orders"), kfake.DataDir(dir))
		require.NoError(t, err)
		return brokers
	}
	brokers := open(0)
	f := topicFake{servers: brokers.ListenAddrs()[0]}
	var port int
	_, err := fmt.Sscanf(f.servers[strings.LastIndexByte(f.servers, ':')+1:], "%d", &port)
	require.NoError(t, err)
	put := func(value string) {
		cl, err := kgo.NewClient(kgo.SeedBrokers(f.servers), kgo.DefaultProduceTopic("orders"))
		require.NoError(t, err)
		defer cl.Close()
		require.NoError(t, cl.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr())
	}
	put("a")
	l := newLake(t)
	s := l.serve(f.of)
	s.create(sales())
	s.caughtUp()
	brokers.Close()
	require.Eventually(t, func() bool { return s.state().State == Retrying }, patience, 10e6)
	require.Contains(t, s.state().Reason, "Kafka brokers "+f.servers)
	brokers = open(port)
	defer brokers.Close()
	put("b")
	s.caughtUp()
	require.Equal(t, []string{"a", "b"}, l.texts())
	require.Equal(t, Idle, s.state().State)
	require.NoError(t, s.Close())
}

// TestLossIsBorneByAnOption has a source whose rows are gone: the stream fails, says what to type, and goes on after that.
func TestLossIsBorneByAnOption(t *testing.T) {
	l := newLake(t)
	src := newNumbers(3)
	s := l.serve(func(c *Config) {
		c.Compiler = tableCompiler{}
		c.Sources = map[string]source.OpenFunc{"delta": func(_ context.Context, _ source.Spec, env source.Env) (source.Source, error) {
			src.set(func() {
				if src.fail = nil; env.FailOnDataLoss == nil || *env.FailOnDataLoss {
					src.fail = &source.LossError{Err: errors.New("partition orders/0 is gone")}
				}
			})
			return src, nil
		}}
	})
	s.create(sales(availableNow, ofTable))
	reason := s.failed()
	require.Contains(t, reason, "partition orders/0 is gone. Type ALTER STREAM lake.sales_in SET OPTIONS (failOnDataLoss = false)")
	require.NoError(t, s.SetOptions(t.Context(), "lake", "sales_in", map[string]string{"failOnDataLoss": "false"}))
	s.restart()
	s.caughtUp()
	require.Equal(t, []string{"0", "1", "2"}, l.rows("sales"))
	require.NoError(t, s.Close())
}
