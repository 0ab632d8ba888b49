package checkpoint

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// The bytes below are Spark's own, or those that its sources lead to.
const (
	sparkConf35 = `{"spark.sql.streaming.stateStore.providerClass":"org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider","spark.sql.streaming.stateStore.rocksdb.formatVersion":"5","spark.sql.streaming.statefulOperator.useStrictDistribution":"true","spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion":"2","spark.sql.streaming.multipleWatermarkPolicy":"min","spark.sql.streaming.aggregation.stateFormatVersion":"2","spark.sql.shuffle.partitions":"200","spark.sql.streaming.join.stateFormatVersion":"2","spark.sql.streaming.stateStore.compression.codec":"lz4"}`

	sparkOffsets35 = "v1\n" + `{"batchWatermarkMs":0,"batchTimestampMs":1710305994254,"conf":` + sparkConf35 + "}\n" + `{"logOffset":0}`
)

func TestExactBytes(t *testing.T) {
	ctx := t.Context()
	c, m := create(t)
	require.NoError(t, c.Offsets().Add(ctx, 0, Offsets{TimestampMs: 1710305994254, Conf: []byte(sparkConf35), Sources: []string{`{"logOffset":0}`}}))
	require.Equal(t, sparkOffsets35, get(t, m, "offsets/0"))
	require.Len(t, sparkOffsets35, 656)
	o, err := c.Offsets().Read(ctx, 0)
	require.NoError(t, err)
	require.NoError(t, c.Offsets().Add(ctx, 1, o))
	require.Equal(t, sparkOffsets35, get(t, m, "offsets/1"), "what was read is written again")

	require.NoError(t, c.Offsets().Add(ctx, 2, Offsets{WatermarkMs: 5, TimestampMs: 6, Sources: []string{NoOffset, `{"a":"<&>"}`, "1"}}))
	require.Equal(t, "v1\n"+`{"batchWatermarkMs":5,"batchTimestampMs":6}`+"\n-\n"+`{"a":"<&>"}`+"\n1", get(t, m, "offsets/2"))

	require.NoError(t, c.Commits().Add(ctx, 0, 0))
	require.Equal(t, "v1\n"+`{"nextBatchWatermarkMs":0}`, get(t, m, "commits/0"))
	require.Len(t, get(t, m, "commits/0"), 29)

	require.NoError(t, c.Source(0).Add(ctx, 0, []SourceEntry{{Path: store.FileURI("/data/in/a b.csv"), TimestampMs: 1788920696120}}))
	require.Equal(t, "v1\n"+`{"path":"file:///data/in/a%20b.csv","timestamp":1788920696120,"batchId":0}`, get(t, m, "sources/0/0"))
	require.NoError(t, c.Source(0).Add(ctx, 1, []SourceEntry{
		{Path: "file:///private/tmp/spark-59315-golden-source/first", TimestampMs: 1788920696120},
		{Path: store.FileURI("/in/é&<1>"), TimestampMs: 1},
	}))
	require.Equal(t, "v1\n"+`{"path":"file:///private/tmp/spark-59315-golden-source/first","timestamp":1788920696120,"batchId":1}`+"\n"+
		`{"path":"file:///in/é&%3C1%3E","timestamp":1,"batchId":1}`, get(t, m, "sources/0/1"))
	require.NoError(t, c.Source(0).Add(ctx, 2, nil))
	require.Equal(t, "v1", get(t, m, "sources/0/2"))
}

func TestNewConf(t *testing.T) {
	require.Equal(t, 11, strings.Count(string(NewConf()), `":"`))
	_, err := encodeOffsets(Offsets{Conf: NewConf(), Sources: []string{"1"}})
	require.NoError(t, err)
}

func TestAddRefusesWhatItCouldNotRead(t *testing.T) {
	for _, o := range []Offsets{
		{}, {Sources: []string{""}}, {Sources: []string{"1\n2"}}, {Sources: []string{"{"}}, {Conf: []byte("[]"), Sources: []string{"1"}},
		{Conf: []byte("{\n}"), Sources: []string{"1"}},
	} {
		_, err := encodeOffsets(o)
		require.Error(t, err)
	}
	_, err := appendEntry(nil, SourceEntry{Path: "a\xff"})
	require.Error(t, err)
}

