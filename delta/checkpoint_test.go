package delta

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
	lakeparquet "lakesql/format/parquet"
	"lakesql/integration/shared"
	"lakesql/store"
)

// richCommits is a log with everything that a checkpoint keeps.
const richCommits = `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors","v2Checkpoint"],"writerFeatures":["deletionVectors","v2Checkpoint","rowTracking","domainMetadata"]}}
{"metaData":{"id":"11111111-2222-3333-4444-555555555555","name":"t","description":"d \"quoted\"","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"day\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["day"],"configuration":{"delta.checkpointPolicy":"POLICY","mine":""},"createdTime":1700000000000}}
{"txn":{"appId":"a","version":7,"lastUpdated":1700000000001}}
{"txn":{"appId":"b","version":-1}}
{"domainMetadata":{"domain":"delta.rowTracking","configuration":"{\"rowIdHighWaterMark\":9}","removed":false}}
{"add":{"path":"day=2024-01-01/a%20b.parquet","partitionValues":{"day":"2024-01-01"},"size":10,"modificationTime":1700000000002,"dataChange":true,"stats":"{\"numRecords\":3,\"minValues\":{\"id\":1},\"maxValues\":{\"id\":3},\"nullCount\":{\"id\":0}}","tags":{"k":"v"},"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":2},"baseRowId":4,"defaultRowCommitVersion":0,"clusteringProvider":"liquid"}}
{"add":{"path":"c.parquet","partitionValues":{"day":null},"size":11,"modificationTime":1700000000003,"dataChange":true}}
{"add":{"path":"gone.parquet","partitionValues":{"day":null},"size":12,"modificationTime":1700000000003,"dataChange":true}}
{"add":{"path":"back.parquet","partitionValues":{"day":null},"size":13,"modificationTime":1700000000003,"dataChange":true}}
{"remove":{"path":"old.parquet","deletionTimestamp":1700000000004,"dataChange":true}}
{"remove":{"path":"expired.parquet","deletionTimestamp":1600000000004,"dataChange":true}}
--
{"remove":{"path":"gone.parquet","deletionTimestamp":1700000000005,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"day":null},"size":12,"deletionVector":{"storageType":"i","pathOrInlineDv":"x","sizeInBytes":1,"cardinality":1}}}
{"remove":{"path":"gone.parquet","deletionTimestamp":1700000000005,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"day":null},"size":12,"baseRowId":8,"defaultRowCommitVersion":0}}
{"remove":{"path":"back.parquet","deletionTimestamp":1700000000006,"dataChange":true}}
{"domainMetadata":{"domain":"gone","configuration":"","removed":true}}
--
{"add":{"path":"back.parquet","partitionValues":{"day":null},"size":13,"modificationTime":1700000000003,"dataChange":false}}
`

// richTime is when some of its tombstones have expired.
var richTime = time.UnixMilli(1700000000000)

func richTable(t testing.TB, policy string) *store.Memory {
	st := memoryStore(t)
	for v, text := range strings.Split(strings.ReplaceAll(richCommits, "POLICY", policy), "--\n") {
		require.NoError(t, st.PutIfAbsent(ctx, commitKey(int64(v)), []byte(text)))
	}
	return st
}

// stateFacts is everything that a checkpoint must keep.
func stateFacts(t testing.TB, s *Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %+v\n%+v\n%v\n%v\n", s.Version(), *s.protocol, *s.metadata, s.txns.all(), s.domains)
	reader := statsReader{blocks: s.files.stats}
	extra := func(x *fileExtra) string {
		if x == nil {
			return "-"
		}
		return string(x.append(nil))
	}
	set := s.files.tombstones.since(richTime.AddDate(0, 0, -7).UnixMilli())
	for c, i := range s.files.all() {
		fmt.Fprintf(&b, "add %s %v %d %d %s %s\n", c.path[i], c.partition[i], c.size[i], c.modTime[i], reader.at(c.stats[i]), extra(c.extra[i]))
		set.drop(c.path[i], c.extra[i].dvID())
	}
	for r := range set.each() {
		fmt.Fprintf(&b, "remove %s %d %v %d %s %v\n", r.path, r.deletionTimestamp, r.partition, r.size, extra(r.extra), r.extended)
	}
	return b.String()
}

