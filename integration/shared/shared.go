// Package shared finds the real data that lies beside the checkout, in ../shared: Delta tables by other writers, the statements of real
// clients, the files of a lesson. Tests of any package read them where they lie and are skipped where they are not; the variable
// LAKESQL_SHARED names another folder.
package shared

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Path returns the absolute path of a file or folder of the shared data. The test is skipped when it is not there.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("LAKESQL_SHARED")
	if dir == "" {
		dir = filepath.Join(checkout(t), "..", "shared")
	}
	path, err := filepath.Abs(filepath.Join(append([]string{dir}, elem...)...))
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared data are not here: %v; set LAKESQL_SHARED to their folder", err)
	}
	return path
}

// checkout is the folder with go.mod, in or above the one that the test runs in.
func checkout(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		require.NotEqual(t, dir, up, "no go.mod above the test's folder")
		dir = up
	}
}

// Table is what another program found out about a Delta table: an entry of tables/expected.json. tables/INDEX.md says how.
type Table struct {
	Version  string   `json:"ver"`   // the newest
	Protocol string   `json:"pr"`    // "reader,writer"
	Files    string   `json:"files"` // live files; "" when the facts stop at the protocol
	Bytes    string   `json:"bytes"`
	DV       string   `json:"dv"` // files with a deletion vector
	Tombs    string   `json:"tomb"`
	Part     string   `json:"part"`   // partition columns
	Config   string   `json:"cfg"`    // table properties, "name:value name:value"
	Txn      string   `json:"txn"`    // "application:version"
	Domains  string   `json:"dom"`    // "domain:configuration"
	Schema   string   `json:"sch"`    // "id long, name string"
	Rows     string   `json:"rows"`   // live rows
	Hist     string   `json:"hist"`   // "version:rows version:rows"
	Changes  string   `json:"chg"`    // "version:type=rows,type=rows(where they come from)"
	Cols     []string `json:"cols"`   // "id: nonnull=3 distinct=3 min=5 max=9 sum=21"
	First    []string `json:"rowl"`   // the first rows as JSON, some of them cut short
	DVRows   []string `json:"dvrows"` // "file: deleted row indexes"
	Sums     bool     `json:"S"`      // the sum of numRecords, less what deletion vectors delete, equals the rows
	Err      []string `json:"err"`    // what made the program stop
}

// Tables returns the folder of the tables, and the facts by table name, which is a folder in it. The test is skipped without them.
func Tables(t testing.TB) (dir string, tables map[string]Table) {
	t.Helper()
	text, err := os.ReadFile(Path(t, "tables", "expected.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &tables))
	return Path(t, "tables"), tables
}
