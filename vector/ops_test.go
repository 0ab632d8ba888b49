package vector

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

var long = batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}, Nullable: true}

// numbers is an operator over batches of at most size rows with the numbers 0 to n-1.
func numbers(n, size int) Operator {
	schema := batch.NewSchema(long)
	var batches []*batch.Batch
	for at := 0; at < n; at += size {
		v := batch.NewVector(long.Type, size)
		for i := at; i < min(at+size, n); i++ {
			v.AppendInt64(int64(i))
		}
		batches = append(batches, batch.New(schema, v))
	}
	return NewBatches(schema, batches...)
}

func TestFilterProject(t *testing.T) {
	n := NewColumn(0, long)
	even, err := NewArith(Modulo, n, NewInt(2))
	require.NoError(t, err)
	isEven, err := NewCompare(Equal, even, NewInt(0))
	require.NoError(t, err)
	big, err := NewCompare(Greater, n, NewInt(3))
	require.NoError(t, err)
	both, err := NewAnd(isEven, big)
	require.NoError(t, err)
	square, err := NewArith(Multiply, n, n)
	require.NoError(t, err)

	op := NewProject(NewFilter(numbers(8, 3), both), []Expr{n, square}, []batch.Field{long, {Name: "square", Type: square.Type(), Nullable: true}})
	require.Equal(t, "4 | 16\n6 | 36\n", drain(t, op))

	op = NewProject(numbers(1, 1), []Expr{n}, []batch.Field{{Name: "x", Type: batch.Type{Kind: batch.String}}})
	_, err = op.Next(context.Background())
	require.ErrorContains(t, err, "column x: it is declared as string and its expression is long")
}

// TestFilterOrder: a test that would overflow is not asked about rows that an earlier one has dropped.
func TestFilterOrder(t *testing.T) {
	n := NewColumn(0, long)
	small, err := NewCompare(Less, n, NewInt(3))
	require.NoError(t, err)
	huge, err := NewArith(Multiply, n, NewInt(1<<62))
	require.NoError(t, err)
	positive, err := NewCompare(Less, huge, NewInt(1<<62))
	require.NoError(t, err)
	and, err := NewAnd(small, positive)
	require.NoError(t, err)
	_, err = NewFilter(numbers(8, 8), and).Next(context.Background())
	var overflow *OverflowError
	require.ErrorAs(t, err, &overflow) // 2 * 2^62
	require.EqualError(t, err, "BIGINT value is out of range in '(2 * 4611686018427387904)'")

	smaller, err := NewCompare(Less, n, NewInt(2))
	require.NoError(t, err)
	and, err = NewAnd(smaller, positive)
	require.NoError(t, err)
	require.Equal(t, "0\n", drain(t, NewFilter(numbers(8, 8), and)))
}

func TestCast(t *testing.T) {
	for _, c := range []struct {
		from Expr
		to   string
		want string // "" for not supported
	}{
		{NewInt(-5), "decimal(21,2)", "-5.00"}, {NewInt(5), "decimal(10,2)", "5.00"}, {NewInt(123456789), "decimal(10,2)", ""}, {NewColumn(0, long), "decimal(10,2)", ""}, {NewInt(5), "double", "5"}, {NewInt(5), "string", "5"}, {NewInt(5), "integer", ""},
		{NewBool(true), "long", "1"}, {NewFloat(1.5), "long", ""}, {NewFloat(1.5), "string", ""},
		{NewDate(-1), "timestamp", "1969-12-31 00:00:00"}, {NewDate(-1), "string", "1969-12-31"},
		{NewTimestamp(batch.Timestamp, -1), "date", "1969-12-31"}, {NewTimestamp(batch.Timestamp, 0), "string", "1970-01-01 00:00:00.000000"},
		{NewTimestamp(batch.TimestampNTZ, 1), "string", "1970-01-01 00:00:00.000001"}, {NewTimestamp(batch.TimestampNTZ, 1), "timestamp", "1970-01-01 00:00:00.000001"},
		{NewString("1"), "long", ""}, {NewNull(long.Type), "double", "NULL"}, {NewNull(long.Type), "string", "NULL"},
	} {
		to, err := batch.ParseType(c.to)
		require.NoError(t, err)
		e, err := NewCast(c.from, to)
		if c.want == "" {
			var not *UnsupportedError
			require.ErrorAs(t, err, &not, c.to)
			continue
		}
		require.NoError(t, err)
		v, err := e.Eval(context.Background(), &batch.Batch{Len: 3, Sel: []int32{1}})
		require.NoError(t, err)
		require.Equal(t, c.want, v.Format(1), c.to)
	}
}

// TestRounding is half away from zero, in both layouts.
func TestRounding(t *testing.T) {
	for _, c := range []struct{ text, want string }{{"1.25", "1.3"}, {"-1.25", "-1.3"}, {"1.24", "1.2"}, {"9.99", "10.0"}, {"-0.04", "0.0"}} {
		for _, precision := range []uint8{5, 30} {
			n, err := batch.ParseDecimal([]byte(c.text), precision, 2)
			require.NoError(t, err)
			e, err := NewCast(NewDecimal(n, precision, 2), batch.DecimalOf(precision, 1))
			require.NoError(t, err)
			v, err := e.Eval(context.Background(), &batch.Batch{Len: 1})
			require.NoError(t, err)
			require.Equal(t, c.want, v.Format(0), c.text)
		}
	}
	e, err := NewCast(NewColumn(0, batch.Field{Type: batch.DecimalOf(4, 2)}), batch.DecimalOf(3, 1))
	require.Nil(t, e, "99.99 would round to 100.0, which has four digits")
	require.Error(t, err)
}
