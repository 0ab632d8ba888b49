package differential

import (
	"fmt"
	"math/rand/v2"
)

// rules are a grammar of expressions, by the kind that a rule makes.
type rules struct {
	kinds                     []kind // of the columns of queries
	scalar, aggregate, window map[kind][]rule
}

// probes is how often a rule is tried: whether it compiles may hang on its operands.
const probes = 3

// compiled are the rules that run on batches, as EXPLAIN says it. Queries of these alone run there as a whole.
func (all *rules) compiled(c *client, tables []table) (out *rules, of string) {
	p := &prober{c: c, g: &generator{r: rand.New(rand.NewPCG(1, 1)), tables: tables, rules: all, depth: 1}, few: tables[1]}
	out = &rules{}
	out.scalar = p.those(all.scalar, "SELECT %s AS x FROM few t")
	out.aggregate = p.those(all.aggregate, "SELECT %s AS x FROM few t GROUP BY t.k")
	out.window = p.those(all.window, "SELECT %s AS x FROM few t")
	for _, k := range kinds {
		if k != document {
			out.kinds = append(out.kinds, k)
		}
	}
	return out, fmt.Sprintf("%d of %d rules of the grammar run on batches", p.run, p.all)
}

type prober struct {
	c        *client
	g        *generator
	few      table
	run, all int
}

func (p *prober) those(of map[kind][]rule, query string) map[kind][]rule {
	out := make(map[kind][]rule)
	for _, k := range kinds { // in their order: a seed makes the same queries each time
		for _, r := range of[k] {
			p.all++
			if p.runs(r, query) {
				p.run++
				out[k] = append(out[k], r)
			}
		}
	}
	return out
}

// runs tries a rule over columns.
func (p *prober) runs(r rule, query string) bool {
	s := &scope{ids: []string{"t.id"}, simple: true}
	for _, c := range p.few.columns {
		s.columns = append(s.columns, column{"t." + c.name, c.kind})
	}
	for range probes {
		plan, err := p.c.conn.ExecuteFetch("EXPLAIN "+fmt.Sprintf(query, p.g.apply(s, r, 0)), maxRows, false)
		if err == nil && len(plan.Rows) > 0 && plan.Rows[0][0].ToString() == "Vector" {
			return true
		}
	}
	return false
}
