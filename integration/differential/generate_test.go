package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator draws queries over tables.
type generator struct {
	r      *rand.Rand
	tables []table
	rules  *rules
	depth  int // of expressions
	names  int // given so far
	nested int // depth of the query that is being drawn
}

// scope is what an expression may name.
type scope struct {
	columns []column
	ids     []string // together they tell all rows apart; nil: nothing does
	outer   *scope   // of the query around; nil: none
	rows    int      // about how many there are
	// keys and aggregated: the expression stands above a GROUP BY with these keys (all of them columns), and takes its aggregates' operands
	// from the scope below.
	keys       []*expr
	aggregated *scope
	simple     bool // no subqueries
}

const (
	maxNested  = 3    // queries in queries
	maxPairs   = 1000 // pairs of rows that a join without keys may look at
	maxOuter   = 20   // rows of a query with correlated subqueries
	maxJoined  = 400  // rows of a join that is joined again
	derivedRow = 20   // rows that a derived table is taken to have
)

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// expr draws an expression of a kind or a family, or a word.
func (g *generator) expr(s *scope, k kind, depth int) *expr {
	if all, ok := words[k]; ok {
		return leaf(k, pick(g.r, all))
	}
	if family, ok := families[k]; ok {
		k = pick(g.r, family)
	}
	if depth <= 0 || g.chance(30) {
		return g.leaf(s, k)
	}
	if !s.simple && g.nested < maxNested && g.chance(4) {
		if e := g.subquery(s, k, depth-1); e != nil {
			return e
		}
	}
	if len(g.rules.scalar[k]) == 0 {
		return g.leaf(s, k)
	}
	return g.apply(s, pick(g.r, g.rules.scalar[k]), depth-1)
}

// apply draws the operands of a rule.
func (g *generator) apply(s *scope, r rule, depth int) *expr {
	e := &expr{kind: r.result, text: r.text, agg: r.agg}
	for i, a := range r.args {
		switch a {
		case "same":
			e.args = append(e.args, e.args[i-1].clone())
		case "over", "whole", "total", "frame":
			e.args = append(e.args, g.window(s, a))
		default:
			e.args = append(e.args, g.expr(s, a, depth))
		}
	}
	return e
}

// window draws what stands in OVER ().
func (g *generator) window(s *scope, kind kind) *expr {
	var parts []string
	if g.chance(60) {
		parts = append(parts, "PARTITION BY "+g.expr(s, "any", g.r.IntN(2)).String())
	}
	if kind != "whole" && (kind != "over" || g.chance(70)) {
		order := []string{g.expr(s, "any", g.r.IntN(2)).String() + pick(g.r, []string{"", " DESC"})}
		if kind != "over" {
			order = append(order, s.ids...)
		}
		parts = append(parts, "ORDER BY "+strings.Join(order, ", "))
	}
	if kind == "frame" {
		parts = append(parts, pick(g.r, []string{
			"ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "ROWS UNBOUNDED PRECEDING",
		}))
	}
	return leaf(kind, strings.Join(parts, " "))
}

// leaf draws a column, a literal or NULL; above a GROUP BY also an aggregate.
func (g *generator) leaf(s *scope, k kind) *expr {
	if s.aggregated != nil {
		return g.aggregate(s, k)
	}
	if g.chance(80) {
		if e := g.column(s, k); e != nil {
			return e
		}
	}
	if g.chance(3 * g.depth) {
		return leaf(k, "NULL")
	}
	return leaf(k, pick(g.r, literals[k]))
}

