package server

import (
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// missingColumn is how GMS words that a column is not there.
var missingColumn = regexp.MustCompile(`^(?:column "(?:.*\.)?(.*)" could not be found in any table in scope|table ".*" does not have column "(.*)")$`)

// unknownColumn says of a column that is not there in which clause it stands, in MySQL's words: where it stands first, if in several.
func unknownColumn(stmt sqlparser.Statement, err error) error {
	m := missingColumn.FindStringSubmatch(firstLine(err.Error()))
	if m == nil || !sql.ErrColumnNotFound.Is(err) && !sql.ErrTableColumnNotFound.Is(err) {
		return err
	}
	name := m[1] + m[2]
	if name != "" && strings.Trim(name, "0123456789") == "" { // the number of a column, which stands nowhere else
		return mysql.NewSQLError(mysql.ERBadFieldError, "42S22", "Unknown column '%s' in 'order clause'", name)
	}
	look := clauses{name: name}
	look.in(stmt, "field list")
	if look.found == nil {
		return err
	}
	return unknownColumnIn(look.found, look.clause)
}

// ambiguousName is how GMS words that several tables have a column.
var ambiguousName = regexp.MustCompile(`^ambiguous column (?:or alias )?name "(.*?)"(?:, it's present in all these tables: .*)?$`)

// ambiguousColumn says in which clause a column stands that several tables have, in MySQL's words.
func ambiguousColumn(stmt sqlparser.Statement, err error) error {
	m := ambiguousName.FindStringSubmatch(firstLine(err.Error()))
	if m == nil || !sql.ErrAmbiguousColumnName.Is(err) && !sql.ErrAmbiguousColumnOrAliasName.Is(err) {
		return err
	}
	look := clauses{name: m[1], bare: true}
	look.in(stmt, "field list")
	if look.found == nil {
		return err
	}
	return mysql.NewSQLError(mysql.ERNonUniq, "23000", "Column '%s' in %s is ambiguous", look.found.Name, look.clause)
}

func unknownColumnIn(c *sqlparser.ColName, clause string) *mysql.SQLError {
	name := c.Name.String()
	for _, q := range []string{c.Qualifier.Name.String(), c.Qualifier.DbQualifier.String()} {
		if q != "" {
			name = q + "." + name
		}
	}
	return mysql.NewSQLError(mysql.ERBadFieldError, "42S22", "Unknown column '%s' in '%s'", name, clause)
}

// clauses looks for a column in the clauses of a statement, in the order in which MySQL resolves them.
type clauses struct {
	name   string
	of     string // the table; "": any
	bare   bool   // no table stands before it
	found  *sqlparser.ColName
	clause string // where that is
}

// in looks into a part of the statement that is, or belongs to, a clause.
func (l *clauses) in(node sqlparser.SQLNode, clause string) {
	visit := func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Select:
			l.ofSelect(n)
			return false, nil
		case *sqlparser.SetOp:
			l.in(n.Left, "field list")
			l.in(n.Right, "field list")
			l.in(n.OrderBy, "order clause")
			return false, nil
		case *sqlparser.Where:
			if n != nil && clause != n.Type+" clause" { // of UPDATE and DELETE
				l.in(n, n.Type+" clause")
				return false, nil
			}
		case sqlparser.OrderBy:
			if clause == "field list" {
				l.in(n, "order clause")
				return false, nil
			}
		case *sqlparser.ColName:
			if l.found == nil && (l.name == "" || strings.EqualFold(n.Name.String(), l.name)) && (l.of == "" || strings.EqualFold(n.Qualifier.Name.String(), l.of)) &&
				!(l.bare && !n.Qualifier.IsEmpty()) {
				l.found, l.clause = n, clause
			}
		}
		return l.found == nil, nil
	}
	_ = sqlparser.Walk(visit, node) // visit fails never
}

func (l *clauses) ofSelect(s *sqlparser.Select) {
	if s.With != nil {
		l.in(s.With, "field list")
	}
	l.in(s.From, "on clause")
	l.in(s.SelectExprs, "field list")
	if s.Where != nil {
		l.in(s.Where, "where clause")
	}
	l.in(s.GroupBy, "group statement")
	if s.Having != nil {
		l.in(s.Having, "having clause")
	}
	l.in(s.OrderBy, "order clause")
}
