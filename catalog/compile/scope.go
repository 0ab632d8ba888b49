package compile

import (
	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/vector"
)

// scope is where in a statement a node stands. The rows that GMS evaluates an expression over begin with the columns of the outer queries.
type scope struct {
	outer   int // columns of the outer queries
	lateral int // columns of what stands to the left in joins that the node is a part of; they follow the outer ones in the conditions of joins
	budget  *vector.Budget
}

// MemoryVariable is the system variable for the bytes that a statement of the session may hold in memory; 0: as many as the server gives to each.
const MemoryVariable = "lakesql_query_memory"

// Rationed is a session whose statements may hold so much memory and no more.
type Rationed interface {
	StatementBudget(ctx *sql.Context) *vector.Budget
}

// statementScope is the scope of a node of no subquery.
func statementScope(ctx *sql.Context) scope {
	if s, ok := ctx.Session.(Rationed); ok {
		return scope{budget: s.StatementBudget(ctx)}
	}
	return scope{}
}

// besides is the scope of a node of no subquery that GMS builds for a row of what stands to its left in joins, if any.
func besides(ctx *sql.Context, row sql.Row) scope {
	in := statementScope(ctx)
	in.lateral = len(row)
	return in
}

// compile compiles a node of no subquery as a whole; false when anything in it does not compile, or nothing shall.
func compile(ctx *sql.Context, n sql.Node) (*pipeline, bool) {
	return compileNode(ctx, statementScope(ctx), n)
}
