package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// The columns of the tests' rows: the id, a partition, a key, a long and what it is as a DECIMAL and a DOUBLE, and a text.
var windowSchema = batch.NewSchema(
	batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}},
	batch.Field{Name: "p", Type: batch.Type{Kind: batch.Int32}, Nullable: true},
	batch.Field{Name: "k", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	batch.Field{Name: "d", Type: batch.DecimalOf(30, 2), Nullable: true},
	batch.Field{Name: "f", Type: batch.Type{Kind: batch.Float64}, Nullable: true},
	batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}, Nullable: true},
)

// windowRow is a row as the model has it; nil is null.
type windowRow struct {
	id   int
	p, k *int
	n    *int
}

// windowBatches are rows in batches of a few, with selections.
func windowBatches(r *rand.Rand, rows, partitions, keys int) ([]windowRow, []*batch.Batch) {
	some := func(n int) *int {
		if r.IntN(6) == 0 {
			return nil
		}
		v := r.IntN(n) - n/3
		return &v
	}
	var model []windowRow
	var out []*batch.Batch
	for len(model) < rows {
		b := batch.NewBuilder(windowSchema)
		sel := []int32{}
		for i := range 1 + r.IntN(min(50, rows)) {
			row := windowRow{id: len(model), p: some(partitions), k: some(keys), n: some(40)}
			if r.IntN(10) == 0 {
				row.id = -1
			} else {
				sel = append(sel, int32(i))
				model = append(model, row)
			}
			values := []any{int64(row.id), nil, nil, nil, nil, nil, nil}
			if row.p != nil {
				values[1] = int32(*row.p)
			}
			if row.k != nil {
				values[2] = int64(*row.k)
			}
			if row.n != nil {
				n := int64(*row.n)
				values[3], values[4], values[5], values[6] = n, decimal128.FromI64(n), float64(n)/4, fmt.Sprint(n+5000)
			}
			require.NoError(panics{}, b.AppendRow(values...))
		}
		one := b.Finish()
		one.Sel = sel
		out = append(out, one)
	}
	return model, out
}

type panics struct{}

func (panics) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panics) FailNow()                          { panic("failed") }

// windowModel computes a column of a window row by row, and looks at all rows of the partition for each.
type windowModel struct {
	partitioned, ordered, descending bool
	reach                            [2]int // how far a range goes, before and behind
}

func compareInts(a, b *int) int {
	switch {
	case a == nil || b == nil:
		return boolInt(b == nil) - boolInt(a == nil)
	default:
		return cmp.Compare(*a, *b)
	}
}

func (m windowModel) order(a, b windowRow) int {
	if o := compareInts(a.p, b.p); m.partitioned && o != 0 {
		return o
	}
	if o := compareInts(a.k, b.k); m.ordered && o != 0 {
		if m.descending {
			return -o
		}
		return o
	}
	return 0
}

// inFrame says whether row j is in the frame of row i, of sorted rows of a partition.
func (m windowModel) inFrame(rows []windowRow, f Frame, i, j int) bool {
	peer := m.order(rows[i], rows[j]) == 0
	side := func(b FrameBound, start bool) bool { // j is not outside of this bound
		if b.Kind == UnboundedPreceding || b.Kind == UnboundedFollowing {
			return (b.Kind == UnboundedPreceding) == start
		}
		if f.Rows {
			at := i
			switch b.Kind {
			case Preceding:
				at -= int(b.Rows)
			case Following:
				at += int(b.Rows)
			}
			return start && j >= at || !start && j <= at
		}
		if b.Kind == CurrentRow || rows[i].k == nil {
			return peer || start == (j > i)
		}
		if rows[j].k == nil {
			return start == (j > i)
		}
		by := m.reach[boolInt(!start)]
		if b.Kind == Preceding {
			by = -by
		}
		if m.descending {
			by = -by
		}
		o := cmp.Compare(*rows[j].k, *rows[i].k+by)
		if m.descending {
			o = -o
		}
		return start && o >= 0 || !start && o <= 0
	}
	return side(f.Start, true) && side(f.End, false)
}

