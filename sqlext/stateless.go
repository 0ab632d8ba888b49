package sqlext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// sourceOrder returns the numbers of the placeholders in the order in which a plan of the SELECT reads them, each once. It
// refuses a SELECT whose rows depend on more than the batch at hand.
func sourceOrder(sel sqlparser.SelectStatement, sources int) ([]int, error) {
	w := &streamWalk{}
	if _, err := w.statement(sel, nil); err != nil {
		return nil, err
	}
	seen := make([]bool, sources)
	for _, i := range w.order {
		if i < 0 || i >= sources {
			return nil, &RefusedError{WrongForm, SourceFunction + " is a name of the server's own; write STREAM read_files(...)"}
		}
		if seen[i] {
			return nil, refuseStateful("a WITH query that reads a stream and is used twice")
		}
		seen[i] = true
	}
	for _, ok := range seen {
		if !ok {
			return nil, &RefusedError{WrongForm, "a stream's SELECT can read STREAM in FROM only, and must use each WITH query that does"}
		}
	}
	return w.order, nil
}

func refuseStateful(what string) error {
	return &RefusedError{NotSupported, what + " in a stream's SELECT is not supported yet: a stream works on each batch of new rows alone. " +
		"Let the stream write the plain rows, and put it into a SELECT or a view over the target table"}
}

// streamWalk goes over the query blocks of a SELECT.
type streamWalk struct {
	order []int // placeholders as met
}

// scope is the WITH queries that a block can name, innermost first.
type scope struct {
	name   string
	query  sqlparser.SelectStatement // nil: the rows so far of a recursive one that reads a stream
	within *scope                    // what query itself can name
	outer  *scope
}

func (s *scope) find(name string) *scope {
	for ; s != nil; s = s.outer {
		if strings.EqualFold(s.name, name) {
			return s
		}
	}
	return nil
}

// with adds the queries of a WITH clause.
func (w *streamWalk) with(with *sqlparser.With, outer *scope) *scope {
	if with == nil {
		return outer
	}
	for _, cte := range with.Ctes {
		sub, ok := cte.Expr.(*sqlparser.Subquery)
		if !ok {
			continue
		}
		within := outer
		if with.Recursive {
			if first, ok := sub.Select.(*sqlparser.SetOp); ok && readsStream(first.Left, outer) {
				within = &scope{name: cte.As.String(), outer: outer}
			}
		}
		outer = &scope{name: cte.As.String(), query: sub.Select, within: within, outer: outer}
	}
	return outer
}

// statement reports whether the rows of a SELECT come from a stream.
func (w *streamWalk) statement(sel sqlparser.SelectStatement, env *scope) (bool, error) {
	switch s := sel.(type) {
	case *sqlparser.ParenSelect:
		return w.statement(s.Select, env)
	case *sqlparser.SetOp:
		return w.setOp(s, w.with(s.With, env))
	case *sqlparser.Select:
		return w.block(s, w.with(s.With, env))
	}
	return false, nil
}

// readsStream reports whether the rows of a SELECT come from a stream, even of one that is refused.
func readsStream(sel sqlparser.SelectStatement, env *scope) bool {
	stream, err := new(streamWalk).statement(sel, env)
	return stream || err != nil
}

// anySubquery reports whether test holds for a subquery of the expressions in nodes. What FROM has in place of a table is none of them.
func anySubquery(test func(*sqlparser.Subquery) bool, nodes ...sqlparser.SQLNode) bool {
	return sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.AliasedTableExpr:
			return false, nil
		case *sqlparser.Subquery:
			if test(n) {
				return false, errStop
			}
			return false, nil
		}
		return true, nil
	}, nodes...) != nil
}

func (w *streamWalk) setOp(s *sqlparser.SetOp, env *scope) (bool, error) {
	left, err := w.statement(s.Left, env)
	if err != nil {
		return false, err
	}
	right, err := w.statement(s.Right, env)
	if err != nil {
		return false, err
	}
	if !left && !right {
		return false, nil
	}
	switch op := strings.ToUpper(s.Type); {
	case op != "UNION ALL":
		return false, refuseStateful(op)
	case left != right:
		return false, &RefusedError{NotSupported, "UNION ALL of a stream and of a SELECT without STREAM is not supported: each batch would add that SELECT's rows once more. " +
			"Put them into the table once, by INSERT INTO ... SELECT, or write STREAM in front of the table that it reads"}
	case len(s.OrderBy) > 0:
		return false, refuseStateful("ORDER BY")
	case s.Limit != nil:
		return false, refuseStateful("LIMIT")
	}
	return true, nil
}

