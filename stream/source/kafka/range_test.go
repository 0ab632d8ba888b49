package kafka

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lakesql/stream/source"
	"lakesql/stream/source/sourcetest"
)

// values are the values of rows without a format, or the first column of others.
func values(rows []string) (out []string) {
	for _, r := range rows {
		cells := strings.Split(r, "|")
		text := cells[1]
		var data []byte
		if _, err := fmt.Sscanf(text, "0x%X", &data); err == nil {
			text = string(data)
		}
		out = append(out, text)
	}
	return out
}

func TestOffsetsRoundTrip(t *testing.T) {
	for _, text := range []string{`{}`, `{"a":{"0":1}}`, `{"a":{"2":1,"10":3},"b-1.x_":{"0":9223372036854775807}}`} {
		o, err := parseOffset(source.Offset(text))
		require.NoError(t, err)
		require.Equal(t, source.Offset(text), o.format())
	}
	for _, text := range []string{``, `1`, `{"a":1}`, `{"a":{"x":1}}`, `{"a":{"0":-1}}`, `{"a":{"-1":0}}`, `{"a":{"0":1.5}}`} {
		_, err := parseOffset(source.Offset(text))
		require.ErrorIs(t, err, source.ErrChanged, text)
	}
}

func TestLimitIsShared(t *testing.T) {
	p := func(n int32) partition { return partition{topic, n} }
	from, to := offsets{p(0): 100, p(1): 0, p(2): 7}, offsets{p(0): 1100, p(1): 1, p(2): 7, p(3): 1050}
	got := limited(from, to, offsets{p(3): 50}, 100)
	require.Equal(t, offsets{p(0): 149, p(1): 1, p(2): 7, p(3): 99}, got, "a share each, one at the least, from the beginning of a new one")
	require.Equal(t, to, limited(from, to, offsets{p(3): 50}, 5000))
}

func TestMaxOffsetsPerTrigger(t *testing.T) {
	w := newWorld(t, 1).with("maxOffsetsPerTrigger", "2")
	for range 5 {
		w.put(0, "x")
	}
	src := w.Open(t)
	at, more, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, source.Offset(`{"orders":{"0":2}}`), at)
	require.EqualValues(t, 3, src.Backlog().Rows)
	at, more, err = src.Latest(t.Context(), at, source.Limit{Rows: 3})
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, source.Offset(`{"orders":{"0":5}}`), at)
	require.True(t, src.Backlog().Empty())
	at, _, err = w.Open(t).Latest(t.Context(), source.None, source.Limit{All: true})
	require.NoError(t, err)
	require.Equal(t, source.Offset(`{"orders":{"0":5}}`), at)
}

func TestMinOffsetsPerTrigger(t *testing.T) {
	w := newWorld(t, 1).with("minOffsetsPerTrigger", "2", "maxTriggerDelay", "1m")
	now := time.Now()
	w.env.Now = func() time.Time { return now }
	src := w.Open(t)
	w.put(0, "a")
	at, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	require.Equal(t, source.None, at, "one is too few")
	now = now.Add(time.Minute)
	at, _, err = src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	require.NotEqual(t, source.None, at, "it has waited long enough")
	w.put(0, "b")
	w.put(0, "c")
	again, _, err := src.Latest(t.Context(), at, source.Limit{})
	require.NoError(t, err)
	require.NotEqual(t, at, again, "two are enough")
}

