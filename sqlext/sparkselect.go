package sqlext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// SparkNames is what SparkSelect has to know of what a SELECT reads.
type SparkNames struct {
	Source func(i int) string // the name of source i, quoted
	// Table is the name of a table that is no stream, quoted, and its columns' types in Spark's SQL.
	Table func(Name) (name string, types map[string]string, err error)
	Types map[string]string                 // the sources' columns, by name; "" where sources differ
	Cast  func(from string) (string, error) // CAST or TRY_CAST for a value of a type that may not convert
}

// SparkSelect writes a stream's SELECT in Spark's SQL, for a session with spark.sql.ansi.enabled. What has another value there, or may have, is refused
// by name: what is left either gives the same or fails. The error is a *RefusedError, a *SyntaxError, or one of names'.
func SparkSelect(sql string, names SparkNames) (string, error) {
	text, _, err := ParseStreamSelect(sql)
	if err != nil {
		return "", err
	}
	if text, err = Rewrite(text); err != nil {
		return "", err
	}
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return "", err
	}
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return "", &RefusedError{WrongForm, "it is no SELECT"}
	}
	w := &sparkWriter{names: names, classes: map[string]string{}}
	w.learn(names.Types)
	w.statement(sel)
	return w.out.String(), w.err
}

// HasStar says whether a stream's SELECT names columns by *.
func HasStar(sql string) bool {
	text, _, err := ParseStreamSelect(sql)
	if err != nil {
		return false
	}
	stmt, err := sqlparser.Parse(text)
	return err == nil && contains(func(n sqlparser.SQLNode) bool { _, ok := n.(*sqlparser.StarExpr); return ok }, stmt)
}

// SparkName returns an identifier as Spark's SQL, in backquotes.
func SparkName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// sparkWriter writes a SELECT. Its first error sticks.
type sparkWriter struct {
	names   SparkNames
	out     strings.Builder
	ctes    []string
	classes map[string]string // of columns, by name in lower case; "" where it is not one
	within  int               // how many subqueries the writer is in
	err     error
}

// learn takes in columns' types. Of one that has another type elsewhere nothing is known.
func (w *sparkWriter) learn(types map[string]string) {
	for name, typ := range types {
		w.see(name, sparkClass(typ))
	}
}

func (w *sparkWriter) see(name, class string) {
	key := strings.ToLower(name)
	if have, ok := w.classes[key]; ok && have != class {
		class = ""
	}
	w.classes[key] = class
}

// subquery writes a SELECT in parentheses, whose columns others name.
func (w *sparkWriter) subquery(s sqlparser.SelectStatement) {
	w.within++
	w.put("(")
	w.statement(s)
	w.put(")")
	w.within--
}

// aside returns what write writes, which is not put out.
func (w *sparkWriter) aside(write func()) string {
	before := w.out.String()
	w.out.Reset()
	write()
	text := w.out.String()
	w.out.Reset()
	w.put(before)
	return text
}

func (w *sparkWriter) refuse(format string, args ...any) {
	if w.err == nil {
		w.err = &RefusedError{NotSupported, "Spark's SQL has nothing that is known to mean the same as " + fmt.Sprintf(format, args...)}
	}
}

func (w *sparkWriter) put(texts ...string) {
	for _, t := range texts {
		w.out.WriteString(t)
	}
}

func (w *sparkWriter) statement(s sqlparser.SelectStatement) {
	switch s := s.(type) {
	case *sqlparser.ParenSelect:
		w.put("(")
		w.statement(s.Select)
		w.put(")")
	case *sqlparser.SetOp:
		w.with(s.With)
		w.statement(s.Left)
		w.put(" UNION ALL ") // the only one that a stream's SELECT may have
		w.statement(s.Right)
	case *sqlparser.Select:
		w.with(s.With)
		w.block(s)
	default:
		w.refuse("%s", sqlparser.String(s))
	}
}

func (w *sparkWriter) with(with *sqlparser.With) {
	if with == nil {
		return
	}
	if with.Recursive {
		w.refuse("WITH RECURSIVE")
		return
	}
	w.put("WITH ")
	for i, cte := range with.Ctes {
		query, ok := cte.Expr.(*sqlparser.Subquery)
		if !ok || len(cte.Columns) > 0 {
			w.refuse("a WITH query with names for its columns")
			return
		}
		if i > 0 {
			w.put(", ")
		}
		w.put(SparkName(cte.As.String()), " AS ")
		w.subquery(query.Select)
		w.ctes = append(w.ctes, strings.ToLower(cte.As.String()))
	}
	w.put(" ")
}

