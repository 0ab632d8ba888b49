package catalog

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/vector"
)

// applySelect plans the SELECT of a statement, whose first columns are the address of a row, and applies its rows.
func (c *Catalog) applySelect(ctx *sql.Context, rows *rowSelect, changes *rowChanges) error {
	t, sel := rows.t, rows.sel
	ctx = t.with(ctx)
	node, err := c.analyze(ctx, sel, ast.String(sel))
	if err != nil {
		return err
	}
	changes.ordered = inAddressOrder(node)
	if sel.Limit != nil || t.elsewhere {
		changes.w.reads.whole = true
	} else {
		changes.w.reads.recheck = c.recheck(ctx, t, sel)
	}
	if changes.wholeFiles {
		if err := changes.decide(ctx, t, node); err != nil {
			return err
		}
	}
	op, err := c.openSelect(ctx, node, changes.schema(), rows.ignore)
	if err != nil {
		return err
	}
	err = changes.run(ctx, op)
	if err = errors.Join(err, op.Close()); err == nil {
		err = changes.finish(ctx)
	}
	return errors.Join(err, changes.close())
}

// recheck tells whether the statement would change a row of files that another commit has added meanwhile.
func (c *Catalog) recheck(ctx *sql.Context, t *target, sel *ast.Select) delta.Recheck {
	condition := *sel
	condition.SelectExprs = t.address()
	return func(inner context.Context, added []delta.File) (bool, error) {
		again := &target{table: t.table, alias: t.alias, files: numbered(added)}
		ctx := again.with(ctx.WithContext(inner))
		node, err := c.analyze(ctx, &condition, ast.String(&condition))
		if err != nil {
			return false, err
		}
		rows, err := c.openSelect(ctx, node, batch.NewSchema(addressFields...), false)
		if err != nil {
			return false, err
		}
		_, err = rows.Next(ctx) // batches without rows are not handed on
		found := err == nil
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return found, errors.Join(err, rows.Close())
	}
}

// numbered are files with their places in a list.
func numbered(files []delta.File) iter.Seq2[int64, delta.File] {
	return func(yield func(int64, delta.File) bool) {
		for i, f := range files {
			if !yield(int64(i), f) {
				return
			}
		}
	}
}

// openSelect executes a plan as batches of a schema. A value that an expression cannot compute is an error in strict mode, as in INSERT.
func (c *Catalog) openSelect(ctx *sql.Context, node sql.Node, schema *batch.Schema, ignore bool) (vector.Operator, error) {
	if !ignore {
		ctx = compile.DivisionErrors(ctx)
	}
	op, ok, err := compile.Open(ctx, node)
	if err != nil {
		return nil, err
	}
	if ok && sameTypes(op.Schema(), schema) {
		return op, nil
	}
	if ok {
		if err := op.Close(); err != nil {
			return nil, err
		}
	}
	if !ignore && sql.LoadSqlMode(ctx).Strict() {
		node, err = compile.Strict(ctx, node, compile.Refuse)
		if err != nil {
			return nil, err
		}
	}
	iter, err := c.engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
	if err != nil {
		return nil, err
	}
	return &rowBatches{ctx: ctx, iter: iter, schema: schema, ignore: ignore}, nil
}

func sameTypes(a, b *batch.Schema) bool {
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		if f.Type != b.Fields[i].Type {
			return false
		}
	}
	return true
}

// inAddressOrder tells whether a plan hands out the rows of the target in the order of their addresses: it reads the target first, and what is
// above keeps the order.
func inAddressOrder(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.Project:
		return inAddressOrder(n.Child)
	case *plan.Filter:
		return inAddressOrder(n.Child)
	case *plan.TableAlias:
		return inAddressOrder(n.Child)
	case *plan.Limit:
		return inAddressOrder(n.Child)
	case *plan.Offset:
		return inAddressOrder(n.Child)
	case *plan.JoinNode:
		return keepsLeftOrder(n.Op) && inAddressOrder(n.Left())
	case *plan.ResolvedTable:
		t, ok := sql.GetUnderlyingTable(n.Table).(*table)
		return ok && t.target != nil
	default:
		return false
	}
}

// keepsLeftOrder tells whether a join goes through its left side once, and hands out what it finds for each row.
func keepsLeftOrder(op plan.JoinType) bool {
	switch op {
	case plan.JoinTypeInner, plan.JoinTypeCross, plan.JoinTypeHash, plan.JoinTypeCrossHash, plan.JoinTypeLeftOuter, plan.JoinTypeLeftOuterHash:
		return true
	}
	return false
}

// rowBatches are the rows of a plan as batches.
type rowBatches struct {
	ctx    *sql.Context
	iter   sql.RowIter // nil when closed
	schema *batch.Schema
	ignore bool // rows with a NULL that their column does not take are left out
	done   bool
}

var _ vector.Operator = (*rowBatches)(nil)

// Schema is that of the batches.
func (r *rowBatches) Schema() *batch.Schema { return r.schema }

// Next gathers the next rows.
func (r *rowBatches) Next(ctx context.Context) (*batch.Batch, error) {
	if r.done || r.iter == nil {
		return nil, io.EOF
	}
	inner := r.ctx.WithContext(ctx)
	out := batch.NewBuilder(r.schema)
	for out.Len() < batch.MaxRows {
		row, err := r.iter.Next(inner)
		if errors.Is(err, io.EOF) {
			r.done = true
			break
		}
		if r.ignore && sql.ErrInsertIntoNonNullableProvidedNull.Is(err) {
			inner.Warn(sql.CastSQLError(err).Num, "%s", err.Error())
			continue
		}
		if err == nil {
			err = mysqltype.AppendRow(inner, out, row)
		}
		if err != nil {
			return nil, err
		}
	}
	if out.Len() == 0 {
		return nil, io.EOF
	}
	return out.Finish(), nil
}

// Close closes the plan's iterators.
func (r *rowBatches) Close() error {
	if r.iter == nil {
		return nil
	}
	iter := r.iter
	r.iter = nil
	return iter.Close(r.ctx)
}
