package delta

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// sharedTables is the folder of real tables by other writers; tests that need it are skipped without it.
func sharedTables(t testing.TB) string {
	dir := os.Getenv("LAKESQL_SHARED")
	if dir == "" {
		dir = "../../shared"
	}
	dir, err := filepath.Abs(filepath.Join(dir, "tables"))
	require.NoError(t, err)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the tables of other writers are not here: %v; set LAKESQL_SHARED to their folder", err)
	}
	return dir
}

// expectedTable is an entry of the tables' expected.json.
type expectedTable struct {
	Version  string   `json:"ver"`
	Protocol string   `json:"pr"`
	Files    string   `json:"files"`
	Bytes    string   `json:"bytes"`
	DV       string   `json:"dv"`
	Tombs    string   `json:"tomb"`
	Part     string   `json:"part"`
	Config   string   `json:"cfg"`
	Txn      string   `json:"txn"`
	Domains  string   `json:"dom"`
	Rows     string   `json:"rows"`
	Hist     string   `json:"hist"`
	Sums     bool     `json:"S"` // the sum of numRecords equals the rows
	Err      []string `json:"err"`
}

func expectedTables(t testing.TB) (dir string, tables map[string]expectedTable) {
	dir = sharedTables(t)
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &tables))
	return dir, tables
}

func localTable(t testing.TB, dir string) *Table {
	st, err := store.NewLocal(dir)
	require.NoError(t, err)
	return NewTable(st)
}

// TestOtherWritersTables replays every table and compares the state with what another program found, also of those that
// are refused: their log is read all the same.
func TestOtherWritersTables(t *testing.T) {
	dir, tables := expectedTables(t)
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

func requireFiles(t *testing.T, want expectedTable, s *Snapshot) {
	files, rows := 0, int64(0)
	for f := range s.Files() {
		files++
		if n, ok := f.NumRecords(); ok {
			rows += n
		}
		if CheckReadable(s) == nil {
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
