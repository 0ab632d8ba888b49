package vector

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// numbersTable has the longs 0 to rows-1 in one column, in files of perFile rows and row groups of 100.
func numbersTable(t require.TestingT, rows, perFile int) *table {
	schema := batch.NewSchema(batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true})
	x := newTable(t, schema)
	for n := 0; n < rows; {
		b := batch.NewBuilder(schema)
		for end := n + perFile; n < end; n++ {
			require.NoError(t, b.AppendRow(int64(n)))
		}
		x.writePlain(b.Finish(), 100)
	}
	return x
}

// atMost publishes id <= n.
func atMost(f *runtimeFilter, n int64) {
	f.publish(func(values []Expr) (Expr, error) {
		hi := batch.NewVector(values[0].Type(), 1)
		hi.AppendInt64(n)
		return between(values[0], nil, hi)
	})
}

// TestRuntimeFilter: what is published, before or while a scan is read, leaves out files, row groups and rows, and only those that it is not true for.
func TestRuntimeFilter(t *testing.T) {
	x := numbersTable(t, 1200, 300)
	id := NewColumn(0, x.snap.Schema().Fields[0])
	count := func(scan Operator, each func(last int64)) (rows int) {
		for {
			b, err := scan.Next(context.Background())
			if err == io.EOF {
				require.NoError(t, scan.Close())
				return rows
			}
			require.NoError(t, err)
			rows += b.Rows()
			each(b.Cols[0].I64[b.Row(b.Rows()-1)])
		}
	}
	even := must(NewCompare(Equal, must(NewArith(Modulo, id, NewInt(2))), NewInt(0)))

	filter := new(runtimeFilter)
	scan := x.scan([]string{"id"}, nil)
	renamed := NewProject(NewFilter(scan, even), []Expr{id}, []batch.Field{{Name: "n", Type: id.Type()}})
	require.True(t, filterBy(renamed, filter, []Expr{id}))
	atMost(filter, 449)
	require.Equal(t, 225, count(renamed, func(int64) {}))
	require.Equal(t, 1+2*3, scan.Stats().RowGroupsSkipped, "one of the second file, and all of the last two")

	filter = new(runtimeFilter)
	scan = x.scan([]string{"id"}, nil)
	require.True(t, filterBy(scan, filter, []Expr{id}))
	rows := count(scan, func(last int64) {
		if last == 99 {
			atMost(filter, 149)
		}
	})
	require.GreaterOrEqual(t, rows, 150)
	require.Less(t, rows, 600)

	require.False(t, filterBy(NewLimit(x.scan([]string{"id"}, nil), 0, 10), new(runtimeFilter), []Expr{id}), "a limit counts rows")
}
