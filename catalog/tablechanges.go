package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

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
	fields   []batch.Field // those of the table, then changeFields
}

// changeFields are the columns behind those of the table.
var changeFields = []batch.Field{
	delta.ChangeTypeField,
	{Name: "_commit_version", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	{Name: "_commit_timestamp", Type: batch.Type{Kind: batch.Timestamp}, Nullable: true},
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
	if err := f.c.checkSelect(ctx, name); err != nil {
		return nil, err
	}
	t, err := f.c.lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	return n, n.open(ctx, t, values[1:])
}

// checkSelect refuses a table that the user may not read.
func (c *Catalog) checkSelect(ctx *sql.Context, name sqlext.Name) error {
	database := name.Database
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	of := sql.PrivilegeCheckSubject{Database: database, Table: name.Name}
	if users := c.engine.Analyzer.Catalog.MySQLDb; !users.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(of, sql.PrivilegeType_Select)) {
		return sql.ErrPrivilegeCheckFailed.New(ctx.Session.Client().User)
	}
	return nil
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
	f.fields = append(append([]batch.Field{}, last.Schema().Fields...), changeFields...)
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
	before, err := handle.VersionAt(ctx, time.UnixMicro(us-1))
	if errors.Is(err, delta.ErrNoVersion) {
		return 0, nil
	}
	return before + 1, err
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
	next, stop := iter.Pull2(sets)
	return &changesScan{f: f, last: last, next: next, stop: stop}, nil
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

// changesScan reads one change set after the other.
type changesScan struct {
	f    *tableChanges
	last *delta.Snapshot
	next func() (delta.ChangeSet, error, bool)
	stop func()

	set    delta.ChangeSet
	reader *delta.FileReader // of set; nil between files
}

var _ vector.Operator = (*changesScan)(nil)

// Schema is that of the function's rows.
func (s *changesScan) Schema() *batch.Schema { return &batch.Schema{Fields: s.f.fields} }

// Next returns the next changed rows.
func (s *changesScan) Next(ctx context.Context) (*batch.Batch, error) {
	for {
		if s.reader == nil {
			if err := s.openNext(ctx); err != nil {
				return nil, err // io.EOF too
			}
		}
		b, err := s.reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			err = s.closeFile()
			if err == nil {
				continue
			}
		}
		if err != nil {
			return nil, fmt.Errorf("changes of version %d of %s: %w", s.set.Version, s.f.name, err)
		}
		if out := s.changed(b); out.Rows() > 0 {
			return out, nil
		}
	}
}

func (s *changesScan) openNext(ctx context.Context) error {
	set, err, ok := s.next()
	if !ok {
		return io.EOF
	}
	if err != nil {
		return err
	}
	s.set = set
	columns := s.last.Schema().Fields
	if set.Type == "" {
		columns = append(columns[:len(columns):len(columns)], delta.ChangeTypeField)
	}
	s.reader, err = s.f.handle.OpenFile(ctx, s.last, set.File, delta.FileReaderOptions{
		Columns: columns, Cache: s.f.c.dataFiles, Deleted: set.Rows != nil,
	})
	if err != nil {
		return fmt.Errorf("changes of version %d of %s: %w", set.Version, s.f.name, err)
	}
	return nil
}

// changed is the batch of a file with what the set says of its rows, without those that the set does not have.
func (s *changesScan) changed(b *batch.Batch) *batch.Batch {
	out := &batch.Batch{Schema: s.Schema(), Len: b.Len, Sel: b.Sel}
	out.Cols = append(out.Cols, b.Cols...)
	if s.set.Type != "" {
		kind := batch.NewVector(changeFields[0].Type, 1)
		kind.AppendString(s.set.Type)
		out.Cols = append(out.Cols, spread(kind, b.Len))
	}
	version, at := batch.NewVector(changeFields[1].Type, 1), batch.NewVector(changeFields[2].Type, 1)
	version.AppendInt64(s.set.Version)
	at.AppendInt64(s.set.Timestamp.UnixMicro())
	out.Cols = append(out.Cols, spread(version, b.Len), spread(at, b.Len))
	if s.set.Rows == nil {
		return out
	}
	first := s.reader.Position()
	sel := make([]int32, 0, b.Rows())
	for i := range b.Rows() {
		if row := b.Row(i); s.set.Rows.Contains(first + int64(row)) {
			sel = append(sel, int32(row))
		}
	}
	out.Sel = sel
	return out
}

// spread is one value as often as there are rows.
func spread(one *batch.Vector, n int) *batch.Vector { return one.Gather(make([]int32, n)) }

func (s *changesScan) closeFile() error {
	r := s.reader
	s.reader = nil
	return r.Close()
}

// Close closes the open file.
func (s *changesScan) Close() error {
	s.stop()
	if s.reader == nil {
		return nil
	}
	return s.closeFile()
}
