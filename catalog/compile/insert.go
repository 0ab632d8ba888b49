package compile

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
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

// buildInsert writes INSERT ... SELECT without making rows, when the SELECT compiles to exactly the table's types. Else GMS inserts row by row what
// assign has converted. nil, nil: the table is none of ours, or that is done, or there are no rows.
func (b *Builder) buildInsert(ctx *sql.Context, n *plan.InsertInto, outer sql.Row) (sql.RowIter, error) {
	insertable, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil, nil // GMS words the error
	}
	sink, ok := sql.GetUnderlyingTable(insertable).(Sink)
	if !ok || plan.IsEmptyTable(n.Source) || isAssigned(n.Source) || n.IsReplace || n.OnDupExprs.HasUpdates() {
		return nil, nil
	}
	if !n.Ignore {
		ctx = DivisionErrors(ctx)
	}
	if p, ok := compile(written(ctx), n.Source); ok && fits(p.fields, sink.Columns()) && !n.Ignore && len(n.Returning) == 0 && len(n.Checks()) == 0 && !n.HasAfterTrigger {
		return b.insertBatches(ctx, n, sink, p)
	}
	if n.Ignore {
		ctx = ctx.WithContext(context.WithValue(ctx.Context, ignoreKey{}, true))
	}
	converted := *n
	if converted.Source, err = assign(ctx, n.Source, insertable.Name(), sink.Columns(), n.Ignore); err != nil {
		return nil, err
	}
	return b.base.Build(ctx, &converted, outer)
}

// ignoreKey is the context's key of whether a statement has IGNORE.
type ignoreKey struct{}

// Ignores tells a table whether the INSERT that asks for its inserter has IGNORE.
func Ignores(ctx *sql.Context) bool {
	on, _ := ctx.Value(ignoreKey{}).(bool)
	return on
}

func (b *Builder) insertBatches(ctx *sql.Context, n *plan.InsertInto, sink Sink, p *pipeline) (sql.RowIter, error) {
	empty := *n
	empty.Source = plan.NewEmptyTableWithSchema(n.Source.Schema(ctx))
	counter, err := b.base.Build(ctx, &empty, nil)
	if err != nil {
		return nil, err
	}
	rows, err := p.openWhole(ctx)
	if err != nil {
		return nil, closeAfter(ctx, counter, err)
	}
	return &insertBatches{sink: sink, rows: rows, counter: counter}, nil
}

// assign converts the rows of an INSERT for the columns of a table. In MySQL's strict mode what the SELECT cannot compute is an error.
func assign(ctx *sql.Context, source sql.Node, table string, columns []batch.Field, ignore bool) (sql.Node, error) {
	schema := source.Schema(ctx)
	if len(schema) != len(columns) {
		return source, nil // GMS words the error
	}
	kinds := valueTypes(ctx, source)
	if p, ok := source.(*plan.Project); ok {
		source = writeTuples(ctx, p, columns)
	}
	if !ignore && sql.LoadSqlMode(ctx).Strict() {
		var err error
		source, err = Strict(ctx, source, Refuse)
		if err != nil {
			return nil, err
		}
	}
	out := make([]sql.Expression, len(columns))
	for i, c := range schema {
		out[i] = expression.NewGetFieldWithTable(i, 0, kinds[i], c.DatabaseSource, c.Source, c.Name, c.Nullable)
		if to := columns[i]; to.Nullable || ignore {
			out[i] = NewAssigned(out[i], table, to, ignore)
		} else {
			to.Nullable = true // GMS says which NULL it is: one that was given, or a column that was not
			out[i] = NewAssigned(out[i], table, to, false)
		}
	}
	return plan.NewProject(ctx, out, source), nil
}

// isAssigned says whether the source of an INSERT comes from assign.
func isAssigned(n sql.Node) bool {
	p, ok := n.(*plan.Project)
	if !ok {
		return false
	}
	_, ok = p.Projections[0].(*Assigned)
	return ok
}

// valueTypes are the types of an INSERT's rows. GMS puts a Project over them that has the types of the table instead.
func valueTypes(ctx *sql.Context, source sql.Node) []sql.Type {
	schema := source.Schema(ctx)
	out := make([]sql.Type, len(schema))
	for i, c := range schema {
		out[i] = c.Type
	}
	p, ok := source.(*plan.Project)
	if !ok {
		return out
	}
	below := p.Child.Schema(ctx)
	for i, e := range p.Projections {
		if f, ok := e.(*expression.GetField); ok && f.Index() < len(below) {
			out[i] = below[f.Index()].Type
		}
	}
	return out
}

// writeTuples makes texts of the dates of VALUES for columns that are texts. Each tuple may have types of its own, and the first has those of the plan.
func writeTuples(ctx *sql.Context, p *plan.Project, columns []batch.Field) sql.Node {
	values, ok := p.Child.(*plan.Values)
	if !ok {
		return p
	}
	tuples := make([][]sql.Expression, len(values.ExpressionTuples))
	for t, tuple := range values.ExpressionTuples {
		tuples[t] = tuple
		for i, e := range p.Projections {
			f, ok := e.(*expression.GetField)
			if !ok || columns[i].Type.Kind != batch.String || f.Index() >= len(tuple) || !types.IsTime(tuple[f.Index()].Type(ctx)) {
				continue
			}
			tuples[t] = slices.Clone(tuples[t])
			tuples[t][f.Index()] = NewDateText(tuple[f.Index()])
		}
	}
	out := *p
	out.Child = plan.NewValues(tuples)
	return &out
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
