package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// equated is an equality that is made while a plan compiles. It runs on batches or not at all: as what GMS is to compare two values, the analyzer's rules have
// told those alone that stand in the plan.
type equated struct{ *expression.Equals }

var _ sql.Expression = equated{}

func newEquated(l, r sql.Expression) sql.Expression { return equated{expression.NewEquals(l, r)} }

// WithChildren is of other operands.
func (e equated) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 2)
	}
	return newEquated(children[0], children[1]), nil
}
