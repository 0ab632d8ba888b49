package compile

import (
	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/vector"
)

// Source is a table, or a node of the plan, that reads batches.
type Source interface {
	// Columns are those of the batches, in the order of the rows' schema.
	Columns() []batch.Field
	// Scan reads them. filter is over batches of Columns, or nil; a source may leave out rows for which it is not true.
	Scan(ctx *sql.Context, filter vector.Expr) (vector.Operator, error)
	// Describe is the source's line in EXPLAIN.
	Describe() string
}

// Repeatable is a Source that has the same rows whenever it is scanned in a statement.
type Repeatable interface {
	Source
	// Rows is what says which rows it has, whatever columns of them.
	Rows() string
}
