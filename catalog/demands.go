package catalog

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/vector"
)

// checkDemands reads the table, as the snapshot has it, and refuses demands that rows do not meet, with how many.
func (c *Catalog) checkDemands(ctx *sql.Context, t *table, snap *delta.Snapshot, demands []demand) error {
	exprs := make([]delta.Expression, len(demands))
	var columns []string
	for i, d := range demands {
		exprs[i] = delta.Expression{SQL: d.expr, Type: batch.Type{Kind: batch.Bool}}
		names, err := sqlext.SparkColumns(d.expr)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, path, ok := findField(snap.Schema().Fields, name); ok {
				columns = append(columns, snap.Schema().Fields[path[0]].Name)
			}
		}
	}
	slices.Sort(columns)
	scan, err := vector.NewScan(t.handle, snap, slices.Compact(columns), nil)
	if err != nil {
		return err
	}
	scan.UseCache(c.dataFiles)
	failed, err := c.countFailures(ctx, scan, exprs)
	if err = errors.Join(err, scan.Close()); err != nil {
		return fmt.Errorf("check the rows of %s.%s: %w", t.database, t.name, err)
	}
	for i, n := range failed {
		if n > 0 {
			return refuse(KindInvalid, "[DELTA_NEW_CHECK_CONSTRAINT_VIOLATION] %d rows in %s.%s violate the new %s; %s", n, t.database, t.name, demands[i].what, demands[i].mend)
		}
	}
	return nil
}

// countFailures counts the rows for which each condition is not true.
func (c *Catalog) countFailures(ctx *sql.Context, rows vector.Operator, exprs []delta.Expression) ([]int64, error) {
	e, err := (evaluator{c}).Compile(ctx, rows.Schema(), exprs)
	if err != nil {
		return nil, err
	}
	failed := make([]int64, len(exprs))
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return failed, nil
		}
		if err != nil {
			return nil, err
		}
		results, err := e.Eval(ctx, b)
		if err != nil {
			return nil, err
		}
		for i, v := range results {
			v = v.Decode()
			for j := range b.Rows() {
				if row := b.Row(j); v.IsNull(row) || !v.Bools[row] {
					failed[i]++
				}
			}
		}
	}
}
