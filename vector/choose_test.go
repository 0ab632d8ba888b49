package vector

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// TestCaseModel compares CASE over columns of every type with the rows taken one by one.
func TestCaseModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(modelTypes).Draw(t, "type")
		branches, n := rapid.IntRange(1, 3).Draw(t, "branches"), rapid.IntRange(1, 12).Draw(t, "rows")
		schema := &batch.Schema{}
		var cols []*batch.Vector
		add := func(typ batch.Type) Expr {
			f := batch.Field{Name: "c", Type: typ, Nullable: true}
			schema.Fields = append(schema.Fields, f)
			cols = append(cols, drawColumn(t, typ, n))
			return NewColumn(len(cols)-1, f)
		}
		var conditions, values []Expr
		for range branches {
			conditions, values = append(conditions, add(boolType)), append(values, add(typ))
		}
		otherwise := NewNull(typ)
		if rapid.Bool().Draw(t, "else") {
			otherwise = add(typ)
		}
		e := must(NewCase(conditions, values, otherwise)).Clone()
		b := batch.New(schema, cols...)
		if rapid.Bool().Draw(t, "selected") {
			b.Sel = []int32{}
			for i := range n {
				if rapid.Bool().Draw(t, "keep") {
					b.Sel = append(b.Sel, int32(i))
				}
			}
		}
		for range 2 { // buffers are used again
			got, err := e.Eval(context.Background(), b)
			require.NoError(t, err)
			for k := range b.Rows() {
				i := b.Row(k)
				var want any
				if len(cols) > 2*branches {
					want = cols[2*branches].Value(i)
				}
				for c := branches - 1; c >= 0; c-- {
					if cols[2*c].Value(i) == true {
						want = cols[2*c+1].Value(i)
					}
				}
				require.Equal(t, keyText(want), keyText(got.Value(i)))
			}
		}
	})
}

// TestCaseAsksNoFurther: a value that would overflow is not asked for rows of another branch.
func TestCaseAsksNoFurther(t *testing.T) {
	n := NewColumn(0, long)
	huge := must(NewArith(Multiply, n, NewInt(1<<62)))
	e := must(NewCase([]Expr{must(NewCompare(Less, n, NewInt(2)))}, []Expr{huge}, n))
	require.Equal(t, "0\n4611686018427387904\n2\n3\n", drain(t, NewProject(numbers(4, 4), []Expr{e}, []batch.Field{long})))
	_, err := NewCase([]Expr{n}, []Expr{n}, n)
	require.ErrorContains(t, err, "not vectorised: CASE WHEN of a long")
}

func TestDateParts(t *testing.T) {
	at := batch.Field{Name: "at", Type: batch.Type{Kind: batch.Timestamp}}
	v := batch.NewVector(at.Type, 0)
	var times []time.Time
	for _, x := range []time.Time{
		time.Unix(0, 0), time.Date(2024, 2, 29, 23, 59, 58, 999_999_000, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1582, 10, 15, 12, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 0, 1, 0, time.UTC), time.Date(-44, 3, 15, 1, 2, 3, 0, time.UTC),
	} {
		times = append(times, x.UTC())
		v.AppendInt64(x.UnixMicro())
	}
	v.AppendInt64(zeroDay * microsPerDay)
	b := batch.New(batch.NewSchema(at), v)
	for part, of := range map[DatePart]func(time.Time) int{
		Year: time.Time.Year, Quarter: func(x time.Time) int { return (int(x.Month()) + 2) / 3 }, Month: func(x time.Time) int { return int(x.Month()) },
		Day: time.Time.Day, Hour: time.Time.Hour, Minute: time.Time.Minute, Second: time.Time.Second,
	} {
		out, err := must(NewDatePart(part, NewColumn(0, at))).Eval(context.Background(), b)
		require.NoError(t, err)
		for i, x := range times {
			require.EqualValues(t, of(x), out.I32[i], "%d of %s", part, x)
		}
		require.Zero(t, out.I32[len(times)])
	}
	out, err := must(NewDatePart(Hour, NewDate(19_782))).Eval(context.Background(), b)
	require.NoError(t, err)
	require.Zero(t, out.I32[0])
	_, err = NewDatePart(Hour, NewString("2024-02-29"))
	require.Error(t, err)
}

// TestCoalesceModel compares COALESCE over columns of every type with the rows taken one by one. Each value is computed once, for the rows that need it.
func TestCoalesceModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(modelTypes).Draw(t, "type")
		n := rapid.IntRange(1, 12).Draw(t, "rows")
		schema := &batch.Schema{}
		var cols []*batch.Vector
		var values []Expr
		asked := make([]int, rapid.IntRange(1, 4).Draw(t, "values"))
		for i := range asked {
			f := batch.Field{Name: "c", Type: typ, Nullable: true}
			schema.Fields = append(schema.Fields, f)
			cols = append(cols, drawColumn(t, typ, n))
			values = append(values, &counted{NewColumn(i, f), &asked[i]})
		}
		e := must(NewCoalesce(values...)).Clone()
		b := batch.New(schema, cols...)
		if rapid.Bool().Draw(t, "selected") {
			b.Sel = []int32{}
			for i := range n {
				if rapid.Bool().Draw(t, "keep") {
					b.Sel = append(b.Sel, int32(i))
				}
			}
		}
		for range 2 { // buffers are used again
			clear(asked)
			needed := make([]int, len(asked))
			got, err := e.Eval(context.Background(), b)
			require.NoError(t, err)
			for k := range b.Rows() {
				i := b.Row(k)
				var want any
				for c := 0; c < len(cols) && want == nil; c++ {
					needed[c]++
					want = cols[c].Value(i)
				}
				require.Equal(t, keyText(want), keyText(got.Value(i)))
			}
			require.Equal(t, needed, asked)
		}
	})
}

// counted counts the rows that an expression is asked for. Its clones count together.
type counted struct {
	Expr
	rows *int
}

func (e *counted) children() []Expr { return []Expr{e.Expr} }

func (e *counted) Clone() Expr { return &counted{e.Expr.Clone(), e.rows} }

func (e *counted) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	*e.rows += b.Rows()
	return e.Expr.Eval(ctx, b)
}
