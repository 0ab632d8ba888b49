package checkpoint

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// BenchmarkSourceLog measures what a long-lived stream pays: reading all entries at a start, and a compact batch with and without Prepare.
func BenchmarkSourceLog(b *testing.B) {
	const files = 1_000_000
	st, err := store.NewLocal(b.TempDir())
	require.NoError(b, err)
	c, err := Create(b.Context(), st)
	require.NoError(b, err)
	entries := make([]SourceEntry, files)
	for i := range entries {
		entries[i] = SourceEntry{Path: fmt.Sprintf("file:///data/landing/2026/part-%010d.csv", i), TimestampMs: 1788920696120}
	}
	l := c.Source(0)
	for id := range int64(10) {
		require.NoError(b, l.Add(b.Context(), id, entries[id*files/10:(id+1)*files/10]))
	}
	b.Run("All", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for _, err := range l.All(b.Context()) {
				require.NoError(b, err)
				n++
			}
			require.Equal(b, files, n)
		}
	})
	for _, prepare := range []bool{false, true} {
		b.Run(fmt.Sprintf("Compact/prepared=%v", prepare), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				latest, err := l.Latest(b.Context())
				require.NoError(b, err)
				for latest++; (latest+1)%CompactInterval != 0; latest++ {
					require.NoError(b, l.Add(b.Context(), latest, entries[:1]))
				}
				if prepare {
					require.NoError(b, l.Prepare(b.Context()))
				}
				b.StartTimer()
				require.NoError(b, l.Add(b.Context(), latest, entries[:1]))
			}
		})
	}
}
