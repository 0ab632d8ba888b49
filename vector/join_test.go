package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

var joinKinds = []JoinKind{InnerJoin, LeftJoin, BuildOuterJoin, FullJoin, SemiJoin, AntiJoin, NotInJoin, BuildSemiJoin, BuildAntiJoin}

// joinSide is a random side of a join: its batches, and for the model all of its rows in one.
type joinSide struct {
	schema  *batch.Schema
	batches []*batch.Batch
	all     *batch.Batch
}

// joinCase is a random join.
type joinCase struct {
	r            *rand.Rand
	probe, build joinSide
	join         Join
	domain       int   // of values
	kept         []int // columns of the result
}

func newJoinCase(seed uint64) *joinCase {
	c := &joinCase{r: rand.New(rand.NewPCG(seed, 7))}
	c.domain = []int{2, 5, 50, 1000}[c.r.IntN(4)]
	types := make([]batch.Type, c.r.IntN(4))
	for i := range types {
		types[i] = modelTypes[c.r.IntN(len(modelTypes))]
	}
	c.probe, c.build = c.side("p", types), c.side("b", types)
	c.join.Kind = joinKinds[c.r.IntN(len(joinKinds))]
	for i := range types {
		c.join.Probe = append(c.join.Probe, NewColumn(i, c.probe.schema.Fields[i]))
		c.join.Build = append(c.join.Build, NewColumn(i, c.build.schema.Fields[i]))
	}
	if c.join.Kind != NotInJoin && c.r.IntN(2) == 0 {
		for range types {
			c.join.NullSafe = append(c.join.NullSafe, c.r.IntN(2) == 0)
		}
	}
	if c.r.IntN(3) == 0 {
		n := len(types) // the first column behind the keys, a long
		op := []CompareOp{Equal, NotEqual, Less, NullSafeEqual}[c.r.IntN(4)]
		c.join.Residual = must(NewCompare(op, NewColumn(n, c.probe.schema.Fields[n]), NewColumn(len(c.probe.schema.Fields)+n, c.build.schema.Fields[n])))
	}
	return c
}

// side has the keys' columns, a long and a text.
func (c *joinCase) side(name string, keys []batch.Type) joinSide {
	s := joinSide{schema: &batch.Schema{}}
	for i, t := range append(slices.Clone(keys), long.Type, batch.Type{Kind: batch.String}) {
		s.schema.Fields = append(s.schema.Fields, batch.Field{Name: fmt.Sprintf("%s%d", name, i), Type: t, Nullable: true})
	}
	nulls := []int{0, 0, 3, 20}[c.r.IntN(4)] // in a hundred
	for range c.r.IntN(4) {
		b := &batch.Batch{Schema: s.schema, Len: c.r.IntN(60)}
		for _, f := range s.schema.Fields {
			b.Cols = append(b.Cols, c.column(f.Type, b.Len, nulls))
		}
		if c.r.IntN(2) == 0 {
			b.Sel = []int32{}
			for i := range b.Len {
				if c.r.IntN(3) > 0 {
					b.Sel = append(b.Sel, int32(i))
				}
			}
		}
		s.batches = append(s.batches, b)
	}
	s.all = batch.Concat(s.schema, s.batches...)
	return s
}

func (c *joinCase) column(t batch.Type, n, nulls int) *batch.Vector {
	v := batch.NewVector(t, n)
	coded := c.r.IntN(3) == 0
	if coded {
		dict := c.column(t, 1+c.r.IntN(3), 0).Decode()
		for range n {
			v.AppendRows(dict, []int32{int32(c.r.IntN(dict.Len))})
		}
		v.Codes, v.Dict = make([]uint32, n), dict
		for i := range v.Codes {
			v.Codes[i] = uint32(c.r.IntN(dict.Len))
		}
	}
	for i := range n {
		isNull := c.r.IntN(100) < nulls
		switch {
		case coded && isNull:
			if v.Valid == nil {
				v.Valid = batch.NewBitmap(n)
			}
			v.Valid.Clear(i)
		case coded:
		case isNull:
			v.AppendNull()
		default:
			if err := v.AppendValue(c.value(t)); err != nil {
				panic(err)
			}
		}
	}
	return v
}

