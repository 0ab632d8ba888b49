package catalog

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/sorters"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// groupConcat is GROUP_CONCAT as MySQL has it: of all its arguments, empty ones too, cut at a character and with a warning. GMS's is of the first
// argument that is not empty.
type groupConcat struct {
	*aggregation.GroupConcat
	order     sql.SortConditions
	args      []sql.Expression
	separator string
	distinct  bool
	maxLen    int
}

var (
	_ sql.Aggregation               = (*groupConcat)(nil)
	_ sql.OrderedAggregation        = (*groupConcat)(nil)
	_ compile.ConcatAggregation     = (*groupConcat)(nil)
	_ sql.WindowAdaptableExpression = (*groupConcat)(nil)
)

// concatGroups puts groupConcats in the places of GMS's.
func concatGroups(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	g, ok := e.(*aggregation.GroupConcat)
	if !ok || !g.Resolved() {
		return e, transform.SameTree, nil
	}
	return newGroupConcat(ctx, g), transform.NewTree, nil
}

// newGroupConcat reads what GMS's expression keeps to itself: the directions of its order, the separator, and the length.
func newGroupConcat(ctx *sql.Context, g *aggregation.GroupConcat) *groupConcat {
	own := reflect.ValueOf(g).Elem()
	out := &groupConcat{
		GroupConcat: g, separator: own.FieldByName("separator").String(), distinct: own.FieldByName("distinct").String() != "",
		maxLen: int(own.FieldByName("maxLen").Int()), args: g.OutputExpressions(),
	}
	conditions := own.FieldByName("sortConditions")
	for i, e := range g.Children()[:conditions.Len()] {
		c := conditions.Index(i)
		out.order = append(out.order, sql.SortCondition{
			Expr: e, Order: sql.SortOrder(c.FieldByName("Order").Uint()), NullOrdering: sql.NullOrdering(c.FieldByName("NullOrdering").Uint()),
		})
	}
	return out
}

// Order is what the texts are ordered by.
func (g *groupConcat) Order() sql.SortConditions { return g.order }

// Separator stands between two texts.
func (g *groupConcat) Separator() string { return g.separator }

// Distinct says that rows with equal arguments count once.
func (g *groupConcat) Distinct() bool { return g.distinct }

// MaxLen is how many bytes a result has at the most.
func (g *groupConcat) MaxLen() int { return g.maxLen }

// Text is the text of a row, NULL where an argument is; false: it is one of bytes.
func (g *groupConcat) Text(ctx *sql.Context) (sql.Expression, bool) {
	for _, e := range g.args {
		if types.IsBinaryType(e.Type(ctx)) {
			return nil, false
		}
	}
	if len(g.args) == 1 && types.IsTextOnly(g.args[0].Type(ctx)) {
		return g.args[0], true
	}
	text, err := function.NewConcat(ctx, g.args...)
	return text, err == nil
}

// Type is a text, or bytes where an argument is such.
func (g *groupConcat) Type(ctx *sql.Context) sql.Type {
	if _, ok := g.Text(ctx); !ok {
		return types.Blob
	}
	return g.GroupConcat.Type(ctx)
}

// IsNullable is true: without rows the result is NULL.
func (g *groupConcat) IsNullable(*sql.Context) bool { return true }

// WithChildren returns it over others.
func (g *groupConcat) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	inner, err := g.GroupConcat.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return g.around(ctx, inner.(*aggregation.GroupConcat).WithId(g.Id())), nil
}

// WithWindow returns it over a window.
func (g *groupConcat) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return g.around(ctx, g.GroupConcat.WithWindow(ctx, w))
}

// WithId returns it under another id.
func (g *groupConcat) WithId(id sql.ColumnId) sql.IdExpression {
	out := *g
	out.GroupConcat = g.GroupConcat.WithId(id).(*aggregation.GroupConcat)
	return &out
}

