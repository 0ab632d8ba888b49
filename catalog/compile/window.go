package compile

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// WindowFunction is a function that is of windows only.
type WindowFunction interface {
	sql.WindowAggregation
	WindowFunc() vector.WindowFunc
	// Values are what it gives of other rows, and what it gives where there is no such row; none: it looks at none.
	Values() []sql.Expression
	// Number is the number of rows or parts among the arguments.
	Number(ctx *sql.Context) (int64, error)
	// Convert makes one of Values a value of the function's type.
	Convert(ctx *sql.Context, v any) (any, error)
}

// RangeBound is an expression whose value is that of a key moved by a distance: the bound of a frame that is a range.
type RangeBound func(ctx *sql.Context, key, distance sql.Expression, back bool) sql.Expression

// MoveKey makes the bounds of ranges. It belongs to the package that knows MySQL's arithmetic.
var MoveKey RangeBound

// windowOf is the window of an expression that is a window function.
func windowOf(e sql.Expression) (sql.WindowAdaptableExpression, *sql.WindowDefinition, bool) {
	f, ok := unalias(e).(sql.WindowAdaptableExpression)
	if !ok || f.Window() == nil {
		return nil, nil, false
	}
	return f, f.Window(), true
}

// compiledWindow is a window with where its columns go.
type compiledWindow struct {
	vector.Window
	partition, order []string
	to               []int // among the node's expressions
	ties             bool  // it makes a difference which of two peers comes first
}

// compileWindow is window functions, and columns that are passed through.
func compileWindow(ctx *sql.Context, in scope, n *plan.Window) (*pipeline, bool) {
	child, ok := compileNode(ctx, in, n.Child)
	if !ok {
		return nil, false
	}
	c := compiler{ctx: ctx, p: child, wide: true}
	out := &pipeline{outer: child.outer, computed: true, aggregated: true, many: true, budget: child.budget}
	exprs := make([]vector.Expr, len(n.SelectExprs))
	var windows []*compiledWindow
	var texts []string
	for i, column := range n.Schema(ctx) {
		e := n.SelectExprs[i]
		f, w, ok := windowOf(e)
		field, x := batch.Field{}, vector.Expr(nil)
		var err error
		if ok {
			var added vector.WindowColumn
			if added, err = c.windowColumn(f, w); err == nil {
				windows, err = c.addWindow(windows, w, added, i)
				field, texts = added.Field, append(texts, windowTitle(f, w))
			}
		} else {
			field, x, err = compileColumn(ctx, child, e)
		}
		if err != nil {
			return nil, false
		}
		exprs[i], field.Name = x, column.Name
		out.fields, out.names = append(out.fields, field), append(out.names, column.Name)
		id := sql.ColumnId(0)
		if named, ok := e.(sql.IdExpression); ok {
			id = named.Id()
		}
		out.ids = append(out.ids, id)
	}
	schema := &batch.Schema{Fields: child.fields}
	for _, w := range windows {
		op, err := vector.NewWindow(vector.NewBatches(schema), w.Window, nil)
		if err != nil {
			return nil, false
		}
		for k, to := range w.to {
			at := len(schema.Fields) + k
			exprs[to] = vector.NewColumn(at, op.Schema().Fields[at])
		}
		schema = op.Schema()
	}
	out.plan = &step{title: "Window " + strings.Join(texts, ", "), below: child.steps()}
	out.size = sync.OnceValue(func() size {
		below := child.size()
		known := size{rows: below.rows, columns: make([]vector.ColumnEstimate, len(exprs))}
		for i, e := range exprs {
			if at, ok := vector.ColumnOf(e); ok && at < len(below.columns) {
				known.columns[i] = below.columns[at]
			}
		}
		return known
	})
	out.build = func(ctx *sql.Context) (vector.Operator, error) {
		op, err := child.open(ctx)
		if err != nil {
			return nil, err
		}
		for _, w := range windows {
			if op, err = vector.NewWindow(op, w.Window, child.budget); err != nil {
				return nil, err
			}
		}
		return vector.NewProject(op, exprs, out.fields), nil
	}
	return out, true
}

// windowTitle is a window function in EXPLAIN. GMS's text of an aggregate is a tree.
func windowTitle(e sql.WindowAdaptableExpression, w *sql.WindowDefinition) string {
	a, ok := e.(sql.Aggregation)
	if !ok {
		return e.String()
	}
	name := strings.FieldsFunc(a.String(), func(r rune) bool { return r == '(' || unicode.IsSpace(r) })[0]
	return strings.ToLower(name) + "(" + a.Children()[0].String() + ") " + w.String()
}

