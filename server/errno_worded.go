package server

import (
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/mysqltype"
)

// wordedErrors are errors that GMS makes of a text alone, by which they are found.
var wordedErrors = []struct {
	num     int
	pattern *regexp.Regexp
	text    string
}{
	{1054, regexp.MustCompile(`^column ordinal out of range: (\d+)$`), "Unknown column '$1' in 'group statement'"},
	{1210, regexp.MustCompile(`^incorrect arguments to: (.*)$`), "Incorrect arguments to $1"},
	{1210, regexp.MustCompile(`^bind variable not provided: `), "Incorrect arguments to EXECUTE"},
	{1327, regexp.MustCompile(`^Undeclared variable: (.*)$`), "Undeclared variable: $1"},
	{1191, regexp.MustCompile(`^cannot use MATCH \.\.\. AGAINST \.\.\. on a table that does not declare indexes$`), "Can't find FULLTEXT index matching the column list"},
	{3143, regexp.MustCompile(`Invalid JSON path expression\. Path must start with '\$'`), "Invalid JSON path expression. The error is around character position 1."},
	{3153, regexp.MustCompile(`^The path expression '\$' is not allowed in this context\.$`), "$0"},
	{3154, regexp.MustCompile(`^The oneOrAll argument to .* may take these values: 'one' or 'all'$`), "$0."},
	{3158, regexp.MustCompile(`^JSON documents may not contain NULL member names\.?$`), "JSON documents may not contain NULL member names."},
	{1353, regexp.MustCompile(`^tuple should contain \d+ column\(s\), but has \d+$`),
		"In definition of view, derived table or common table expression, SELECT list and column names list have different column counts"},
	{1426, regexp.MustCompile(`^Too-big precision (\d+) for '(.*)'\. Maximum is (\d+)\.$`), "Too-big precision $1 specified for '$2'. Maximum is $3."},
}

// wordedError knows an error by its text; nil for other errors.
func wordedError(err error) *mysql.SQLError {
	message := err.Error()
	for _, w := range wordedErrors {
		if words := w.pattern.FindStringSubmatchIndex(message); words != nil {
			return withState(mysql.NewSQLError(w.num, "", "%s", w.pattern.ExpandString(nil, w.text, message, words)))
		}
	}
	return nil
}

var notJSON = regexp.MustCompile(`(?s)^(Invalid JSON text in argument \d+ to function \w+: )"(.*)"$`)

// notJSONText says what is wrong with a text that is no JSON, of which GMS has the text.
func notJSONText(err error) *mysql.SQLError {
	m := notJSON.FindStringSubmatch(err.Error())
	if m == nil || !sql.ErrInvalidJSONText.Is(err) {
		return nil
	}
	fault := mysqltype.JSONFault(m[2])
	if fault == "" { // the words are no text
		return nil
	}
	return withState(mysql.NewSQLError(3141, "", "%s%s.", m[1], fault))
}

var notInSet = regexp.MustCompile(`^value (.*) was not found in the set$`)

// inSet rewords what SET fails with: it names the variable.
func inSet(s *sqlparser.Set, err error) error {
	if m := unknownName.FindStringSubmatch(err.Error()); m != nil && sql.ErrColumnNotFound.Is(err) {
		return mysql.NewSQLError(mysql.ERUnknownSystemVariable, "HY000", "Unknown system variable '%s'", m[1])
	}
	if m := notInSet.FindStringSubmatch(firstLine(err.Error())); m != nil && len(s.Exprs) == 1 {
		return mysql.NewSQLError(1231, "42000", "Variable '%s' can't be set to the value of '%s'", s.Exprs[0].Name.Name, m[1])
	}
	return err
}

var missingTable = regexp.MustCompile(`^table not found: ([^.,]+)(?:, maybe you mean .*)?$`)

// unknownQualifier is the error of a column, or of a *, of a table that the statement does not read: GMS says of it what it says of a table that is not there.
func unknownQualifier(stmt sqlparser.Statement, err error) error {
	m := missingTable.FindStringSubmatch(firstLine(err.Error()))
	if m == nil || !sql.ErrTableNotFound.Is(err) {
		return err
	}
	read, star := false, false
	walk := func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.AliasedTableExpr:
			t, ok := n.Expr.(sqlparser.TableName)
			read = read || ok && strings.EqualFold(t.Name.String(), m[1])
		case *sqlparser.StarExpr:
			star = star || strings.EqualFold(n.TableName.Name.String(), m[1])
		}
		return true, nil
	}
	if sqlparser.Walk(walk, stmt) != nil || read {
		return err
	}
	if star {
		return mysql.NewSQLError(1051, "42S02", "Unknown table '%s'", m[1])
	}
	look := clauses{of: m[1]}
	if look.in(stmt, "field list"); look.found == nil {
		return err
	}
	return unknownColumnIn(look.found, look.clause)
}
