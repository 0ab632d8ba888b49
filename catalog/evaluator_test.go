package catalog

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
)

// spark computes expressions over one batch of rows a, b, s, ts, d, n (a struct of x and y), and f.
type spark struct {
	l      *lab
	schema *batch.Schema
	rows   *batch.Batch
}

func newSpark(t *testing.T) *spark {
	kind := func(k batch.Kind) batch.Type { return batch.Type{Kind: k} }
	s := &spark{l: newLab(t)}
	s.schema = &batch.Schema{Fields: []batch.Field{
		{Name: "a", Type: kind(batch.Int32), Nullable: true}, {Name: "b", Type: kind(batch.Int64), Nullable: true},
		{Name: "s", Type: kind(batch.String), Nullable: true}, {Name: "ts", Type: kind(batch.Timestamp), Nullable: true},
		{Name: "d", Type: kind(batch.Date), Nullable: true},
		{Name: "n", Type: batch.StructOf(batch.Field{Name: "x", Type: kind(batch.Int32), Nullable: true}, batch.Field{Name: "y", Type: kind(batch.String), Nullable: true}), Nullable: true},
		{Name: "f", Type: kind(batch.Float64), Nullable: true}, {Name: "ok", Type: kind(batch.Bool), Nullable: true}, {Name: "m", Type: batch.DecimalOf(10, 2), Nullable: true},
	}}
	b := batch.NewBuilder(s.schema)
	ts := int64(1709210096123456) // 2024-02-29 12:34:56.123456
	require.NoError(t, b.AppendRow(int32(7), int64(2), "Ábc", ts, int32(19782), []any{int32(1), "y"}, 2.0, true, nil))
	require.NoError(t, b.AppendRow(nil, int64(0), "12", nil, nil, nil, 1e10, false, nil))
	s.rows = b.Finish()
	return s
}

// eval computes an expression as a type and returns the texts of its two values.
func (s *spark) eval(text string, t batch.Type) ([]string, error) {
	e, err := evaluator{s.l.c}.Compile(context.Background(), s.schema, []delta.Expression{{SQL: text, Type: t}})
	if err != nil {
		return nil, err
	}
	var out []string
	for range 2 { // an Evaluation serves many batches
		vectors, err := e.Eval(context.Background(), s.rows)
		if err != nil {
			return nil, err
		}
		out = out[:0]
		for row := range s.rows.Len {
			out = append(out, string(vectors[0].Decode().AppendText(nil, row)))
		}
	}
	return out, nil
}

