package delta

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/shared"
	"lakesql/store/faultstore"
)

// TestChecksumsOfOtherWritersAgree compares what this package would write with what others wrote, field by field.
func TestChecksumsOfOtherWritersAgree(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "tables"), "*", logFolder, "0*.crc"))
	require.NoError(t, err)
	compared := 0
	for _, file := range files {
		dir, version := filepath.Dir(filepath.Dir(file)), parseLogName(logFolder+filepath.Base(file)).version
		if filepath.Base(dir) == "crc_full" { // made by hand: its file is of another table
			continue
		}
		s, _, err := loadVersion(ctx, localTable(t, dir).Store(), version)
		if errors.Is(err, ErrNoVersion) {
			continue
		}
		require.NoError(t, err, file)
		require.NoError(t, s.fillTimestamp(ctx, localTable(t, dir).Store()))
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		sum := parseChecksum(data)
		require.NotNil(t, sum, file)
		require.NoError(t, sum.contradicts(s), file)

		var theirs, ours map[string]any
		require.NoError(t, json.Unmarshal(data, &theirs))
		if old, ok := theirs["histogramOpt"]; ok {
			theirs["fileSizeHistogram"] = old
		}
		c, _ := checksumOf(s)
		require.NoError(t, json.Unmarshal(mustJSON(c), &ours))
		for _, field := range []string{"tableSizeBytes", "numFiles", "numMetadata", "numProtocol", "numDeletedRecordsOpt", "numDeletionVectorsOpt", "inCommitTimestampOpt",
			"setTransactions", "domainMetadata", "metadata", "protocol", "fileSizeHistogram", "deletedRecordCountsHistogramOpt"} {
			if field == "inCommitTimestampOpt" && version == 1 { // that commit was edited
				continue
			}
			if want, ok := theirs[field]; ok {
				require.Equal(t, want, ours[field], "%s of %s", field, file)
				compared++
			}
		}
	}
	require.Greater(t, compared, 250)
}

// TestChecksumText is a whole checksum.
func TestChecksumText(t *testing.T) {
	st := richTable(t, "classic")
	s, err := NewTable(st).newest(ctx)
	require.NoError(t, err)
	require.NoError(t, writeChecksum(ctx, st, s))
	text, err := st.Get(ctx, checksumKey(2))
	require.NoError(t, err)
	require.Regexp(t, `^{"tableSizeBytes":34,"numFiles":3,"numDeletedRecordsOpt":2,"numDeletionVectorsOpt":1,"numMetadata":1,"numProtocol":1,`+
		`"setTransactions":\[{"appId":"a","version":7,"lastUpdated":1700000000001},{"appId":"b","version":-1}\],`+
		`"domainMetadata":\[{"domain":"delta.rowTracking","configuration":"{\\"rowIdHighWaterMark\\":9}","removed":false}\],`+
		`"metadata":{"id":"11111111-.*},"protocol":{"minReaderVersion":3,.*},"fileSizeHistogram":{"sortedBinBoundaries":\[0,8192,.*,274877906944\],"fileCounts":\[3,0,.*\],"totalBytes":\[34,0,.*\]},`+
		`"deletedRecordCountsHistogramOpt":{"deletedRecordCounts":\[2,1,0,0,0,0,0,0,0,0\]}}
$`, string(text))
	require.NoError(t, writeChecksum(ctx, st, s), "one that is there stays")
}

// TestChecksumsAreWrittenWhenExact: where the time of a version is not known, there is none; where txns expire, they are left out.
func TestChecksumsAreWrittenWhenExact(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, nil, map[string]string{"delta.setTransactionRetentionDuration": "interval 1 day"})
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	c, exact := checksumOf(s)
	require.True(t, exact)
	require.Nil(t, c.SetTransactions)
	require.Nil(t, c.NumDeletionVectors, "the table knows no deletion vectors")
	timed := *s
	timed.metadata = &Metadata{Configuration: map[string]string{inCommitProperty: "true"}}
	_, exact = checksumOf(&timed)
	require.False(t, exact)
}

// TestIDWithoutReplay: the id is known without the log where a checksum of the newest version's own commit tells it.
func TestIDWithoutReplay(t *testing.T) {
	memory := memoryStore(t)
	table := createTable(t, memory, testSchema, nil, nil)
	appendFiles(t, table, "a")
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	want := s.Metadata().ID

	id, err := NewTable(memory).ID(ctx)
	require.NoError(t, err)
	require.Equal(t, want, id, "no checksum")
	require.NoError(t, writeChecksum(ctx, memory, s))
	st := faultstore.New(memory)
	id, err = NewTable(st).ID(ctx)
	require.NoError(t, err)
	require.Equal(t, want, id)
	require.NotContains(t, st.Log(faultstore.Get), commitKey(0))

	for _, text := range []string{"not JSON", "{}", `{"metadata":{"id":"another"},"txnId":"of another commit"}`} {
		overwrite(t, memory, checksumKey(1), text)
		id, err = NewTable(memory).ID(ctx)
		require.NoError(t, err)
		require.Equal(t, want, id, text)
	}
	_, err = NewTable(memoryStore(t)).ID(ctx)
	require.ErrorIs(t, err, ErrNoTable)
}

func TestBinsOfHistograms(t *testing.T) {
	require.Len(t, sizeBins, 95)
	for n, bin := range map[int64]int{-1: 0, 0: 0, 8191: 0, 8192: 1, 8193: 1, 1 << 62: 94} {
		require.Equal(t, bin, binOf(sizeBins, n), n)
	}
	require.Equal(t, 9, binOf(deletedBins, 1<<31-1))
	require.Equal(t, 8, binOf(deletedBins, 1<<31-2))
}
