package compile

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// Open opens a plan as one pipeline; false when it does not compile as a whole.
func Open(ctx *sql.Context, n sql.Node) (vector.Operator, bool, error) {
	p, ok := compile(written(ctx), n)
	if !ok {
		return nil, false, nil
	}
	op, err := p.openWhole(ctx)
	return op, err == nil, err
}

// Condition is what a plan reads and which rows of it: a predicate over the source's columns, nil for all rows. false when the plan does not
// compile as a whole, or does more than to filter and to project.
func Condition(ctx *sql.Context, n sql.Node) (Source, vector.Expr, bool) {
	p, ok := compile(ctx, n)
	if !ok || p.scanned == nil {
		return nil, nil, false
	}
	return p.scanned, p.condition, true
}

// Reads finds the source that is wanted in a plan, and the condition over its columns by which its scan leaves out rows; nil: it reads all.
func Reads(ctx *sql.Context, n sql.Node, wanted func(Source) bool) (source Source, condition vector.Expr, ok bool) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if ok {
			return false
		}
		if s, is := sourceOf(n); is && wanted(s) {
			source, ok = s, true
			return false
		}
		p, compiles := compile(ctx, n)
		if filter, is := n.(*plan.Filter); is && !compiles {
			if p, compiles = compile(ctx, filter.Child); compiles {
				p, _ = compileFilter(ctx, p, filter.Expression)
			}
		}
		if compiles && p.scanned != nil && wanted(p.scanned) {
			source, condition, ok = p.scanned, p.condition, true
		}
		return !ok
	})
	return source, condition, ok
}

// Explain is the plan's text with what compiles shown as Vector nodes.
func Explain(ctx *sql.Context, n sql.Node) (string, error) {
	ctx = written(ctx)
	shown, err := markCompiled(ctx, statementScope(ctx), n)
	if err != nil {
		return "", err
	}
	return sql.Describe(ctx, shown, sql.DescribeOptions{}), nil
}

// Fields are the columns of a plan as batches have them: the exact type of a column that is passed through from a Source, and for
// everything else the Delta type of the MySQL type. A type that Delta has no place for is an error that names the column.
func Fields(ctx *sql.Context, n sql.Node) ([]batch.Field, error) {
	if p, ok := compile(ctx, n); ok {
		return p.fields, nil
	}
	return fieldsOf(n.Schema(ctx), passedThrough(ctx, n))
}

// fieldsOf are the columns of a schema as batches have them: exact where that is known.
func fieldsOf(schema sql.Schema, exact []*batch.Field) ([]batch.Field, error) {
	out := make([]batch.Field, len(schema))
	for i, c := range schema {
		if i < len(exact) && exact[i] != nil {
			out[i] = *exact[i]
			out[i].Name = c.Name
			continue
		}
		t, err := mysqltype.ToDelta(mysqltype.Computed(c.Type))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		out[i] = batch.Field{Name: c.Name, Type: t, Nullable: c.Nullable}
	}
	return out, nil
}

// passedThrough finds for each column of a node the column of a Source that it is; nil where it is computed.
func passedThrough(ctx *sql.Context, n sql.Node) []*batch.Field {
	if s, ok := sourceOf(n); ok {
		return pointers(s.Columns())
	}
	switch n := n.(type) {
	case *plan.TableAlias:
		return passedThrough(ctx, n.Child)
	case *plan.Filter:
		return passedThrough(ctx, n.Child)
	case *plan.SubqueryAlias:
		return passedThrough(ctx, n.Child)
	case *plan.JoinNode:
		left, right := passedThrough(ctx, n.Left()), passedThrough(ctx, n.Right())
		if len(left) == len(n.Left().Schema(ctx)) && len(right) == len(n.Right().Schema(ctx)) {
			return append(left, right...)
		}
	case *plan.Project:
		below := passedThrough(ctx, n.Child)
		out := make([]*batch.Field, len(n.Projections))
		for i, e := range n.Projections {
			if column, ok := unalias(e).(*expression.GetField); ok && column.Index() < len(below) {
				out[i] = below[column.Index()]
			}
		}
		return out
	}
	return nil
}

func pointers(fields []batch.Field) []*batch.Field {
	out := make([]*batch.Field, len(fields))
	for i := range fields {
		f := fields[i]
		out[i] = &f
	}
	return out
}
