package compile

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/vector"
)

// analysis is what EXPLAIN ANALYZE knows of the statement that it executes: which nodes of the plan ran on columns, and as what.
type analysis struct {
	ran map[sql.Node]*step
}

type analysisKey struct{}

// analysed is a context in which what runs on columns is observed.
func analysed(ctx *sql.Context) (*sql.Context, *analysis) {
	a := &analysis{ran: map[sql.Node]*step{}}
	return ctx.WithContext(context.WithValue(ctx.Context, analysisKey{}, a)), a
}

// analysisOf is nil outside of EXPLAIN ANALYZE.
func analysisOf(ctx context.Context) *analysis {
	a, _ := ctx.Value(analysisKey{}).(*analysis)
	return a
}

// runs notes that the rows of a node come from a pipeline.
func runs(ctx *sql.Context, n sql.Node, p *pipeline) {
	if a := analysisOf(ctx); a != nil {
		a.ran[n] = p.plan
	}
}

// leaves notes that the rows of a node do not come from a pipeline after all.
func leaves(ctx *sql.Context, n sql.Node) {
	if a := analysisOf(ctx); a != nil {
		delete(a.ran, n)
	}
}

// observe is the operator of a step, observed if the statement is analysed. A pipeline that only rearranges another one's columns has its step: the first is meant.
func (s *step) observe(ctx context.Context, op vector.Operator) vector.Operator {
	if analysisOf(ctx) != nil && s.seen == nil {
		op, s.seen = vector.Observe(op)
	}
	return op
}