// TestLenient reads what other versions and hands have written.
func TestLenient(t *testing.T) {
	ctx := t.Context()
	_, m := create(t)
	put(t, m, "metadata", `{"id":"7A9D3C1E-5C1B-4A59-9E5E-0C6B1F6B8A11","more":1}`+"\n")
	put(t, m, "offsets/0", "v1\r\n"+`{"batchTimestampMs":5,"batchWatermarkMs":4,"sourceMetadataInfo":{}}`+"\r\n"+`{"logOffset":3}`+"\r\n\r\n")
	put(t, m, "offsets/1", "v1\n"+`{"conf": {"a": "b"}}`+"\n-\n1\n")
	put(t, m, "offsets/2", "v1\n{}\n0")
	put(t, m, "offsets/.2.crc", "crc\x00")
	put(t, m, "offsets/.4.6e.TID7.tmpx", "")
	put(t, m, "offsets/007", "")
	put(t, m, "offsets/5/6", "")
	put(t, m, "commits/0", "v1")
	put(t, m, "commits/1", "v1\n{}")
	put(t, m, "commits/2", "v1\n"+`{"nextBatchWatermarkMs":9,"stateUniqueIds":{}}`+"\n")
	c, err := Open(ctx, m)
	require.NoError(t, err)
	require.Equal(t, "7a9d3c1e-5c1b-4a59-9e5e-0c6b1f6b8a11", c.ID())
	for id, want := range []Offsets{
		{WatermarkMs: 4, TimestampMs: 5, Sources: []string{`{"logOffset":3}`}},
		{Conf: []byte(`{"a": "b"}`), Sources: []string{"-", "1"}},
		{Sources: []string{"0"}},
	} {
		o, err := c.Offsets().Read(ctx, int64(id))
		require.NoError(t, err)
		require.Equal(t, want, o)
	}
	for id, want := range []int64{0, 0, 9} {
		watermark, err := c.Commits().Read(ctx, int64(id))
		require.NoError(t, err)
		require.Equal(t, want, watermark)
	}
}

var kindNames = map[Kind]string{
	Missing: "Missing", NoMetadata: "NoMetadata", Damaged: "Damaged", UnsupportedVersion: "UnsupportedVersion", HasState: "HasState",
	ResetUnfinished: "ResetUnfinished", Exists: "Exists",
}

// TestRefusals pins the texts. Commands: "open" and "create" on files given as "key: content", where \n is a line end; the good ones come by themselves
// unless "bare" is given.
func TestRefusals(t *testing.T) {
	datadriven.RunTest(t, "testdata/refusals", func(t *testing.T, d *datadriven.TestData) string {
		m := memory()
		require.NoError(t, m.MakeRoot(t.Context()))
		if !d.HasArg("bare") {
			put(t, m, "metadata", `{"id":"7a9d3c1e-5c1b-4a59-9e5e-0c6b1f6b8a11"}`)
			for _, id := range []string{"0", "1", "2"} {
				put(t, m, "offsets/"+id, "v1\n{}\n1")
				put(t, m, "commits/"+id, "v1\n{}")
			}
		}
		for line := range strings.Lines(d.Input) {
			key, content, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			content = strings.ReplaceAll(strings.TrimPrefix(content, " "), `\n`, "\n")
			if content == "deleted" {
				require.NoError(t, m.Delete(t.Context(), key))
			} else {
				put(t, m, key, content)
			}
		}
		var err error
		if d.Cmd == "create" {
			_, err = Create(t.Context(), m)
		} else {
			_, err = Open(t.Context(), m)
		}
		if err == nil {
			return "ok\n"
		}
		var e *Error
		require.ErrorAs(t, err, &e)
		return kindNames[e.Kind] + "\n" + err.Error() + "\n"
	})
}
