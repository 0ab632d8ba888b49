package compile

import (
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// Sink is a table that takes batches.
type Sink interface {
	// Columns are the table's, in the order of the batches'.
	Columns() []batch.Field
	// InsertBatches writes all rows of an operator as one statement, or nothing, and returns their number. It closes nothing.
	InsertBatches(ctx *sql.Context, rows vector.Operator) (int64, error)
}

// buildInsert writes INSERT ... SELECT without making rows, when the SELECT compiles to exactly the table's types. nil, nil: GMS inserts
// row by row, and converts.
func (b *Builder) buildInsert(ctx *sql.Context, n *plan.InsertInto) (sql.RowIter, error) {
	if n.IsReplace || n.Ignore || n.OnDupExprs.HasUpdates() || len(n.Returning) > 0 || len(n.Checks()) > 0 || n.HasAfterTrigger {
		return nil, nil
	}
	insertable, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil, nil // GMS words the error
	}
	sink, ok := sql.GetUnderlyingTable(insertable).(Sink)
	if !ok {
		return nil, nil
	}
	p, ok := compileNode(ctx, n.Source)
	if !ok {
		return b.strictInsert(ctx, n)
	}
	if !fits(p.fields, sink.Columns()) {
		return nil, nil
	}
	empty := *n
	empty.Source = plan.NewEmptyTableWithSchema(n.Source.Schema(ctx))
	counter, err := b.base.Build(ctx, &empty, nil)
	if err != nil {
		return nil, err
	}
	rows, err := p.open(ctx)
	if err != nil {
		return nil, closeAfter(ctx, counter, err)
	}
	return &insertBatches{sink: sink, rows: rows, counter: counter}, nil
}

// strictInsert inserts row by row, and in MySQL's strict mode refuses what the SELECT cannot convert. nil, nil: nothing to watch.
func (b *Builder) strictInsert(ctx *sql.Context, n *plan.InsertInto) (sql.RowIter, error) {
	if !sql.LoadSqlMode(ctx).Strict() || isStrict(ctx, n.Source) {
		return nil, nil
	}
	source, err := Strict(ctx, n.Source, func(f Fault) error { return sql.ErrTruncatedIncorrect.New(f.Expr, f.Message) })
	if err != nil {
		return nil, err
	}
	if !isStrict(ctx, source) {
		return nil, nil
	}
	strict := *n
	strict.Source = source
	return b.base.Build(ctx, &strict, nil)
}

// fits says whether rows go into a table without any conversion or check of length.
func fits(rows, table []batch.Field) bool {
	if len(rows) != len(table) {
		return false
	}
	for i, f := range table {
		if !rows[i].Type.Alike(f.Type) || f.Type.Kind == batch.String && !mysqltype.OfField(f).Equals(mysqltype.Text) {
			return false
		}
	}
	return true
}

// insertBatches is an INSERT of batches. Its one row is the OkResult.
type insertBatches struct {
	sink Sink
	rows vector.Operator
	// counter is GMS's iterator of an INSERT without rows. GMS takes a statement for one that answers OK, and not with rows, by
	// the types of its iterators.
	counter sql.RowIter
	done    bool
}

var _ sql.MutableRowIter = (*insertBatches)(nil)

// GetChildIter is what GMS looks into.
func (i *insertBatches) GetChildIter() sql.RowIter { return i.counter }

// WithChildIter takes what GMS has wrapped around it.
func (i *insertBatches) WithChildIter(counter sql.RowIter) sql.RowIter {
	out := *i
	out.counter = counter
	return &out
}

// Next executes the INSERT.
func (i *insertBatches) Next(ctx *sql.Context) (sql.Row, error) {
	if i.done {
		return nil, io.EOF
	}
	i.done = true
	n, err := i.sink.InsertBatches(ctx, i.rows)
	if err != nil {
		return nil, err
	}
	ctx.GetLastQueryInfo().RowCount.Store(n)
	return sql.Row{types.OkResult{RowsAffected: uint64(n)}}, nil
}

// Close closes the SELECT.
func (i *insertBatches) Close(ctx *sql.Context) error {
	return errors.Join(i.rows.Close(), i.counter.Close(ctx))
}
