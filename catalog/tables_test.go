package catalog

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
	"lakesql/store"
)

// sharedTables is the folder of real Delta tables by other writers.
func sharedTables(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("LAKESQL_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	tables, err := filepath.Abs(filepath.Join(shared, "tables"))
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(tables, "expected.json")); err != nil {
		t.Skip("the folder of tables by other writers is absent: set LAKESQL_SHARED to the folder that has tables/expected.json")
	}
	return tables
}

func TestTablesByOtherWriters(t *testing.T) {
	tables := sharedTables(t)
	text, err := os.ReadFile(filepath.Join(tables, "expected.json"))
	require.NoError(t, err)
	var expected map[string]struct {
		Rows string `json:"rows"`
	}
	require.NoError(t, json.Unmarshal(text, &expected))
	l := newLab(t)
	l.c.cfg.Fence, err = store.NewFence(l.dir, l.dir, tables)
	require.NoError(t, err)
	read := 0
	for name, want := range expected {
		table := "delta.`" + filepath.Join(tables, name) + "`"
		_, err := l.try("SELECT * FROM %s", table)
		var unsupported *delta.UnsupportedError
		if errors.As(err, &unsupported) || errors.Is(err, delta.ErrCorrupt) {
			continue
		}
		require.NoError(t, err, name)
		read++
		require.Equal(t, l.byRows("SELECT * FROM "+table), l.rows("SELECT * FROM "+table), name)
		if want.Rows != "" {
			require.Equal(t, []string{want.Rows}, l.rows("SELECT COUNT(*) FROM "+table), name)
		}
	}
	require.Greater(t, read, 30, "tables that could be read")
}
