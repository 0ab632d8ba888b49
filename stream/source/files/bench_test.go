package files

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/stream/source"
)

// BenchmarkBacklog is what finding and recording a batch of 1,000 files costs while many more wait and batches take two seconds each: in a folder where nothing happens, and
// in one that gets a file a batch.
func BenchmarkBacklog(b *testing.B) {
	for _, options := range []map[string]string{{}, {"latestFirst": "true"}} {
		for _, busy := range []bool{false, true} {
			b.Run(fmt.Sprintf("latestFirst=%v/busy=%v", options["latestFirst"] != "", busy), func(b *testing.B) {
				const waiting = 100_000
				dir := b.TempDir()
				landing := filepath.Join(dir, "in")
				require.NoError(b, os.Mkdir(landing, 0o755))
				past := time.Now().Add(-24 * time.Hour)
				n := 0
				put := func() {
					path := filepath.Join(landing, fmt.Sprintf("f%07d.csv", n))
					n++
					require.NoError(b, os.WriteFile(path, []byte("id\n1\n"), 0o644))
					require.NoError(b, os.Chtimes(path, past, past))
				}
				for range waiting {
					put()
				}
				st, err := store.Open(store.FileURI(filepath.Join(dir, "cp")))
				require.NoError(b, err)
				cp, err := checkpoint.Create(b.Context(), st)
				require.NoError(b, err)
				now := time.Now()
				spec := source.Spec{Kind: "files", Path: store.FileURI(landing), Options: map[string]string{"format": "csv", "schema": "id INT"}}
				for k, v := range options {
					spec.Options[k] = v
				}
				src, err := Open(b.Context(), spec, source.Env{Open: store.Open, Checkpoint: cp, Now: func() time.Time { return now }})
				require.NoError(b, err)
				defer src.Close()
				at := source.None
				for b.Loop() {
					end, _, err := src.Latest(b.Context(), at, source.Limit{})
					require.NoError(b, err)
					require.NoError(b, src.Committed(b.Context(), 0, at, end))
					if src.Backlog().Files < 2000 {
						b.StopTimer()
						for range waiting {
							put()
						}
						now = now.Add(time.Hour)
						require.NoError(b, src.(*Source).look(b.Context()))
						b.StartTimer()
					}
					at, now = end, now.Add(2*time.Second)
					if busy {
						put()
					}
				}
			})
		}
	}
}

// BenchmarkStart opens a source whose log has many files, all of them still in the folder, and looks for new ones.
func BenchmarkStart(b *testing.B) {
	const known, entries, links = 500_000, 10, 50_000
	dir := b.TempDir()
	landing := filepath.Join(dir, "landing")
	require.NoError(b, os.Mkdir(landing, 0o755))
	st, err := store.Open(store.FileURI(filepath.Join(dir, "cp")))
	require.NoError(b, err)
	cp, err := checkpoint.Create(b.Context(), st)
	require.NoError(b, err)
	list, first := make([]checkpoint.SourceEntry, known), ""
	for i := range list {
		path := filepath.Join(landing, fmt.Sprintf("part-%010d.csv", i))
		if i%links == 0 {
			first = path
			require.NoError(b, os.WriteFile(path, []byte("id\n1\n"), 0o644))
		} else {
			require.NoError(b, os.Link(first, path))
		}
		list[i] = checkpoint.SourceEntry{Path: store.FileURI(path), TimestampMs: 1788920696120}
	}
	for id := range entries {
		require.NoError(b, cp.Source(0).Add(b.Context(), int64(id), list[id*known/entries:(id+1)*known/entries]))
	}
	spec := source.Spec{Kind: "files", Path: store.FileURI(landing), Options: map[string]string{"format": "csv", "schema": "id INT"}}
	for b.Loop() {
		again, err := checkpoint.Open(b.Context(), st)
		require.NoError(b, err)
		src, err := Open(b.Context(), spec, source.Env{Open: store.Open, Checkpoint: again, Now: time.Now})
		require.NoError(b, err)
		end, _, err := src.Latest(b.Context(), formatOffset(entries-1), source.Limit{})
		require.NoError(b, err)
		require.Equal(b, formatOffset(entries-1), end)
		require.NoError(b, src.Close())
	}
}