func (w *streamWalk) block(s *sqlparser.Select, env *scope) (bool, error) {
	streams := 0
	for _, t := range s.From {
		n, err := w.table(t, env)
		if err != nil {
			return false, err
		}
		streams += n
	}
	if anySubquery(func(q *sqlparser.Subquery) bool { return readsStream(q.Select, env) }, s.SelectExprs, s.From, s.Where, s.Having) {
		return false, &RefusedError{NotSupported, "a subquery in an expression that reads a stream, itself or by a WITH query, is not supported: it would see one batch alone. " +
			"Read STREAM in FROM only, and let the subquery read a table"}
	}
	switch {
	case streams == 0:
		return false, nil
	case streams > 1:
		return false, refuseStateful("a join of two streams")
	case s.QueryOpts.Distinct || len(s.QueryOpts.DistinctOn) > 0:
		return false, refuseStateful("DISTINCT")
	case len(s.GroupBy) > 0:
		return false, refuseStateful("GROUP BY")
	case len(s.OrderBy) > 0:
		return false, refuseStateful("ORDER BY")
	case s.Limit != nil:
		return false, refuseStateful("LIMIT")
	case len(s.Window) > 0 || contains(isWindow, s.SelectExprs):
		return false, refuseStateful("a window function")
	case s.Having != nil:
		return false, refuseStateful("HAVING")
	case contains(isAggregate, s.SelectExprs):
		return false, refuseStateful("an aggregate")
	case s.Into != nil:
		return false, &RefusedError{WrongForm, "a stream writes the table after CREATE STREAM name INTO; leave INTO out of its SELECT"}
	}
	return true, nil
}

func isWindow(n sqlparser.SQLNode) bool {
	f, ok := n.(*sqlparser.FuncExpr)
	return ok && f.Over != nil
}

// moreAggregates are those that the parser does not know for aggregates.
var moreAggregates = []string{"any_value", "first", "last"}

func isAggregate(n sqlparser.SQLNode) bool {
	switch f := n.(type) {
	case *sqlparser.FuncExpr:
		return f.IsAggregate() || slices.Contains(moreAggregates, f.Name.Lowered())
	case *sqlparser.GroupConcatExpr:
		return true
	}
	return false
}

// table returns how many streams a table reference joins.
func (w *streamWalk) table(t sqlparser.TableExpr, env *scope) (int, error) {
	switch t := t.(type) {
	case *sqlparser.TableFuncExpr:
		return w.function(t)
	case sqlparser.TableFuncExpr:
		return w.function(&t)
	case *sqlparser.AliasedTableExpr:
		return w.aliased(t, env)
	case *sqlparser.ParenTableExpr:
		sum := 0
		for _, e := range t.Exprs {
			n, err := w.table(e, env)
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	case *sqlparser.JoinTableExpr:
		return w.join(t, env)
	}
	return 0, nil
}

func (w *streamWalk) function(t *sqlparser.TableFuncExpr) (int, error) {
	if !strings.EqualFold(t.Name, SourceFunction) {
		return 0, nil
	}
	i := -1
	if len(t.Exprs) == 1 {
		if n, err := strconv.Atoi(sqlparser.String(t.Exprs[0])); err == nil {
			i = n
		}
	}
	w.order = append(w.order, i)
	return 1, nil
}

func (w *streamWalk) aliased(t *sqlparser.AliasedTableExpr, env *scope) (int, error) {
	var stream bool
	var err error
	switch e := t.Expr.(type) {
	case *sqlparser.Subquery:
		stream, err = w.statement(e.Select, env)
	case sqlparser.TableName:
		switch cte := env.find(e.Name.String()); {
		case cte == nil || !e.DbQualifier.IsEmpty():
		case cte.query == nil:
			stream = true
		default:
			stream, err = w.statement(cte.query, cte.within)
		}
	}
	if stream {
		return 1, err
	}
	return 0, err
}

// join refuses two streams, and outer joins that keep rows of the static side, which no batch can decide.
func (w *streamWalk) join(t *sqlparser.JoinTableExpr, env *scope) (int, error) {
	left, err := w.table(t.LeftExpr, env)
	if err != nil {
		return 0, err
	}
	right, err := w.table(t.RightExpr, env)
	if err != nil {
		return 0, err
	}
	kind := strings.ToLower(t.Join)
	switch {
	case left > 0 && right > 0:
		return 0, refuseStateful("a join of two streams")
	case left > 0 && (strings.Contains(kind, "right") || strings.Contains(kind, "full")),
		right > 0 && (strings.Contains(kind, "left") || strings.Contains(kind, "full")):
		return 0, refuseStateful(fmt.Sprintf("a %s that keeps the rows of the side without STREAM", strings.ToUpper(kind)))
	}
	return left + right, nil
}
