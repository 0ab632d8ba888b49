package vector

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// columnBounds are the tightest bounds of a column, as a writer may give them: NaN counted or not.
func columnBounds(t *rapid.T, v *batch.Vector) bounds {
	v = v.Decode()
	b := bounds{nan: isFloat(v.Type.Kind)}
	countNaN := rapid.Bool().Draw(t, "count NaN")
	for i := range v.Len {
		if v.IsNull(i) {
			b.null = true
			continue
		}
		b.value = true
		row := v.Slice(i, i+1).Clone()
		if f, ok := floatAt(row); ok && f != f && !countNaN {
			continue
		}
		if b.min == nil || compareBounds(row, b.min) < 0 {
			b.min = row
		}
		if b.max == nil || compareBounds(row, b.max) > 0 {
			b.max = row
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "no min") == 0 {
		b.min = nil
	}
	if rapid.IntRange(0, 5).Draw(t, "no max") == 0 {
		b.max = nil
	}
	b.null = b.null || rapid.IntRange(0, 5).Draw(t, "null unknown") == 0
	return b
}

// TestNeverSkipsAMatch: whatever a predicate is for some row, the bounds of the columns must allow.
func TestNeverSkipsAMatch(t *testing.T) {
	g := &generator{schema: modelSchema()}
	rapid.Check(t, func(t *rapid.T) {
		m := g.predicate(t, 2)
		b := drawBatch(t, g.schema)
		b.Sel = nil
		v, err := m.Eval(context.Background(), b)
		if err != nil {
			return // an overflow
		}
		columns := make([]bounds, len(b.Cols))
		for i, c := range b.Cols {
			columns[i] = columnBounds(t, c)
		}
		o := pruner{func(i int) bounds { return columns[i] }}.outcome(m.Expr)
		for i := range b.Len {
			switch {
			case v.IsNull(i):
				require.True(t, o.isNull, "%s is null for row %d", m.text, i)
			case boolAt(v, i):
				require.True(t, o.isTrue, "%s is true for row %d", m.text, i)
			default:
				require.True(t, o.isFalse, "%s is false for row %d", m.text, i)
			}
		}
	})
}

// TestSkips: what must be ruled out is.
func TestSkips(t *testing.T) {
	long, text := batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}}, batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}}
	n, s := NewColumn(0, long), NewColumn(1, text)
	value := func(e Expr) *batch.Vector { return e.(*literal).value }
	columns := []bounds{
		{min: value(NewInt(10)), max: value(NewInt(20)), value: true},
		{min: value(NewString("b")), max: value(NewString("d")), value: true, null: true},
	}
	must := func(e Expr, err error) Expr { require.NoError(t, err); return e }
	cmp := func(op CompareOp, l, r Expr) Expr { return must(NewCompare(op, l, r)) }
	for name, c := range map[string]struct {
		e    Expr
		want bool
	}{
		"n = 9":             {cmp(Equal, n, NewInt(9)), false},
		"n = 10":            {cmp(Equal, n, NewInt(10)), true},
		"n < 10":            {cmp(Less, n, NewInt(10)), false},
		"10 > n":            {cmp(Greater, NewInt(10), n), false},
		"n >= 20.5":         {cmp(GreaterEqual, n, NewFloat(20.5)), false},
		"NOT n <= 20":       {must(NewNot(cmp(LessEqual, n, NewInt(20)))), false},
		"n IS NULL":         {NewIsNull(n), false},
		"s IS NULL":         {NewIsNull(s), true},
		"n <=> NULL":        {cmp(NullSafeEqual, n, NewNull(long.Type)), false},
		"n = NULL":          {cmp(Equal, n, NewNull(long.Type)), false},
		"n IN (1, 2)":       {must(NewIn(n, []Expr{NewInt(1), NewInt(2)})), false},
		"n IN (1, 15)":      {must(NewIn(n, []Expr{NewInt(1), NewInt(15)})), true},
		"s IN ('a', 'e')":   {must(NewIn(s, []Expr{NewString("a"), NewString("e")})), false},
		"s LIKE 'a%'":       {must(NewLike(s, "a%", '\\')), false},
		"s LIKE 'd%'":       {must(NewLike(s, "d%", '\\')), true},
		"s LIKE 'da%'":      {must(NewLike(s, "da%", '\\')), false},
		"s LIKE '%a'":       {must(NewLike(s, "%a", '\\')), true},
		"n BETWEEN 1 AND 9": {must(NewBetween(n, NewInt(1), NewInt(9))), false},
		"n = 9 OR s = 'c'":  {must(NewOr(cmp(Equal, n, NewInt(9)), cmp(Equal, s, NewString("c")))), true},
		"n = 15 AND s = ''": {must(NewAnd(cmp(Equal, n, NewInt(15)), cmp(Equal, s, NewString("")))), false},
	} {
		require.Equal(t, c.want, canMatch(c.e, func(i int) bounds { return columns[i] }), name)
	}
}

// canMatch tells whether some row within the bounds of the columns can make the predicate true.
func canMatch(predicate Expr, column func(i int) bounds) bool {
	return pruner{column}.outcome(predicate).isTrue
}

// TestReplacementCharacter: old writers cut a maximum and appended U+FFFD, which is below the characters beyond U+FFFF.
func TestReplacementCharacter(t *testing.T) {
	typ := batch.Type{Kind: batch.String}
	high := NewString("x\uFFFD").(*literal).value
	b := boundsOf(typ, nil, high, 0, 1)
	e, err := NewCompare(Equal, NewColumn(0, batch.Field{Name: "s", Type: typ}), NewString("x\U0001F600"))
	require.NoError(t, err)
	require.True(t, canMatch(e, func(int) bounds { return b }))
}

// TestPartitionsDecide: where a partition's value makes one side of an OR true, or one of an AND false, the other side does not matter.
func TestPartitionsDecide(t *testing.T) {
	schema := batch.NewSchema(
		batch.Field{Name: "p", Type: batch.Type{Kind: batch.Int64}, Nullable: true}, batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}, Nullable: true})
	x := newTable(t, schema, "p")
	b := batch.NewBuilder(schema)
	for _, p := range []any{nil, int64(1), int64(5)} {
		require.NoError(t, b.AppendRow(p, int64(7)))
	}
	x.write(b.Finish())
	p, n := NewColumn(0, schema.Fields[0]), NewColumn(1, schema.Fields[1])
	less := must(NewCompare(Less, p, NewInt(2)))
	for _, c := range []struct {
		predicate Expr
		want      map[string]Coverage // by p; null is ""
	}{
		{must(NewOr(NewIsNull(p), less)), map[string]Coverage{"": AllRows, "1": AllRows, "5": NoRows}},
		{must(NewOr(less, must(NewCompare(Equal, n, NewInt(7))))), map[string]Coverage{"": SomeRows, "1": AllRows, "5": SomeRows}},
		{must(NewNot(must(NewAnd(less, must(NewCompare(Equal, n, NewInt(7))))))), map[string]Coverage{"": SomeRows, "1": SomeRows, "5": AllRows}},
	} {
		f, err := NewFileFilter(x.snap, []string{"p", "n"}, c.predicate)
		require.NoError(t, err)
		for file := range x.snap.Files() {
			partitions, err := f.partitionBounds(file)
			require.NoError(t, err)
			require.Equal(t, c.want[file.PartitionValues["p"]], f.coverage(partitions), "%v of %v", file.PartitionValues, c.predicate)
		}
	}
}
