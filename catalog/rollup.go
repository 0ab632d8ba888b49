package catalog

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// rollUp makes a SELECT with WITH ROLLUP one over a derived table of its groups and of those that sum them up: its rows are joined with the levels, of which
// each leaves one more key out, from the last one on.
//
//	SELECT a, b, SUM(x), GROUPING(b) FROM t GROUP BY a, b WITH ROLLUP
//	SELECT g.c2 AS a, g.c3 AS b, g.c4, IF(g.c1 >= 1, 1, 0) FROM (
//	    SELECT l.level AS c1, IF(l.level < 2, a, NULL) AS c2, IF(l.level < 1, b, NULL) AS c3, SUM(x) AS c4 FROM t, __rollup_levels(2) l
//	    GROUP BY l.level, IF(l.level < 2, a, NULL), IF(l.level < 1, b, NULL)) g
//	ORDER BY g.c1 >= 2, g.c2, g.c1 >= 1, g.c3
//
// The order, MySQL's, is that of a SELECT that names none.
func rollUp(stmt ast.SQLNode) error {
	united := make(map[*ast.Select]bool)
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.SetOp:
			for _, side := range []ast.SelectStatement{n.Left, n.Right} {
				if s, ok := side.(*ast.Select); ok {
					united[s] = true
				}
			}
		case *ast.Select:
			if !isRollup(n) {
				return true, nil
			}
			n.GroupBy = n.GroupBy[:len(n.GroupBy)-1]
			return true, rollUpSelect(n, !united[n])
		case *ast.FuncExpr:
			if n.Name.EqualString(sqlext.RollupFunction) { // behind no GROUP BY
				return false, sql.ErrInvalidSyntax.New("WITH ROLLUP")
			}
		}
		return true, nil
	}, stmt)
}

// isRollup says whether WITH ROLLUP stands behind GROUP BY, which sqlext.Rewrite has made its last expression.
func isRollup(s *ast.Select) bool {
	if len(s.GroupBy) < 2 {
		return false
	}
	last, ok := s.GroupBy[len(s.GroupBy)-1].(*ast.FuncExpr)
	return ok && last.Name.EqualString(sqlext.RollupFunction)
}

// refuseGrouping is MySQL's error of GROUPING without WITH ROLLUP.
func refuseGrouping(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if isGrouping(n) {
			return false, mysql.NewSQLError(1111, "HY000", "Invalid use of group function: GROUPING is for GROUP BY ... WITH ROLLUP")
		}
		return true, nil
	}, stmt)
}

func isWindow(n ast.SQLNode) bool {
	f, ok := n.(*ast.FuncExpr)
	return ok && f.Over != nil
}

func isGrouping(n ast.SQLNode) bool {
	f, ok := n.(*ast.FuncExpr)
	return ok && f.Name.EqualString("grouping") && f.Over == nil
}

// rollup is such a SELECT that is taken apart.
type rollup struct {
	*groupedSelect
	groups []ast.Expr // the keys
	level  *ast.ColName
}

func rollUpSelect(s *ast.Select, ordered bool) error {
	g, err := groupsOf(s)
	if err != nil {
		return err
	}
	if g.other || s.Having != nil && hasSubquery(s.Having.Expr) {
		return refuse(KindUnsupported, "* or a subquery beside WITH ROLLUP is not supported: name the columns, and put the rest around it: "+
			"SELECT ... FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a WITH ROLLUP) q")
	}
	r := &rollup{groupedSelect: g, level: levelOf(levelsTable)}
	for alias, e := range g.aliases {
		if mentions(e, alias) { // a column goes before the name of an expression over it
			delete(g.aliases, alias)
		}
	}
	for _, e := range s.GroupBy {
		r.groups = append(r.groups, g.key(s, e))
	}
	if err := r.canonical(s); err != nil {
		return err
	}
	if len(s.OrderBy) == 0 && ordered && !s.QueryOpts.Distinct {
		s.OrderBy = r.order()
	}
	s.GroupBy = ast.GroupBy(r.groups)
	g.derive(s)
	for _, w := range s.Window {
		g.window(w)
	}
	var where *ast.Where
	if s.Having != nil {
		where = ast.NewWhere(ast.WhereStr, g.above(g.unaliased(s.Having.Expr)))
	}
	r.expand()
	g.from(s)
	s.Where = where
	return nil
}

// canonical writes the keys alike wherever they stand, and GROUPING by the level.
func (r *rollup) canonical(s *ast.Select) error {
	var failed error
	var rewrite func(e ast.Expr) ast.Expr
	window := func(w *ast.WindowDef) {
		for i, e := range w.PartitionBy {
			w.PartitionBy[i] = rewrite(e)
		}
		for _, by := range w.OrderBy {
			by.Expr = rewrite(by.Expr)
		}
	}
	rewrite = func(e ast.Expr) ast.Expr {
		for _, n := range r.topmost(e, func(n ast.SQLNode) bool { return isGrouping(n) || isWindow(n) || r.position(n) >= 0 }) {
			switch f, _ := n.(*ast.FuncExpr); {
			case isGrouping(n):
				value, err := r.grouping(f)
				if err != nil {
					failed = err
					return e
				}
				e = ast.ReplaceExpr(e, n, value)
			case isWindow(n):
				for _, arg := range f.Exprs {
					if aliased, ok := arg.(*ast.AliasedExpr); ok {
						aliased.Expr = rewrite(aliased.Expr)
					}
				}
				window((*ast.WindowDef)(f.Over))
			default:
				e = ast.ReplaceExpr(e, n, r.groups[r.position(n)])
			}
		}
		return e
	}
	named := make(map[string]ast.Expr)
	for _, item := range s.SelectExprs {
		item := item.(*ast.AliasedExpr)
		name := item.As.Lowered()
		if item.As.IsEmpty() {
			item.As = ast.NewColIdent(shownName(item))
		}
		item.Expr = rewrite(item.Expr)
		named[name] = item.Expr
		if r.aliases[name] != nil {
			r.aliases[name] = item.Expr
		}
	}
	if s.Having != nil {
		s.Having.Expr = rewrite(s.Having.Expr)
	}
	for _, by := range s.OrderBy {
		column, ok := by.Expr.(*ast.ColName)
		if ok && column.Qualifier.IsEmpty() && named[column.Name.Lowered()] != nil { // a column of the result goes before one of a table
			by.Expr = named[column.Name.Lowered()]
			continue
		}
		by.Expr = r.unaliased(rewrite(by.Expr))
	}
	for _, w := range s.Window {
		window(w)
	}
	return failed
}

