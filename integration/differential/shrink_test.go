package differential

import (
	"slices"
	"strings"
)

// shrinkTries bounds how many smaller queries are asked for one difference.
const shrinkTries = 600

// shrink leaves out of a query what it does not need to stay interesting.
func shrink(q *query, interesting func(*query) bool) *query {
	tries := 0
	for at := 0; tries < shrinkTries; {
		smaller := q.clone()
		r := &reducer{skip: at}
		r.query(smaller)
		if !r.done {
			break // no step is left
		}
		tries++
		if interesting(smaller) {
			q = smaller // and the same place again, which is another step now
		} else {
			at++
		}
	}
	return q
}

// reducer makes one step of all that are possible, in the order in which it meets them.
type reducer struct {
	skip int // how many steps to leave out before
	done bool
}

// step tells whether this is the one to make.
func (r *reducer) step() bool {
	if r.done {
		return false
	}
	if r.skip > 0 {
		r.skip--
		return false
	}
	r.done = true
	return true
}

func (r *reducer) query(q *query) {
	if len(q.others) > 0 && r.step() {
		q.others = q.others[1:]
		return
	}
	if len(q.others) > 0 && r.step() {
		q.first, q.others = q.others[0].s, q.others[1:]
		return
	}
	if q.limit != "" && r.step() {
		q.limit = ""
		return
	}
	if q.limit == "" && len(q.order) > 0 && r.step() {
		q.order, q.total = nil, false
		return
	}
	for i := range q.with {
		if !strings.Contains(q.first.String(), " "+q.with[i].name+" ") && r.step() {
			q.with = slices.Delete(q.with, i, i+1)
			return
		}
	}
	if len(q.others) == 0 && len(q.order) == 0 {
		r.items(q.first)
	}
	r.sel(q.first)
	for _, u := range q.others {
		r.sel(u.s)
	}
	for _, c := range q.with {
		r.query(c.q)
	}
}

func (r *reducer) items(s *sel) {
	for i := range s.items {
		if len(s.items) > 1 && r.step() {
			s.items = slices.Delete(s.items, i, i+1)
			return
		}
	}
}

func (r *reducer) sel(s *sel) {
	if s.where != nil && r.step() {
		s.where = nil
	}
	if s.having != nil && r.step() {
		s.having = nil
	}
	if s.distinct && r.step() {
		s.distinct = false
	}
	for i := range s.group {
		if !r.done && r.step() {
			s.group = slices.Delete(s.group, i, i+1)
		}
	}
	if len(s.from) > 1 && r.step() {
		s.from = s.from[:len(s.from)-1]
	}
	if len(s.from) > 1 && r.step() {
		s.from = s.from[1:]
		s.from[0].join, s.from[0].on = "", nil
	}
	for i := range s.items {
		r.expr(&s.items[i].e)
	}
	if s.where != nil {
		r.expr(&s.where)
	}
	if s.having != nil {
		r.expr(&s.having)
	}
	for i := range s.group {
		r.args(s.group[i])
	}
	for _, f := range s.from {
		if f.on != nil {
			r.on(f.on)
		}
		if f.sub != nil {
			r.query(f.sub)
		}
	}
}

// on leaves out conditions of a join.
func (r *reducer) on(e *expr) {
	parts := strings.Split(e.text, " AND ")
	at := 0
	for i, p := range parts {
		n := strings.Count(p, "{}")
		if len(parts) > 1 && r.step() {
			e.text = strings.Join(slices.Delete(slices.Clone(parts), i, i+1), " AND ")
			e.args = slices.Delete(e.args, at, at+n)
			return
		}
		at += n
	}
	r.args(e)
}

// expr puts an operand of the same kind, NULL or a literal in the place of an expression.
func (r *reducer) expr(at **expr) {
	e := *at
	if r.done {
		return
	}
	if len(e.args) > 0 || e.sub != nil {
		for _, a := range e.args {
			if !e.agg && (a.kind == e.kind || slices.Contains([]kind{integer, decimal, double, boolean}, a.kind) && slices.Contains([]kind{integer, decimal, double, boolean}, e.kind)) && r.step() {
				*at = a
				return
			}
		}
		if r.step() {
			*at = leaf(e.kind, "NULL")
			return
		}
		if all := literals[e.kind]; len(all) > 1 && r.step() {
			*at = leaf(e.kind, all[1])
			return
		}
	}
	r.args(e)
}

func (r *reducer) args(e *expr) {
	for i := range e.args {
		r.expr(&e.args[i])
	}
	if e.sub != nil {
		r.query(e.sub)
	}
}
