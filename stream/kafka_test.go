package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	options map[string]string // beside those that are needed
}

func (f topicFake) Sources(context.Context, Definition) ([]source.Spec, error) {
	options := map[string]string{
		kafka.Brokers: f.servers, "topic": "orders", "startingOffsets": "earliest", "format": "text", "maxOffsetsPerTrigger": "2",
	}
	maps.Copy(options, f.options)
	return []source.Spec{{Kind: "kafka", Options: options}}, nil
}

// newTopic makes brokers with records in two partitions of a topic, and returns the values.
func newTopic(t *testing.T, records int, opts ...kfake.Opt) (brokers *kfake.Cluster, f topicFake, want []string) {
	brokers, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(2, "orders")}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(brokers.Close)
	f.servers = strings.Join(brokers.ListenAddrs(), ",")
	for i := range records {
		want = append(want, fmt.Sprintf("v%02d", i))
	}
	f.put(t, time.Time{}, want...)
	return brokers, f, want
}

// put writes records of a time, or of now, by turns into both partitions.
func (f topicFake) put(t *testing.T, at time.Time, values ...string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(f.servers, ",")...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	defer cl.Close()
	for i, value := range values {
		require.NoError(t, cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Partition: int32(i % 2), Value: []byte(value), Timestamp: at}).FirstErr())
	}
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

// TestBrokersGoAndCome cuts a running stream off from its brokers: it is RETRYING with the reason at the next trigger, STALLED where it knows of records that wait and has
// committed nothing for long enough, and goes on by itself when the brokers are back.
func TestBrokersGoAndCome(t *testing.T) {
	for name, cut := range map[string]func(*switchboard){"gone": (*switchboard).hangUp, "silent": (*switchboard).mute} {
		t.Run(name, func(t *testing.T) {
			var lines switchboard
			_, f, want := newTopic(t, 2, kfake.ListenFn(lines.listen))
			f.options = map[string]string{"kafka.request.timeout.ms": "500"}
			var later atomic.Int64 // by how much the clock is ahead
			var states chan StateChanged
			l := newLake(t)
			s := l.serve(f.of, func(c *Config) {
				c.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
				c.Events.StateChanged = func(e StateChanged) {
					if states != nil {
						states <- e
					}
				}
				done := c.Events.BatchDone
				c.Events.BatchDone = func(e BatchDone) {
					if e.Progress.BatchID == 1 {
						states = make(chan StateChanged, 1000)
						cut(&lines)
					}
					done(e)
				}
			})
			s.create(sales(func(d *Definition) { d.Trigger = Trigger{Kind: Every, Every: 50 * time.Millisecond} }))
			s.caughtUp()
			retrying := func() Status {
				require.Eventually(t, func() bool { return s.state().Attempts > 0 }, patience, time.Millisecond)
				later.Add(int64(stallAfter + time.Second))
				return s.state()
			}

			cut(&lines)
			st := retrying()
			require.Equal(t, Retrying, st.State, "what waits there is not known")
			require.Contains(t, st.Reason, "of the Kafka brokers "+f.servers)
			lines.mend()
			s.stop()
			f.put(t, time.Time{}, "w00", "w01", "w02", "w03", "w04", "w05")
			s.restart()

			require.Eventually(t, func() bool { return s.state().LastBatchID == 1 }, patience, time.Millisecond) // the brokers are cut off behind it
			st = retrying()
			require.Equal(t, Stalled, st.State, "%+v", st)
			require.Contains(t, st.Reason, "of the Kafka brokers "+f.servers)
			require.Equal(t, Idle, (<-states).State, "until the next trigger")
			require.Equal(t, Retrying, (<-states).State)
			lines.mend()
			s.caughtUp()
			require.Equal(t, append(want, "w00", "w01", "w02", "w03", "w04", "w05"), l.texts())
			require.Eventually(t, func() bool { // on a busy machine a later look may take longer than the requests of this test may
				st = s.state()
				return st.State == Idle && st.Attempts == 0
			}, patience, time.Millisecond)
			require.Contains(t, st.LastError, f.servers, "it stays to be seen")
			require.NoError(t, s.Close())
		})
	}
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