// shownName is the name of a column that was given none.
func shownName(item *ast.AliasedExpr) string {
	if column, ok := item.Expr.(*ast.ColName); ok {
		return column.Name.String()
	}
	if item.InputExpression != "" {
		return item.InputExpression
	}
	return ast.String(item.Expr)
}

// position is which key an expression is; -1: none.
func (r *rollup) position(n ast.SQLNode) int {
	e, ok := n.(ast.Expr)
	if !ok {
		return -1
	}
	for i, key := range r.groups {
		if sameKey(e, key) {
			return i
		}
	}
	return -1
}

// sameKey says whether an expression is a key: a column with its table's name is the one without.
func sameKey(e, key ast.Expr) bool {
	column, isColumn := e.(*ast.ColName)
	of, ofColumn := key.(*ast.ColName)
	if isColumn && ofColumn {
		a, b := column.Qualifier, of.Qualifier
		return column.Name.EqualString(of.Name.String()) && (a.IsEmpty() || b.IsEmpty() || strings.EqualFold(a.Name.String(), b.Name.String()))
	}
	return isColumn == ofColumn && ast.String(e) == ast.String(key)
}

// mentions says whether an expression, no column itself, has a column of that name.
func mentions(e ast.Expr, name string) bool {
	found := false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // the visit has no errors
		c, ok := n.(*ast.ColName)
		found = found || ok && ast.SQLNode(e) != n && c.Name.EqualString(name)
		return !found, nil
	}, e)
	return found
}

func hasSubquery(e ast.Expr) bool {
	found := false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // the visit has no errors
		_, ok := n.(*ast.Subquery)
		found = found || ok
		return !found, nil
	}, e)
	return found
}

// grouping is GROUPING(key, ...): a bit for each key, 1 where its NULL stands for all.
func (r *rollup) grouping(f *ast.FuncExpr) (ast.Expr, error) {
	var sum ast.Expr
	for i, arg := range f.Exprs {
		at := -1
		if aliased, ok := arg.(*ast.AliasedExpr); ok {
			if at = r.position(aliased.Expr); at < 0 {
				at = r.position(r.unaliased(aliased.Expr))
			}
		}
		if at < 0 {
			return nil, mysql.NewSQLError(3580, "HY000", "Argument #%d of GROUPING function is not in GROUP BY", i)
		}
		bit := ast.Expr(call("IF", r.leftOut(at, r.level), intLiteral(1<<(len(f.Exprs)-1-i)), intLiteral(0)))
		if sum != nil {
			bit = &ast.BinaryExpr{Operator: ast.PlusStr, Left: sum, Right: bit}
		}
		sum = bit
	}
	return &ast.ParenExpr{Expr: sum}, nil
}

// leftOut says of a key whether a level leaves it out.
func (r *rollup) leftOut(key int, level ast.Expr) ast.Expr {
	return &ast.ComparisonExpr{Operator: ast.GreaterEqualStr, Left: level, Right: intLiteral(len(r.groups) - key)}
}

// order is each key before those behind it, and sums behind what they are of.
func (r *rollup) order() (by ast.OrderBy) {
	for i, key := range r.groups {
		by = append(by, &ast.Order{Expr: r.leftOut(i, r.level), Direction: ast.AscScr}, &ast.Order{Expr: key, Direction: ast.AscScr})
	}
	return by
}

// expand makes the query of the groups one of all levels.
func (r *rollup) expand() {
	below := r.below
	keep := func(key int) ast.Expr {
		within := &ast.ComparisonExpr{Operator: ast.LessThanStr, Left: r.level, Right: intLiteral(len(r.groups) - key)}
		return call("IF", within, r.groups[key], &ast.NullVal{})
	}
	for _, item := range below.SelectExprs {
		if item := item.(*ast.AliasedExpr); r.position(item.Expr) >= 0 {
			item.Expr = keep(r.position(item.Expr))
		}
	}
	below.GroupBy = ast.GroupBy{r.level}
	for i := range r.groups {
		below.GroupBy = append(below.GroupBy, keep(i))
	}
	levels := &ast.TableFuncExpr{Name: levelsFunction, Alias: ast.NewTableIdent(levelsTable), Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: intLiteral(len(r.groups))}}}
	below.From = append(below.From[:len(below.From):len(below.From)], levels)
}

func intLiteral(n int) *ast.SQLVal { return ast.NewIntVal([]byte(strconv.Itoa(n))) }
