package catalog

import (
	"context"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/vector"
)

// The table function of the levels of WITH ROLLUP, the name that it goes by, and its column.
const (
	levelsFunction = "__rollup_levels"
	levelsTable    = "_levels"
	levelColumn    = "_level"
)

// levelOf is the column of a table of levels.
func levelOf(table string) *ast.ColName {
	return &ast.ColName{Name: ast.NewColIdent(levelColumn), Qualifier: ast.TableName{Name: ast.NewTableIdent(table)}}
}

// levelsSchema is the one column.
var levelsSchema = &batch.Schema{Fields: []batch.Field{{Name: levelColumn, Type: batch.Type{Kind: batch.Int32}}}}

// rollupLevels is the node of __rollup_levels(n): the numbers from 0 to n.
type rollupLevels struct {
	leaf
	n int
}

var (
	_ sql.TableFunction  = (*rollupLevels)(nil)
	_ sql.ExecSourceRel  = (*rollupLevels)(nil)
	_ compile.Statistics = (*rollupLevels)(nil)
)

// NewInstance takes the number of keys.
func (*rollupLevels) NewInstance(ctx *sql.Context, db sql.Database, args []sql.Expression) (sql.Node, error) {
	if len(args) != 1 {
		return nil, sql.ErrInvalidArgumentNumber.New(levelsFunction, 1, len(args))
	}
	v, err := args[0].Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	n, _, err := types.Int32.Convert(ctx, v)
	if err != nil || n == nil || n.(int32) < 0 || n.(int32) > maxLevels {
		return nil, sql.ErrInvalidArgument.New(levelsFunction)
	}
	return &rollupLevels{leaf: leaf{db}, n: int(n.(int32))}, nil
}

// maxLevels is more than GROUP BY can name columns for.
const maxLevels = 4096

// Name is the function's name.
func (l *rollupLevels) Name() string   { return levelsFunction }
func (l *rollupLevels) String() string { return l.Describe() }

// Describe is its line in EXPLAIN.
func (l *rollupLevels) Describe() string { return fmt.Sprintf("Levels of ROLLUP (rows=%d)", l.n+1) }

// Schema is the one column.
func (l *rollupLevels) Schema(*sql.Context) sql.Schema {
	return mysqltype.Schema(levelsSchema, "", l.Name())
}

// Columns are the same as batches have them.
func (*rollupLevels) Columns() []batch.Field { return levelsSchema.Fields }

// Scan reads the numbers.
func (l *rollupLevels) Scan(*sql.Context, vector.Expr) (vector.Operator, error) {
	return &levelsOperator{n: l.n}, nil
}

// Exact is how many they are.
func (l *rollupLevels) Exact(_ *sql.Context, condition vector.Expr, columns []int) (int64, []delta.ExactColumn, error) {
	if condition != nil {
		return 0, nil, compile.ErrNotExact
	}
	exact := make([]delta.ExactColumn, len(columns))
	for i := range exact {
		exact[i].Values = int64(l.n + 1)
	}
	return int64(l.n + 1), exact, nil
}

// RowIter reads them one by one.
func (l *rollupLevels) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	op, err := l.Scan(ctx, nil)
	if err != nil {
		return nil, err
	}
	return compile.NewRows(op), nil
}

// WithChildren returns the node.
func (l *rollupLevels) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return noChildren(l, len(children))
}

// WithExpressions returns the node.
func (l *rollupLevels) WithExpressions(*sql.Context, ...sql.Expression) (sql.Node, error) {
	return l, nil
}

// WithDatabase returns the node in another database.
func (l *rollupLevels) WithDatabase(db sql.Database) (sql.Node, error) {
	return &rollupLevels{leaf: leaf{db}, n: l.n}, nil
}

// levelsOperator gives the numbers in one batch.
type levelsOperator struct {
	n    int
	done bool
}

// Schema is the one column.
func (*levelsOperator) Schema() *batch.Schema { return levelsSchema }

// Next returns the batch.
func (o *levelsOperator) Next(context.Context) (*batch.Batch, error) {
	if o.done {
		return nil, io.EOF
	}
	o.done = true
	levels := batch.NewVector(levelsSchema.Fields[0].Type, o.n+1)
	for i := range o.n + 1 {
		levels.AppendInt32(int32(i))
	}
	return batch.New(levelsSchema, levels), nil
}

// Close has nothing to end.
func (*levelsOperator) Close() error { return nil }
