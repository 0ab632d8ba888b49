package differential

import (
	"fmt"
	"strings"
)

// query is a SELECT with all that can stand around it.
type query struct {
	with   []cte
	first  *sel
	others []united
	order  []*expr // DESC is part of the text
	limit  string  // "" or LIMIT with what follows
	// total: the order is one of all rows, by all columns.
	total bool
}

// cte is a query with a name.
type cte struct {
	name string
	q    *query
}

// united is a further SELECT of a UNION.
type united struct {
	op string
	s  *sel
}

// sel is a SELECT.
type sel struct {
	distinct bool
	items    []item
	from     []*source
	where    *expr
	group    []*expr
	having   *expr
}

type item struct {
	e    *expr
	name string
}

// source is a table in FROM, how it is joined to those before it, and its name in the query.
type source struct {
	join  string // "" for the first
	table string // or
	sub   *query
	name  string
	on    *expr // nil: none
}

func (q *query) clone() *query {
	if q == nil {
		return nil
	}
	out := *q
	out.with, out.others, out.order = nil, nil, nil
	for _, c := range q.with {
		out.with = append(out.with, cte{c.name, c.q.clone()})
	}
	out.first = q.first.clone()
	for _, u := range q.others {
		out.others = append(out.others, united{u.op, u.s.clone()})
	}
	for _, e := range q.order {
		out.order = append(out.order, e.clone())
	}
	return &out
}

func (s *sel) clone() *sel {
	out := &sel{distinct: s.distinct, where: s.where.clone(), having: s.having.clone()}
	for _, i := range s.items {
		out.items = append(out.items, item{i.e.clone(), i.name})
	}
	for _, f := range s.from {
		out.from = append(out.from, &source{f.join, f.table, f.sub.clone(), f.name, f.on.clone()})
	}
	for _, g := range s.group {
		out.group = append(out.group, g.clone())
	}
	return out
}

func (q *query) String() string {
	var b strings.Builder
	for i, c := range q.with {
		b.WriteString([]string{"WITH ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s AS (%s)", c.name, c.q)
	}
	if len(q.with) > 0 {
		b.WriteString(" ")
	}
	b.WriteString(q.first.String())
	for _, u := range q.others {
		fmt.Fprintf(&b, " %s %s", u.op, u.s)
	}
	list(&b, " ORDER BY ", q.order)
	if q.limit != "" {
		b.WriteString(" " + q.limit)
	}
	return b.String()
}

func (s *sel) String() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	if s.distinct {
		b.WriteString("DISTINCT ")
	}
	for i, x := range s.items {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s AS %s", x.e, x.name)
	}
	for i, f := range s.from {
		b.WriteString([]string{" FROM ", " "}[min(i, 1)])
		if i > 0 {
			b.WriteString(f.join + " ")
		}
		b.WriteString(f.String())
	}
	if s.where != nil {
		fmt.Fprintf(&b, " WHERE %s", s.where)
	}
	list(&b, " GROUP BY ", s.group)
	if s.having != nil {
		fmt.Fprintf(&b, " HAVING %s", s.having)
	}
	return b.String()
}

func (f *source) String() string {
	out := f.table
	if f.sub != nil {
		out = "(" + f.sub.String() + ")"
	}
	if out += " " + f.name; f.on != nil {
		out += " ON " + f.on.String()
	}
	return out
}

func list(b *strings.Builder, title string, all []*expr) {
	for i, e := range all {
		b.WriteString([]string{title, ", "}[min(i, 1)])
		b.WriteString(e.String())
	}
}
