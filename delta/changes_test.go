package delta

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta/dv"
	"lakesql/integration/shared"
)

// countChanges counts rows by the type of their change, as the expected facts spell it.
func countChanges(t *testing.T, table *Table, s *Snapshot, sets []ChangeSet) string {
	counts, source := map[string]int64{}, "files"
	for _, c := range sets {
		if c.Type != "" {
			counts[c.Type] += changedRows(t, table, s, c)
			continue
		}
		source = "cdc"
		for line := range strings.Lines(readFile(t, table, s, c.File, FileReaderOptions{Columns: []batch.Field{ChangeTypeField}})) {
			counts[strings.TrimSpace(line)]++
		}
	}
	var out []string
	for _, kind := range sortedKeys(counts) {
		out = append(out, kind+"="+strconv.FormatInt(counts[kind], 10))
	}
	if len(out) == 0 {
		out = append(out, "none")
	}
	return strings.Join(out, ",") + "(" + source + ")"
}

// changedRows counts the rows of a set by reading them.
func changedRows(t *testing.T, table *Table, s *Snapshot, c ChangeSet) int64 {
	if c.Rows != nil {
		return c.Rows.Cardinality()
	}
	return int64(strings.Count(readFile(t, table, s, c.File, FileReaderOptions{Columns: s.Schema().Fields[:1]}), "\n"))
}

func TestChangesOfOtherWriters(t *testing.T) {
	dir, tables := shared.Tables(t)
	versions := 0
	for name, want := range tables {
		t.Run(name, func(t *testing.T) {
			table := localTable(t, filepath.Join(dir, name))
			last, err := table.Snapshot(ctx)
			if err != nil || want.Changes == "" || name == "vacuumed_old_versions" {
				return
			}
			for _, fact := range strings.Fields(want.Changes) {
				text, counts, ok := strings.Cut(fact, ":")
				version, err := strconv.ParseInt(text, 10, 64)
				if !ok || err != nil {
					continue
				}
				// The walk itself, without the question whether the table records its changes.
				s, err := table.SnapshotAt(ctx, version)
				require.NoError(t, err)
				c, err := readCommit(ctx, table.st, version)
				require.NoError(t, err)
				var sets []ChangeSet
				walk := &changeWalk{table: table, last: last}
				require.NoError(t, walk.version(ctx, s, c, func(c ChangeSet, err error) bool {
					require.NoError(t, err)
					sets = append(sets, c)
					return true
				}))
				require.Equal(t, counts, countChanges(t, table, s, sets), "version %d", version)
				versions++
			}
		})
	}
	require.Greater(t, versions, 100)
}

