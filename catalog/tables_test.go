package catalog

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
	"lakesql/integration/shared"
	"lakesql/store"
)

func TestTablesByOtherWriters(t *testing.T) {
	tables, expected := shared.Tables(t)
	l := newLab(t)
	var err error
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