// value is a column of row i of sorted rows of a partition.
func (m windowModel) value(c WindowColumn, rows []windowRow, i int) any {
	var frame, peersBefore []windowRow
	distinct, upTo := 0, 0
	for j, row := range rows {
		o := m.order(row, rows[i])
		if o < 0 {
			peersBefore = append(peersBefore, row)
			if j == 0 || m.order(rows[j-1], row) != 0 {
				distinct++
			}
		}
		if o <= 0 {
			upTo++
		}
		if m.inFrame(rows, c.Frame, i, j) {
			frame = append(frame, row)
		}
	}
	at := func(rows []windowRow, i int) any {
		if i < 0 || i >= len(rows) || rows[i].n == nil {
			return nil
		}
		return *rows[i].n
	}
	switch c.Func {
	case RowNumber:
		return i + 1
	case Rank:
		return len(peersBefore) + 1
	case DenseRank:
		return distinct + 1
	case PercentRank:
		return float64(len(peersBefore)) / float64(max(1, len(rows)-1))
	case CumeDist:
		return float64(upTo) / float64(len(rows))
	case Ntile:
		for tile, first := 1, 0; ; tile++ {
			first += len(rows) / int(c.N)
			if tile <= len(rows)%int(c.N) {
				first++
			}
			if i < first {
				return tile
			}
		}
	case Lag, Lead:
		to := i - int(c.N)
		if c.Func == Lead {
			to = i + int(c.N)
		}
		if len(c.Args) > 1 && (to < 0 || to >= len(rows)) {
			return rows[i].id
		}
		return at(rows, to)
	case FirstValue:
		return at(frame, 0)
	case LastValue:
		return at(frame, len(frame)-1)
	case NthValue:
		return at(frame, int(c.N)-1)
	}
	var values []float64
	sum := 0
	for _, row := range frame {
		if row.n != nil {
			values, sum = append(values, float64(*row.n)), sum+*row.n
		}
	}
	switch {
	case c.Aggregate == Count && len(c.Args) == 0:
		return len(frame)
	case c.Aggregate == Count:
		return len(values)
	case len(values) == 0:
		return nil
	case c.Aggregate == Sum:
		return sum
	case c.Aggregate == Average:
		return float64(sum) / float64(len(values))
	case c.Aggregate == Min:
		return int(slices.Min(values))
	case c.Aggregate == Max:
		return int(slices.Max(values))
	}
	squares, of := 0.0, float64(len(values))
	for _, v := range values {
		squares += math.Pow(v-float64(sum)/float64(len(values)), 2)
	}
	if c.Aggregate == VarianceSample || c.Aggregate == StddevSample {
		of--
	}
	switch {
	case of == 0:
		return nil
	case c.Aggregate >= StddevPop:
		return math.Sqrt(squares / of)
	}
	return squares / of
}