func (c *joinCase) value(t batch.Type) any {
	n := int64(c.r.IntN(c.domain) - c.domain/2)
	switch t.Kind {
	case batch.Bool:
		return n > 0
	case batch.Int8:
		return int8(n)
	case batch.Int16:
		return int16(n)
	case batch.Int32, batch.Date:
		return int32(n)
	case batch.Int64, batch.Timestamp, batch.TimestampNTZ:
		return []int64{n, n, n, n * 1_000_003, n << 40, math.MaxInt64, math.MinInt64}[c.r.IntN(7)]
	case batch.Float32:
		return []float32{float32(n), float32(n), float32(n) / 4, float32(math.NaN()), float32(math.Copysign(0, -1)), 0}[c.r.IntN(6)]
	case batch.Float64:
		return []float64{float64(n), float64(n), float64(n) / 4, math.NaN(), math.Copysign(0, -1), 0, math.Inf(1)}[c.r.IntN(7)]
	case batch.Decimal:
		if t.Precision > batch.MaxInt64Precision && c.r.IntN(4) == 0 {
			return decimal128.New(n, uint64(n))
		}
		return decimal128.FromI64(n)
	case batch.String:
		return []string{"", "a", "é", longText + fmt.Sprint(n), fmt.Sprint(n)}[c.r.IntN(5)]
	default:
		return []byte{byte(n), byte(n >> 8)}
	}
}

// want are the rows of the join by its definition, sorted.
func (c *joinCase) want() []string {
	p, b := c.probe.all, c.build.all
	probeHas, buildHas := make([]bool, p.Len), make([]bool, b.Len)
	text := func(i, k int) string {
		var cols []string
		n := 0
		add := func(v *batch.Vector, row int) {
			if n++; !slices.Contains(c.kept, n-1) {
				return
			}
			if row < 0 {
				cols = append(cols, "NULL")
			} else {
				cols = append(cols, v.Format(row))
			}
		}
		for _, v := range p.Cols {
			if !c.join.Kind.ofBuild() {
				add(v, i)
			}
		}
		for _, v := range b.Cols {
			if c.join.Kind.pairs() || c.join.Kind.ofBuild() {
				add(v, k)
			}
		}
		return strings.Join(cols, " | ")
	}
	var out []string
	for i := range p.Len {
		for k := range b.Len {
			if !c.matches(p, i, b, k) {
				continue
			}
			probeHas[i], buildHas[k] = true, true
			if c.join.Kind.pairs() {
				out = append(out, text(i, k))
			}
		}
	}
	for i, has := range probeHas {
		switch c.join.Kind {
		case LeftJoin, FullJoin:
			if !has {
				out = append(out, text(i, -1))
			}
		case SemiJoin:
			if has {
				out = append(out, text(i, -1))
			}
		case AntiJoin, NotInJoin:
			if !has {
				out = append(out, text(i, -1))
			}
		}
	}
	for i, has := range buildHas {
		switch c.join.Kind {
		case BuildOuterJoin, FullJoin:
			if !has {
				out = append(out, text(-1, i))
			}
		case BuildSemiJoin, BuildAntiJoin:
			if has == (c.join.Kind == BuildSemiJoin) {
				out = append(out, text(-1, i))
			}
		}
	}
	slices.Sort(out)
	return out
}

func (c *joinCase) matches(p *batch.Batch, i int, b *batch.Batch, k int) bool {
	for n := range c.join.Probe {
		x, y := p.Cols[n], b.Cols[n]
		switch xNull, yNull := x.IsNull(i), y.IsNull(k); {
		case !xNull && !yNull:
			if batch.Compare(x, i, y, k) != 0 {
				return false
			}
		case c.join.Kind == NotInJoin:
		case xNull != yNull || c.join.NullSafe == nil || !c.join.NullSafe[n]:
			return false
		}
	}
	if c.join.Residual == nil {
		return true
	}
	pair := &batch.Batch{Len: 1}
	for _, v := range p.Cols {
		pair.Cols = append(pair.Cols, v.Slice(i, i+1))
	}
	for _, v := range b.Cols {
		pair.Cols = append(pair.Cols, v.Slice(k, k+1))
	}
	v, err := c.join.Residual.Clone().Eval(context.Background(), pair)
	if err != nil {
		panic(err)
	}
	return !v.IsNull(0) && boolAt(v, 0)
}