func (g *generator) column(s *scope, k kind) *expr {
	var fit []string
	for ; s != nil; s = s.outer {
		for _, c := range s.columns {
			if c.kind == k {
				fit = append(fit, c.name)
			}
		}
		if s.outer != nil && len(fit) > 0 && g.chance(60) {
			break // the query's own rather than one outside
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return leaf(k, pick(g.r, fit))
}

func (g *generator) aggregate(s *scope, k kind) *expr {
	if g.chance(50) {
		var fit []*expr
		for _, key := range s.keys {
			if key.kind == k {
				fit = append(fit, key)
			}
		}
		if len(fit) > 0 {
			return pick(g.r, fit).clone()
		}
	}
	if rules := g.rules.aggregate[k]; len(rules) > 0 && !g.chance(10) {
		return g.apply(s.aggregated, pick(g.r, rules), g.r.IntN(3))
	}
	return leaf(k, pick(g.r, literals[k]))
}

// subquery draws an expression with a SELECT in it; nil: none of that kind.
func (g *generator) subquery(s *scope, k kind, depth int) *expr {
	outer := s
	if s.rows > maxOuter || s.aggregated != nil || g.chance(40) {
		outer = nil
	}
	if k == boolean {
		in := pick(g.r, []kind{integer, integer, text, date, decimal, double})
		switch g.r.IntN(4) {
		case 0:
			return &expr{kind: k, text: pick(g.r, []string{"EXISTS {q}", "(NOT EXISTS {q})"}), sub: g.query(outer, []kind{in}, false)}
		case 1, 2:
			return &expr{kind: k, text: pick(g.r, []string{"({} IN {q})", "({} NOT IN {q})"}), args: []*expr{g.expr(s, in, depth)}, sub: g.query(outer, []kind{in}, false)}
		}
	}
	if k == document {
		return nil
	}
	q := g.query(outer, []kind{k}, true)
	return &expr{kind: k, text: "{q}", sub: q}
}

// query draws a query; want are the kinds of its columns, nil: any. one: it gives one row at most.
func (g *generator) query(outer *scope, want []kind, one bool) *query {
	g.nested++
	defer func() { g.nested-- }()
	q := &query{}
	var named []table
	if outer == nil && g.nested <= 2 && g.chance(8) {
		c := cte{name: g.name("c")}
		var t table
		c.q, t = g.derived(c.name)
		q.with, named = append(q.with, c), append(named, t)
	}
	free := want == nil
	if free {
		for range 1 + g.r.IntN(g.depth+1) {
			want = append(want, pick(g.r, g.rules.kinds))
		}
	}
	if one && g.chance(60) {
		if q.first = g.sel(outer, named, want, true); slices.ContainsFunc(q.first.items, func(i item) bool { return i.e.aggregates() }) {
			return q
		}
	}
	q.first = g.sel(outer, named, want, false)
	united := 0
	for g.chance(8) && united < 2 {
		united++
		q.others = append(q.others, struct {
			op string
			s  *sel
		}{pick(g.r, []string{"UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT"}), g.sel(outer, named, want, false)})
	}
	sortable := !slices.Contains(want, document)
	switch {
	case (one || g.chance(25)) && sortable:
		q.total = true
		for i := range want {
			q.order = append(q.order, leaf("", fmt.Sprint(i+1)+pick(g.r, []string{"", " DESC"})))
		}
		g.r.Shuffle(len(want), func(i, j int) { q.order[i], q.order[j] = q.order[j], q.order[i] })
		q.limit = pick(g.r, []string{"LIMIT 1", "LIMIT 5", "LIMIT 3 OFFSET 2", "LIMIT 0", "LIMIT 1000", "LIMIT 7 OFFSET 30"})
		if one {
			q.limit = pick(g.r, []string{"LIMIT 1", "LIMIT 1 OFFSET 1"})
		}
	case g.nested == 1 && g.chance(30):
		for range 1 + g.r.IntN(2) {
			if i := g.r.IntN(len(want)); want[i] != document {
				q.order = append(q.order, leaf("", fmt.Sprint(i+1)+pick(g.r, []string{"", " DESC"})))
			}
		}
	}
	return q
}

// derived draws a query for FROM, and what it is as a table.
func (g *generator) derived(name string) (*query, table) {
	var want []kind
	for range 1 + g.r.IntN(4) {
		want = append(want, pick(g.r, []kind{integer, integer, decimal, double, text, date, datetime, boolean}))
	}
	q := g.query(nil, want, false)
	t := table{name: name, rows: derivedRow}
	for i, x := range q.first.items {
		t.columns = append(t.columns, column{x.name, want[i]})
	}
	return q, t
}

// sel draws a SELECT. one: it gives one row, because it is an aggregation without keys.
func (g *generator) sel(outer *scope, named []table, want []kind, one bool) *sel {
	out := &sel{}
	s := &scope{outer: outer, rows: 1}
	if g.chance(97) || one {
		g.from(out, s, named)
	}
	if len(out.from) > 0 && g.chance(60) {
		out.where = g.expr(s, boolean, g.depth)
	}
	rows := s
	if len(out.from) > 0 && (one || g.chance(30)) {
		s = g.group(out, s, one)
		if g.chance(25) {
			out.having = g.expr(s, boolean, 2)
		}
	} else {
		out.distinct = g.chance(12) && !slices.Contains(want, document)
	}
	windowed := s == rows && len(out.from) > 0 && !out.distinct && s.rows <= 3000 && g.chance(12)
	for _, k := range want {
		e := (*expr)(nil)
		if windowed && g.chance(60) {
			e = g.windowed(s, k)
		}
		if e == nil {
			e = g.selected(out, s, k)
		}
		out.items = append(out.items, item{e, g.name("x")})
	}
	return out
}

// selected draws a column of the result. A key that is no column can be selected as it is.
func (g *generator) selected(out *sel, s *scope, k kind) *expr {
	if s.aggregated != nil && g.chance(40) {
		for _, key := range out.group {
			if key.kind == k && key.text != "{} COLLATE utf8mb4_0900_ai_ci" {
				return key.clone()
			}
		}
	}
	e := g.expr(s, k, g.r.IntN(g.depth+1))
	if e.text == "NULL" {
		e = g.expr(s, k, 1)
	}
	return e
}

func (g *generator) windowed(s *scope, k kind) *expr {
	rules := g.rules.window[k]
	if len(s.ids) == 0 {
		rules = slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return slices.Contains(r.args, "total") || slices.Contains(r.args, "frame") })
	}
	if len(rules) == 0 {
		return nil
	}
	return g.apply(s, pick(g.r, rules), 1)
}

