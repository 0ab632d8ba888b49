package vector

import (
	"context"
	"errors"
	"fmt"

	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// split is batches of one morsel each, dealt out to forks by a function of their number.
type split struct {
	Operator
	batches []*batch.Batch
	deal    func(morsel, forks int) int
}

func newSplit(schema *batch.Schema, deal func(morsel, forks int) int, batches ...*batch.Batch) *split {
	return &split{Operator: NewBatches(schema, batches...), batches: batches, deal: deal}
}

func (s *split) Fork(int) []Fork {
	const forks = 3
	var out []Fork
	for range forks {
		out = append(out, &splitFork{Operator: NewBatches(s.Schema())})
	}
	for m, b := range s.batches {
		f := out[s.deal(m, forks)].(*splitFork)
		f.batches, f.morsels = append(f.batches, b), append(f.morsels, int64(m))
	}
	return out
}

type splitFork struct {
	Operator
	batches []*batch.Batch
	morsels []int64
	at      int
}

func (f *splitFork) Next(ctx context.Context) (*batch.Batch, error) {
	if f.at == len(f.batches) {
		return f.Operator.Next(ctx)
	}
	f.at++
	return f.batches[f.at-1], nil
}

func (f *splitFork) Morsel() int64 { return f.morsels[f.at-1] }

// drawBatches draws batches of the model's columns, with selections.
func drawBatches(t *rapid.T) []*batch.Batch {
	var out []*batch.Batch
	for range rapid.IntRange(0, 4).Draw(t, "batches") {
		n := rapid.IntRange(1, 12).Draw(t, "rows")
		cols := make([]*batch.Vector, len(modelTypes))
		for i, typ := range modelTypes {
			cols[i] = drawColumn(t, typ, n)
		}
		b := batch.New(modelSchema(), cols...)
		if rapid.Bool().Draw(t, "selected") {
			b.Sel = []int32{}
			for i := range n {
				if rapid.IntRange(0, 2).Draw(t, "keep") > 0 {
					b.Sel = append(b.Sel, int32(i))
				}
			}
		}
		out = append(out, b)
	}
	return out
}

// keyText is the same for values that are equal as keys.
func keyText(v any) string {
	if f, ok := v.(float32); ok {
		v = float64(f)
	}
	if f, ok := v.(float64); ok && f == 0 {
		v = 0.0
	}
	return fmt.Sprintf("%T %v", v, v)
}

// aggregateModel computes an aggregate of rows one by one, as text.
func aggregateModel(a Aggregate, columns []int, rows [][]any) string {
	var args [][]any // without nulls
	seen := map[string]bool{}
	for _, row := range rows {
		var values []any
		key := ""
		for _, c := range columns {
			values = append(values, row[c])
			key += keyText(row[c]) + "|"
		}
		if slices.Contains(values, nil) || a.Distinct && seen[key] {
			continue
		}
		seen[key] = true
		args = append(args, values)
	}
	switch a.Func {
	case Count:
		return fmt.Sprint(len(args))
	case First:
		if len(rows) == 0 {
			return "<nil>"
		}
		return fmt.Sprint(rows[0][columns[0]])
	case GroupConcat:
		return concatModel(a, columns, rows)
	}
	if len(args) == 0 {
		return "<nil>"
	}
	if a.Func == AnyValue {
		return fmt.Sprint(args[0][0])
	}
	if a.Func >= VariancePop { // GroupConcat is above
		return deviationModel(a.Func, args)
	}
	typ := modelTypes[columns[0]]
	switch a.Func {
	case Min, Max:
		one := batch.NewVector(typ, len(args))
		best := 0
		for i, v := range args {
			if err := one.AppendValue(v[0]); err != nil {
				panic(err)
			}
			if o := batch.Compare(one, i, one, best); a.Func == Min && o < 0 || a.Func == Max && o > 0 {
				best = i
			}
		}
		return fmt.Sprint(plainZero(args[best][0]))
	}
	if isFloat(typ.Kind) {
		sum := 0.0
		for _, v := range args {
			sum += modelValue(typ, v[0]).(float64)
		}
		if a.Func == Average {
			sum /= float64(len(args))
		}
		return fmt.Sprintf("%.9g", sum)
	}
	sum := new(big.Rat)
	for _, v := range args {
		if b, ok := v[0].(bool); ok {
			v[0] = int64(boolInt(b))
			sum.Add(sum, modelValue(batch.Type{Kind: batch.Int64}, v[0]).(*big.Rat))
			continue
		}
		sum.Add(sum, modelValue(typ, v[0]).(*big.Rat))
	}
	if a.Func == Average {
		sum.Quo(sum, big.NewRat(int64(len(args)), 1))
	}
	text := sum.FloatString(int(a.Field.Type.Scale))
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// concatModel sorts rows by the columns after the first one, and puts the texts of that together.
func concatModel(a Aggregate, columns []int, rows [][]any) string {
	var kept [][]any
	seen := map[string]bool{}
	for _, row := range rows {
		text, ok := row[columns[0]].(string)
		if !ok || a.Distinct && seen[text] {
			continue
		}
		seen[text], kept = true, append(kept, row)
	}
	if len(kept) == 0 {
		return "<nil>"
	}
	slices.SortStableFunc(kept, func(x, y []any) int {
		for i, c := range columns[1:] {
			o := 0
			switch {
			case x[c] == nil || y[c] == nil:
				o = boolInt(y[c] == nil) - boolInt(x[c] == nil)
			default:
				both := batch.NewVector(modelTypes[c], 2)
				if err := errors.Join(both.AppendValue(x[c]), both.AppendValue(y[c])); err != nil {
					panic(err)
				}
				o = batch.Compare(both, 0, both, 1)
			}
			if a.Concat.Descending[i] {
				o = -o
			}
			if o != 0 {
				return o
			}
		}
		return 0
	})
	var texts []string
	for _, row := range kept {
		texts = append(texts, row[columns[0]].(string))
	}
	text := strings.Join(texts, a.Concat.Separator)
	for len(text) > a.Concat.MaxLen {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

// deviationModel computes VARIANCE and STDDEV by the definition.
func deviationModel(f AggregateFunc, args [][]any) string {
	mean, squares, n := 0.0, 0.0, float64(len(args))
	same := true
	for _, v := range args {
		mean += v[0].(float64) / n
		same = same && v[0] == args[0][0]
	}
	if same { // a mean that is off by its last digit is far off where the values are large
		mean = args[0][0].(float64)
	}
	for _, v := range args {
		if len(args) > 1 { // one value has no deviation, even if it is infinite
			squares += (v[0].(float64) - mean) * (v[0].(float64) - mean)
		}
	}
	if f == VarianceSample || f == StddevSample {
		n--
	}
	if n == 0 {
		return "<nil>"
	}
	if f >= StddevPop {
		return deviationText(math.Sqrt(squares / n))
	}
	return deviationText(squares / n)
}

// deviationText has few digits: those of a sum of squares are few.
func deviationText(x float64) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return "not finite"
	}
	if math.Abs(x) < 1e-6 { // what is left of equal values is an error of rounding
		return "0"
	}
	return fmt.Sprintf("%.5g", x)
}

// plainZero hides the sign of zero.
func plainZero(v any) any {
	switch f := v.(type) {
	case float32:
		return plainFloat(float64(f))
	case float64:
		return plainFloat(f)
	}
	return v
}

// resultText is a result as aggregateModel has it.
func resultText(a Aggregate, v *batch.Vector, i int) string {
	if v.IsNull(i) {
		return "<nil>"
	}
	x := v.Value(i)
	switch {
	case a.Func >= VariancePop && a.Func <= StddevSample:
		return deviationText(x.(float64))
	case a.Func == Sum || a.Func == Average:
		if f, ok := x.(float64); ok {
			return fmt.Sprintf("%.9g", f)
		}
		return string(batch.AppendDecimal(nil, x.(decimal128.Num), v.Type.Scale))
	case a.Func == Min || a.Func == Max:
		return fmt.Sprint(plainZero(x))
	}
	return fmt.Sprint(x)
}

// TestAggregateModel compares aggregations, by one worker and by several, in memory and spilled, with the rows taken one by one.
func TestAggregateModel(t *testing.T) {
	space := spilling(t, 0).space
	rapid.Check(t, func(t *rapid.T) {
		batches := drawBatches(t)
		drawColumns := func(least, most int) []int {
			return rapid.SliceOfN(rapid.IntRange(0, len(modelTypes)-1), least, most).Draw(t, "columns")
		}
		keyColumns := drawColumns(0, 3)
		column := func(i int) Expr { return NewColumn(i, modelSchema().Fields[i]) }
		var keys []Expr
		for _, i := range keyColumns {
			keys = append(keys, column(i))
		}
		var aggregates []Aggregate
		var columns [][]int
		for range rapid.IntRange(1, 4).Draw(t, "aggregates") {
			a := Aggregate{
				Func: rapid.SampledFrom([]AggregateFunc{Count, Sum, Average, Min, Max, First, AnyValue, VariancePop, VarianceSample, StddevPop, StddevSample, GroupConcat}).Draw(t, "func"), Distinct: rapid.Bool().Draw(t, "distinct"),
				Field: batch.Field{Name: "a", Type: batch.Type{Kind: batch.Int64}},
			}
			args := drawColumns(1, 1)
			if a.Func == Count {
				args = drawColumns(0, 2)
			}
			switch typ := modelTypes[append(args, 0)[0]]; {
			case a.Func == GroupConcat:
				args = append([]int{slices.IndexFunc(modelTypes, func(t batch.Type) bool { return t.Kind == batch.String })}, drawColumns(0, 2)...)
				a.Field.Type = batch.Type{Kind: batch.String}
				a.Concat = &Concatenation{Separator: rapid.SampledFrom([]string{"", ",", "ä;"}).Draw(t, "separator"), MaxLen: rapid.SampledFrom([]int{4, 9, 1024}).Draw(t, "length")}
				for range args[1:] {
					a.Concat.Descending = append(a.Concat.Descending, rapid.Bool().Draw(t, "descending"))
				}
			case a.Func == Count:
				a.Distinct = a.Distinct && len(args) > 0
			case a.Func >= VariancePop:
				a.Distinct = false
				if a.Field.Type = typ; typ.Kind != batch.Float64 {
					a.Func = AnyValue
				}
			case a.Func != Sum && a.Func != Average:
				a.Field.Type, a.Distinct = typ, false
			case isFloat(typ.Kind):
				a.Field.Type = batch.Type{Kind: batch.Float64}
			default:
				d, ok := asDecimal(typ)
				if !ok && typ.Kind != batch.Bool {
					a.Func, a.Field.Type, a.Distinct = First, typ, false
					break
				}
				a.Field.Type = batch.DecimalOf(38, uint8(max(0, int(d.Scale)+rapid.IntRange(-1, 4).Draw(t, "digits"))))
			}
			for _, i := range args {
				a.Args = append(a.Args, column(i))
			}
			aggregates, columns = append(aggregates, a), append(columns, args)
		}
		groups := map[string][][]any{}
		var order []string
		if len(keys) == 0 {
			order = []string{""}
		}
		for _, b := range batches {
			for i := range b.Rows() {
				row := make([]any, len(b.Cols))
				for c, col := range b.Cols {
					row[c] = col.Value(b.Row(i))
				}
				key := ""
				for _, c := range keyColumns {
					key += keyText(row[c]) + "|"
				}
				if groups[key] == nil && key != "" {
					order = append(order, key)
				}
				groups[key] = append(groups[key], row)
			}
		}
		var want []string
		for _, key := range order {
			line := ""
			for i, a := range aggregates {
				line += aggregateModel(a, columns[i], groups[key]) + " "
			}
			want = append(want, line)
		}
		deal := rapid.SampledFrom([]func(morsel, forks int) int{
			func(morsel, forks int) int { return morsel % forks },
			func(morsel, forks int) int { return forks - 1 - morsel%2 },
			func(morsel, forks int) int { return 1 },
		}).Draw(t, "deal")
		lines := func(child Operator, budget *Budget, few int) []string {
			op, err := NewAggregate(child, keys, aggregates, budget)
			require.NoError(t, err)
			op.(*aggregation).main.few = few
			for _, set := range op.(*aggregation).sets {
				set.few = few
			}
			var got []string
			err = eachBatch(op, func(b *batch.Batch) {
				for i := range b.Len {
					line := ""
					for c, a := range aggregates {
						line += resultText(a, b.Cols[c], i) + " "
					}
					got = append(got, line)
				}
			})
			require.NoError(t, err)
			return got
		}
		plenty, scarce := NewBudget(1<<30, nil), NewBudget(64<<10, space)
		require.Equal(t, want, lines(NewBatches(modelSchema(), batches...), plenty, mostSmall))
		require.Equal(t, want, lines(newSplit(modelSchema(), deal, batches...), plenty, mostSmall))
		requireNothingLeft(t, plenty)
		require.ElementsMatch(t, want, lines(newSplit(modelSchema(), deal, batches...), plenty, 2), "in parts")
		requireNothingLeft(t, plenty)
		for _, others := range []int64{30 << 10, 60 << 10} {
			hog := share{budget: scarce}
			require.NoError(t, hog.set(others))
			require.ElementsMatch(t, want, lines(newSplit(modelSchema(), deal, batches...), scarce, 2), "spilled")
			require.NoError(t, hog.set(0))
			requireNothingLeft(t, scarce)
		}
	})
}

// eachBatch drains and closes an operator.
func eachBatch(op Operator, visit func(*batch.Batch)) error {
	for {
		b, err := op.Next(context.Background())
		if err == io.EOF {
			return op.Close()
		}
		if err != nil {
			return errors.Join(err, op.Close())
		}
		visit(b)
	}
}

// sumOf is SUM of the numbers of an operator.
func sumOf(t require.TestingT, child Operator, keys []Expr, budget *Budget) Operator {
	op, err := NewAggregate(child, keys, []Aggregate{{
		Func: Sum, Args: []Expr{NewColumn(0, long)}, Field: batch.Field{Name: "sum(n)", Type: batch.DecimalOf(38, 0)},
	}}, budget)
	require.NoError(t, err)
	return op
}

func TestAggregationEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	op := sumOf(t, numbers(10, 3), nil, nil)
	_, err := op.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, op.Close())
	require.NoError(t, op.Close())

	failing, err := NewArith(Multiply, NewColumn(0, long), NewInt(math.MaxInt64))
	require.NoError(t, err)
	x := smallTable(t)
	shared := NewFilter(x.scan([]string{"id"}, nil), must(NewCompare(Less, failing, NewInt(0))))
	op = sumOf(t, shared, nil, nil)
	for range 2 {
		_, err = op.Next(context.Background())
		var overflow *OverflowError
		require.ErrorAs(t, err, &overflow)
	}
	require.NoError(t, op.Close())

	op = sumOf(t, x.scan([]string{"id"}, nil), nil, nil)
	require.Equal(t, "99\n", drain(t, op))
}