// addWindow puts a column into a window that there is for the same partitions and order, or into one more. A column that does not ask for the order of
// peers takes a finer order, too.
func (c compiler) addWindow(all []*compiledWindow, w *sql.WindowDefinition, column vector.WindowColumn, to int) ([]*compiledWindow, error) {
	now := &compiledWindow{ties: dependsOnTies(&column)}
	for _, e := range w.PartitionBy {
		x, err := c.key(e)
		if err != nil {
			return nil, err
		}
		now.Partition, now.partition = append(now.Partition, x), append(now.partition, e.String())
	}
	for _, by := range w.OrderBy {
		x, err := c.key(by.Expr)
		if err != nil {
			return nil, err
		}
		now.Order = append(now.Order, vector.SortKey{Expr: x, Descending: by.Order == sql.Descending})
		now.order = append(now.order, by.String())
	}
	column.Peers = len(now.Order)
	for _, there := range all {
		if !slices.Equal(there.partition, now.partition) {
			continue
		}
		short, long := there, now
		if len(short.order) > len(long.order) {
			short, long = long, short
		}
		if !slices.Equal(short.order, long.order[:len(short.order)]) || short.ties && len(short.order) < len(long.order) {
			continue
		}
		there.order, there.Order, there.ties = long.order, long.Order, there.ties || now.ties
		there.Columns, there.to = append(there.Columns, column), append(there.to, to)
		return all, nil
	}
	now.Columns, now.to = []vector.WindowColumn{column}, []int{to}
	return append(all, now), nil
}

// dependsOnTies says whether it makes a difference for a column which of two peers comes first.
func dependsOnTies(c *vector.WindowColumn) bool {
	switch c.Func {
	case vector.Rank, vector.DenseRank, vector.PercentRank, vector.CumeDist:
		return false
	case vector.FrameAggregate:
		return c.Frame.Rows && (c.Frame.Start.Kind != vector.UnboundedPreceding || c.Frame.End.Kind != vector.UnboundedFollowing)
	}
	return true
}

// windowColumn compiles a window function.
func (c compiler) windowColumn(e sql.WindowAdaptableExpression, w *sql.WindowDefinition) (vector.WindowColumn, error) {
	out := vector.WindowColumn{Func: vector.FrameAggregate}
	var err error
	if out.Frame, err = c.frame(w); err != nil {
		return out, err
	}
	f, ok := e.(WindowFunction)
	if !ok {
		a, err := c.aggregate(e)
		if err != nil || a.Distinct {
			return out, errNotCompiled
		}
		out.Aggregate, out.Args, out.Field = a.Func, a.Args, a.Field
		return out, nil
	}
	out.Func = f.WindowFunc()
	if out.N, err = f.Number(c.ctx); err != nil {
		return out, err
	}
	switch out.Func {
	case vector.RowNumber, vector.Rank, vector.DenseRank, vector.Ntile:
		out.Field.Type = batch.Type{Kind: batch.Int64}
		return out, nil
	case vector.PercentRank, vector.CumeDist:
		out.Field.Type = batch.Type{Kind: batch.Float64}
		return out, nil
	}
	values := f.Values()
	field, x, err := compileColumn(c.ctx, c.p, values[0])
	if err != nil {
		return out, err
	}
	out.Field, out.Args = batch.Field{Type: field.Type, Nullable: true, Metadata: field.Metadata}, []vector.Expr{x}
	if len(values) == 1 || values[1].Type(c.ctx) == types.Null {
		return out, nil
	}
	if !f.Type(c.ctx).Equals(values[0].Type(c.ctx)) {
		return out, errNotCompiled
	}
	other, err := c.otherwise(f, values[1], out.Field)
	if err != nil || !alike(other.Type(), x.Type()) {
		return out, errNotCompiled
	}
	other, err = vector.NewCast(other, x.Type())
	out.Args = append(out.Args, other)
	return out, err
}

// otherwise compiles what stands for a row that is not there.
func (c compiler) otherwise(f WindowFunction, e sql.Expression, field batch.Field) (vector.Expr, error) {
	of := unwrap(e)
	if negative, ok := of.(*expression.UnaryMinus); ok {
		of = negative.Child
	}
	if _, ok := of.(*expression.Literal); !ok {
		return c.compile(e)
	}
	v, err := e.Eval(c.ctx, nil)
	if err == nil {
		v, err = f.Convert(c.ctx, v)
	}
	if err == nil {
		v, err = mysqltype.ToBatch(c.ctx, field, v)
	}
	if err != nil {
		return nil, errNotCompiled
	}
	return vector.NewConstant(field.Type, v)
}

// frame compiles the frame of a window.
func (c compiler) frame(w *sql.WindowDefinition) (vector.Frame, error) {
	out := vector.Frame{End: vector.FrameBound{Kind: vector.CurrentRow}}
	if w.Frame == nil {
		return out, nil
	}
	b := boundsOf(w)
	out.Rows = b.rows
	var err error
	if out.Start, err = c.bound(w, b, b.start); err == nil {
		out.End, err = c.bound(w, b, b.end)
	}
	return out, err
}

func (c compiler) bound(w *sql.WindowDefinition, f frameBounds, b frameBound) (vector.FrameBound, error) {
	out := vector.FrameBound{Kind: b.kind}
	if b.distance == nil {
		return out, nil
	}
	if f.rows {
		var err error
		out.Rows, err = b.rowsAway(c.ctx)
		return out, err
	}
	key, moved, err := b.movedKey(c.ctx, w)
	if err != nil {
		return out, err
	}
	if out.Value, err = c.operand(moved); err != nil {
		return out, err
	}
	if out.Key, err = c.operand(key); err != nil {
		return out, err
	}
	if out.Key.Type() != out.Value.Type() {
		if !alike(out.Key.Type(), out.Value.Type()) {
			return out, errNotCompiled
		}
		out.Key, err = vector.NewCast(out.Key, out.Value.Type())
	}
	return out, err
}
