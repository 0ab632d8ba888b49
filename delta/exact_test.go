package delta

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
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
	var none *Stats
	require.Equal(t, ExactColumn{Values: -1}, none.exact(0, 5, 5))
}
