package compile

import (
	"math/bits"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// factored takes the conjuncts that all alternatives of an OR have out of it: (a AND b) OR (a AND c) is a AND (b OR c).
func factored(ctx *sql.Context, e sql.Expression) []sql.Expression {
	branches := alternatives(e)
	if len(branches) < 2 {
		return []sql.Expression{e}
	}
	var common []sql.Expression
	rest := make([][]sql.Expression, len(branches))
	for i, b := range branches {
		rest[i] = expression.SplitConjunction(ctx, b)
	}
	for _, c := range rest[0] {
		everywhere := true
		for _, conjuncts := range rest[1:] {
			everywhere = everywhere && indexOf(ctx, conjuncts, c) >= 0
		}
		if everywhere && indexOf(ctx, common, c) < 0 {
			common = append(common, c)
		}
	}
	if len(common) == 0 {
		return []sql.Expression{e}
	}
	var or []sql.Expression
	for _, conjuncts := range rest {
		var left []sql.Expression
		for _, c := range conjuncts {
			if indexOf(ctx, common, c) < 0 {
				left = append(left, c)
			}
		}
		if len(left) == 0 { // this alternative is true whenever the common part is
			return common
		}
		or = append(or, expression.JoinAnd(left...))
	}
	return append(common, expression.JoinOr(or...))
}

// alternatives are the disjuncts of a condition.
func alternatives(e sql.Expression) []sql.Expression {
	if or, ok := e.(*expression.Or); ok {
		return append(alternatives(or.LeftChild), alternatives(or.RightChild)...)
	}
	return []sql.Expression{e}
}

// indexOf is where an expression is among others that look at the same columns; -1: it is not.
func indexOf(ctx *sql.Context, among []sql.Expression, e sql.Expression) int {
	text := sql.DebugString(ctx, e) // with the positions of columns
	for i, a := range among {
		if sql.DebugString(ctx, a) == text {
			return i
		}
	}
	return -1
}

// imply adds to each relation what an OR over several demands of it: (r.a = 1 AND s.b = 2) OR (r.a = 3 AND s.b = 4) demands r.a = 1 OR r.a = 3.
func (g *joinGroup) imply(ctx *sql.Context) {
	for _, c := range g.conditions {
		branches := alternatives(c.expr)
		if len(branches) < 2 || bits.OnesCount64(uint64(c.uses)) < 2 {
			continue
		}
		for i := range g.relations {
			of := relations(1) << i
			if !c.uses.has(of) {
				continue
			}
			var or []sql.Expression
			for _, b := range branches {
				var own []sql.Expression
				for _, e := range expression.SplitConjunction(ctx, b) {
					if g.usedBy(ctx, e) == of {
						own = append(own, e)
					}
				}
				if len(own) > 0 {
					or = append(or, expression.JoinAnd(own...))
				}
			}
			if len(or) == len(branches) {
				g.conditions = append(g.conditions, condition{expr: expression.JoinOr(or...), uses: of})
			}
		}
	}
}