func (s *joinSide) operator() Operator { return NewBatches(s.schema, s.batches...) }

// dealt is an operator whose forks take turns, a morsel a batch.
type dealt struct {
	Operator
	mu     sync.Mutex
	morsel int64
	kept   []int // nil: all
	filter *runtimeFilter
	values []Expr
}

func (d *dealt) filterBy(f *runtimeFilter, values []Expr) bool {
	d.filter, d.values = f, values
	return true
}

func (d *dealt) keepColumns(columns []int) { d.kept = slices.Clone(columns) }

// Next has nil for columns that are not kept, and the rows that the filter lets through.
func (d *dealt) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := d.Operator.Next(ctx)
	if err != nil {
		return b, err
	}
	out := *b
	if d.filter != nil && d.filter.known.Load() != nil {
		test, err := (*d.filter.known.Load())(d.values)
		if err != nil {
			return nil, err
		}
		v, err := test.Eval(ctx, b)
		if err != nil {
			return nil, err
		}
		narrow(nil, &out, v)
	}
	out.Cols = slices.Clone(b.Cols)
	for i := range out.Cols {
		if d.kept != nil && !slices.Contains(d.kept, i) {
			out.Cols[i] = nil
		}
	}
	return &out, nil
}

type dealtFork struct {
	*dealt
	at int64
}

func (d *dealt) Fork(n int) []Fork {
	var out []Fork
	for range n {
		out = append(out, &dealtFork{dealt: d})
	}
	return out
}

func (f *dealtFork) Morsel() int64 { return f.at }

func (f *dealtFork) Next(ctx context.Context) (*batch.Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, err := f.dealt.Next(ctx)
	if err == nil {
		f.at = f.morsel
		f.morsel++
	}
	return b, err
}

// rowTexts collects rows as text: the columns that are kept.
type rowTexts struct {
	kept   []int
	rows   []string
	morsel int64
}

func (w *rowTexts) add(_ context.Context, b *batch.Batch, morsel int64) error {
	if morsel < w.morsel {
		return fmt.Errorf("morsel %d after %d", morsel, w.morsel)
	}
	w.morsel = morsel
	for k := range b.Rows() {
		var cols []string
		for i, v := range b.Cols {
			if slices.Contains(w.kept, i) {
				cols = append(cols, v.Format(b.Row(k)))
			}
		}
		w.rows = append(w.rows, strings.Join(cols, " | "))
	}
	return nil
}

func (w *rowTexts) finish(context.Context) error { return nil }

// read returns the rows of an operator in order, and closes it. Several forks are read at once.
func (c *joinCase) read(op Operator, forks int) ([]string, error) {
	all := []Fork{whole{op}}
	if f, ok := op.(Forker); ok && forks > 1 {
		all = f.Fork(forks)
	}
	var workers []*rowTexts
	for range all {
		workers = append(workers, &rowTexts{kept: c.kept})
	}
	err := errors.Join(drainForks(context.Background(), all, workers), closeForks(all), closeForks(all))
	var out []string
	for _, w := range workers {
		out = append(out, w.rows...)
	}
	slices.Sort(out)
	return out, err
}

// TestJoinAgainstModel compares joins of all kinds with their definition, pair of rows by pair of rows: read by one goroutine, and by several.
func TestJoinAgainstModel(t *testing.T) {
	for seed := range uint64(4000) {
		c := newJoinCase(seed)
		forks := 1 + int(seed%4)
		op, err := NewJoin(&dealt{Operator: c.probe.operator()}, &dealt{Operator: c.build.operator()}, c.join, nil)
		require.NoError(t, err)
		c.keep(op)
		got, err := c.read(op, forks)
		require.NoError(t, err)
		require.Equal(t, c.want(), got, "seed %d: kind %d by %d keys", seed, c.join.Kind, len(c.join.Probe))
	}
}