// TestCheckpointsKeepEverything writes both kinds and opens the table from them alone.
func TestCheckpointsKeepEverything(t *testing.T) {
	for policy, files := range map[string]string{
		"classic": "^00000000000000000002.checkpoint.parquet _last_checkpoint$",
		"v2":      `^00000000000000000002.checkpoint.[0-9a-f-]{36}.parquet _last_checkpoint _sidecars/00000000000000000002.checkpoint.0000000001.[0-9a-f-]{36}.parquet$`,
	} {
		t.Run(policy, func(t *testing.T) {
			st := richTable(t, policy)
			want, err := NewTable(st).newest(ctx)
			require.NoError(t, err)
			require.NoError(t, writeCheckpoint(ctx, st, want, richTime))
			for v := range int64(3) {
				require.NoError(t, st.Delete(ctx, commitKey(v)))
			}
			var names []string
			for info, err := range st.List(ctx, logFolder, "", "") {
				require.NoError(t, err)
				names = append(names, logFileName(info.Key))
			}
			require.Regexp(t, files, strings.Join(names, " "))
			got, err := NewTable(st).newest(ctx)
			require.NoError(t, err)
			require.Equal(t, stateFacts(t, want), stateFacts(t, got))
			require.Contains(t, stateFacts(t, got), "gone.parquet")
			require.NotContains(t, stateFacts(t, got), "expired.parquet")
			require.NotContains(t, stateFacts(t, got), "remove back.parquet")

			hint, err := st.Get(ctx, lastCheckpointKey)
			require.NoError(t, err)
			version, ok := parseLastCheckpoint(hint)
			require.True(t, ok)
			require.Equal(t, int64(2), version)
			got, _, err = loadVersion(ctx, st, 2)
			require.NoError(t, err)
			require.Equal(t, stateFacts(t, want), stateFacts(t, got))
		})
	}
}

// TestSidecarsAreSplit: a V2 checkpoint of many files has several sidecars, and one without files has none.
func TestSidecarsAreSplit(t *testing.T) {
	for files, sidecars := range map[int]int{0: 0, 1: 1, sidecarActions: 1, sidecarActions + 1: 2} {
		st := richTable(t, "v2")
		table := NewTable(st)
		s, err := table.newest(ctx)
		require.NoError(t, err)
		log := newFileLog(st.URI())
		s.files = fileView{version: s.Version()}
		c := &commit{version: s.Version()}
		for i := range files {
			c.adds = append(c.adds, addAction{path: fmt.Appendf(nil, "f%d", i), size: int64(i)})
		}
		log.apply(&s.files, c)
		require.NoError(t, writeCheckpoint(ctx, st, s, richTime))
		n := 0
		for _, err := range st.List(ctx, sidecarFolder, "", "") {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, sidecars, n)
		got, _, err := loadVersion(ctx, st, 2)
		require.NoError(t, err)
		require.Equal(t, files, got.NumFiles())
		require.Equal(t, s.SizeInBytes(), got.SizeInBytes())
	}
}

// TestCheckpointSchemaIsSparks writes checkpoints of tables by Spark, and compares the schemas of the files with those that Spark wrote.
func TestCheckpointSchemaIsSparks(t *testing.T) {
	schemaOf := func(data []byte, err error) string {
		require.NoError(t, err)
		f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		_, columns, _ := strings.Cut(f.Schema().String(), "{") // the name in front is free
		return columns
	}
	for _, c := range []struct{ table, folder, real, structs string }{
		{"ckpt_v2_parquet", sidecarFolder, "00000000000000000002.checkpoint.0000000001", "false"},
		{"ckpt_struct_stats_only", logFolder, "00000000000000000005.checkpoint", "true"},
	} {
		t.Run(c.table, func(t *testing.T) {
			dir := shared.Path(t, "tables", c.table)
			real, err := filepath.Glob(filepath.Join(dir, c.folder, c.real) + "*.parquet")
			require.NoError(t, err)
			require.Len(t, real, 1)
			s, err := localTable(t, dir).newest(ctx)
			require.NoError(t, err)
			meta := *s.metadata
			meta.Configuration = maps.Clone(meta.Configuration)
			meta.Configuration["delta.checkpoint.writeStatsAsStruct"] = c.structs
			s.metadata = &meta
			st := memoryStore(t)
			require.NoError(t, writeCheckpoint(ctx, st, s, richTime))
			for key, err := range store.ListNames(ctx, st, c.folder, "") {
				require.NoError(t, err)
				if strings.HasSuffix(key, ".parquet") {
					require.Equal(t, schemaOf(os.ReadFile(real[0])), schemaOf(st.Get(ctx, key)))
				}
			}
		})
	}
}

