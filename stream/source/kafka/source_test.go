package kafka

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/stream/source"
	"lakesql/stream/source/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is brokers, which are fake (kfake, in this process), with a topic, and a checkpoint.
type world struct {
	t       *testing.T
	brokers *kfake.Cluster
	cl      *kgo.Client
	st      store.Store
	options map[string]string
	env     source.Env
	n       int
}

const topic = "orders"

func newWorld(t *testing.T, partitions int32, opts ...kfake.Opt) *world {
	brokers, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(2), kfake.SeedTopics(partitions, topic)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(brokers.Close)
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers.ListenAddrs()...))
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	st := store.NewMemory("mem://checkpoint")
	_, err = checkpoint.Create(t.Context(), st)
	require.NoError(t, err)
	return &world{t: t, brokers: brokers, cl: cl, st: st, options: map[string]string{
		Brokers: strings.Join(brokers.ListenAddrs(), ","), "topic": topic, "startingOffsets": "earliest",
	}, env: source.Env{Now: time.Now}}
}

// Open opens the source as a new process would.
func (w *world) Open(t *testing.T) source.Source {
	cp, err := checkpoint.Open(t.Context(), w.st)
	require.NoError(t, err)
	env := w.env
	env.Checkpoint = cp
	src, err := Open(t.Context(), source.Spec{Kind: "kafka", Options: w.options}, env)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, src.Close()) })
	return src
}

// Append gives each partition a record.
func (w *world) Append(t *testing.T) (rows []string) {
	topics, err := w.admin().ListTopics(t.Context(), topic)
	require.NoError(t, err)
	for n := range int32(len(topics[topic].Partitions)) {
		rec := w.put(n, fmt.Sprintf("value %d", w.n))
		rows = append(rows, fmt.Sprintf("NULL|%s|%s|%d|%d|%s|0", hexOf(rec.Value), topic, n, rec.Offset, stamp(rec)))
	}
	return rows
}

func hexOf(data []byte) string { return fmt.Sprintf("0x%X", data) }

func stamp(rec *kgo.Record) string {
	return string(batch.AppendTimestamp(nil, 1000*rec.Timestamp.UnixMilli())) // no digits at a whole second
}

func (w *world) seeds() kgo.Opt { return kgo.SeedBrokers(w.brokers.ListenAddrs()...) }

func (w *world) admin() *kadm.Client { return kadm.NewClient(w.cl) }

func (w *world) createTopic(name string, config map[string]*string) {
	w.t.Helper()
	_, err := w.admin().CreateTopic(w.t.Context(), 1, 1, config, name)
	require.NoError(w.t, err)
}

// put writes a record.
func (w *world) put(n int32, value string) *kgo.Record {
	w.t.Helper()
	w.n++
	return w.produce(&kgo.Record{Topic: topic, Partition: n, Value: []byte(value)})
}

func (w *world) produce(rec *kgo.Record) *kgo.Record {
	w.t.Helper()
	cl, err := kgo.NewClient(w.seeds(), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.UnknownTopicRetries(50), kgo.MetadataMinAge(10*time.Millisecond))
	require.NoError(w.t, err)
	defer cl.Close()
	require.NoError(w.t, cl.ProduceSync(w.t.Context(), rec).FirstErr())
	return rec
}

// read returns the rows of a range, sorted, and what was malformed.
func read(t *testing.T, src source.Source, start, end source.Offset) (rows []string, bad []source.RowError, err error) {
	t.Helper()
	op, err := src.Read(t.Context(), start, end, source.Observer{Row: func(e source.RowError) { bad = append(bad, e) }})
	if err != nil {
		return nil, nil, err
	}
	defer func() { require.NoError(t, op.Close()) }()
	for {
		b, err := op.Next(t.Context())
		if errors.Is(err, io.EOF) {
			slices.Sort(rows)
			return rows, bad, nil
		}
		if err != nil {
			return rows, bad, err
		}
		for i := range b.Rows() {
			var cells []string
			for _, c := range b.Cols {
				cells = append(cells, c.Format(b.Row(i)))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
	}
}

// with sets options.
func (w *world) with(pairs ...string) *world {
	w.options = maps.Clone(w.options)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			delete(w.options, pairs[i])
		} else {
			w.options[pairs[i]] = pairs[i+1]
		}
	}
	return w
}

func TestConformance(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Subject { return newWorld(t, 3) })
}

func TestCheckpointIsSparks(t *testing.T) {
	w := newWorld(t, 12)
	w.put(11, "a")
	w.put(2, "b")
	src := w.Open(t)
	end := sourcetest.Next(t, src, source.None)
	require.Equal(t, source.Offset(`{"orders":{"0":0,"1":0,"2":1,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0,"11":1}}`), end)
	data, err := w.st.Get(t.Context(), "sources/0/0")
	require.NoError(t, err)
	require.Equal(t, "\x00v1\n"+`{"orders":{"0":0,"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0,"11":0}}`, string(data))
	require.Equal(t, "KafkaV2[Subscribe[orders]]", src.Description())
}
