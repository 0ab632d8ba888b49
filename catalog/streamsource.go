package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/sqlext"
	"lakesql/vector"
)

// streamInputsKey is the context's key of the *streamInput values, one a source, of the SELECT that is being planned or run.
type streamInputsKey struct{}

// streamInput is one source of a stream's SELECT during one batch, or during planning, when it has no rows.
type streamInput struct {
	schema *batch.Schema
	op     vector.Operator // nil while planning
	// replay keeps the rows, because the plan may read the source more than once, as the inner side of a join.
	replay bool
	kept   []*batch.Batch
	opened bool
}

// scan hands out the rows: once, or with replay as often as asked.
func (i *streamInput) scan(ctx context.Context) (vector.Operator, error) {
	switch {
	case i.op == nil:
		return vector.NewBatches(i.schema), nil
	case i.replay:
		if err := i.keep(ctx); err != nil {
			return nil, err
		}
		return vector.NewBatches(i.schema, i.kept...), nil
	case i.opened:
		return nil, refuse(KindUnsupported, "the SELECT of a stream reads its source twice: read it once, and join the result")
	default:
		i.opened = true
		return i.op, nil
	}
}

func (i *streamInput) keep(ctx context.Context) error {
	if i.opened {
		return nil
	}
	i.opened = true
	for {
		b, err := i.op.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		i.kept = append(i.kept, b.Clone())
	}
}

// streamSource is the node of __stream_source(i), which sqlext.ParseStreamSelect puts in the place of STREAM read_files(...).
type streamSource struct {
	leaf
	index int
	input *streamInput
}

var (
	_ sql.TableFunction = (*streamSource)(nil)
	_ sql.ExecSourceRel = (*streamSource)(nil)
	_ compile.Source    = (*streamSource)(nil)
)

// NewInstance takes the input from the context.
func (s *streamSource) NewInstance(ctx *sql.Context, db sql.Database, args []sql.Expression) (sql.Node, error) {
	inputs, _ := ctx.Value(streamInputsKey{}).([]*streamInput)
	if len(args) != 1 || len(inputs) == 0 {
		return nil, refuse(KindInvalid, "%s is only for the SELECT of a stream", sqlext.SourceFunction)
	}
	v, err := args[0].Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	var i int
	if _, err := fmt.Sscan(fmt.Sprint(v), &i); err != nil || i < 0 || i >= len(inputs) {
		return nil, fmt.Errorf("%s(%v): there are %d sources", sqlext.SourceFunction, v, len(inputs))
	}
	return &streamSource{leaf: leaf{db}, index: i, input: inputs[i]}, nil
}

// Name is the function's name.
func (s *streamSource) Name() string   { return sqlext.SourceFunction }
func (s *streamSource) String() string { return s.Describe() }

// Describe names the source for EXPLAIN.
func (s *streamSource) Describe() string { return fmt.Sprintf("Stream source %d", s.index) }

// Schema is the source's.
func (s *streamSource) Schema(*sql.Context) sql.Schema {
	return mysqltype.Schema(s.input.schema, "", s.Name())
}

// Columns are the same as batches have them.
func (s *streamSource) Columns() []batch.Field { return s.input.schema.Fields }

// Scan reads the batch's rows.
func (s *streamSource) Scan(ctx *sql.Context, _ vector.Expr) (vector.Operator, error) {
	return s.input.scan(ctx)
}

// RowIter reads them one by one.
func (s *streamSource) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	op, err := s.Scan(ctx, nil)
	if err != nil {
		return nil, err
	}
	return compile.NewRows(op), nil
}

// WithChildren returns the node.
func (s *streamSource) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return noChildren(s, len(children))
}

// WithExpressions returns the node.
func (s *streamSource) WithExpressions(*sql.Context, ...sql.Expression) (sql.Node, error) {
	return s, nil
}

// WithDatabase returns the node in another database.
func (s *streamSource) WithDatabase(db sql.Database) (sql.Node, error) {
	return &streamSource{leaf: leaf{db}, index: s.index, input: s.input}, nil
}