// TestSpilledJoinAgainstModel is the same with budgets that only parts of the build side fit in, if that.
func TestSpilledJoinAgainstModel(t *testing.T) {
	fit, spilled := 0, 0
	space := spilling(t, 0).space
	for seed := range uint64(1500) {
		c := newJoinCase(seed)
		budget := NewBudget(1<<(10+seed%5), space)
		op, err := NewJoin(&dealt{Operator: c.probe.operator()}, &dealt{Operator: c.build.operator()}, c.join, budget)
		require.NoError(t, err)
		c.keep(op)
		got, err := c.read(op, 1+int(seed%3))
		requireNothingLeft(t, budget)
		spilled += boolInt(op.(*joining).build.parts.spilled.Load())
		if full := new(MemoryError); errors.As(err, &full) {
			continue
		}
		fit++
		require.NoError(t, err)
		require.Equal(t, c.want(), got, "seed %d: kind %d by %d keys", seed, c.join.Kind, len(c.join.Probe))
	}
	require.Greater(t, fit, 1000)
	require.Greater(t, spilled, 300)
}

// TestJoinBeyondBudget: a build side of ten times the memory is joined, by files, with the same answer; an end of the query in between leaves nothing behind.
func TestJoinBeyondBudget(t *testing.T) {
	schema := batch.NewSchema(long, batch.Field{Name: "t", Type: batch.Type{Kind: batch.String}, Nullable: true})
	side := func(rows, step int) Operator {
		var batches []*batch.Batch
		for at := 0; at < rows; at += batch.MaxRows {
			b := batch.NewBuilder(schema)
			for i := at; i < min(at+batch.MaxRows, rows); i++ {
				b.Column(0).AppendInt64(int64(i * step % rows))
				b.Column(1).AppendString(fmt.Sprintf("row %d %s", i, longText))
			}
			batches = append(batches, b.Finish())
		}
		return &dealt{Operator: NewBatches(schema, batches...)}
	}
	const rows = 100_000
	on := []Expr{NewColumn(0, long)}
	for kind, want := range map[JoinKind]int{
		InnerJoin: rows, LeftJoin: rows, BuildOuterJoin: rows + rows/2, FullJoin: rows + rows/2, SemiJoin: rows, AntiJoin: 0, NotInJoin: 0, BuildSemiJoin: rows / 2, BuildAntiJoin: rows / 2,
	} {
		budget := spilling(t, 1<<20)
		op, err := NewJoin(side(rows, 2), side(rows, 1), Join{Kind: kind, Probe: on, Build: on}, budget)
		require.NoError(t, err)
		got, err := rowCount(context.Background(), op)
		require.NoError(t, err)
		require.Equal(t, want, got, "kind %d", kind)
		require.Greater(t, budget.Spilled(), int64(rows*8))
		requireNothingLeft(t, budget)
	}
	for _, after := range [][2]int{{0, 1}, {0, 10}, {1, 0}, {10, 0}} {
		budget := spilling(t, 1<<20)
		ctx, cancel := context.WithCancel(context.Background())
		probe := &cancelling{Operator: side(rows, 2), after: after[0], cancel: cancel}
		op, err := NewJoin(probe, &cancelling{Operator: side(rows, 1), after: after[1], cancel: cancel}, Join{Probe: on, Build: on}, budget)
		require.NoError(t, err)
		_, err = rowCount(ctx, op)
		require.ErrorIs(t, err, context.Canceled)
		requireNothingLeft(t, budget)
	}
}

// cancelling ends the query after some batches.
type cancelling struct {
	Operator
	after  int
	cancel func()
}

func (c *cancelling) Next(ctx context.Context) (*batch.Batch, error) {
	if c.after--; c.after == 0 {
		c.cancel()
	}
	return c.Operator.Next(ctx)
}

// keep keeps all columns of the result, or some.
func (c *joinCase) keep(op Operator) {
	for i := range op.Schema().Fields {
		c.kept = append(c.kept, i)
	}
	if c.r.IntN(3) == 0 {
		c.kept = slices.DeleteFunc(c.kept, func(int) bool { return c.r.IntN(2) == 0 })
		keepColumns(op, c.kept)
	}
}

// failing is an operator whose rows end in an error.
type failing struct {
	Operator
	err error
}

func (f *failing) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := f.Operator.Next(ctx)
	if err == io.EOF {
		return nil, f.err
	}
	return b, err
}

