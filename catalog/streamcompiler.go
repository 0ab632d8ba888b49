package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/sqlext"
	"lakesql/stream"
	"lakesql/stream/source"
	"lakesql/vector"
)

// streamCompiler plans the SELECT of streams by the engine, as any SELECT.
type streamCompiler struct{ c *Catalog }

var _ stream.Compiler = streamCompiler{}

// Compile plans the SELECT for its columns. Each batch is planned again, on the newest versions of the tables that it reads besides.
func (s streamCompiler) Compile(ctx context.Context, d stream.Definition, inputs []*batch.Schema) (stream.Plan, error) {
	rewritten, _, err := sqlext.ParseStreamSelect(d.SelectSQL)
	if err != nil {
		return nil, err
	}
	p := &streamPlan{c: s.c, definition: d, text: rewritten, inputs: inputs}
	sqlCtx, _ := p.context(ctx, nil, time.Now())
	if err := s.c.mayRun(sqlCtx, d); err != nil {
		return nil, err
	}
	node, err := p.analyze(sqlCtx)
	if err != nil {
		return nil, withoutFacts(err)
	}
	fields, err := compile.Fields(sqlCtx, node)
	if err != nil {
		return nil, err
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
	return p.c.analyze(ctx, stmt, p.text)
}

// Run plans the SELECT again and executes it on one batch's inputs.
func (p *streamPlan) Run(
	ctx context.Context, inputs []vector.Operator, batchTime time.Time, bad func([]source.RowError),
) (vector.Operator, error) {
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
	op, err := p.open(sqlCtx, node, bad)
	if err != nil {
		return nil, err
	}
	return newStreamOperator(op, inputs), nil
}

func (p *streamPlan) open(ctx *sql.Context, node sql.Node, bad func([]source.RowError)) (vector.Operator, error) {
	op, ok, err := compile.Open(ctx, node)
	if err != nil {
		return nil, err
	}
	if ok {
		if !sameFields(op.Schema(), p.schema) {
			return nil, errors.Join(fmt.Errorf("the query's columns changed from (%s) to (%s); START STREAM takes the new ones",
				p.schema, op.Schema()), op.Close())
		}
		return op, nil
	}
	rows := &rowOperator{ctx: ctx, schema: p.schema, mode: p.definition.OnError.Mode, bad: bad}
	if node, err = compile.Strict(ctx, node, rows.fault); err != nil {
		return nil, err
	}
	rows.iter, err = p.c.engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
	return rows, err
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
	open   *atomic.Int32 // forks that are not closed
	closed bool
}

var _ vector.Forker = (*streamOperator)(nil)

func newStreamOperator(op vector.Operator, inputs []vector.Operator) *streamOperator {
	o := &streamOperator{Operator: op, inputs: inputs, open: new(atomic.Int32)}
	o.open.Store(1)
	return o
}

// Fork implements vector.Forker.
func (o *streamOperator) Fork(n int) []vector.Fork {
	forks := vector.ForkOver(o.Operator, n, func(op vector.Operator) vector.Operator {
		return &streamOperator{Operator: op, inputs: o.inputs, open: o.open}
	})
	o.open.Store(int32(len(forks)))
	return forks
}

// Close closes the plan, then the inputs when all forks are closed.
func (o *streamOperator) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	err := o.Operator.Close()
	if o.open.Add(-1) > 0 {
		return err
	}
	for _, in := range o.inputs {
		err = errors.Join(err, in.Close())
	}
	return err
}
