package catalog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The catalog table's small files become one, while this server and another go on reading and writing it.
func TestCatalogTableIsCompacted(t *testing.T) {
	l := newLab(t)
	other := openLab(t, l.dir)
	for i := range 40 {
		l.exec(fmt.Sprintf("CREATE OR REPLACE VIEW v%d AS SELECT %d", i%20, i))
	}
	files := func(l *lab) int {
		snap, err := l.c.ledger.table.Snapshot(t.Context())
		require.NoError(t, err)
		return snap.NumFiles()
	}
	before, err := other.c.ledger.read(t.Context())
	require.NoError(t, err)
	require.NoError(t, l.c.keeper(l.c.ledger.table).Work(t.Context()))
	require.Less(t, files(l), 40)
	for i, l := range []*lab{l, other, openLab(t, l.dir)} {
		require.Equal(t, []string{"25"}, l.rows("SELECT * FROM v5"))
		l.exec(fmt.Sprintf("CREATE VIEW mine%d AS SELECT 1", i), fmt.Sprintf("DROP VIEW v%d", i))
		l.refused(fmt.Sprintf("SELECT * FROM v%d", i), "not found")
		known, there := 0, -1
		for there != files(l) { // until they are not compacted in the background meanwhile
			there = files(l)
			_, err := l.c.ledger.read(t.Context())
			require.NoError(t, err)
			known = len(l.c.ledger.files)
		}
		require.Equal(t, there, known, "no more than there are")
	}
	after, err := l.c.ledger.read(t.Context())
	require.NoError(t, err)
	require.Greater(t, after.seq, before.seq)
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM mine2"))
}