// drawWindow draws a window and its model. The argument of a function is n in one of its types, which scale tells.
func drawWindow(t *rapid.T) (Window, windowModel, []float64) {
	col := func(i int) Expr { return NewColumn(i, windowSchema.Fields[i]) }
	m := windowModel{partitioned: rapid.Bool().Draw(t, "partitioned"), ordered: rapid.Bool().Draw(t, "ordered"), descending: rapid.Bool().Draw(t, "descending")}
	m.reach = [2]int{rapid.IntRange(0, 4).Draw(t, "from"), rapid.IntRange(0, 4).Draw(t, "to")}
	var w Window
	peers := 0
	if m.partitioned {
		w.Partition = []Expr{must(NewCast(col(1), batch.Type{Kind: batch.Int64}))}
	}
	if m.ordered {
		w.Order, peers = []SortKey{{col(2), m.descending}}, 1
	}
	double, long := batch.Type{Kind: batch.Float64}, batch.Type{Kind: batch.Int64}
	var scales []float64
	for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
		c := WindowColumn{Func: WindowFunc(rapid.IntRange(0, int(FrameAggregate)).Draw(t, "func")), Peers: peers, N: int64(rapid.IntRange(1, 9).Draw(t, "n"))}
		if rapid.Bool().Draw(t, "aggregate") {
			c.Func = FrameAggregate
		}
		bound := func(end bool) FrameBound {
			kinds := []BoundKind{CurrentRow, Following, UnboundedFollowing, Preceding}
			if !end {
				kinds = []BoundKind{UnboundedPreceding, Preceding, CurrentRow, Following}
			}
			b := FrameBound{Kind: rapid.SampledFrom(kinds).Draw(t, "bound"), Rows: int64(rapid.IntRange(0, 60).Draw(t, "distance"))}
			if !c.Frame.Rows && (b.Kind == Preceding || b.Kind == Following) {
				op := Add
				if (b.Kind == Preceding) != m.descending {
					op = Subtract
				}
				b.Key, b.Value = col(2), must(NewArith(op, col(2), NewInt(int64(m.reach[boolInt(end)]))))
				if !m.ordered {
					b = FrameBound{Kind: CurrentRow}
				}
			}
			return b
		}
		c.Frame.Rows = rapid.Bool().Draw(t, "rows")
		c.Frame.Start, c.Frame.End = bound(false), bound(true)
		arg, scale := rapid.SampledFrom([]int{3, 4, 5, 6}).Draw(t, "argument"), 1.0
		switch c.Func {
		case RowNumber, Rank, DenseRank, Ntile:
			c.Field.Type = long
		case PercentRank, CumeDist:
			c.Field.Type = double
		case Lag, Lead:
			c.Args, c.Field.Type = []Expr{col(3)}, long
			if rapid.Bool().Draw(t, "default") {
				c.Args = append(c.Args, col(0))
			}
			c.N--
		case FrameAggregate:
			c.Aggregate = rapid.SampledFrom([]AggregateFunc{Count, Sum, Average, Min, Max, VariancePop, VarianceSample, StddevPop, StddevSample}).Draw(t, "of")
			switch {
			case c.Aggregate == Count:
				c.Field.Type = long
			case c.Aggregate >= VariancePop:
				arg, c.Field.Type = 5, double
			case c.Aggregate == Min || c.Aggregate == Max:
				c.Field.Type = windowSchema.Fields[arg].Type
			case arg == 5:
				c.Field.Type = double
			default:
				arg = min(arg, 4)
				c.Field.Type = batch.DecimalOf(38, windowSchema.Fields[arg].Type.Scale)
				if c.Aggregate == Average {
					c.Field.Type.Scale += 4
				}
			}
			if c.Field.Type != long || c.Aggregate != Count || rapid.Bool().Draw(t, "of what") {
				c.Args = []Expr{col(arg)}
			}
		default:
			c.Args, c.Field.Type = []Expr{col(arg)}, windowSchema.Fields[arg].Type
		}
		if c.Func >= FirstValue && c.Func < FrameAggregate || c.Func == FrameAggregate && c.Aggregate != Count {
			switch arg {
			case 4:
				scale = 0.01
			case 5:
				scale = 0.25
			}
			if c.Aggregate == VariancePop || c.Aggregate == VarianceSample {
				scale *= scale
			}
		}
		c.Field.Name, c.Field.Nullable = fmt.Sprintf("w%d", i), true
		w.Columns, scales = append(w.Columns, c), append(scales, scale)
	}
	return w, m, scales
}

// drainWindow returns what a window adds to each row, by id, and checks that the columns below came along.
func drainWindow(t require.TestingT, op Operator, rows []windowRow) [][]any {
	out := make([][]any, len(rows))
	for {
		b, err := op.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for i := range b.Rows() {
			at := b.Row(i)
			id := int(b.Cols[0].I64[at])
			require.Nil(t, out[id], "row %d comes twice", id)
			if n := rows[id].n; n == nil {
				require.True(t, b.Cols[6].IsNull(at))
			} else {
				require.Equal(t, fmt.Sprint(*n+5000), string(b.Cols[6].BytesAt(at)))
			}
			out[id] = []any{}
			for _, v := range b.Cols[len(windowSchema.Fields):] {
				out[id] = append(out[id], v.Value(at))
			}
		}
	}
	for id, values := range out {
		require.NotNil(t, values, "row %d is missing", id)
	}
	require.NoError(t, op.Close())
	return out
}

