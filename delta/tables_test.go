package delta

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/shared"
	"lakesql/store"
)

func localTable(t testing.TB, dir string) *Table {
	st, err := store.NewLocal(dir)
	require.NoError(t, err)
	return NewTable(st)
}

// TestOtherWritersTables replays every table and compares the state with what another program found, also of those that
// are refused: their log is read all the same.
func TestOtherWritersTables(t *testing.T) {
	dir, tables := shared.Tables(t)
	for name, want := range tables {
		if strings.HasPrefix(name, "refuse_gap") || strings.HasPrefix(name, "refuse_no_protocol") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, _, err := loadNewest(context.Background(), localTable(t, filepath.Join(dir, name)).Store())
			require.NoError(t, err)
			require.Equal(t, want.Version, strconv.FormatInt(s.Version(), 10))
			require.Equal(t, want.Protocol, strconv.Itoa(s.protocol.MinReader)+","+strconv.Itoa(s.protocol.MinWriter))
			if want.Files == "" { // its facts stop at the protocol
				return
			}
			require.Equal(t, want.Files, strconv.Itoa(s.NumFiles()))
			require.Equal(t, want.Bytes, strconv.FormatInt(s.SizeInBytes(), 10))
			require.Equal(t, want.DV, strconv.Itoa(s.files.withDV))
			require.Equal(t, want.Part, strings.Join(s.metadata.PartitionColumns, " "))
			requireTxns(t, want.Txn, s)
			requireFiles(t, want, s)
		})
	}
}

func requireTxns(t *testing.T, want string, s *Snapshot) {
	var got []string
	txns := s.txns.all()
	for _, app := range sortedKeys(txns) {
		got = append(got, app+":"+strconv.FormatInt(txns[app].version, 10))
	}
	require.Equal(t, want, strings.Join(got, " "))
}

func requireFiles(t *testing.T, want shared.Table, s *Snapshot) {
	files, rows := 0, int64(0)
	for f := range s.Files() {
		files++
		if n, ok := f.NumRecords(); ok {
			rows += n
		}
		if checkReadable(s) == nil {
			stats, err := f.Stats()
			require.NoError(t, err)
			require.Equal(t, f.ref == 0, stats == nil)
			for column, text := range f.PartitionValues {
				_, err := ParsePartitionValue(text, s.schema.Fields[s.schema.Index(column)].Type)
				require.NoError(t, err)
			}
		}
	}
	require.Equal(t, s.NumFiles(), files)
	if want.Sums && want.DV == "0" {
		require.Equal(t, want.Rows, strconv.FormatInt(rows, 10))
	}
}

// refusedTables says what must be named when a table is read ("r") or written ("w").
var refusedTables = map[string]string{
	"clustering_old_name_row_tracking": "w liquid",
	"iceberg_compat_v2":                "w icebergCompatV2",
	"refuse_catalog_managed":           "r catalogManaged",
	"refuse_protocol_99":               "r reader version 99",
	"refuse_unknown_reader_feature":    "r geospatial",
	"refuse_unsupported_type_change":   "r typeWidening",
	"refuse_write_writer_version_8":    "w writer version 8",
}

func TestRefusedTables(t *testing.T) {
	dir, tables := shared.Tables(t)
	for name := range tables {
		if name == "refuse_gap_in_log" || name == "refuse_no_protocol" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, err := localTable(t, filepath.Join(dir, name)).Snapshot(ctx)
			kind := "r "
			if err == nil {
				kind, err = "w ", CheckWritable(s)
			}
			want := refusedTables[name]
			if want == "" {
				require.NoError(t, err)
				return
			}
			var unsupported *UnsupportedError
			require.ErrorAs(t, err, &unsupported)
			require.Contains(t, kind+strings.Join(unsupported.Features, ", "), want)
			require.Contains(t, err.Error(), unsupported.Features[0])
		})
	}
}