func TestWhereItBegins(t *testing.T) {
	w := newWorld(t, 1)
	var first []*kgo.Record
	for i := range 4 {
		first = append(first, w.produce(&kgo.Record{Topic: topic, Value: []byte{'a' + byte(i)}, Timestamp: time.UnixMilli(1_700_000_000_000 + int64(i)*1000)}))
	}
	_ = first
	for _, c := range []struct {
		option, value string
		begin         int64
	}{
		{"startingOffsets", "earliest", 0}, {"startingOffsets", "latest", 4}, {"startingOffsets", "", 4},
		{"startingOffsets", `{"orders":{"0":3}}`, 3}, {"startingOffsets", `{"orders":{"0":-2}}`, 0}, {"startingOffsets", `{"orders":{"0":-1}}`, 4},
		{"startingTimestamp", "1700000001500", 2}, {"startingOffsetsByTimestamp", `{"orders":{"0":1700000001000}}`, 1},
	} {
		w := *w
		w.st = newWorld(t, 1).st
		src := (&w).with("startingOffsets", "", c.option, c.value).Open(t)
		_, _, err := src.Latest(t.Context(), source.None, source.Limit{})
		require.NoError(t, err, c.option)
		data, err := w.st.Get(t.Context(), "sources/0/0")
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("\x00v1\n"+`{"orders":{"0":%d}}`, c.begin), string(data), "%s => %s", c.option, c.value)
	}
	for option, value := range map[string]string{
		"startingOffsets": `{"orders":{"0":9}}`, "startingoffsets": `{"orders":{"0":0,"1":0}}`, "startingOffsetsByTimestamp": `{"other":{"0":1}}`,
		"startingTimestamp": "1900000000000",
	} {
		src := w.with("startingOffsets", "", option, value).Open(t)
		_, _, err := src.Latest(t.Context(), source.None, source.Limit{})
		require.ErrorIs(t, err, source.ErrData, option)
		w.with(option, "")
	}
	src := w.with("startingTimestamp", "1900000000000", "startingOffsetsByTimestampStrategy", "latest").Open(t)
	_, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
}

func TestBeginningIsKept(t *testing.T) {
	w := newWorld(t, 1).with("startingOffsets", "latest")
	w.put(0, "before")
	src := w.Open(t)
	_, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	w.put(0, "behind")
	again := w.Open(t)
	rows, _, err := read(t, again, source.None, sourcetest.Next(t, again, source.None))
	require.NoError(t, err)
	require.Equal(t, []string{"behind"}, values(rows))
}

func TestNewPartitionsAndTopics(t *testing.T) {
	w := newWorld(t, 1).with("topic", "", "subscribePattern", "ord.*")
	w.put(0, "a")
	src := w.Open(t)
	at := sourcetest.Next(t, src, source.None)
	adm := w.admin()
	_, err := adm.UpdatePartitions(t.Context(), 2, topic)
	require.NoError(t, err)
	w.createTopic("ordered", nil)
	w.createTopic("not-ordered", nil)
	w.put(1, "b")
	w.produce(&kgo.Record{Topic: "ordered", Value: []byte("c")})
	w.produce(&kgo.Record{Topic: "not-ordered", Value: []byte("d")})
	var got []string
	for len(got) < 2 {
		end := sourcetest.Next(t, src, at)
		rows, _, err := read(t, src, at, end)
		require.NoError(t, err)
		got, at = append(got, values(rows)...), end
	}
	require.ElementsMatch(t, []string{"b", "c"}, got)
	require.Equal(t, source.Offset(`{"ordered":{"0":1},"orders":{"0":1,"1":1}}`), at)
	require.Equal(t, "KafkaV2[SubscribePattern[ord.*]]", src.Description())
}

func TestNewPartitionWhoseFirstRecordsAreGone(t *testing.T) {
	w := newWorld(t, 1).with("topic", "", "subscribePattern", "ord.*")
	w.put(0, "a")
	src := w.Open(t)
	at := sourcetest.Next(t, src, source.None)
	w.createTopic("ordered", nil)
	for _, value := range []string{"b", "c"} {
		w.produce(&kgo.Record{Topic: "ordered", Value: []byte(value)})
	}
	end := sourcetest.Next(t, src, at)
	cut := kadm.Offsets{}
	cut.AddOffset("ordered", 0, 1, -1)
	_, err := w.admin().DeleteRecords(t.Context(), cut)
	require.NoError(t, err)
	_, _, err = read(t, src, at, end)
	require.ErrorAs(t, err, new(*source.LossError))
	require.ErrorContains(t, err, "partition ordered/0 is new to the stream, and begins at offset 1")
	src = w.with("failOnDataLoss", "false").Open(t)
	rows, _, err := read(t, src, at, end)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, values(rows))
	require.Len(t, src.(source.Noticer).Notices(), 1)
}

