package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/files"
	"lakesql/vector"
)

// warningRow is MySQL's ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, for a malformed row.
const warningRow = 1366

// maxRowWarnings bounds the warnings of one read_files.
const maxRowWarnings = 64

// readFiles is the table function read_files('path', key => value, ...): the files of a path or glob as they are now. Without a
// schema among the options it reads into the files when the statement is planned.
type readFiles struct {
	leaf
	c      *Catalog
	path   string
	opts   *files.Options
	list   []files.File
	schema *batch.Schema
}

var (
	_ sql.TableFunction = (*readFiles)(nil)
	_ sql.ExecSourceRel = (*readFiles)(nil)
	_ compile.Source    = (*readFiles)(nil)
)

// NewInstance lists the files and finds their columns. An argument without a value, as at PREPARE, gives a node without columns.
func (f *readFiles) NewInstance(ctx *sql.Context, db sql.Database, args []sql.Expression) (sql.Node, error) {
	n := &readFiles{leaf: leaf{db}, c: f.c, schema: &batch.Schema{}}
	for _, a := range args {
		if expression.IsBindVar(a) {
			return n, nil
		}
	}
	path, named, err := functionArguments(ctx, args)
	if err != nil {
		return nil, fmt.Errorf("read_files: %w", err)
	}
	return n, n.open(ctx, path, named)
}

func (f *readFiles) open(ctx *sql.Context, path string, named map[string]string) error {
	_, metadata := named[fileMetadata]
	delete(named, fileMetadata)
	var err error
	if f.path, err = f.c.allowedPath(ctx, path); err != nil {
		return err
	}
	if f.opts, err = files.ParseOptions(named); err != nil {
		return fmt.Errorf("read_files: %w", err)
	}
	if names := f.opts.StreamOnly(); len(names) > 0 {
		return refuse(KindInvalid, "read_files: option %s is for streams, and a SELECT reads once what is there: leave it out", strings.Join(names, ", "))
	}
	set, err := files.NewSet(f.c.cfg.Open, f.c.cfg.Fence, f.path, f.opts)
	if err != nil {
		return fmt.Errorf("read_files: %w", err)
	}
	ready, waiting, err := set.List(ctx)
	if err != nil {
		return fmt.Errorf("read_files: %w", err)
	}
	f.list = append(ready, waiting...)
	f.schema, err = files.InferSchema(ctx, f.c.cfg.Open, f.list, f.opts)
	if errors.Is(err, files.ErrNoData) {
		return fmt.Errorf("[PATH_NOT_FOUND] read_files: no file with rows at %s: %w", f.path, err)
	}
	if err != nil {
		return fmt.Errorf("read_files: %w", err)
	}
	if metadata {
		f.schema = files.WithMetadata(f.schema)
	}
	return nil
}

// functionArguments reads ('path', 'key=>', value, ...), which sqlext.Rewrite makes of ('path', key => value, ...).
func functionArguments(ctx *sql.Context, args []sql.Expression) (path string, named map[string]string, err error) {
	named = make(map[string]string)
	for i := 0; i < len(args); i++ {
		text, err := argumentText(ctx, args[i])
		if err != nil {
			return "", nil, err
		}
		key, isKey := strings.CutSuffix(text, "=>")
		switch {
		case !isKey && i == 0:
			path = text
		case !isKey:
			return "", nil, refuse(KindInvalid, "argument %d: options are given by name, as in format => 'csv'", i+1)
		case i+1 == len(args):
			return "", nil, refuse(KindInvalid, "option %s has no value", key)
		default:
			i++
			if named[key], err = argumentText(ctx, args[i]); err != nil {
				return "", nil, err
			}
		}
	}
	if path == "" {
		path = named["path"]
		delete(named, "path")
	}
	if path == "" {
		return "", nil, refuse(KindInvalid, "give the path of a file, a folder or a glob: read_files('./in/*.csv')")
	}
	return path, named, nil
}

func argumentText(ctx *sql.Context, e sql.Expression) (string, error) {
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case nil:
		return "", refuse(KindInvalid, "an argument is NULL")
	case bool:
		return fmt.Sprint(v), nil
	case string:
		return v, nil
	}
	if e.String() == "true" || e.String() == "false" {
		return e.String(), nil
	}
	out, _, err := mysqltype.Text.Convert(ctx, v)
	if err != nil {
		return "", err
	}
	return out.(string), nil
}

// Name is the function's name.
func (f *readFiles) Name() string   { return "read_files" }
func (f *readFiles) String() string { return f.Describe() }

// Describe names the files for EXPLAIN.
func (f *readFiles) Describe() string {
	if f.opts == nil {
		return "read_files"
	}
	return fmt.Sprintf("read_files %s (%s, %d files)", f.path, f.opts.Format, len(f.list))
}

// Schema is the columns of the files.
func (f *readFiles) Schema(*sql.Context) sql.Schema {
	return mysqltype.Schema(f.schema, "", f.Name())
}

// Columns are the same as batches have them.
func (f *readFiles) Columns() []batch.Field { return f.schema.Fields }

// Scan reads the files one after the other. Text has no statistics: the filter cannot leave out anything.
func (f *readFiles) Scan(ctx *sql.Context, _ vector.Expr) (vector.Operator, error) {
	warnings := 0
	r, err := files.Read(ctx, f.c.cfg.Open, f.list, f.schema, f.opts, func(file files.File, e files.RowError) {
		if warnings++; warnings <= maxRowWarnings {
			if e.Line == 0 {
				ctx.Warn(warningRow, "%s: %s", file.URI, e.Message)
				return
			}
			ctx.Warn(warningRow, "%s line %d: %s", file.URI, e.Line, e.Message)
		}
	})
	if err != nil {
		return nil, err
	}
	return &readerOperator{reader: r, schema: f.schema}, nil
}

// RowIter reads the files row by row.
func (f *readFiles) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	op, err := f.Scan(ctx, nil)
	if err != nil {
		return nil, err
	}
	return compile.NewRows(op), nil
}

// WithChildren returns the node.
func (f *readFiles) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return noChildren(f, len(children))
}

// WithExpressions returns the node.
func (f *readFiles) WithExpressions(*sql.Context, ...sql.Expression) (sql.Node, error) {
	return f, nil
}

// WithDatabase returns the node in another database.
func (f *readFiles) WithDatabase(db sql.Database) (sql.Node, error) {
	out := *f
	out.database = db
	return &out, nil
}

// readerOperator is a files.Reader as a vector operator.
type readerOperator struct {
	reader files.Reader
	schema *batch.Schema
}

// Schema is that of the rows.
func (o *readerOperator) Schema() *batch.Schema { return o.schema }

// Next returns the next batch.
func (o *readerOperator) Next(ctx context.Context) (*batch.Batch, error) { return o.reader.Next(ctx) }

// Close closes the files.
func (o *readerOperator) Close() error { return o.reader.Close() }
