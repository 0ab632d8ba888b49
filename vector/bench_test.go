package vector

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/store"
)

const benchRows = 1_000_000

// benchTable is a table on disk of benchRows rows in four files: id ascending, amount random, status of eight values, code unique.
func benchTable(b *testing.B) (*delta.Snapshot, store.Store) {
	schema := batch.NewSchema(
		batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
		batch.Field{Name: "amount", Type: batch.Type{Kind: batch.Float64}, Nullable: true},
		batch.Field{Name: "status", Type: batch.Type{Kind: batch.String}, Nullable: true},
		batch.Field{Name: "code", Type: batch.Type{Kind: batch.String}, Nullable: true},
	)
	st, err := store.NewLocal(b.TempDir())
	require.NoError(b, err)
	ctx := context.Background()
	meta, err := delta.NewMetadata(schema, nil, nil)
	require.NoError(b, err)
	tx := delta.NewTable(st).Begin(nil)
	tx.SetMetadata(meta)
	r := rand.New(rand.NewPCG(1, 2))
	for id := 0; id < benchRows; {
		w, err := delta.NewFileWriter(st, nil, meta, delta.FileWriterOptions{})
		require.NoError(b, err)
		for end := id + benchRows/4; id < end; {
			rows := batch.NewBuilder(schema)
			for range min(batch.MaxRows, end-id) {
				require.NoError(b, rows.AppendRow(int64(id), r.Float64()*10_000, fmt.Sprintf("status-%d", r.IntN(8)), fmt.Sprintf("%016x", r.Uint64())))
				id++
			}
			require.NoError(b, w.Write(ctx, rows.Finish()))
		}
		files, err := w.Close(ctx)
		require.NoError(b, err)
		tx.Add(files...)
	}
	done, err := tx.Commit(ctx, delta.Operation{Name: "WRITE"})
	require.NoError(b, err)
	return done.Snapshot, st
}

func run(b *testing.B, op Operator) (rows int) {
	for {
		x, err := op.Next(context.Background())
		if err == io.EOF {
			require.NoError(b, op.Close())
			return rows
		}
		require.NoError(b, err)
		rows += x.Rows()
	}
}

func BenchmarkScan(b *testing.B) {
	snap, st := benchTable(b)
	column := func(i int) Expr { return NewColumn(0, snap.Schema().Fields[i]) }

	for _, c := range []struct {
		name   string
		column string
		filter Expr
	}{
		{"amount", "amount", nil},
		{"amount>9000", "amount", must(NewCompare(Greater, column(1), NewInt(9000)))},
		{"amount*2>9000", "amount", must(NewCompare(Greater, must(NewArith(Multiply, column(1), NewInt(2))), NewInt(9000)))},
		{"id range", "id", must(NewBetween(column(0), NewInt(10), NewInt(1000)))},
		{"status LIKE", "status", must(NewLike(column(2), "%-3", '\\'))},
		{"status IN", "status", must(NewIn(column(2), []Expr{NewString("status-1"), NewString("status-2")}))},
		{"code LIKE", "code", must(NewLike(column(3), "%abc%", '\\'))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				s, err := NewScan(delta.NewTable(st), snap, []string{c.column}, c.filter)
				require.NoError(b, err)
				var op Operator = s
				if c.filter != nil {
					op = NewFilter(s, c.filter)
				}
				run(b, op)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}

func BenchmarkExpr(b *testing.B) {
	schema := batch.NewSchema(long, batch.Field{Name: "d", Type: batch.DecimalOf(18, 2)}, batch.Field{Name: "w", Type: batch.DecimalOf(30, 2)},
		batch.Field{Name: "i", Type: batch.Type{Kind: batch.Int32}}, batch.Field{Name: "f", Type: batch.Type{Kind: batch.Float64}})
	rows := batch.NewBuilder(schema)
	for i := range int64(batch.MaxRows) {
		rows.Column(0).AppendInt64(i)
		rows.Column(1).AppendInt64(i)
		rows.Column(2).AppendNulls(1)
		rows.Column(3).AppendInt32(int32(i))
		rows.Column(4).AppendFloat64(float64(i))
	}
	x := rows.Finish()
	c := func(i int) Expr { return NewColumn(i, schema.Fields[i]) }

	for _, c := range []struct {
		name string
		e    Expr
	}{
		{"long = constant", must(NewCompare(Equal, c(0), NewInt(7)))},
		{"int < constant", must(NewCompare(Less, c(3), NewInt(7)))},
		{"double > constant", must(NewCompare(Greater, c(4), NewFloat(7)))},
		{"long < int", must(NewCompare(Less, c(0), c(3)))},
		{"long + long", must(NewArith(Add, c(0), c(0)))},
		{"long * long", must(NewArith(Multiply, c(0), c(0)))},
		{"long DIV 3", must(NewArith(IntDivide, c(0), NewInt(3)))},
		{"double / double", must(NewArith(Divide, c(4), c(4)))},
		{"decimal(18,2) + constant", must(NewArith(Add, c(1), NewInt(1)))},
		{"long IN (10)", must(NewIn(c(0), []Expr{NewInt(1), NewInt(2), NewInt(3), NewInt(4), NewInt(5), NewInt(6), NewInt(7), NewInt(8), NewInt(9), NewInt(10)}))},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				if _, err := c.e.Eval(context.Background(), x); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch.MaxRows, "ns/row")
		})
	}
}
