package compile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/vector"
)

// A join or an aggregation that stands in a statement twice, a table expression of WITH or the rows that HAVING compares with their own sum, is executed once.

// point is a pipeline whose rows another one may have, too.
type point struct {
	p      pipeline // with the operators that make the rows
	step   *step    // as EXPLAIN shows it
	shared *sharedRows
}

// sharedRows are those that several points have.
type sharedRows struct {
	from  *point // that has all columns of the others
	users []*point
	rows  *vector.Shared // nil: nobody has opened them
}

// worthSharing is how many rows are to be read for a row that is kept.
const worthSharing = 4

// share lets other pipelines with the same rows have them.
func (p *pipeline) share() {
	if p.same == "" || p.addressed {
		return
	}
	at := &point{p: *p}
	at.step = &step{title: p.plan.title, of: p.plan.of, below: p.plan.below, point: at}
	p.plan = at.step
	p.build = at.open
}

func (at *point) open(ctx *sql.Context) (vector.Operator, error) {
	s := at.shared
	if s == nil {
		return at.p.build(ctx)
	}
	if s.rows == nil {
		op, err := s.from.p.build(ctx)
		if err != nil {
			return nil, err
		}
		s.rows = vector.NewShared(s.from.step.observe(ctx, op), len(s.users), at.p.budget)
	}
	columns, _ := at.p.among(&s.from.p)
	return s.rows.Reader(columns), nil
}

// among are the places of the pipeline's columns among those of another one with the same rows; false when it has not all of them.
func (p *pipeline) among(q *pipeline) ([]int, bool) {
	out := make([]int, len(p.fields))
	for i, origin := range p.origins {
		out[i] = slices.Index(q.origins, origin)
		if origin == "" || out[i] < 0 || q.fields[out[i]].Type != p.fields[i].Type {
			return nil, false
		}
	}
	return out, true
}

// openWhole opens the operators of all that is executed on batches together, in which what stands there twice is executed once.
func (p *pipeline) openWhole(ctx *sql.Context) (vector.Operator, error) {
	shared := sharedBelow(p.plan)
	closed := func() error {
		var errs []error
		for _, s := range shared {
			if s.rows != nil {
				errs = append(errs, s.rows.Close())
			}
		}
		return errors.Join(errs...)
	}
	op, err := p.open(ctx)
	if err != nil {
		return nil, errors.Join(err, closed())
	}
	if len(shared) == 0 {
		return op, nil
	}
	return vector.NewBefore(op, vector.Preparation{Run: func(context.Context) error { return nil }, Close: closed}), nil
}

// sharedBelow finds the points in a plan that are to have their rows from one of them.
func sharedBelow(root *step) []*sharedRows {
	count, widest := map[string]int{}, map[string]*point{}
	root.each(func(s *step) bool {
		if s.point != nil {
			s.point.shared = nil
			same := s.point.p.same
			count[same]++
			if w := widest[same]; w == nil || len(w.p.fields) < len(s.point.p.fields) {
				widest[same] = s.point
			}
		}
		return true
	})
	found := map[string]*sharedRows{}
	var out []*sharedRows
	root.each(func(s *step) bool {
		at := s.point
		if at == nil || count[at.p.same] < 2 {
			return true
		}
		from := widest[at.p.same]
		if _, ok := at.p.among(&from.p); !ok || from.p.size().rows*worthSharing > s.rowsRead() {
			return true
		}
		rows := found[at.p.same]
		if rows == nil {
			rows = &sharedRows{from: from}
			found[at.p.same], out = rows, append(out, rows)
		}
		rows.users = append(rows.users, at)
		return at == from // the others execute nothing
	})
	out = slices.DeleteFunc(out, func(s *sharedRows) bool { return len(s.users) < 2 })
	for _, s := range out {
		for _, at := range s.users {
			at.shared = s
		}
	}
	return out
}

// each visits the step and, where visit is true of it, those below.
func (s *step) each(visit func(*step) bool) {
	if !visit(s) {
		return
	}
	for _, b := range s.below {
		b.each(visit)
	}
}

// rowsRead is how many rows the sources below are thought to have.
func (s *step) rowsRead() float64 {
	n := 0.0
	s.each(func(s *step) bool {
		if s.reads != nil {
			n += s.reads()
		}
		return true
	})
	return n
}

// The places of the sides of a join in the origins of its columns.
const (
	ofProbe = "probe "
	ofBuild = "build "
)

// origin is that of a column, from a place in a join; empty: it is not known.
func (p *pipeline) origin(column int, place string) string {
	if column >= len(p.origins) || p.origins[column] == "" {
		return ""
	}
	return place + p.origins[column]
}

// text is what an expression over the pipeline says, whatever its columns are called and wherever they stand; empty: that is not known.
func (p *pipeline) text(ctx *sql.Context, e sql.Expression) string {
	return textOf(ctx, e, func(position int) string {
		if column := position - p.outer; column >= 0 && column < len(p.fields)-p.added {
			return p.origin(column, "")
		}
		return ""
	})
}

func (s side) text(ctx *sql.Context, e sql.Expression) string {
	return textOf(ctx, e, func(position int) string {
		column, ok := s.column(position)
		if !ok {
			return ""
		}
		return s.p.origin(column, "")
	})
}

func (j *joining) text(ctx *sql.Context, e sql.Expression) string {
	return textOf(ctx, e, func(position int) string {
		if column, ok := j.probe.column(position); ok {
			return j.probe.p.origin(column, ofProbe)
		}
		column, ok := j.build.column(position)
		if !ok {
			return ""
		}
		return j.build.p.origin(column, ofBuild)
	})
}

// textOf is what an expression says, with origins for its columns.
func textOf(ctx *sql.Context, e sql.Expression, origin func(position int) string) string {
	if key, ok := e.(aggregatedKey); ok {
		e = key.Expression
	}
	known := true
	e, _, err := transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.GetField:
			name := origin(e.Index())
			known = known && name != ""
			return expression.NewGetField(0, e.Type(ctx), "<"+name+">", e.IsNullable(ctx)), transform.NewTree, nil
		case *expression.Like:
			known = known && e.Escape == nil // neither its text nor its children have it
		case sql.ExpressionWithNodes:
			known = false
		}
		return e, transform.SameTree, nil
	})
	if err != nil || !known {
		return ""
	}
	var out strings.Builder
	writeText(ctx, &out, e)
	return out.String()
}

func writeText(ctx *sql.Context, to *strings.Builder, e sql.Expression) {
	fmt.Fprintf(to, "%T %s %s(", e, e.Type(ctx), e)
	for _, child := range e.Children() {
		writeText(ctx, to, child)
	}
	to.WriteString(")")
}

// sameOf says what the rows are of something done to other rows; empty where one of the texts is.
func sameOf(what string, rows, texts []string) string {
	if slices.Contains(rows, "") || slices.Contains(texts, "") {
		return ""
	}
	sorted := slices.Sorted(slices.Values(texts))
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %q %q", what, rows, sorted))) // short, however much is below
}
