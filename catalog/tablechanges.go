package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/vector"
)

// tableChanges is the table function table_changes('t', from [, to]): the rows that versions inserted, deleted and updated, from the change
// data feed. from and to are versions, or times as texts; without to it is the newest version.
type tableChanges struct {
	leaf
	c        *Catalog
	name     string
	handle   *delta.Table // nil: an argument has no value yet
	from, to int64
	fields   []batch.Field // those of the table, then vector.ChangeFields
}

var (
	_ sql.TableFunction = (*tableChanges)(nil)
	_ sql.ExecSourceRel = (*tableChanges)(nil)
	_ compile.Source    = (*tableChanges)(nil)
)

// NewInstance finds the table and the versions. An argument without a value, as at PREPARE, gives a node without columns.
func (f *tableChanges) NewInstance(ctx *sql.Context, db sql.Database, args []sql.Expression) (sql.Node, error) {
	n := &tableChanges{leaf: leaf{db}, c: f.c}
	if len(args) < 2 || len(args) > 3 {
		return nil, refuse(KindInvalid, "table_changes wants a table, the first version and perhaps the last: table_changes('t', 1, 5)")
	}
	values := make([]any, len(args))
	for i, a := range args {
		if expression.IsBindVar(a) {
			return n, nil
		}
		var err error
		if _, isQuery := a.(*plan.Subquery); isQuery {
			return nil, refuse(KindInvalid, "table_changes wants versions and times as they are: argument %d is a query; read its value first", i+1)
		}
		if values[i], err = a.Eval(ctx, nil); err != nil {
			return nil, err
		}
	}
	text, ok := values[0].(string)
	if !ok {
		return nil, refuse(KindInvalid, "table_changes wants the name of a table as a text: table_changes('t', 1, 5)")
	}
	name, err := sqlext.ParseName(text)
	if err != nil {
		return nil, err
	}
	if err := f.c.checkTable(ctx, ast.AuthType_SELECT, name); err != nil {
		return nil, err
	}
	t, err := f.c.lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	return n, n.open(ctx, t, values[1:])
}

func (f *tableChanges) open(ctx *sql.Context, t *table, versions []any) error {
	f.name, f.handle, f.to = qualifiedName(t.database, t.name), t.handle, t.snap.Version()
	var err error
	if f.from, err = firstVersion(ctx, t.handle, versions[0]); err != nil {
		return fmt.Errorf("table_changes: %w", err)
	}
	if len(versions) > 1 {
		if f.to, err = changeVersion(ctx, t.handle, versions[1]); err != nil {
			return fmt.Errorf("table_changes: %w", err)
		}
	}
	last, _, err := t.handle.Changes(ctx, f.from, f.to)
	if err != nil {
		return fmt.Errorf("table_changes: %w", err)
	}
	f.fields = slices.Concat(last.Schema().Fields, vector.ChangeFields)
	return nil
}

// changeVersion is a version, or the newest one at a time.
func changeVersion(ctx *sql.Context, handle *delta.Table, v any) (int64, error) {
	if text, ok := v.(string); ok {
		return versionAtText(ctx, handle, text)
	}
	n, inRange, err := types.Int64.Convert(ctx, v)
	if err != nil || inRange != sql.InRange || n == nil || n.(int64) < 0 {
		return 0, refuse(KindInvalid, "%v is no version: give a number from 0 on, or a time as a text", v)
	}
	return n.(int64), nil
}

// firstVersion is a version, or the oldest one that is not before a time.
func firstVersion(ctx *sql.Context, handle *delta.Table, v any) (int64, error) {
	text, ok := v.(string)
	if !ok {
		return changeVersion(ctx, handle, v)
	}
	us, err := batch.ParseTimestamp([]byte(text), time.UTC)
	if err != nil {
		return 0, err
	}
	return handle.VersionFrom(ctx, time.UnixMicro(us))
}

// Name is the function's name.
func (f *tableChanges) Name() string   { return "table_changes" }
func (f *tableChanges) String() string { return f.Describe() }

// Describe names the table for EXPLAIN.
func (f *tableChanges) Describe() string {
	return fmt.Sprintf("table_changes %s versions %d to %d", f.name, f.from, f.to)
}

// Schema is the table's columns and the change's.
func (f *tableChanges) Schema(*sql.Context) sql.Schema {
	return mysqltype.Schema(&batch.Schema{Fields: f.fields}, "", f.Name())
}

// Columns are the same as batches have them.
func (f *tableChanges) Columns() []batch.Field { return f.fields }

// Scan reads the changes version by version.
func (f *tableChanges) Scan(ctx *sql.Context, _ vector.Expr) (vector.Operator, error) {
	if f.handle == nil {
		return nil, refuse(KindInvalid, "table_changes: an argument has no value")
	}
	last, sets, err := f.handle.Changes(ctx, f.from, f.to)
	if err != nil {
		return nil, err
	}
	return vector.NewChanges(f.handle, last, last.Schema().Fields, sets, f.c.dataFiles), nil
}

// RowIter reads them row by row.
func (f *tableChanges) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	op, err := f.Scan(ctx, nil)
	if err != nil {
		return nil, err
	}
	return compile.NewRows(op), nil
}

// WithChildren returns the node.
func (f *tableChanges) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return noChildren(f, len(children))
}

// WithExpressions returns the node.
func (f *tableChanges) WithExpressions(*sql.Context, ...sql.Expression) (sql.Node, error) {
	return f, nil
}

// WithDatabase returns the node in another database.
func (f *tableChanges) WithDatabase(db sql.Database) (sql.Node, error) {
	out := *f
	out.database = db
	return &out, nil
}
