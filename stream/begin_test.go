package stream

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCreateKeepsWhatIsThere crashes before and after each durable operation of CREATE STREAM with includeExistingFiles => false, or startingVersion => 'latest', and then
// something comes. Where the statement has made the stream, that is read whenever the stream starts; what was there before is read never.
func TestCreateKeepsWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		name  string
		sql   string
		add   func(l *lake, n int) []string // makes input and returns its rows
		needs func(*Config)
		least int // durable operations of CREATE
	}{
		{"files", "file:///lake/landing new", func(l *lake, n int) []string {
			l.put(fmt.Sprintf("%d.csv", n), fmt.Sprintf("id,name\n%d,a\n", n))
			return []string{fmt.Sprintf("%d|a", n)}
		}, func(*Config) {}, 4}, // the checkpoint, begin.json, the entry, its pin, the definition
		{"a table", "table file:///lake/tables/input startingVersion=latest", func(l *lake, n int) []string { return l.appendInput(n) }, overTables, 3},
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				paused := sales(func(d *Definition) { d.Paused, d.SelectSQL = true, c.sql })
				for n := 1; ; n++ {
					l := newLake(t)
					c.add(l, 1)
					crashed := crash(l, when, n, func(s *server) error {
						_, err := s.Create(t.Context(), paused, CreateOptions{})
						return errors.Join(err, errors.New("nothing runs"))
					}, c.needs)
					after := l.crashed()
					made := len(after.keys("catalog/")) > 0
					between := c.add(after, 2)
					next := after.serve(c.needs)
					require.NoError(t, next.Start(t.Context()))
					_, err := next.Create(t.Context(), paused, CreateOptions{IfNotExists: true})
					require.NoError(t, err, "operation %d", n)
					want := c.add(after, 3)
					next.restart()
					next.caughtUp()
					rows := after.rows("sales")
					if made || len(rows) > len(want) { // else the second statement is the one that counts, if the first one has not kept the moment
						want = slices.Sorted(slices.Values(slices.Concat(between, want)))
					}
					require.Equal(t, want, rows, "operation %d", n)
					require.NoError(t, next.Close())
					if !crashed {
						require.True(t, made)
						require.GreaterOrEqual(t, n, c.least)
						break
					}
				}
			})
		}
	}
}