func TestAssign(t *testing.T) {
	w := newWorld(t, 3).with("topic", "", "assign", `{"orders":[2,0]}`)
	w.Append(t)
	src := w.Open(t)
	require.Equal(t, source.Offset(`{"orders":{"0":1,"2":1}}`), sourcetest.Next(t, src, source.None))
	require.Equal(t, "KafkaV2[Assign[orders-0, orders-2]]", src.Description())
}

func TestMissingTopicIsWaitedFor(t *testing.T) {
	w := newWorld(t, 1).with("topic", "later")
	src := w.Open(t)
	_, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.ErrorContains(t, err, "topic later is not there")
	require.NotErrorIs(t, err, source.ErrChanged)
	w.createTopic("later", nil)
	w.produce(&kgo.Record{Topic: "later", Value: []byte("x")})
	require.Eventually(t, func() bool {
		end, _, err := src.Latest(t.Context(), source.None, source.Limit{})
		return err == nil && end == `{"later":{"0":1}}`
	}, time.Minute, 10*time.Millisecond)
}

// deleteBefore lets retention delete the records of partition 0 before an offset.
func (w *world) deleteBefore(offset int64) {
	w.t.Helper()
	o := kadm.Offsets{}
	o.Add(kadm.Offset{Topic: topic, Partition: 0, At: offset})
	_, err := w.admin().DeleteRecords(w.t.Context(), o)
	require.NoError(w.t, err)
}

func TestRetention(t *testing.T) {
	w := newWorld(t, 1)
	for i := range 4 {
		w.put(0, fmt.Sprint(i))
	}
	src := w.Open(t)
	end := sourcetest.Next(t, src, source.None)
	w.deleteBefore(2)
	_, _, err := read(t, src, source.None, end)
	var loss *source.LossError
	require.ErrorAs(t, err, &loss)
	require.ErrorIs(t, err, source.ErrChanged)
	require.ErrorContains(t, err, "partition orders/0 has no records before offset 2 any more, and those from 0 up to 2 have not been read")

	src = w.with("failOnDataLoss", "false").Open(t)
	rows, _, err := read(t, src, source.None, end)
	require.NoError(t, err)
	require.Equal(t, []string{"2", "3"}, values(rows))
	notices := src.(source.Noticer).Notices()
	require.Len(t, notices, 1)
	require.Equal(t, "kafka:orders/0", notices[0].File)

	no := false // OPTIONS (failOnDataLoss = false) of the stream
	w.with("failOnDataLoss", "true").env.FailOnDataLoss = &no
	rows, _, err = read(t, w.Open(t), source.None, end)
	require.NoError(t, err)
	require.Len(t, rows, 2)
}

func TestTopicMadeAnew(t *testing.T) {
	w := newWorld(t, 1)
	for i := range 3 {
		w.put(0, fmt.Sprint(i))
	}
	src := w.Open(t)
	at := sourcetest.Next(t, src, source.None)
	adm := w.admin()
	_, err := adm.DeleteTopics(t.Context(), topic)
	require.NoError(t, err)
	_, _, err = src.Latest(t.Context(), at, source.Limit{})
	require.ErrorContains(t, err, "partition orders/0 is gone")
	require.ErrorIs(t, err, source.ErrChanged)

	w.createTopic(topic, nil)
	w.put(0, "anew")
	_, _, err = w.Open(t).Latest(t.Context(), at, source.Limit{})
	require.ErrorContains(t, err, "the end of partition orders/0 was offset 3 and is 1 now")

	src = w.with("failOnDataLoss", "false").Open(t)
	end := sourcetest.Next(t, src, at)
	require.Equal(t, source.Offset(`{"orders":{"0":1}}`), end)
	rows, _, err := read(t, src, at, end)
	require.NoError(t, err)
	require.Empty(t, rows)
	require.Len(t, src.(source.Noticer).Notices(), 1)
	w.put(0, "more")
	rows, _, err = read(t, src, end, sourcetest.Next(t, src, end))
	require.NoError(t, err)
	require.Equal(t, []string{"more"}, values(rows))
}