func must(e Expr, err error) Expr {
	if err != nil {
		panic(err)
	}
	return e
}

func TestAggregationKeepsToItsBudget(t *testing.T) {
	budget := NewBudget(1<<20, nil)
	op := sumOf(t, numbers(200_000, 8192), []Expr{NewColumn(0, long)}, budget)
	_, err := op.Next(context.Background())
	var full *MemoryError
	require.ErrorAs(t, err, &full)
	require.EqualError(t, err, "an aggregation needs more than the 1 MiB of memory that a query may hold; filter more rows, or take fewer distinct values")
	require.NoError(t, op.Close())
	requireNothingLeft(t, budget)
}

// TestAggregationOfTenTimesItsBudgetFinishes: what has no room is spilled, by two workers, whatever is computed.
func TestAggregationOfTenTimesItsBudgetFinishes(t *testing.T) {
	const rows = 1_000_000
	long, text := batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}}, batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}, Nullable: true}
	n, s := NewColumn(0, long), NewColumn(1, text)
	wide := batch.Field{Type: batch.DecimalOf(38, 0)}
	for name, c := range map[string]struct {
		keys    []Expr
		columns []Aggregate
		groups  int
	}{
		"unique keys":    {[]Expr{n}, []Aggregate{{Func: First, Args: []Expr{n}, Field: long}, {Func: Sum, Args: []Expr{n}, Field: wide}, {Func: Count, Field: long}}, rows},
		"unique texts":   {[]Expr{s}, []Aggregate{{Func: First, Args: []Expr{s}, Field: text}, {Func: Sum, Args: []Expr{n}, Field: wide}, {Func: Count, Field: long}}, rows},
		"distinct":       {nil, []Aggregate{{Func: Count, Args: []Expr{s}, Distinct: true, Field: long}, {Func: Sum, Args: []Expr{n}, Distinct: true, Field: wide}, {Func: Count, Field: long}}, 1},
		"distinct by it": {[]Expr{n}, []Aggregate{{Func: First, Args: []Expr{n}, Field: long}, {Func: Sum, Args: []Expr{n}, Distinct: true, Field: wide}, {Func: Count, Args: []Expr{s}, Distinct: true, Field: long}}, rows},
	} {
		t.Run(name, func(t *testing.T) {
			budget := spilling(t, 4<<20)
			var batches []*batch.Batch
			for at := 0; at < rows; {
				b := batch.NewBuilder(batch.NewSchema(long, text))
				for range min(batch.MaxRows, rows-at) {
					b.Column(0).AppendInt64(int64(at))
					b.Column(1).AppendString(fmt.Sprintf("text number %d", at))
					at++
				}
				batches = append(batches, b.Finish())
			}
			op, err := NewAggregate(&inMemory{Operator: NewBatches(batch.NewSchema(long, text)), batches: batches}, c.keys, c.columns, budget)
			require.NoError(t, err)
			groups, sum, count := 0, new(big.Int), int64(0)
			require.NoError(t, eachBatch(op, func(b *batch.Batch) {
				for i := range b.Len {
					groups++
					x := b.Cols[1].DecimalAt(i)
					sum.Add(sum, x.BigInt())
					count += b.Cols[2].I64[i]
				}
			}))
			require.Equal(t, c.groups, groups)
			require.EqualValues(t, rows, count)
			require.Equal(t, big.NewInt(rows*(rows-1)/2), sum)
			require.Greater(t, budget.Spilled(), int64(1<<20))
		})
	}
}

// TestSumsAreAsWideAsADecimal: 38 digits are kept, the 39th is an error, and so is what passes 128 bits.
func TestSumsAreAsWideAsADecimal(t *testing.T) {
	wide := batch.Field{Name: "w", Type: batch.DecimalOf(38, 0), Nullable: true}
	most, _ := new(big.Int).SetString(strings.Repeat("9", 38), 10)
	for rows, want := range map[int]string{1: strings.Repeat("9", 38) + "\n", 2: "", 5: ""} {
		v := batch.NewVector(wide.Type, rows)
		for range rows {
			v.AppendDecimal(decimal128.FromBigInt(most))
		}
		op, err := NewAggregate(NewBatches(batch.NewSchema(wide), batch.New(batch.NewSchema(wide), v)), nil,
			[]Aggregate{{Func: Sum, Args: []Expr{NewColumn(0, wide)}, Field: batch.Field{Name: "sum(w)", Type: wide.Type}}}, nil)
		require.NoError(t, err)
		if want != "" {
			require.Equal(t, want, drain(t, op))
			continue
		}
		_, err = op.Next(context.Background())
		require.EqualError(t, err, "DECIMAL value is out of range in 'sum(w)'")
		require.NoError(t, op.Close())
	}
}