// group draws GROUP BY, and returns the scope above it.
func (g *generator) group(out *sel, s *scope, one bool) *scope {
	below := *s
	below.simple = true
	above := &scope{rows: s.rows, aggregated: &below}
	if one {
		return above
	}
	for range g.r.IntN(3) {
		k := pick(g.r, []kind{boolean, integer, integer, decimal, double, text, text, bytes, date, datetime})
		key := g.column(&scope{columns: s.columns}, k)
		if key == nil {
			continue
		}
		if g.chance(25) && len(g.rules.scalar[k]) > 0 {
			if computed := g.apply(&scope{columns: s.columns, simple: true, rows: s.rows}, pick(g.r, g.rules.scalar[k]), 1); hasColumn(computed, s.columns) {
				out.group = append(out.group, computed)
				continue
			}
		}
		if k == text && g.chance(10) {
			out.group = append(out.group, &expr{kind: text, text: "{} COLLATE utf8mb4_0900_ai_ci", args: []*expr{key}})
			continue
		}
		out.group = append(out.group, key)
		above.keys = append(above.keys, key)
	}
	return above
}

func hasColumn(e *expr, columns []column) bool {
	if len(e.args) == 0 {
		return slices.ContainsFunc(columns, func(c column) bool { return c.name == e.text })
	}
	return slices.ContainsFunc(e.args, func(a *expr) bool { return hasColumn(a, columns) })
}

// from draws FROM, and adds its columns to the scope.
func (g *generator) from(out *sel, s *scope, named []table) {
	count := []int{1, 1, 1, 1, 1, 2, 2, 2, 3}[g.r.IntN(9)]
	if g.nested > 1 {
		count = []int{1, 1, 1, 2}[g.r.IntN(4)]
	}
	for i := range count {
		if i > 0 && s.rows > maxJoined {
			break
		}
		src, t := g.source(i > 0 || g.nested > 1 || count > 1, named)
		added := &scope{rows: t.rows}
		unique := false
		for _, c := range t.columns {
			added.columns = append(added.columns, column{src.name + "." + c.name, c.kind})
			unique = unique || c.name == "id"
		}
		if i == 0 {
			s.rows = t.rows
		} else {
			g.join(src, s, added)
		}
		s.columns = append(s.columns, added.columns...)
		s.simple = s.simple || t.big
		if unique && (i == 0 || s.ids != nil) {
			s.ids = append(s.ids, src.name+".id")
		} else {
			s.ids = nil
		}
		out.from = append(out.from, src)
	}
}

func (g *generator) source(small bool, named []table) (*source, table) {
	src := &source{name: g.name("t")}
	if len(named) > 0 && g.chance(60) {
		t := pick(g.r, named)
		src.table = t.name
		return src, t
	}
	if g.nested < maxNested && g.chance(12) {
		var t table
		src.sub, t = g.derived("")
		return src, t
	}
	for {
		t := pick(g.r, g.tables)
		if t.big && (small || !g.chance(10)) || t.rows > maxOuter && g.chance(50) {
			continue
		}
		src.table = t.name
		return src, t
	}
}

// join draws how a source is joined to those before it.
func (g *generator) join(src *source, s, added *scope) {
	pairs := s.rows * added.rows
	src.join = pick(g.r, []string{"JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN"})
	if pairs <= maxPairs && g.chance(15) {
		src.join = "CROSS JOIN"
		s.rows = pairs
		return
	}
	var conditions []string
	var keys []*expr
	for range 1 + g.r.IntN(2) {
		k := pick(g.r, []kind{integer, integer, integer, text, date, decimal, double, boolean})
		l, r := g.column(&scope{columns: s.columns}, k), g.column(added, k)
		if l == nil || r == nil {
			continue
		}
		if g.chance(15) {
			r = g.column(added, pick(g.r, []kind{integer, decimal, double}))
		}
		if r == nil {
			continue
		}
		if g.chance(20) {
			l = g.expr(&scope{columns: s.columns, simple: true}, k, 1)
		}
		conditions, keys = append(conditions, pick(g.r, []string{"{} = {}", "{} = {}", "{} = {}", "{} <=> {}"})), append(keys, l, r)
	}
	both := &scope{columns: slices.Concat(s.columns, added.columns), simple: true}
	if len(keys) == 0 || pairs <= maxPairs && g.chance(20) {
		if pairs > maxPairs {
			conditions, keys = append(conditions, "{} = {}"), append(keys, leaf(integer, s.columns[0].name), leaf(integer, added.columns[0].name))
		} else {
			conditions, keys = append(conditions, "{}"), append(keys, g.expr(both, boolean, 2))
		}
	} else if g.chance(15) {
		conditions, keys = append(conditions, "{}"), append(keys, g.expr(both, boolean, 1))
	}
	src.on = &expr{kind: boolean, text: strings.Join(conditions, " AND "), args: keys}
	s.rows = max(s.rows, added.rows, pairs/3)
}