// TestChanges goes through the feed of a table from end to end.
func TestChanges(t *testing.T) {
	config := map[string]string{"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}
	table, s := tableOfTens(t, append([]string{"changeDataFeed"}, vectorFeatures...), config, "a", "b")
	commit := func(do func(x *Transaction, s *Snapshot)) *Snapshot {
		x := table.Begin(s)
		do(x, s)
		done, err := x.Commit(ctx, Operation{Name: "WRITE"})
		require.NoError(t, err)
		return done.Snapshot
	}
	deleteRows := func(path string, rows ...int64) func(*Transaction, *Snapshot) {
		return func(x *Transaction, s *Snapshot) {
			require.NoError(t, x.DeleteRows(fileOf(t, s, path), dv.Of(rows...)))
		}
	}
	s = commit(deleteRows("a", 1))
	s = commit(deleteRows("a", 3, 4))
	atThree := s
	s = commit(func(x *Transaction, s *Snapshot) { x.Remove(fileOf(t, s, "a")) })
	s = commit(func(x *Transaction, s *Snapshot) {
		x.Remove(fileOf(t, s, "b"))
		x.Add(tenRows("c"))
		x.Rearrange()
	})
	s = commit(func(x *Transaction, s *Snapshot) { x.Add(fileOf(t, atThree, "a").AddFile()) })
	s = commit(func(x *Transaction, s *Snapshot) {
		x.Remove(fileOf(t, s, "c"))
		x.Add(tenRows("d"))
		x.AddChange(AddFile{Path: "_change_data/x", Size: 5})
	})

	snapshot, sets, err := table.Changes(ctx, 0, s.Version())
	require.NoError(t, err)
	require.Equal(t, s.Version(), snapshot.Version())
	var got []string
	for c, err := range sets {
		require.NoError(t, err)
		text := fmt.Sprintf("%d %s %s", c.Version, c.Type, c.File.Path)
		if c.Rows != nil {
			text += fmt.Sprint(slices.Collect(c.Rows.All()))
		} else if d := c.File.DeletionVector(); d != nil {
			text += fmt.Sprintf(" without %d", d.Cardinality)
		}
		require.False(t, c.Timestamp.IsZero())
		got = append(got, text)
	}
	require.Equal(t, []string{"1 insert a", "1 insert b", "2 delete a[1]", "3 delete a[3 4]", "4 delete a without 3",
		"6 insert a without 3", "7  _change_data/x"}, got)

	for range mustChanges(t, table, 1, 3) {
		break // a caller may stop
	}
	_, _, err = table.Changes(ctx, 3, 2)
	require.ErrorContains(t, err, "DELTA_INVALID_CDC_RANGE")
	_, _, err = table.Changes(ctx, 0, 99)
	require.ErrorIs(t, err, ErrNoVersion)
	require.ErrorContains(t, err, "there are versions 0 to 7")
}

func mustChanges(t *testing.T, table *Table, from, to int64) func(func(ChangeSet, error) bool) {
	_, sets, err := table.Changes(ctx, from, to)
	require.NoError(t, err)
	return sets
}

// errorOf is why a feed is refused.
func errorOf(table *Table, from, to int64) error {
	_, _, err := table.Changes(ctx, from, to)
	return err
}

func TestChangesThatCannotBeRead(t *testing.T) {
	table, _ := tableOfTens(t, append([]string{"changeDataFeed"}, vectorFeatures...), nil, "a")
	schema := func(old, new string) func(*Metadata) {
		return func(m *Metadata) { m.SchemaString = strings.Replace(m.SchemaString, old, new, 1) }
	}
	winnerOf(t, table, nil, "{}", func(m *Metadata) { m.Configuration["delta.enableChangeDataFeed"] = "true" })
	appendFiles(t, table, "b")
	winnerOf(t, table, nil, "{}", schema(`]}`, `,{"name":"more","type":"string","nullable":true,"metadata":{}}]}`))
	appendFiles(t, table, "c")
	require.ErrorContains(t, errorOf(table, 1, 5), "[DELTA_MISSING_CHANGE_DATA]")
	require.ErrorContains(t, errorOf(table, 1, 5), "version 1 did not record them")
	require.NoError(t, errorOf(table, 2, 5), "a new column is null in older rows")
	require.Equal(t, "s.a", unreadable(structured(batch.Int64), structured(batch.Int32), ""))
	require.Empty(t, unreadable(structured(batch.Int32), structured(batch.Int64), ""))

	winnerOf(t, table, nil, "{}", schema(`"date"`, `"string"`))
	appendFiles(t, table, "d")
	require.ErrorContains(t, errorOf(table, 2, 7), "column day of version 2 is not what it is in version 7")
	require.NoError(t, errorOf(table, 2, 5))
	require.NoError(t, errorOf(table, 6, 7))
	winnerOf(t, table, nil, "{}", func(m *Metadata) { m.Configuration["delta.enableChangeDataFeed"] = "false" })
	winnerOf(t, table, nil, "{}", func(m *Metadata) { m.Configuration["delta.enableChangeDataFeed"] = "true" })
	require.ErrorContains(t, errorOf(table, 6, 9), "version 8 did not record them")
}

// structured is a column s that is a struct of a.
func structured(a batch.Kind) []batch.Field {
	return []batch.Field{{Name: "s", Type: batch.StructOf(batch.Field{Name: "a", Type: kind(a)})}}
}
