package delta

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

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
	for _, c := range []struct{ table, folder, real string }{
		{"ckpt_v2_parquet", sidecarFolder, "00000000000000000002.checkpoint.0000000001"},
	} {
		t.Run(c.table, func(t *testing.T) {
			dir := shared.Path(t, "tables", c.table)
			real, err := filepath.Glob(filepath.Join(dir, c.folder, c.real) + "*.parquet")
			require.NoError(t, err)
			require.Len(t, real, 1)
			s, err := localTable(t, dir).newest(ctx)
			require.NoError(t, err)
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
