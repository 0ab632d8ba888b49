package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"lakesql/batch"
	"lakesql/vector"
)

// emptyTable stands for a table of which no row can be asked for, as where a join's condition is false. Left to the rows, it left the joins above it to them,
// which compare all rows with all.
type emptyTable struct{ fields []batch.Field }

// compileEmpty takes the types that columns have in a Delta table: there are no values of others.
func compileEmpty(ctx *sql.Context, in scope, n *plan.EmptyTable) (*pipeline, bool) {
	fields, err := fieldsOf(n.Schema(ctx), nil)
	if err != nil || len(fields) == 0 {
		return nil, false
	}
	p := sourcePipeline(ctx, in, emptyTable{fields})
	p.size = func() size { return size{columns: make([]vector.ColumnEstimate, len(fields))} }
	return p, true
}

func (e emptyTable) Columns() []batch.Field { return e.fields }

func (e emptyTable) Scan(*sql.Context, vector.Expr) (vector.Operator, error) {
	return vector.NewBatches(batch.NewSchema(e.fields...)), nil
}

func (e emptyTable) Describe() string { return "Empty" }
