package compile

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/vector"
)

// Statistics is a Source that may know for certain what its rows are like, without reading them.
type Statistics interface {
	Source
	// Exact tells of the rows for which the condition over Columns is true (nil: of all) how many they are, and what is certain of the columns at
	// these positions of Columns. ErrNotExact: only a scan can tell.
	Exact(ctx *sql.Context, condition vector.Expr, columns []int) (rows int64, exact []delta.ExactColumn, err error)
}

// ErrNotExact says that something is not known without reading rows.
var ErrNotExact = errors.New("not known without reading rows")

// aggregateOfStatistics is a plan.GroupBy without keys that statistics may answer: COUNT, MIN and MAX of the columns of a whole table, or of some
// of its partitions.
type aggregateOfStatistics struct {
	node      *plan.GroupBy
	source    Statistics
	condition vector.Expr // nil: all rows
	columns   []int       // of source that are looked at, each once
	plan      *step       // what the rows would come from
}

// fromStatistics takes apart a plan that statistics may answer.
func fromStatistics(ctx *sql.Context, n *plan.GroupBy) (*aggregateOfStatistics, bool) {
	if len(n.GroupByExprs) > 0 || len(n.SelectDeps) == 0 {
		return nil, false
	}
	s := &aggregateOfStatistics{node: n}
	for _, e := range n.SelectDeps {
		if !isOfStatistics(e) {
			return nil, false
		}
	}
	p, ok := compile(ctx, n.Child)
	if !ok || p.scanned == nil || p.computed {
		return nil, false
	}
	if s.source, ok = p.scanned.(Statistics); !ok {
		return nil, false
	}
	s.condition, s.plan = p.condition, p.plan
	for _, e := range n.SelectDeps {
		column, ok := argument(e).(*expression.GetField)
		if !ok {
			continue
		}
		if _, err := compileExpr(ctx, p, column); err != nil {
			return nil, false
		}
		if !slices.Contains(s.columns, column.Index()) {
			s.columns = append(s.columns, column.Index())
		}
	}
	return s, true
}

// isOfStatistics tells whether an expression is COUNT of anything that is known by itself, or COUNT, MIN or MAX of a column.
func isOfStatistics(e sql.Expression) bool {
	switch e := e.(type) {
	case *aggregation.Count:
		switch arg := argument(e).(type) {
		case *expression.Star, *expression.GetField:
			return true
		case *expression.Literal:
			return arg.Value() != nil
		}
	case *aggregation.Min, *aggregation.Max:
		_, ok := argument(e).(*expression.GetField)
		return ok
	}
	return false
}

// argument is the only one of an aggregate; nil where there are more.
func argument(e sql.Expression) sql.Expression {
	if children := e.Children(); len(children) == 1 {
		return children[0]
	}
	return nil
}

// row is the one row of the result; false when the statistics do not have it.
func (s *aggregateOfStatistics) row(ctx *sql.Context) (row sql.Row, known bool, err error) {
	rows, exact, err := s.source.Exact(ctx, s.condition, s.columns)
	if errors.Is(err, ErrNotExact) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	row = make(sql.Row, len(s.node.SelectDeps))
	for i, e := range s.node.SelectDeps {
		column, ok := argument(e).(*expression.GetField)
		if !ok {
			row[i] = rows
			continue
		}
		if row[i], known = s.value(e, column, exact[slices.Index(s.columns, column.Index())]); !known {
			return nil, false, nil
		}
	}
	return row, true, nil
}

// value is that of an aggregate of a column.
func (s *aggregateOfStatistics) value(aggregate sql.Expression, column *expression.GetField, of delta.ExactColumn) (v any, known bool) {
	bound := of.Min
	switch aggregate.(type) {
	case *aggregation.Count:
		return of.Values, of.Values >= 0
	case *aggregation.Max:
		bound = of.Max
	}
	if bound == nil {
		return nil, of.Bounded
	}
	return mysqltype.NewGetter(s.source.Columns()[column.Index()], bound)(0), true
}

// explainStatistics shows a plan that the statistics answer.
func explainStatistics(ctx *sql.Context, n sql.Node) (shown *step, answered bool, err error) {
	grouped, ok := n.(*plan.GroupBy)
	if !ok {
		return nil, false, nil
	}
	s, ok := fromStatistics(ctx, grouped)
	if !ok {
		return nil, false, nil
	}
	if _, known, err := s.row(ctx); err != nil || !known {
		return nil, false, err
	}
	aggregates := make([]string, len(grouped.SelectDeps))
	for i, e := range grouped.SelectDeps {
		aggregates[i] = e.String()
	}
	answer := &step{title: "Aggregate " + strings.Join(aggregates, ", ") + ", no data file is read", below: []*step{s.plan}}
	return &step{title: "Statistics", below: []*step{answer}}, true, nil
}