func TestDamagedLogsAreRefused(t *testing.T) {
	dir := shared.Path(t, "tables")
	_, err := localTable(t, filepath.Join(dir, "refuse_gap_in_log")).Snapshot(ctx)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "commit 1 is missing")
	_, err = localTable(t, filepath.Join(dir, "refuse_no_protocol")).Snapshot(ctx)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "no protocol action")
	_, err = localTable(t, filepath.Join(dir, "nothing-of-that-name")).Snapshot(ctx)
	require.ErrorIs(t, err, ErrNoTable)
}

// TestOldVersions counts the rows of every version that can be rebuilt.
func TestOldVersions(t *testing.T) {
	dir, tables := shared.Tables(t)
	versions := 0
	for name, want := range tables {
		if want.Hist == "" || want.DV != "0" || strings.HasPrefix(refusedTables[name], "r ") || name == "vacuumed_old_versions" ||
			name == "dv_inline_and_restore" { // its newest version alone has no deletion vectors
			continue
		}
		table := localTable(t, filepath.Join(dir, name))
		for _, fact := range strings.Fields(want.Hist) {
			versionText, rowsText, _ := strings.Cut(fact, ":")
			version, err := strconv.ParseInt(versionText, 10, 64)
			require.NoError(t, err)
			s, err := table.SnapshotAt(ctx, version)
			require.NoError(t, err, "%s version %d", name, version)
			require.Equal(t, version, s.Version())
			rows, known := int64(0), true
			for f := range s.Files() {
				n, ok := f.NumRecords()
				rows, known = rows+n, known && ok
			}
			if known && s.files.withDV == 0 {
				require.Equal(t, rowsText, strconv.FormatInt(rows, 10), "%s version %d", name, version)
				versions++
			}
		}
	}
	require.Greater(t, versions, 60)
}

func TestHistoryOfOtherWriters(t *testing.T) {
	dir := shared.Path(t, "tables")
	table := localTable(t, filepath.Join(dir, "ckpt_classic_then_commits"))
	entries, err := table.History(ctx, 1)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	e := entries[0]
	require.Equal(t, int64(11), e.Version)
	require.Equal(t, "WRITE", e.Operation)
	require.Equal(t, map[string]string{"mode": "Append", "partitionBy": "[]"}, e.Parameters)
	require.Equal(t, map[string]string{"numFiles": "1", "numOutputBytes": "463", "numOutputRows": "1"}, e.Metrics)
	require.Equal(t, int64(10), e.ReadVersion)
	require.Equal(t, "WriteSerializable", e.IsolationLevel)
	require.True(t, *e.IsBlindAppend)

	// In-commit timestamps are the versions' times. That of version 1 was edited to lie before version 0's.
	table = localTable(t, filepath.Join(dir, "ict_with_cdf"))
	entries, err = table.History(ctx, 2)
	require.NoError(t, err)
	require.Equal(t, int64(1783874213881), entries[0].Timestamp.UnixMilli())
	for _, e := range entries {
		v, err := table.VersionAt(ctx, e.Timestamp)
		require.NoError(t, err)
		require.Equal(t, e.Version, v)
	}
	_, err = table.VersionAt(ctx, time.UnixMilli(1))
	require.ErrorIs(t, err, ErrNoVersion)
}

// TestChecksumsOfOtherWriters verifies the checksum of every _last_checkpoint that has one.
func TestChecksumsOfOtherWriters(t *testing.T) {
	dir, tables := shared.Tables(t)
	verified := 0
	for name := range tables {
		data, err := os.ReadFile(filepath.Join(dir, name, lastCheckpointKey))
		if err != nil {
			continue
		}
		var hint struct{ Checksum string }
		if json.Unmarshal(data, &hint) != nil || hint.Checksum == "" {
			continue
		}
		leaves, err := hintLeaves(data)
		require.NoError(t, err)
		require.Equal(t, hint.Checksum, leaves.sum(byPath), name)
		verified++
	}
	require.Equal(t, 12, verified)
}

// TestChecksumOfTheProtocol is the protocol's own example.
func TestChecksumOfTheProtocol(t *testing.T) {
	leaves, err := hintLeaves([]byte(`{"k0":"'v 0'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}`))
	require.NoError(t, err)
	require.Equal(t, "6a92d155a59bf2eecbd4b4ec7fd1f875", leaves.sum(byPath))
}
