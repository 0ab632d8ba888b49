package delta

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
	"lakesql/store"
)

func TestExact(t *testing.T) {
	const allNull, twoNulls, noNulls = `"nullCount":{"id":5}`, `"nullCount":{"id":2}`, `"nullCount":{"id":0}`
	const bounds = `"minValues":{"id":1},"maxValues":{"id":9},`
	const wide = `,"tightBounds":false`
	for _, c := range []struct {
		stats         string // behind numRecords 5
		live, deleted int64
		want          string
	}{
		{bounds + noNulls, 5, 0, "5 values 1 to 9"},
		{bounds + twoNulls, 5, 0, "3 values 1 to 9"},
		{bounds + noNulls + wide, 5, 0, "5 values unbounded"},
		{bounds + noNulls + wide, 2, 3, "2 values unbounded"},
		{bounds + twoNulls + wide, 2, 3, "-1 values unbounded"},
		{allNull, 5, 0, "0 values none"},
		{allNull + wide, 2, 3, "0 values none"},
		{noNulls, 5, 0, "5 values unbounded"},
		{`"minValues":{"id":1},` + noNulls, 5, 0, "5 values unbounded"},
		{`"maxValues":{"id":1},` + twoNulls, 5, 0, "3 values unbounded"},
		{bounds + `"nullCount":{}`, 5, 0, "-1 values 1 to 9"},
		{bounds + `"nullCount":{"id":6}`, 5, 0, "-1 values 1 to 9"},
		{`"minValues":{"id":1.5},"maxValues":{"id":9},` + noNulls, 5, 0, "5 values unbounded"},
		{`"nullCount":{"other":0}`, 5, 0, "-1 values unbounded"},
	} {
		schema := batch.NewSchema(batch.Field{Name: "id", Type: kind(batch.Int64), Nullable: true})
		stats, err := parseStats([]byte(`{"numRecords":5,`+c.stats+`}`), newStatsShape(newMeta(t, schema, nil, nil), schema.Fields))
		require.NoError(t, err)
		got := stats.exact(0, c.live, c.live+c.deleted)
		text := fmt.Sprintf("%d values unbounded", got.Values)
		switch {
		case got.Bounded && got.Min == nil:
			text = fmt.Sprintf("%d values none", got.Values)
		case got.Bounded:
			text = fmt.Sprintf("%d values %s to %s", got.Values, got.Min.Format(0), got.Max.Format(0))
		}
		require.Equal(t, c.want, text, c.stats)
	}
}

// TestExactOfSnapshots: what is kept of chunks is what the files say, for every snapshot, whatever was asked before of which.
func TestExactOfSnapshots(t *testing.T) {
	schema := batch.NewSchema(batch.Field{Name: "id", Type: kind(batch.Int64), Nullable: true}, batch.Field{Name: "day", Type: kind(batch.Date), Nullable: true},
		batch.Field{Name: "p", Type: kind(batch.String), Nullable: true})
	rapid.Check(t, func(t *rapid.T) {
		st := store.NewMemory("mem://t")
		require.NoError(t, st.MakeRoot(ctx))
		meta, err := NewMetadata(schema, []string{"p"}, nil)
		require.NoError(t, err)
		table := NewTable(st)
		x := table.Begin(nil)
		x.SetMetadata(meta)
		created, err := x.Commit(ctx, Operation{Name: "CREATE TABLE"})
		require.NoError(t, err)
		snapshots := []*Snapshot{created.Snapshot}
		for v := range rapid.IntRange(1, 6).Draw(t, "commits") {
			now, err := table.Snapshot(ctx)
			require.NoError(t, err)
			x := table.Begin(now)
			for i := range rapid.IntRange(0, 50).Draw(t, "adds") {
				low, nulls := rapid.IntRange(-20, 20).Draw(t, "low"), rapid.IntRange(0, 3).Draw(t, "nulls")
				x.Add(AddFile{Path: fmt.Sprintf("f%d-%d", v, i), Size: 1, NumRecords: 3, PartitionValues: map[string]string{"p": string("ab"[nulls%2])},
					Stats: fmt.Sprintf(`{"numRecords":3,"minValues":{"id":%d},"maxValues":{"id":%d},"nullCount":{"id":%d,"day":3}}`, low, low+2, nulls)})
			}
			for f := range now.Files() {
				if rapid.IntRange(0, 9).Draw(t, "remove") == 0 {
					x.Remove(f)
				}
			}
			snapshots = append(snapshots, x.View())
			done, err := x.Commit(ctx, Operation{Name: "WRITE"})
			require.NoError(t, err)
			snapshots = append(snapshots, done.Snapshot)
			for range 3 {
				s := rapid.SampledFrom(snapshots).Draw(t, "snapshot")
				columns := rapid.SliceOfNDistinct(rapid.SampledFrom(schema.Fields), 1, 3, func(f batch.Field) string { return f.Name }).Draw(t, "columns")
				want := slices.Repeat([]ExactColumn{noValues}, len(columns))
				for f := range s.Files() {
					live, _ := f.NumLiveRecords()
					for i, c := range s.ExactFile(f, live, columns) {
						want[i].Add(c)
					}
				}
				got, err := s.Exact(ctx, columns)
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
		}
	})
}