// mapped gives a field an id and a physical name.
func mapped(f batch.Field, id int) batch.Field {
	f.Metadata = map[string]string{mappingID: fmt.Sprint(id), mappingPhysicalName: fmt.Sprintf(`"col-%s"`, f.Name)}
	return f
}

// TestStatisticsAsStructs writes statistics as text, as structs and as both, of nested columns under column mapping, and reads them back.
func TestStatisticsAsStructs(t *testing.T) {
	schema := batch.NewSchema(
		nullable("i", batch.Type{Kind: batch.Int32}), nullable("d", batch.DecimalOf(20, 2)), nullable("f", batch.Type{Kind: batch.Float64}),
		nullable("t", batch.Type{Kind: batch.Timestamp}), nullable("s", textType), nullable("b", boolType),
		nullable("n", batch.StructOf(mapped(nullable("x", longType), 20), mapped(nullable("l", batch.ListOf(nullable("element", longType))), 21))),
		nullable("day", batch.Type{Kind: batch.Date}), nullable("k", textType))
	for i := range schema.Fields {
		schema.Fields[i] = mapped(schema.Fields[i], i+1)
	}
	const text = `{"numRecords":3,"minValues":{"col-i":-1,"col-d":0.10,"col-f":"-Infinity","col-t":"2024-01-01T00:00:00.123Z","col-s":"a\"b","col-n":{"col-x":1}},` +
		`"maxValues":{"col-i":2,"col-d":123456789012345678.90,"col-f":1.5,"col-t":"2024-01-02T00:00:00.123Z","col-s":"\u00fc","col-n":{"col-x":7}},` +
		`"nullCount":{"col-i":0,"col-d":0,"col-f":1,"col-t":0,"col-s":2,"col-b":3,"col-n":{"col-x":1,"col-l":2}},"tightBounds":false}`
	for _, c := range []struct{ asText, asStruct string }{{"true", "false"}, {"false", "true"}, {"true", "true"}, {"", ""}} {
		t.Run(fmt.Sprintf("text %s struct %s", c.asText, c.asStruct), func(t *testing.T) {
			meta := Metadata{ID: "i", SchemaString: FormatSchema(schema), PartitionColumns: []string{"k", "day"}, Configuration: map[string]string{mappingMode: "name"}}
			if c.asText != "" {
				meta.Configuration["delta.checkpoint.writeStatsAsJson"] = c.asText
				meta.Configuration["delta.checkpoint.writeStatsAsStruct"] = c.asStruct
			}
			st := memoryStore(t)
			log, s := newFileLog(st.URI()), newSnapshot(st.URI())
			s.apply(log, &commit{protocol: &Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"columnMapping", "deletionVectors"}, WriterFeatures: []string{"columnMapping", "deletionVectors"}},
				metadata: &meta, adds: []addAction{
					{path: []byte("a"), stats: []byte(text), partition: map[string]string{"col-day": "2024-01-01", "col-k": "x"}},
					{path: []byte("none")},
					{path: []byte("odd"), stats: []byte(`{"numRecords":"x","minValues":{"col-i":"1","col-d":1e400,"col-s":5,"col-n":3,"other":1},"maxValues":null}`), partition: map[string]string{"col-day": "no day"}},
				}})
			require.NoError(t, s.schemaErr)
			require.NoError(t, writeCheckpoint(ctx, st, s, richTime))
			got, _, err := replay(ctx, st, &logListing{checkpoints: []checkpointFiles{{version: 0, files: []store.Info{{Key: checkpointKey(0)}}}}}, 0)
			require.NoError(t, err)
			reader := statsReader{blocks: got.files.stats}
			var stats []string
			for chunk, i := range got.files.all() {
				stats = append(stats, string(reader.at(chunk.stats[i])))
			}
			require.Len(t, stats, 3)
			require.Empty(t, stats[1])
			want, err := parseStats([]byte(text), newStatsShape(&meta, schema.Fields))
			require.NoError(t, err)
			read, err := parseStats([]byte(stats[0]), newStatsShape(&meta, schema.Fields))
			require.NoError(t, err)
			require.Equal(t, want, read)
			if c.asText == "false" {
				require.Empty(t, stats[2])
			}

			data, err := st.Get(ctx, checkpointKey(0))
			require.NoError(t, err)
			f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			has := func(column string) bool {
				_, ok := f.Schema().Lookup("add", column)
				return ok || strings.Contains(f.Schema().String(), " "+column+" ")
			}
			require.Equal(t, c.asText != "false", has("stats"))
			require.Equal(t, c.asStruct != "false", has("stats_parsed"))
			require.Equal(t, c.asStruct != "false", has("partitionValues_parsed"))
		})
	}
}