func TestSparkExpressionsHaveSparksValues(t *testing.T) {
	s := newSpark(t)
	boolean, text := batch.Type{Kind: batch.Bool}, batch.Type{Kind: batch.String}
	date, ts, i32, i64, f64 := batch.Type{Kind: batch.Date}, batch.Type{Kind: batch.Timestamp}, batch.Type{Kind: batch.Int32}, batch.Type{Kind: batch.Int64}, batch.Type{Kind: batch.Float64}
	for _, c := range []struct {
		expr string
		t    batch.Type
		want string
	}{
		{"a > 0", boolean, "true NULL"},
		{"a > 0 AND b > 0", boolean, "true false"},
		{"a > 0 OR b = 0", boolean, "true true"},
		{"a == 7", boolean, "true NULL"},
		{"! ok", boolean, "false true"},
		{"s = \"12\"", boolean, "false true"},
		{"s IS NOT NULL AND length(s) <= 3", boolean, "true true"},
		{"s LIKE '1%'", boolean, "false true"},
		{"s RLIKE '^[0-9]+$'", boolean, "false true"},
		{"a IN (1, 7)", boolean, "true NULL"},
		{"a <=> NULL", boolean, "false true"},
		{"n.x = 1", boolean, "true NULL"},
		{"n.y || '!'", text, "y! NULL"},
		{"d BETWEEN '2024-01-01' AND '2024-12-31'", boolean, "true NULL"},
		{"ts >= TIMESTAMP '2024-02-29 12:34:56'", boolean, "true NULL"},
		{"CAST(ts AS DATE)", date, "2024-02-29 NULL"},
		{"date(ts)", date, "2024-02-29 NULL"},
		{"CAST(ts AS STRING)", text, "2024-02-29 12:34:56.123456 NULL"},
		{"CAST(d AS TIMESTAMP)", ts, "2024-02-29 00:00:00 NULL"},
		{"year(ts) * 100 + month(ts)", i32, "202402 NULL"},
		{"YEAR(d)", i32, "2024 NULL"},
		{"hour(ts)", i32, "12 NULL"},
		{"DATE_FORMAT(ts, 'yyyy-MM')", text, "2024-02 NULL"},
		{"date_format(ts, \"EEEE d MMM yy, hh:mm a SSS 'h'\")", text, "Thursday 29 Feb 24, 12:34 PM 123 h NULL"},
		{"date_trunc('HOUR', ts)", ts, "2024-02-29 12:00:00 NULL"},
		{"date_trunc('week', ts)", ts, "2024-02-26 00:00:00 NULL"},
		{"trunc(d, 'quarter')", date, "2024-01-01 NULL"},
		{"date_add(d, 1)", date, "2024-03-01 NULL"},
		{"date_sub(d, a)", date, "2024-02-22 NULL"},
		{"add_months(d, 12)", date, "2025-02-28 NULL"},
		{"datediff(d, DATE '2024-02-01')", i32, "28 NULL"},
		{"a / b", f64, "3.5 NULL"},
		{"b / 3", f64, "0.6666666666666666 0"},
		{"a DIV 2", i64, "3 NULL"},
		{"a % 2", i32, "1 NULL"},
		{"CAST(s AS INT)", i32, "NULL 12"},
		{"CAST('3.7' AS INT)", i32, "3 3"},
		{"CAST(f AS STRING)", text, "2.0 1.0E10"},
		{"CAST(ok AS STRING)", text, "true false"},
		{"CAST(a AS STRING)", text, "7 NULL"},
		{"CAST(d AS STRING)", text, "2024-02-29 NULL"},
		{"CAST('yes' AS BOOLEAN)", boolean, "true true"},
		{"CAST('1.005' AS DECIMAL(10, 2))", batch.DecimalOf(10, 2), "1.01 1.01"},
		{"concat(s, '-', a)", text, "Ábc-7 NULL"},
		{"upper(s)", text, "ÁBC 12"},
		{"substring(s, 0, 2)", text, "Áb 12"},
		{"substr(s, -2)", text, "bc 12"},
		{"greatest(a, b)", i64, "7 0"},
		{"coalesce(a, 0)", i32, "7 0"},
		{"CASE WHEN a > 5 THEN 'big' ELSE 'small' END", text, "big small"},
		{"a", i32, "7 NULL"},
		{"A + 1L", i64, "8 NULL"},
		{"5", i32, "5 5"},
		{"NULL", i32, "NULL NULL"},
		{"ts + INTERVAL 1 DAY", ts, "2024-03-01 12:34:56.123456 NULL"},
		{"d - INTERVAL 1 MONTH", date, "2024-01-29 NULL"},
		{"ts + INTERVAL 2 HOURS", ts, "2024-02-29 14:34:56.123456 NULL"},
		{"n", s.schema.Fields[5].Type, `{"x":1,"y":"y"} NULL`},
	} {
		got, err := s.eval(c.expr, c.t)
		require.NoError(t, err, c.expr)
		require.Equal(t, c.want, got[0]+" "+got[1], c.expr)
	}
}

func TestExpressionsThatCannotBeEvaluated(t *testing.T) {
	s := newSpark(t)
	for text, part := range map[string]string{
		"z > 1":                   "column z",
		"n.z > 1":                 "n.z",
		"size(n) > 1":             "size",
		"a > (SELECT 1)":          "subquery",
		"sum(a)":                  "sum",
		"s + 1 > 0":               "",
		"9223372036854775807 + b": "",
	} {
		_, err := s.eval(text, batch.Type{Kind: batch.Bool})
		require.Error(t, err, text)
		require.Contains(t, err.Error(), part, text)
	}
	_, err := s.eval("s", batch.Type{Kind: batch.Int32})
	require.Error(t, err, "a text that is no number")
	_, err = s.eval("b * 1000", batch.Type{Kind: batch.Int8})
	require.Error(t, err, "a number that does not fit")
}