// requireWindow compares what a window gives with its model.
func requireWindow(t require.TestingT, w Window, m windowModel, scales []float64, rows []windowRow, got [][]any, how string) {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, m.order)
	for lo := 0; lo < len(sorted); {
		hi := lo + 1
		for hi < len(sorted) && (!m.partitioned || compareInts(sorted[hi].p, sorted[lo].p) == 0) {
			hi++
		}
		for i, row := range sorted[lo:hi] {
			for k, c := range w.Columns {
				want := m.value(c, sorted[lo:hi], i)
				x := got[row.id][k]
				if want == nil || x == nil {
					require.Equal(t, want, x, "%s: column %d of %+v", how, k, c)
					continue
				}
				number := 0.0
				switch x := x.(type) {
				case string:
					_, err := fmt.Sscan(x, &number)
					require.NoError(t, err)
					number -= 5000
				case int64:
					number = float64(x)
				case float64:
					number = x
				case interface{ BigInt() *big.Int }:
					number, _ = new(big.Float).SetInt(x.BigInt()).Float64()
					number /= math.Pow10(int(c.Field.Type.Scale))
				default:
					require.Fail(t, "no number", "%T", x)
				}
				expected := 0.0
				switch want := want.(type) {
				case int:
					expected = float64(want)
				case float64:
					expected = want
				}
				require.InDelta(t, expected*scales[k], number, 1e-4, "%s: column %d of %+v, row %d of %d", how, k, c, i, hi-lo)
			}
		}
		lo = hi
	}
}

// TestWindowModel compares windows, by one worker and by several, in memory and with files, with a look at each row and all rows beside it.
func TestWindowModel(t *testing.T) {
	space := spilling(t, 0).space
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		rows, batches := windowBatches(r, rapid.IntRange(0, 160).Draw(t, "rows"), rapid.SampledFrom([]int{1, 3, 20}).Draw(t, "partitions"), rapid.SampledFrom([]int{1, 4, 30}).Draw(t, "keys"))
		w, m, scales := drawWindow(t)
		deal := func(morsel, forks int) int { return (morsel * 2) % forks }
		for how, child := range map[string]Operator{"whole": NewBatches(windowSchema, batches...), "forks": newSplit(windowSchema, deal, batches...)} {
			op, err := NewWindow(child, w, NewBudget(1<<30, nil))
			require.NoError(t, err)
			requireWindow(t, w, m, scales, rows, drainWindow(t, op, rows), how)
		}
		scarce, hog := NewBudget(64<<10, space), share{}
		hog.budget = scarce
		require.NoError(t, hog.set(60<<10))
		op, err := NewWindow(newSplit(windowSchema, deal, batches...), w, scarce)
		require.NoError(t, err)
		requireWindow(t, w, m, scales, rows, drainWindow(t, op, rows), "spilled")
		require.NoError(t, hog.set(0))
		requireNothingLeft(t, scarce)
	})
}

// TestWindowOfManySegments: partitions that end amid batches, one that is longer than all others together, and one that there is no room for.
func TestWindowOfManySegments(t *testing.T) {
	const rows = 300_000
	partition := must(NewCase([]Expr{must(NewCompare(Less, NewColumn(0, long), NewInt(rows/2)))}, []Expr{NewInt(-1)}, must(NewArith(IntDivide, NewColumn(0, long), NewInt(1000)))))
	for _, budget := range []*Budget{nil, spilling(t, 6<<20)} {
		count := WindowColumn{Func: RowNumber, Field: batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}}}
		sum := WindowColumn{Func: FrameAggregate, Aggregate: Sum, Args: []Expr{NewInt(1)}, Frame: Frame{End: FrameBound{Kind: UnboundedFollowing}}, Field: batch.Field{Name: "s", Type: batch.DecimalOf(38, 0)}}
		op, err := NewWindow(numbers(rows, 1000), Window{Partition: []Expr{partition}, Order: []SortKey{{NewColumn(0, long), true}}, Columns: []WindowColumn{count, sum}}, budget)
		require.NoError(t, err)
		seen := 0
		for {
			b, err := op.Next(context.Background())
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			for i := range b.Rows() {
				id, n, of := int(b.Cols[0].I64[i]), int(b.Cols[1].I64[i]), b.Cols[2].DecimalAt(i).BigInt().Int64()
				want, size := 1000-id%1000, 1000
				if id < rows/2 {
					want, size = rows/2-id, rows/2
				}
				if n != want || int(of) != size {
					require.Fail(t, "wrong", "row %d: number %d of %d, want %d of %d", id, n, of, want, size)
				}
				seen++
			}
		}
		require.Equal(t, rows, seen)
		require.NoError(t, op.Close())
	}
}