func (g *groupConcat) around(ctx *sql.Context, inner any) *groupConcat {
	return newGroupConcat(ctx, inner.(*aggregation.GroupConcat))
}

// NewBuffer starts a group.
func (g *groupConcat) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	b := &concatBuffer{groupConcat: g}
	b.text, b.isText = g.Text(ctx)
	if g.distinct {
		b.seen = make(map[string]struct{})
	}
	return b, nil
}

// concatBuffer is one group.
type concatBuffer struct {
	*groupConcat
	text   sql.Expression
	isText bool
	seen   map[string]struct{} // of DISTINCT: the arguments so far; nil: every row counts
	rows   []sql.Row           // of an order: the rows with their texts behind them
	out    strings.Builder     // without one: the result so far
	count  int                 // of the rows in it
	cut    bool                // nothing follows any more
}

// Update adds a row.
func (b *concatBuffer) Update(ctx *sql.Context, row sql.Row) error {
	if b.cut {
		return nil
	}
	text, ok, err := b.textOf(ctx, row)
	if err != nil || !ok {
		return err
	}
	if b.seen != nil {
		key, err := b.keyOf(ctx, row)
		if err != nil {
			return err
		}
		if _, ok := b.seen[key]; ok {
			return nil
		}
		b.seen[key] = struct{}{}
	}
	if len(b.order) > 0 {
		b.rows = append(b.rows, append(row[:len(row):len(row)], text))
		return nil
	}
	b.write(ctx, text)
	return nil
}

// textOf is the text of a row; false: NULL.
func (b *concatBuffer) textOf(ctx *sql.Context, row sql.Row) (string, bool, error) {
	parts := b.args
	if b.isText {
		parts = []sql.Expression{b.text}
	}
	out := ""
	for _, e := range parts {
		v, err := e.Eval(ctx, row)
		if err != nil || v == nil {
			return "", false, err
		}
		if bytes, ok := v.([]byte); ok {
			out += string(bytes)
			continue
		}
		text, _, err := types.ConvertToCollatedString(ctx, v, e.Type(ctx))
		if err != nil {
			return "", false, err
		}
		out += text
	}
	return out, true, nil
}

// keyOf is the same for rows whose arguments are equal.
func (b *concatBuffer) keyOf(ctx *sql.Context, row sql.Row) (string, error) {
	key := ""
	for _, e := range b.args {
		v, err := (&distinctKey{Child: e}).Eval(ctx, row)
		if err != nil {
			return "", err
		}
		key += fmt.Sprint(v, ",")
	}
	return key, nil
}

// write appends a text to the result.
func (b *concatBuffer) write(ctx *sql.Context, text string) {
	if b.count++; b.count > 1 {
		b.out.WriteString(b.separator)
	}
	b.out.WriteString(text)
	if b.out.Len() > b.maxLen {
		b.cut = true
		ctx.Warn(1260, "Row %d was cut by GROUP_CONCAT()", b.count)
	}
}

// Eval is the result.
func (b *concatBuffer) Eval(ctx *sql.Context) (any, error) {
	if len(b.order) > 0 {
		sorter := sorters.NewRowSorterWithRows(ctx, b.order, b.rows)
		sort.Stable(sorter)
		if err := sorter.GetError(); err != nil {
			return nil, err
		}
		b.out.Reset()
		b.count, b.cut = 0, false
		for _, row := range b.rows {
			if b.write(ctx, row[len(row)-1].(string)); b.cut {
				break
			}
		}
	}
	if b.count == 0 {
		return nil, nil
	}
	out := b.out.String()
	if n := b.maxLen; b.cut {
		for ; b.isText && n > 0 && !utf8.RuneStart(out[n]); n-- {
		}
		out = out[:n]
	}
	if !b.isText {
		return []byte(out), nil
	}
	return out, nil
}

// Dispose releases what the arguments hold.
func (b *concatBuffer) Dispose(ctx *sql.Context) {
	for _, e := range b.Children() {
		dispose(ctx, e)
	}
}