// TestFrozenWithoutAPartition: brokers that have just started may not know all partitions when the source is frozen.
func TestFrozenWithoutAPartition(t *testing.T) {
	w := newWorld(t, 1)
	w.put(0, "a")
	src := w.Open(t).(*Source)
	end := sourcetest.Next(t, src, source.None)
	for _, frozen := range []offsets{{}, {{topic, 0}: 0}} {
		src.frozen = frozen
		again, more, err := src.Latest(t.Context(), end, source.Limit{})
		require.NoError(t, err)
		require.False(t, more)
		require.Equal(t, end, again)
	}
}

func TestDeletedTopicInARange(t *testing.T) {
	w := newWorld(t, 1)
	w.put(0, "a")
	src := w.Open(t)
	end := sourcetest.Next(t, src, source.None)
	_, err := w.admin().DeleteTopics(t.Context(), topic)
	require.NoError(t, err)
	_, _, err = read(t, src, source.None, end)
	require.ErrorIs(t, err, source.ErrChanged)
}

func TestTransactions(t *testing.T) {
	for level, want := range map[string][]string{"read_committed": {"good"}, "read_uncommitted": {"bad", "good"}} {
		w := newWorld(t, 1).with("kafka.isolation.level", level)
		tx, err := kgo.NewClient(w.seeds(), kgo.TransactionalID("tx"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		require.NoError(t, err)
		t.Cleanup(tx.Close)
		for _, value := range []string{"bad", "good"} {
			require.NoError(t, tx.BeginTransaction())
			require.NoError(t, tx.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr())
			require.NoError(t, tx.EndTransaction(t.Context(), kgo.TransactionEndTry(value == "good")))
		}
		src := w.Open(t)
		end := sourcetest.Next(t, src, source.None)
		require.Equal(t, source.Offset(`{"orders":{"0":4}}`), end, "with the marks of both transactions")
		require.True(t, src.Backlog().Empty(), "marks are no lag")
		rows, _, err := read(t, src, source.None, end)
		require.NoError(t, err, "the range ends with a mark, which is no record")
		require.Equal(t, want, values(rows), level)
	}
}

func TestOpenTransactionIsWaitedFor(t *testing.T) {
	w := newWorld(t, 1).with("kafka.isolation.level", "read_committed")
	tx, err := kgo.NewClient(w.seeds(), kgo.TransactionalID("tx"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	t.Cleanup(tx.Close)
	require.NoError(t, tx.BeginTransaction())
	require.NoError(t, tx.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("x")}).FirstErr())
	src := w.Open(t)
	end, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	require.Equal(t, source.None, end)
	require.NoError(t, tx.EndTransaction(t.Context(), kgo.TryCommit))
	rows, _, err := read(t, src, source.None, sourcetest.Next(t, src, source.None))
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, values(rows))
}

func TestCompactedTopic(t *testing.T) {
	w := newWorld(t, 0)
	w.createTopic("kept", map[string]*string{"cleanup.policy": kadm.StringPtr("compact"), "segment.bytes": kadm.StringPtr("100")})
	w.produce(&kgo.Record{Topic: "kept", Key: []byte("first"), Value: []byte("first")}) // kfake takes the first that is left for the log's beginning
	for i := range 20 {
		w.produce(&kgo.Record{Topic: "kept", Key: []byte{'k'}, Value: []byte(fmt.Sprint(i))})
	}
	src := w.with("topic", "kept").Open(t)
	end := sourcetest.Next(t, src, source.None)
	w.brokers.Compact()
	rows, _, err := read(t, src, source.None, end)
	require.NoError(t, err)
	require.Subset(t, values(rows), []string{"first", "19"})
	require.Less(t, len(rows), 20, "it was compacted")
}

func TestHeadersAndKeys(t *testing.T) {
	w := newWorld(t, 1).with("includeHeaders", "true")
	w.produce(&kgo.Record{Topic: topic, Key: []byte("k"), Headers: []kgo.RecordHeader{{Key: "a", Value: []byte{1}}, {Key: "b"}}, Timestamp: time.UnixMilli(1_700_000_000_123)})
	w.produce(&kgo.Record{Topic: topic, Key: []byte{}, Value: []byte{}, Timestamp: time.UnixMilli(1_700_000_000_124)})
	src := w.Open(t)
	schema, err := src.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, "key binary, value binary, topic string, partition integer, offset long, timestamp timestamp, timestampType integer, "+
		"headers array<struct<key:string,value:binary>>", schema.String())
	rows, _, err := read(t, src, source.None, sourcetest.Next(t, src, source.None))
	require.NoError(t, err)
	require.Equal(t, []string{
		`0x6B|NULL|orders|0|0|2023-11-14 22:13:20.123000|0|[{"key":"a","value":"AQ=="},{"key":"b","value":null}]`,
		`0x|0x|orders|0|1|2023-11-14 22:13:20.124000|0|NULL`,
	}, rows)
}

