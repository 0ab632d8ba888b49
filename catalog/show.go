package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// authShowView is what SHOW CREATE VIEW wants, for which GMS asks nobody: SELECT and SHOW VIEW.
const authShowView = "SHOW VIEW"

// authShowCreate is what SHOW CREATE TABLE wants: of a view what SHOW CREATE VIEW does. GMS looks whether the user sees the table.
const authShowCreate = "SHOW CREATE"

// adaptShow says what a SHOW of GMS's wants.
func adaptShow(s *ast.Show) error {
	switch strings.ToLower(s.Type) {
	case "processlist":
		s.Auth = checkedByItself // the server lists what the user may see
	case "triggers", "events":
		if s.ShowTablesOpt != nil && s.ShowTablesOpt.DbName != "" {
			s.Table.DbQualifier = ast.NewTableIdent(s.ShowTablesOpt.DbName) // GMS looks into the current database
			s.Auth = needsDatabase(authSeen, s.ShowTablesOpt.DbName)
		}
	case ast.CreateTableStr:
		s.Auth.AuthType, s.Auth.TargetNames = authShowCreate, []string{s.Table.DbQualifier.String(), s.Table.Name.String()}
	case ast.CreateViewStr:
		database, name := s.Table.DbQualifier.String(), s.Table.Name.String()
		if builtInDatabase(database) {
			return mysql.NewSQLError(1347, mysql.SSUnknownSQLState, "'%s.%s' is not VIEW", database, name)
		}
		s.Auth = ast.AuthInformation{AuthType: authShowView, TargetType: ast.AuthTargetType_SingleTableIdentifier, TargetNames: []string{database, name}}
	}
	return nil
}

// authShowGrants is what SHOW GRANTS of an account wants: to be it, or SELECT on mysql.
const authShowGrants = "SHOW GRANTS"

// authSeen is what SHOW TRIGGERS and SHOW EVENTS of a database want: that there is one, and that the user may see it.
const authSeen = "SEEN"

func grantsOf(s *ast.ShowGrants) ast.AuthInformation {
	if s.For == nil {
		return checkedByItself // everybody sees his own
	}
	host := s.For.Host
	if s.For.AnyHost || host == "" {
		host = "%"
	}
	return ast.AuthInformation{AuthType: authShowGrants, TargetType: ast.AuthTargetType_DatabaseIdentifiers, TargetNames: []string{"mysql", s.For.Name, host}}
}

// flushStatement is FLUSH of what is kept in memory by MySQL: here nothing that another process has changed is read from memory, so there is nothing to
// be done. What would lock tables is refused.
func flushStatement(s *ast.Flush, text string) (ast.Statement, error) {
	if s.Option.ReadLock {
		return nil, refuse(KindUnsupported, "FLUSH TABLES WITH READ LOCK is not supported: nothing locks tables. START TRANSACTION sees each table at one version, whatever others write")
	}
	a := action{name: "FLUSH", run: func(*sql.Context) ([]sql.Row, error) { return nil, nil }}
	return ast.InjectedStatement{
		Statement: &statement{action: a, text: text}, Auth: ast.AuthInformation{AuthType: ast.AuthType_RELOAD, TargetType: ast.AuthTargetType_Global},
	}, nil
}
