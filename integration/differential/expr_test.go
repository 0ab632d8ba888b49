package differential

import (
	"regexp"
	"slices"
	"strings"
)

// kind is a family of types that functions take.
type kind string

const (
	boolean  kind = "bool"
	integer  kind = "int"
	decimal  kind = "dec"
	double   kind = "flt"
	text     kind = "text"
	bytes    kind = "bytes"
	date     kind = "date"
	datetime kind = "time"
	document kind = "json"
)

// kinds are all of them.
var kinds = []kind{boolean, integer, decimal, double, text, bytes, date, datetime, document}

// families are the words that rules have for one of several kinds.
var families = map[kind][]kind{
	"num":  {integer, decimal, double},
	"real": {integer, decimal, double, integer, decimal, boolean},
	"day":  {date, datetime},
	"any":  {boolean, integer, decimal, double, text, bytes, date, datetime},
	"str":  {text, text, text, integer, decimal, date, datetime, boolean},
	"T":    {boolean, integer, decimal, double, text, bytes, date, datetime}, // the same for the whole rule
	"N":    {integer, decimal, double},                                       // the same
}

// expr is an expression: its text with a slot, {}, for each of its operands, and {q} for its subquery.
type expr struct {
	kind kind
	text string
	args []*expr
	sub  *query
	agg  bool // an aggregate or window function: its operands stand for other rows
}

func (e *expr) clone() *expr {
	if e == nil {
		return nil
	}
	out := *e
	out.args = make([]*expr, len(e.args))
	for i, a := range e.args {
		out.args[i] = a.clone()
	}
	out.sub = e.sub.clone()
	return &out
}

func (e *expr) String() string {
	parts := strings.Split(e.text, "{}")
	var b strings.Builder
	for i, p := range parts {
		if e.sub != nil {
			p = strings.ReplaceAll(p, "{q}", "("+e.sub.String()+")")
		}
		b.WriteString(p)
		if i < len(e.args) {
			b.WriteString(e.args[i].String())
		}
	}
	return b.String()
}

func leaf(k kind, text string) *expr { return &expr{kind: k, text: text} }

// rule is a line of the grammar: what an expression of a kind can be made of.
type rule struct {
	result kind
	text   string // with {} for each operand
	args   []kind
	agg    bool
}

var slot = regexp.MustCompile(`\{(\w+)\}`)

// parseRules reads lines such as "int: LENGTH({text})". {lit:word} draws from the literals of that name.
func parseRules(lines string, aggregates bool) []rule {
	var out []rule
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		result, body, ok := strings.Cut(line, ": ")
		if !ok {
			panic("rule without a kind: " + line)
		}
		r := rule{result: kind(result), agg: aggregates}
		r.text = slot.ReplaceAllStringFunc(body, func(s string) string {
			r.args = append(r.args, kind(s[1:len(s)-1]))
			return "{}"
		})
		out = append(out, r)
	}
	return out
}

// rulesOf are the rules that make an expression of a kind.
func rulesOf(all []rule) map[kind][]rule {
	out := make(map[kind][]rule)
	for _, r := range all {
		results := []kind{r.result}
		if family, ok := families[r.result]; ok {
			results = slices.Compact(slices.Sorted(slices.Values(family)))
		}
		for _, k := range results {
			concrete := r
			concrete.result = k
			concrete.args = slices.Clone(r.args)
			for i, a := range concrete.args {
				if a == r.result {
					concrete.args[i] = k
				}
			}
			out[k] = append(out[k], concrete)
		}
	}
	return out
}

// aggregates tells whether there is an aggregate in an expression.
func (e *expr) aggregates() bool {
	return e.agg || slices.ContainsFunc(e.args, (*expr).aggregates)
}