func TestLeadersMove(t *testing.T) {
	w := newWorld(t, 4)
	w.with("kafka.max.partition.fetch.bytes", "100")
	for range 50 {
		w.Append(t)
	}
	src := w.Open(t)
	end := sourcetest.Next(t, src, source.None)
	op, err := src.Read(t.Context(), source.None, end, source.Observer{})
	require.NoError(t, err)
	defer op.Close()
	got := 0
	for {
		b, err := op.Next(t.Context())
		if err != nil {
			require.ErrorContains(t, err, "EOF")
			break
		}
		got += b.Rows()
		w.brokers.ShufflePartitionLeaders()
	}
	require.Equal(t, 200, got)
}

func TestBrokersAway(t *testing.T) {
	w := newWorld(t, 1)
	w.put(0, "a")
	src := w.Open(t)
	end := sourcetest.Next(t, src, source.None)
	w.brokers.Close()
	_, _, err := src.Latest(t.Context(), end, source.Limit{}) // it ends by itself: the test's context does not
	require.ErrorContains(t, err, "of the Kafka brokers "+w.options[Brokers])
	require.False(t, errors.Is(err, source.ErrChanged) || errors.Is(err, source.ErrData), "it passes")
}

// TestNewRecordsWake: the source hears of a record, and never looks again by itself.
func TestNewRecordsWake(t *testing.T) {
	w := newWorld(t, 2)
	src := w.Open(t)
	at := source.None
	for range 10 {
		_, _, err := src.Latest(t.Context(), at, source.Limit{})
		require.NoError(t, err)
		w.put(int32(w.n%2), "x")
		select {
		case <-src.Wake():
		case <-time.After(time.Minute):
			t.Fatal("nothing hints")
		}
		at = sourcetest.Next(t, src, at)
	}
}

// TestEndThatGoesBackForAMoment: brokers that say once, as they may amid an election, that a partition ends before what was read have lost nothing.
func TestEndThatGoesBackForAMoment(t *testing.T) {
	w := newWorld(t, 1)
	w.put(0, "a")
	src := w.Open(t)
	at := sourcetest.Next(t, src, source.None)
	said := false
	w.brokers.ControlKey(int16(kmsg.ListOffsets), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		req := kreq.(*kmsg.ListOffsetsRequest)
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		for _, asked := range req.Topics {
			out := kmsg.NewListOffsetsResponseTopic()
			out.Topic = asked.Topic
			for _, p := range asked.Partitions {
				part := kmsg.NewListOffsetsResponseTopicPartition()
				part.Partition, part.Offset, part.LeaderEpoch = p.Partition, 0, p.CurrentLeaderEpoch
				out.Partitions = append(out.Partitions, part)
			}
			resp.Topics = append(resp.Topics, out)
		}
		said = true
		return resp, nil, true
	})
	again, _, err := src.Latest(t.Context(), at, source.Limit{})
	require.NoError(t, err)
	require.True(t, said)
	require.Equal(t, at, again)
	w.put(0, "b")
	rows, _, err := read(t, src, at, sourcetest.Next(t, src, at))
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, values(rows))
}
