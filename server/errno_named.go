package server

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// namesInErrors are errors in which MySQL names a thing as the statement writes it, or with its database.
var namesInErrors = []struct {
	is   func(error) bool
	find *regexp.Regexp // the name in the error as sqlError words it
	name func(n names, name string) string
}{
	{sql.ErrFunctionNotFound.Is, regexp.MustCompile(`^FUNCTION (.*) does not exist$`), names.withDatabase},
	{sql.ErrTableFunctionNotFound.Is, regexp.MustCompile(`^FUNCTION (.*) does not exist$`), names.withDatabase},
	{sql.ErrStoredProcedureDoesNotExist.Is, regexp.MustCompile(`^PROCEDURE (.*) does not exist$`), names.procedure},
	{sql.ErrInvalidArgumentNumber.Is, regexp.MustCompile(`native function '(.*)'$`), names.function},
	{sql.ErrNonAggregatedColumnWithoutGroupBy.Is, nonaggregated, names.column},
	{analyzererrors.ErrValidationGroupBy.Is, nonaggregated, names.column},
	{analyzererrors.ErrValidationGroupByOrderBy.Is, nonaggregated, names.column},
}

var nonaggregated = regexp.MustCompile(`nonaggregated column '(.*?)'`)

// named is an error with the names as MySQL has them in this statement.
func named(database string, stmt sqlparser.Statement, err error) error {
	for _, e := range namesInErrors {
		if !e.is(err) {
			continue
		}
		worded := sqlError(err)
		at := e.find.FindStringSubmatchIndex(worded.Message)
		if at == nil {
			return err
		}
		worded.Message = worded.Message[:at[2]] + e.name(names{database, stmt}, worded.Message[at[2]:at[3]]) + worded.Message[at[3]:]
		return worded
	}
	return err
}

// names are those in a statement.
type names struct {
	database string // in use
	stmt     sqlparser.Statement
}

// function is a function's name in the letters of the statement, which GMS has in small ones.
func (n names) function(name string) string {
	if call := n.call(name); call != nil {
		return call.Name.String()
	}
	return name
}

// withDatabase is the name of a function that is not there: MySQL has looked for a stored one.
func (n names) withDatabase(name string) string {
	database := n.database
	if call := n.call(name); call != nil {
		if name = call.Name.String(); !call.Qualifier.IsEmpty() {
			database = call.Qualifier.String()
		}
	}
	return qualified(database, name)
}

func (n names) procedure(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return qualified(n.database, name)
}

func qualified(database, name string) string {
	if database == "" {
		return name
	}
	return database + "." + name
}

// call is the first call of a function.
func (n names) call(name string) (found *sqlparser.FuncExpr) {
	n.walk(func(node sqlparser.SQLNode) {
		if f, ok := node.(*sqlparser.FuncExpr); ok && found == nil && strings.EqualFold(f.Name.String(), name) {
			found = f
		}
	})
	return found
}

// column is a column of a table with the database: a derived table is in none.
func (n names) column(name string) string {
	table, _, ok := strings.Cut(name, ".")
	if !ok {
		return name
	}
	var expressions []string
	database, found := "", false
	n.walk(func(node sqlparser.SQLNode) {
		switch t := node.(type) {
		case *sqlparser.CommonTableExpr:
			expressions = append(expressions, t.As.String())
		case *sqlparser.AliasedTableExpr:
			of, ok := t.Expr.(sqlparser.TableName)
			alias := t.As
			if alias.IsEmpty() {
				alias = of.Name
			}
			if found || !ok || !strings.EqualFold(alias.String(), table) {
				return
			}
			if found, database = true, of.DbQualifier.String(); database == "" && !slices.Contains(expressions, of.Name.String()) {
				database = n.database
			}
		}
	})
	if !found {
		return name
	}
	return qualified(database, name)
}

func (n names) walk(visit func(sqlparser.SQLNode)) {
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) { // which fails never
		visit(node)
		return true, nil
	}, n.stmt)
}