// TestForeignCheckpoints: columns that are missing, required or of other integer types, empty structs in place of nulls, parsed values alone, and
// adds of which only some have statistics as text.
func TestForeignCheckpoints(t *testing.T) {
	required := func(f batch.Field) batch.Field { f.Nullable = false; return f }
	day := batch.Type{Kind: batch.Date}
	stats := batch.StructOf(nullable("numRecords", intType), nullable("minValues", batch.StructOf(nullable("day", day))))
	schema := batch.NewSchema(
		actionColumn("Protocol", []batch.Field{nullable("minReaderVersion", longType), nullable("minWriterVersion", batch.Type{Kind: batch.Int16})}),
		actionColumn("metaData", []batch.Field{required(nullable("id", textType)), required(nullable("schemaString", textType)), required(nullable("partitionColumns", batch.ListOf(required(nullable("element", textType)))))}),
		actionColumn("add", []batch.Field{required(nullable("path", textType)), nullable("size", intType), nullable("stats", textType),
			nullable("deletionVector", batch.StructOf(required(nullable("storageType", textType)), required(nullable("pathOrInlineDv", textType)))),
			nullable("partitionValues_parsed", batch.StructOf(nullable("day", day))), nullable("stats_parsed", stats)}))
	rows := batch.NewBuilder(schema)
	put := func(column int, text string) {
		for i := range schema.Fields {
			if i == column {
				require.NoError(t, rows.Column(i).AppendFromJSON([]byte(text)))
			} else {
				rows.Column(i).AppendNull()
			}
		}
	}
	put(0, `{"minReaderVersion":1,"minWriterVersion":2}`)
	put(1, `{"id":"i","schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":["day"]}`)
	put(2, `{"path":"a","size":7,"stats":"{\"numRecords\":1}","deletionVector":{"storageType":"","pathOrInlineDv":""},"partitionValues_parsed":{"day":"2024-05-06"},"stats_parsed":{"numRecords":9}}`)
	put(2, `{"path":"b","partitionValues_parsed":{"day":null},"stats_parsed":{"numRecords":2,"minValues":{"day":"2024-01-02"}}}`)
	put(2, `{"path":"c","partitionValues_parsed":null,"stats_parsed":{"numRecords":null,"minValues":{"day":null}}}`)
	var file bytes.Buffer
	w, err := lakeparquet.NewWriter(&file, schema, lakeparquet.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(rows.Finish()))
	_, err = w.Close()
	require.NoError(t, err)
	st := memoryStore(t)
	require.NoError(t, st.PutIfAbsent(ctx, checkpointKey(4), file.Bytes()))

	s, err := NewTable(st).newest(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(4), s.Version())
	require.Equal(t, Protocol{MinReader: 1, MinWriter: 2}, *s.protocol)
	require.Equal(t, []string{"day"}, s.metadata.PartitionColumns)
	reader := statsReader{blocks: s.files.stats}
	var adds []string
	for c, i := range s.files.all() {
		require.Nil(t, c.extra[i])
		adds = append(adds, fmt.Sprintf("%s %d %v %s", c.path[i], c.size[i], c.partition[i], reader.at(c.stats[i])))
	}
	require.Equal(t, []string{`a 7 map[day:2024-05-06] {"numRecords":1}`, `b 0 map[] {"numRecords":2,"minValues":{"day":"2024-01-02"}}`, "c 0 map[] "}, adds)
}