// TestJoinFails: an error of either side is the join's, which can be closed then.
func TestJoinFails(t *testing.T) {
	for _, ofBuild := range []bool{false, true} {
		c := newJoinCase(1)
		var probe, build Operator = c.probe.operator(), c.build.operator()
		if ofBuild {
			build = &failing{build, io.ErrUnexpectedEOF}
		} else {
			probe = &failing{probe, io.ErrUnexpectedEOF}
		}
		op, err := NewJoin(probe, build, c.join, nil)
		require.NoError(t, err)
		for err == nil {
			_, err = op.Next(context.Background())
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.NoError(t, op.Close())
	}
}

// TestJoinFiltersItsProbe: the keys of the build side leave out files, row groups and rows of the probe's scan, below another join too; where rows without a match count, they leave out
// nothing.
func TestJoinFiltersItsProbe(t *testing.T) {
	x := numbersTable(t, 1200, 300)
	id := NewColumn(0, x.snap.Schema().Fields[0])
	keys := func(ids ...int64) Operator {
		v := batch.NewVector(long.Type, len(ids))
		for _, i := range ids {
			v.AppendInt64(i)
		}
		return NewBatches(batch.NewSchema(long), batch.New(batch.NewSchema(long), v))
	}
	for _, c := range []struct {
		kind    JoinKind
		rows    int
		skipped int // row groups
	}{{InnerJoin, 2, 2 + 2*3}, {SemiJoin, 2, 2 + 2*3}, {BuildOuterJoin, 3, 2 + 2*3}, {BuildSemiJoin, 2, 2 + 2*3}, {BuildAntiJoin, 1, 2 + 2*3}, {LeftJoin, 1200, 0}, {AntiJoin, 1198, 0}, {FullJoin, 1201, 0}} {
		probe, build := x.scan([]string{"id"}, nil), keys(17, 308, -5)
		under, err := NewJoin(probe, keys(1), Join{Kind: LeftJoin, Probe: []Expr{id}, Build: []Expr{NewColumn(0, long)}}, nil)
		require.NoError(t, err)
		op, err := NewJoin(under, build, Join{Kind: c.kind, Probe: []Expr{id}, Build: []Expr{NewColumn(0, long)}}, nil)
		require.NoError(t, err)
		rows, err := rowCount(context.Background(), op)
		require.NoError(t, err)
		require.Equal(t, c.rows, rows, "kind %d", c.kind)
		require.Equal(t, c.skipped, probe.Stats().RowGroupsSkipped+3*probe.Stats().FilesSkipped, "kind %d", c.kind)
	}
}

// TestJoinFiltersAnAggregation: the keys of the build side go through a GROUP BY of them, and through no other.
func TestJoinFiltersAnAggregation(t *testing.T) {
	x := numbersTable(t, 1200, 300)
	id := NewColumn(0, x.snap.Schema().Fields[0])
	for _, c := range []struct {
		column  int
		rows    int
		skipped int // row groups
	}{{0, 1, 2 + 3*3}, {1, 1200, 0}} {
		scan := x.scan([]string{"id"}, nil)
		groups, err := NewAggregate(scan, []Expr{id}, []Aggregate{{Func: First, Args: []Expr{id}, Field: long}, {Func: Count, Field: long}}, nil)
		require.NoError(t, err)
		op, err := NewJoin(groups, numbers(2, 2), Join{Probe: []Expr{NewColumn(c.column, long)}, Build: []Expr{must(NewArith(Add, NewColumn(0, long), NewInt(0)))}, Residual: must(NewCompare(Equal, NewColumn(2, long), NewInt(1)))}, nil)
		require.NoError(t, err)
		rows, err := rowCount(context.Background(), op)
		require.NoError(t, err)
		require.Equal(t, c.rows, rows)
		require.Equal(t, c.skipped, scan.Stats().RowGroupsSkipped+3*scan.Stats().FilesSkipped)
	}
}

// rowCount reads an operator to its end and closes it.
func rowCount(ctx context.Context, op Operator) (rows int, err error) {
	for {
		b, err := op.Next(ctx)
		if err == io.EOF {
			return rows, op.Close()
		}
		if err != nil {
			return rows, errors.Join(err, op.Close())
		}
		rows += b.Rows()
	}
}
