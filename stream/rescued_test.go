package stream

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/stream/source"
	"lakesql/vector"
)

// rescuing is SELECT * over a folder whose rescued values are in a column r; or, with forgets, all but that column.
type rescuing struct {
	compilerFake
	forgets bool
}

func (c rescuing) Sources(ctx context.Context, d Definition) ([]source.Spec, error) {
	specs, err := c.compilerFake.Sources(ctx, d)
	for i := range specs {
		specs[i].Options["rescuedDataColumn"] = "r"
		specs[i].Options["schema"] = "id INT"
	}
	return specs, err
}

func (c rescuing) Compile(_ context.Context, _ Definition, inputs []*batch.Schema) (Plan, error) {
	fields := inputs[0].Fields
	if c.forgets && inputs[0].Index("r") >= 0 {
		fields = fields[:len(fields)-1]
	}
	return withoutRest{planFake{batch.NewSchema(fields...)}}, nil
}

// withoutRest gives the first columns of its input only.
type withoutRest struct{ planFake }

func (p withoutRest) Run(ctx context.Context, inputs []vector.Operator, _ time.Time, _ func([]source.RowError)) (vector.Operator, error) {
	return &firstColumns{inputs[0], p.schema}, nil
}

type firstColumns struct {
	vector.Operator
	schema *batch.Schema
}

func (f *firstColumns) Schema() *batch.Schema { return f.schema }

func (f *firstColumns) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := f.Operator.Next(ctx)
	if err != nil {
		return nil, err
	}
	return &batch.Batch{Schema: f.schema, Cols: b.Cols[:len(f.schema.Fields)], Len: b.Len, Sel: b.Sel}, nil
}

// TestLostRescuedValuesAreToldWhereAStreamIs: CREATE and the first batch refuse a SELECT that loses them. A stream that was made when that was not refused goes on, and
// says it once a start.
func TestLostRescuedValuesAreToldWhereAStreamIs(t *testing.T) {
	const lost = "the SELECT leaves out column r"
	l := newLake(t)
	l.put("a.csv", "id,x\n1,a\n")
	by := func(forgets bool) *server {
		return l.serve(func(c *Config) { c.Compiler = rescuing{forgets: forgets} })
	}
	s := by(true)
	_, err := s.Create(t.Context(), sales(), CreateOptions{})
	require.ErrorContains(t, err, lost)
	require.NoError(t, s.Close())
	s = by(false)
	s.create(sales(func(d *Definition) { d.Paused = true }))
	require.NoError(t, s.Close())
	s = by(true)
	require.NoError(t, s.Start(t.Context()))
	s.restart()
	require.Contains(t, s.failed(), lost)
	require.Empty(t, l.keys("tables/"))
	require.NoError(t, s.Close())

	s = by(false)
	require.NoError(t, s.Start(t.Context()))
	s.restart()
	s.caughtUp()
	require.NoError(t, s.Close())
	s = by(true)
	require.NoError(t, s.Start(t.Context()))
	for i, content := range []string{"id,x\n2,b\n", "id,x\n3,c\n"} {
		l.put(string(rune('b'+i))+".csv", content)
		s.caughtUp()
	}
	told := func() (n int) {
		list, err := s.Errors(t.Context(), "lake", "sales_in")
		require.NoError(t, err)
		for _, e := range list {
			if strings.Contains(e.Message, lost) {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, told())
	s.stop()
	s.restart()
	l.put("d.csv", "id\n4\n")
	s.caughtUp()
	require.Equal(t, 2, told())
	rows := l.rows("sales")
	require.Len(t, rows, 4)
	require.Contains(t, rows[0], `"x":"a"`)
	require.Equal(t, []string{"2|NULL", "3|NULL", "4|NULL"}, rows[1:])
	require.NoError(t, s.Close())
}
