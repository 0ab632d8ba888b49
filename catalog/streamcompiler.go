package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/sqlext"
	"lakesql/stream"
	"lakesql/stream/source"
	"lakesql/vector"
)

// streamCompiler plans the SELECT of streams by the engine, as any SELECT.
type streamCompiler struct{ c *Catalog }

var _ stream.Compiler = streamCompiler{}

// Sources returns the streaming sources of the SELECT in Spark's order.
func (s streamCompiler) Sources(_ context.Context, d stream.Definition) ([]source.Spec, error) {
	_, sources, err := sqlext.ParseStreamSelect(d.SelectSQL)
	if err != nil {
		return nil, err
	}
	specs := make([]source.Spec, len(sources))
	for i, src := range sources {
		if specs[i], err = s.spec(src); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

func (s streamCompiler) spec(src sqlext.StreamSource) (source.Spec, error) {
	if src.Function != "read_files" {
		return source.Spec{}, notYet("STREAM "+src.Function, "STREAM read_files('path', format => 'csv') is")
	}
	options := optionMap(src.Options)
	path := options["path"]
	delete(options, "path")
	if len(src.Args) > 0 {
		path = src.Args[0].Text
	}
	if path == "" || len(src.Args) > 1 {
		return source.Spec{}, refuse(KindInvalid, "STREAM read_files wants one path and named options: STREAM read_files('./in', format => 'csv')")
	}
	uri, err := s.c.cfg.Fence.Resolve(path)
	return source.Spec{Kind: "files", Path: uri, Options: options}, err
}

// Compile plans the SELECT for its columns. Each batch is planned again, on the newest versions of the tables that it reads besides.
func (s streamCompiler) Compile(ctx context.Context, d stream.Definition, inputs []*batch.Schema) (stream.Plan, error) {
	rewritten, _, err := sqlext.ParseStreamSelect(d.SelectSQL)
	if err != nil {
		return nil, err
	}
	p := &streamPlan{c: s.c, definition: d, text: rewritten, inputs: inputs}
	sqlCtx, _ := p.context(ctx, nil, time.Now())
	node, err := p.analyze(sqlCtx)
	if err != nil {
		return nil, err
	}
	fields, err := compile.Fields(sqlCtx, node)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", d.FullName(), err)
	}
	for i := range fields {
		fields[i].Nullable = true // as Spark's: what a file gives may always be missing
	}
	p.schema = &batch.Schema{Fields: fields}
	p.explained, err = compile.Explain(sqlCtx, node)
	return p, err
}

// streamPlan is a stream's SELECT. It keeps the text: a plan of GMS is for one execution.
type streamPlan struct {
	c          *Catalog
	definition stream.Definition
	text       string // with __stream_source(i)
	inputs     []*batch.Schema
	schema     *batch.Schema
	explained  string
}

var _ stream.Plan = (*streamPlan)(nil)

// Schema is that of the rows that Run gives.
func (p *streamPlan) Schema() *batch.Schema { return p.schema }
func (p *streamPlan) String() string        { return p.explained }

// context is a fresh session of the definer, with the inputs bound, at the batch's time.
func (p *streamPlan) context(ctx context.Context, ops []vector.Operator, now time.Time) (*sql.Context, []*streamInput) {
	bound := make([]*streamInput, len(p.inputs))
	for i, schema := range p.inputs {
		bound[i] = &streamInput{schema: schema}
		if ops != nil {
			bound[i].op = ops[i]
		}
	}
	out := p.c.background(context.WithValue(ctx, streamInputsKey{}, bound), p.definition.Database, p.definition.Definer)
	out.SetQueryTime(now)
	return out, bound
}

func (p *streamPlan) analyze(ctx *sql.Context) (sql.Node, error) {
	stmt, err := p.c.engine.Parser.ParseSimple(p.text)
	if err != nil {
		return nil, err
	}
	node, err := p.c.analyze(ctx, stmt, p.text)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", p.definition.FullName(), err)
	}
	return node, nil
}

// Run plans the SELECT again and executes it on one batch's inputs.
func (p *streamPlan) Run(ctx context.Context, inputs []vector.Operator, batchTime time.Time) (vector.Operator, error) {
	sqlCtx, bound := p.context(ctx, inputs, batchTime)
	node, err := p.analyze(sqlCtx)
	if err != nil {
		return nil, err
	}
	if mayReadTwice(sqlCtx, node) {
		for _, in := range bound {
			in.replay = true
		}
	}
	op, err := p.open(sqlCtx, node)
	if err != nil {
		return nil, err
	}
	return &streamOperator{Operator: op, inputs: inputs}, nil
}

func (p *streamPlan) open(ctx *sql.Context, node sql.Node) (vector.Operator, error) {
	op, ok, err := compile.Open(ctx, node)
	if err != nil {
		return nil, err
	}
	if ok {
		if !sameFields(op.Schema(), p.schema) {
			return nil, errors.Join(fmt.Errorf("stream %s: the query's columns changed from (%s) to (%s); START STREAM takes the new ones",
				p.definition.FullName(), p.schema, op.Schema()), op.Close())
		}
		return op, nil
	}
	iter, err := p.c.engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
	if err != nil {
		return nil, err
	}
	return &rowOperator{ctx: ctx, iter: iter, schema: p.schema}, nil
}

func sameFields(a, b *batch.Schema) bool {
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		if !strings.EqualFold(f.Name, b.Fields[i].Name) || f.Type != b.Fields[i].Type {
			return false
		}
	}
	return true
}

// mayReadTwice says whether a plan may read one of its leaves more than once.
func mayReadTwice(ctx *sql.Context, n sql.Node) bool {
	found := false
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if _, ok := n.(*plan.JoinNode); ok {
			found = true
		}
		return !found
	})
	return found
}

// streamOperator closes the batch's inputs too, also those that the plan never opened.
type streamOperator struct {
	vector.Operator
	inputs []vector.Operator
}

// Close closes the plan, then the inputs.
func (o *streamOperator) Close() error {
	err := o.Operator.Close()
	for _, in := range o.inputs {
		err = errors.Join(err, in.Close())
	}
	return err
}

// rowOperator turns GMS's rows into batches.
type rowOperator struct {
	ctx    *sql.Context // of the batch, which GMS's iterators take at each call
	iter   sql.RowIter  // nil when closed
	schema *batch.Schema
	done   bool
}

// Schema is that of the batches.
func (o *rowOperator) Schema() *batch.Schema { return o.schema }

// Next gathers the next rows.
func (o *rowOperator) Next(ctx context.Context) (*batch.Batch, error) {
	if o.done || o.iter == nil {
		return nil, io.EOF
	}
	inner := o.ctx.WithContext(ctx)
	out := batch.NewBuilder(o.schema)
	for out.Len() < batch.MaxRows {
		row, err := o.iter.Next(inner)
		if errors.Is(err, io.EOF) {
			o.done = true
			break
		}
		if err != nil {
			return nil, err
		}
		if err := mysqltype.AppendRow(inner, out, row); err != nil {
			return nil, err
		}
	}
	if out.Len() == 0 {
		return nil, io.EOF
	}
	return out.Finish(), nil
}

// Close closes the rows.
func (o *rowOperator) Close() error {
	if o.iter == nil {
		return nil
	}
	iter := o.iter
	o.iter = nil
	return iter.Close(o.ctx)
}