// block writes one SELECT. What a stream's SELECT may not have has been refused when the stream was made.
func (w *sparkWriter) block(s *sqlparser.Select) {
	if s.QueryOpts.Distinct || len(s.GroupBy) > 0 || s.Having != nil || len(s.OrderBy) > 0 || s.Limit != nil || len(s.Window) > 0 {
		w.refuse("a subquery with DISTINCT, GROUP BY, HAVING, ORDER BY, LIMIT or WINDOW")
		return
	}
	from := w.aside(func() { w.from(s.From) }) // first: it tells the columns
	w.put("SELECT ")
	for i, e := range s.SelectExprs {
		if i > 0 {
			w.put(", ")
		}
		w.selected(e)
	}
	w.put(from)
	if s.Where != nil {
		w.put(" WHERE ")
		w.expr(s.Where.Expr)
	}
}

func (w *sparkWriter) from(tables sqlparser.TableExprs) {
	for i, t := range tables {
		w.put(map[bool]string{true: " FROM ", false: " CROSS JOIN "}[i == 0])
		w.table(t)
	}
}

func (w *sparkWriter) selected(e sqlparser.SelectExpr) {
	switch e := e.(type) {
	case *sqlparser.StarExpr:
		if !e.TableName.IsEmpty() {
			w.put(SparkName(e.TableName.Name.String()), ".")
		}
		w.put("*")
	case *sqlparser.AliasedExpr:
		class := w.expr(e.Expr)
		name := e.As.String()
		if name == "" {
			name = e.InputExpression
			if c, ok := e.Expr.(*sqlparser.ColName); ok {
				name = c.Name.String()
			}
		}
		w.put(" AS ", SparkName(name))
		if w.within > 0 {
			w.see(name, class)
		}
	default:
		w.refuse("%s", sqlparser.String(e))
	}
}

func (w *sparkWriter) table(t sqlparser.TableExpr) {
	switch t := t.(type) {
	case *sqlparser.TableFuncExpr:
		w.source(*t)
	case sqlparser.TableFuncExpr:
		w.source(t)
	case *sqlparser.AliasedTableExpr:
		w.aliased(t)
	case *sqlparser.JoinTableExpr:
		w.join(t)
	case *sqlparser.ParenTableExpr:
		if len(t.Exprs) != 1 {
			w.refuse("%s", sqlparser.String(t))
			return
		}
		w.put("(")
		w.table(t.Exprs[0])
		w.put(")")
	default:
		w.refuse("%s", sqlparser.String(t))
	}
}

func (w *sparkWriter) source(t sqlparser.TableFuncExpr) {
	i := -1
	if len(t.Exprs) == 1 {
		if n, err := strconv.Atoi(sqlparser.String(t.Exprs[0])); err == nil && strings.EqualFold(t.Name, SourceFunction) {
			i = n
		}
	}
	if i < 0 || len(t.Columns) > 0 {
		w.refuse("%s", sqlparser.String(t))
		return
	}
	w.put(w.names.Source(i))
	if !t.Alias.IsEmpty() {
		w.put(" AS ", SparkName(t.Alias.String()))
	}
}

func (w *sparkWriter) aliased(t *sqlparser.AliasedTableExpr) {
	if t.AsOf != nil || t.Hints != nil || t.Lateral || len(t.Partitions) > 0 {
		w.refuse("%s", sqlparser.String(t))
		return
	}
	alias := t.As.String()
	switch e := t.Expr.(type) {
	case *sqlparser.Subquery:
		w.subquery(e.Select)
	case sqlparser.TableName:
		if alias == "" {
			alias = e.Name.String()
		}
		w.named(e)
	default:
		w.refuse("%s", sqlparser.String(t))
	}
	if alias != "" {
		w.put(" AS ", SparkName(alias))
	}
}

func (w *sparkWriter) named(t sqlparser.TableName) {
	for _, cte := range w.ctes {
		if t.DbQualifier.IsEmpty() && strings.EqualFold(cte, t.Name.String()) {
			w.put(SparkName(t.Name.String()))
			return
		}
	}
	name, types, err := w.names.Table(Name{Database: t.DbQualifier.String(), Name: t.Name.String()})
	if err != nil && w.err == nil {
		w.err = err
	}
	w.learn(types)
	w.put(name)
}

func (w *sparkWriter) join(t *sqlparser.JoinTableExpr) {
	kind := strings.ToUpper(t.Join)
	switch t.Join {
	case sqlparser.JoinStr, sqlparser.LeftJoinStr, sqlparser.RightJoinStr:
	default:
		w.refuse("%s", kind)
	}
	if len(t.Condition.Using) > 0 {
		w.refuse("USING, whose columns stand in another order")
	}
	if t.Condition.On == nil {
		kind = "CROSS " + kind
	}
	w.table(t.LeftExpr)
	w.put(" ", kind, " ")
	w.table(t.RightExpr)
	if t.Condition.On != nil {
		w.put(" ON ")
		w.expr(t.Condition.On)
	}
}
