package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/vitess/go/mysql"
)

// operandCollation is what an operand is compared by, and how strongly.
type operandCollation struct {
	with     sql.CollationID
	strength byte
}

// explicitly is the strength of COLLATE.
const explicitly = 0

// strengths are the words that MySQL's errors have.
var strengths = []string{"EXPLICIT", "NONE", "IMPLICIT", "SYSCONST", "COERCIBLE", "NUMERIC", "IGNORABLE"}

func (c operandCollation) String() string {
	return fmt.Sprintf("(%s,%s)", c.with.Name(), strengths[min(int(c.strength), len(strengths)-1)])
}

// comparing are the functions, beside those that carry a collation, that compare their texts.
var comparing = map[string]bool{"strcmp": true, "locate": true, "position": true, "instr": true, "find_in_set": true, "field": true}

// checkMix refuses operands to which two COLLATEs give two collations.
func checkMix(ctx *sql.Context, e sql.Expression) error {
	of := carriedFrom(e)
	operation := "case"
	switch e := e.(type) {
	case *expression.Case:
	case *expression.Like:
		operation, of = "like", e.Children()[:2]
	case sql.FunctionExpression:
		operation = strings.ToLower(e.FunctionName())
		if comparing[operation] {
			of = e.Children()
		}
	default:
		if !isComparison(e) {
			return nil
		}
		operation, of = comparisonName(e), e.Children()
		if list, ok := of[1].(expression.Tuple); ok && operation == "in" {
			of = append([]sql.Expression{of[0]}, list...)
		}
	}
	var first sql.CollationID
	found, differ := false, false
	for _, c := range of {
		if with, ok := explicit(ctx, c); ok {
			differ = differ || found && with != first
			first, found = with, true
		}
	}
	if !differ {
		return nil
	}
	all := make([]operandCollation, len(of))
	for i, c := range of {
		if with, ok := explicit(ctx, c); ok {
			all[i] = operandCollation{with, explicitly}
		} else {
			all[i].with, all[i].strength = sql.GetCoercibility(ctx, c)
		}
	}
	return mixOf(operation, all)
}

// comparisonName is how MySQL calls a comparison.
func comparisonName(e sql.Expression) string {
	switch e.(type) {
	case *expression.NullSafeEquals:
		return "<=>"
	case *expression.GreaterThan:
		return ">"
	case *expression.GreaterThanOrEqual:
		return ">="
	case *expression.LessThan:
		return "<"
	case *expression.LessThanOrEqual:
		return "<="
	case *expression.Between, *between:
		return "between"
	case *expression.InTuple:
		return "in"
	}
	return "="
}

// mixOf is MySQL's error for two, three and more operands.
func mixOf(operation string, all []operandCollation) error {
	switch len(all) {
	case 2:
		return mysql.NewSQLError(1267, mysql.SSUnknownSQLState, "Illegal mix of collations %s and %s for operation '%s'", all[0], all[1], operation)
	case 3:
		return mysql.NewSQLError(1270, mysql.SSUnknownSQLState, "Illegal mix of collations %s, %s, %s for operation '%s'", all[0], all[1], all[2], operation)
	}
	return mysql.NewSQLError(1271, mysql.SSUnknownSQLState, "Illegal mix of collations for operation '%s'", operation)
}
