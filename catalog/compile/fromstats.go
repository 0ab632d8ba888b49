package compile

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/vector"
)

// Statistics is a Source that may know for certain what its rows are like, without reading them.
type Statistics interface {
	Source
	// ExactRows is the number of rows.
	ExactRows(ctx *sql.Context) (rows int64, known bool)
	// ExactFiles yields, in the order of a scan, the files whose rows are those for which the condition over Columns is true; nil: all. It tells
	// of the columns at these positions of Columns. After an error there is no more; ErrNotExact: only a scan can tell.
	ExactFiles(ctx *sql.Context, condition vector.Expr, columns []int) iter.Seq2[ExactFile, error]
}

// ErrNotExact says that something is not known without reading rows.
var ErrNotExact = errors.New("not known without reading rows")

// ExactFile is what is certain of one file.
type ExactFile struct {
	Rows    int64
	Columns []delta.ExactColumn
}

// aggregateOfStatistics is a plan.GroupBy without keys that statistics may answer: COUNT, MIN and MAX of the columns of a whole table, or of some
// of its partitions.
type aggregateOfStatistics struct {
	node      *plan.GroupBy
	source    Statistics
	condition vector.Expr // nil: all rows
	columns   []int       // of source that are looked at, each once
	text      []string    // of what the rows would come from, for EXPLAIN
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
	p, ok := compileNode(ctx, n.Child)
	if !ok || p.scanned == nil || p.projected {
		return nil, false
	}
	if s.source, ok = p.scanned.(Statistics); !ok {
		return nil, false
	}
	s.condition, s.text = p.condition, p.text
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
	if s.condition == nil && len(s.columns) == 0 {
		rows, known := s.source.ExactRows(ctx)
		return slices.Repeat(sql.Row{rows}, len(s.node.SelectDeps)), known, nil
	}
	folds := make([]fold, len(s.node.SelectDeps))
	for i, e := range s.node.SelectDeps {
		if folds[i], err = s.newFold(ctx, e); err != nil {
			return nil, false, err
		}
	}
	for f, err := range s.source.ExactFiles(ctx, s.condition, s.columns) {
		for i := 0; i < len(folds) && err == nil; i++ {
			err = folds[i].add(ctx, f)
		}
		if errors.Is(err, ErrNotExact) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	row = make(sql.Row, len(folds))
	for i := range folds {
		if row[i], err = folds[i].value(ctx); err != nil {
			return nil, false, err
		}
	}
	return row, true, nil
}

// fold puts together what the files tell of one aggregate.
type fold struct {
	column int   // among those that are looked at; -1: COUNT(*)
	count  int64 // of COUNT
	// Of MIN and MAX; nil for COUNT. The bounds go through GMS's own aggregate, as the only rows that it sees: of equal values it keeps the one
	// that it would have kept.
	extreme  sql.AggregationBuffer
	greatest bool
	field    batch.Field
	row      sql.Row // scratch
	at       int     // of the column in row
}

func (s *aggregateOfStatistics) newFold(ctx *sql.Context, e sql.Expression) (f fold, err error) {
	column, ok := argument(e).(*expression.GetField)
	if !ok {
		return fold{column: -1}, nil
	}
	f.column, f.at = slices.Index(s.columns, column.Index()), column.Index()
	if _, isCount := e.(*aggregation.Count); isCount {
		return f, nil
	}
	_, f.greatest = e.(*aggregation.Max)
	fields := s.source.Columns()
	f.field, f.row = fields[f.at], make(sql.Row, len(fields))
	f.extreme, err = newBuffer(ctx, e)
	return f, err
}

// add takes in a file. ErrNotExact: it does not tell.
func (f *fold) add(ctx *sql.Context, file ExactFile) error {
	if f.column < 0 {
		f.count += file.Rows
		return nil
	}
	c := file.Columns[f.column]
	if f.extreme == nil {
		if c.Values < 0 {
			return ErrNotExact
		}
		f.count += c.Values
		return nil
	}
	bound := c.Min
	if f.greatest {
		bound = c.Max
	}
	switch {
	case !c.Bounded:
		return ErrNotExact
	case bound == nil:
		return nil
	}
	f.row[f.at] = mysqltype.NewGetter(f.field, bound)(0)
	return f.extreme.Update(ctx, f.row)
}

func (f *fold) value(ctx *sql.Context) (any, error) {
	if f.extreme == nil {
		return f.count, nil
	}
	defer f.extreme.Dispose(ctx)
	return f.extreme.Eval(ctx)
}

// explainStatistics is the text of a plan that the statistics answer, the root first.
func explainStatistics(ctx *sql.Context, n sql.Node) (text []string, answered bool, err error) {
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
	return append([]string{"Aggregate " + strings.Join(aggregates, ", ") + ", no data file is read"}, s.text...), true, nil
}
