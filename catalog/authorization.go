package catalog

import (
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// authorization is GMS's check of privileges in MySQL's words, without two rules of GMS: that who may UPDATE the database mysql may grant
// everything, where here nobody updates that database, and that a privilege on the current database is one on the whole server.
type authorization struct {
	sql.AuthorizationHandler
	catalog sql.Catalog
}

type authorizationFactory struct {
	inner sql.AuthorizationHandlerFactory
}

// CreateHandler makes the check of one catalog.
func (f authorizationFactory) CreateHandler(c sql.Catalog) sql.AuthorizationHandler {
	return authorization{f.inner.CreateHandler(c), c}
}

// installAuthorization makes the check that of all catalogs, once: GMS keeps the factory in a global.
var installAuthorization = sync.OnceFunc(func() {
	sql.SetAuthorizationHandlerFactory(authorizationFactory{sql.GetAuthorizationHandlerFactory()})
})

// HandleAuth refuses what the user may not do.
func (a authorization) HandleAuth(ctx *sql.Context, state sql.AuthorizationQueryState, auth ast.AuthInformation) error {
	switch auth.AuthType {
	case authShowView:
		return a.handleShowView(ctx, state, auth)
	case authShowCreate:
		if !a.isView(ctx, auth.TargetNames[0], auth.TargetNames[1]) {
			return nil
		}
		return a.handleShowView(ctx, state, auth)
	case authSeen:
		_, err := a.catalog.Database(ctx, auth.TargetNames[0])
		if sql.ErrDatabaseAccessDeniedForUser.Is(err) {
			return deniedDatabase(ctx, auth.TargetNames[0])
		}
		return err
	case authShowGrants:
		if user, host := account(ctx); user == auth.TargetNames[1] && host == auth.TargetNames[2] {
			return nil
		}
		auth.AuthType, auth.TargetNames = ast.AuthType_SELECT, auth.TargetNames[:1]
	}
	on := ctx
	if ofServer(auth) {
		on = onServer(ctx)
	}
	err := a.AuthorizationHandler.HandleAuth(on, state, auth)
	if err == nil {
		return grantedByOption(ctx, auth)
	}
	if view, ok := auth.Extra.(viewName); ok {
		return sql.ErrInvalidRefInView.New(view.database, view.name) // which does not say what the view reads
	}
	if sql.ErrPrivilegeCheckFailed.Is(err) || sql.ErrTableAccessDeniedForUser.Is(err) || sql.ErrDatabaseAccessDeniedForUser.Is(err) {
		return denied(ctx, auth)
	}
	return err
}

// isView says whether there is a view that the user sees.
func (a authorization) isView(ctx *sql.Context, database, name string) bool {
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	db, err := a.catalog.Database(ctx, database)
	views, ok := db.(sql.ViewDatabase)
	if err != nil || !ok {
		return false // GMS says why, of a table
	}
	_, found, err := views.GetViewDefinition(ctx, name)
	return err == nil && found
}

// handleShowView refuses SHOW CREATE VIEW to who lacks SELECT or SHOW VIEW on the view.
func (a authorization) handleShowView(ctx *sql.Context, state sql.AuthorizationQueryState, auth ast.AuthInformation) error {
	bySelect := auth
	bySelect.AuthType, bySelect.TargetType = ast.AuthType_SELECT, ast.AuthTargetType_SingleTableIdentifier
	if err := a.HandleAuth(ctx, state, bySelect); err != nil || internal(ctx) {
		return err
	}
	database, name := auth.TargetNames[0], auth.TargetNames[1]
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	db, _ := a.catalog.Database(ctx, "mysql") // there is none where nobody is asked for privileges
	if users, ok := db.(*mysql_db.MySQLDb); ok && users.Enabled() &&
		!(privileges{users}).UserHasPrivileges(ctx, sql.NewPrivilegedOperation(sql.PrivilegeCheckSubject{Database: database, Table: name}, sql.PrivilegeType_ShowView)) {
		return deniedTable(ctx, authShowView, name)
	}
	return nil
}

// ofServer says whether a statement wants a privilege on the whole server.
func ofServer(auth ast.AuthInformation) bool {
	switch auth.AuthType {
	case ast.AuthType_ALTER_USER, ast.AuthType_BINLOG, ast.AuthType_CREATE_ROLE, ast.AuthType_DROP_ROLE, ast.AuthType_REPLICATION:
		return true
	}
	return auth.TargetType == ast.AuthTargetType_Global
}

// onServer is the statement's context as one without a current database, which is where GMS looks for privileges on the whole server.
func onServer(ctx *sql.Context) *sql.Context {
	return sql.NewContext(ctx, sql.WithSession(nowhere{ctx.Session}))
}

// nowhere is a session without a current database.
type nowhere struct{ sql.Session }

// GetCurrentDatabase names none.
func (nowhere) GetCurrentDatabase() string { return "" }

// grantedByOption refuses GRANT and REVOKE to who lacks GRANT OPTION, or what is granted; of a role WITH ADMIN OPTION, and SUPER.
func grantedByOption(ctx *sql.Context, auth ast.AuthInformation) error {
	var db sql.Database
	switch n := auth.Extra.(type) {
	case *plan.Grant:
		db = n.MySQLDb
	case *plan.Revoke:
		db = n.MySQLDb
	case *plan.GrantRole:
		db = n.MySQLDb
	case *plan.RevokeRole:
		db = n.MySQLDb
	default:
		return nil
	}
	users, ok := db.(*mysql_db.MySQLDb)
	if ok && users.Enabled() && !auth.Extra.(sql.AuthorizationCheckerNode).CheckAuth(ctx, privileges{users}) {
		return denied(ctx, auth)
	}
	return nil
}

// privileges answers for a user who may not write the tables of grants. What names no database, table or routine is the whole server.
type privileges struct{ *mysql_db.MySQLDb }

// UserHasPrivileges says whether the user holds the privileges.
func (p privileges) UserHasPrivileges(ctx *sql.Context, operations ...sql.PrivilegedOperation) bool {
	for _, o := range operations {
		if strings.EqualFold(o.Database, "mysql") && o.Table == "" && len(o.StaticPrivileges) == 1 && o.StaticPrivileges[0] == sql.PrivilegeType_Update {
			return false
		}
		on := ctx
		if o.Database == "" && o.Table == "" && o.Routine == "" {
			on = onServer(ctx)
		}
		if !p.MySQLDb.UserHasPrivileges(on, o) {
			return false
		}
	}
	return true
}

// denied words a refusal as MySQL does: 1044 for a database, 1142 for a table, 1227 for the whole server.
func denied(ctx *sql.Context, auth ast.AuthInformation) error {
	command := strings.ReplaceAll(auth.AuthType, "_", " ")
	switch auth.TargetType {
	case ast.AuthTargetType_SingleTableIdentifier, ast.AuthTargetType_MultipleTableIdentifiers, ast.AuthTargetType_TableColumn:
		return deniedTable(ctx, command, auth.TargetNames[1])
	case ast.AuthTargetType_DatabaseIdentifiers:
		return deniedDatabase(ctx, auth.TargetNames[0])
	}
	switch auth.AuthType {
	case ast.AuthType_RENAME:
		return deniedTable(ctx, "ALTER, DROP, CREATE or INSERT", auth.TargetNames[1])
	case ast.AuthType_GRANT_PRIVILEGE, ast.AuthType_REVOKE_PRIVILEGE, ast.AuthType_REVOKE_ALL:
		return needsPrivilege("GRANT OPTION, and each privilege that is named,")
	case ast.AuthType_GRANT_ROLE, ast.AuthType_REVOKE_ROLE:
		return needsPrivilege("WITH ADMIN OPTION, SUPER")
	case ast.AuthType_CREATE_ROLE, ast.AuthType_DROP_ROLE:
		return needsPrivilege(command + ", CREATE USER")
	case ast.AuthType_VISIBLE:
		if len(auth.TargetNames) > 0 {
			return deniedDatabase(ctx, auth.TargetNames[0])
		}
	}
	return needsPrivilege(command)
}

func account(ctx *sql.Context) (user, host string) {
	client := ctx.Session.Client()
	return client.User, client.Address
}

func deniedTable(ctx *sql.Context, command, table string) error {
	user, host := account(ctx)
	return mysql.NewSQLError(1142, mysql.SSClientError, "%s command denied to user '%s'@'%s' for table '%s'", command, user, host, table)
}

func deniedDatabase(ctx *sql.Context, database string) error {
	user, host := account(ctx)
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	return mysql.NewSQLError(1044, mysql.SSClientError, "Access denied for user '%s'@'%s' to database '%s'", user, host, database)
}

// needsPrivilege is MySQL's ER_SPECIFIC_ACCESS_DENIED_ERROR.
func needsPrivilege(privileges string) error {
	return mysql.NewSQLError(1227, mysql.SSClientError, "Access denied; you need (at least one of) the %s privilege(s) for this operation", privileges)
}

// internal says that no connection asks: the lake's own work has no user. Nobody can log in without a name.
func internal(ctx *sql.Context) bool { return ctx.Session.Client().User == "" }

// holds says whether the user has privileges on the whole server, a database or a table.
func (c *Catalog) holds(ctx *sql.Context, on sql.PrivilegeCheckSubject, wanted ...sql.PrivilegeType) bool {
	return internal(ctx) || privileges{c.engine.Analyzer.Catalog.MySQLDb}.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(on, wanted...))
}

// HoldsOnServer says whether the user has a privilege on the whole server.
func HoldsOnServer(ctx *sql.Context, users *mysql_db.MySQLDb, wanted sql.PrivilegeType) bool {
	return privileges{users}.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(sql.PrivilegeCheckSubject{}, wanted))
}

// checkGlobals refuses SET GLOBAL and SET PERSIST to who lacks SUPER, for which GMS asks nobody. As a rule it sees prepared statements too.
func checkGlobals(
	ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	set, ok := n.(*plan.Set)
	if !ok || internal(ctx) {
		return n, transform.SameTree, nil
	}
	for _, e := range set.Exprs {
		field, ok := e.(*expression.SetField)
		if !ok {
			continue
		}
		if v, ok := field.LeftChild.(*expression.SystemVar); ok && !v.Scope.IsSessionOnly() && !HoldsOnServer(ctx, a.Catalog.MySQLDb, sql.PrivilegeType_Super) {
			return nil, transform.SameTree, needsPrivilege("SUPER")
		}
	}
	return n, transform.SameTree, nil
}

// mayDo refuses what the user may not do, before a look-up whose error would tell him what there is.
func (c *Catalog) mayDo(ctx *sql.Context, wanted ...ast.AuthInformation) error {
	handler := c.engine.Analyzer.Catalog.AuthorizationHandler()
	state := handler.NewQueryState(ctx)
	for _, auth := range wanted {
		if err := handler.HandleAuth(ctx, state, auth); err != nil {
			return err
		}
	}
	return nil
}

// checkFile refuses a statement that names a path to who lacks FILE. What the server may read at all is the fence's matter.
func (c *Catalog) checkFile(ctx *sql.Context) error {
	if !c.holds(ctx, sql.PrivilegeCheckSubject{}, sql.PrivilegeType_File) {
		return needsPrivilege("FILE")
	}
	return nil
}

// allowedPath resolves a path that a statement names: the user must hold FILE, and the fence allow it.
func (c *Catalog) allowedPath(ctx *sql.Context, path string) (string, error) {
	if err := c.checkFile(ctx); err != nil {
		return "", err
	}
	return c.cfg.Fence.Resolve(path)
}

// allowedPaths is allowedPath for what asks for one path after the other.
func (c *Catalog) allowedPaths(ctx *sql.Context) func(string) (string, error) {
	return func(path string) (string, error) { return c.allowedPath(ctx, path) }
}

// tablePrivileges are the privileges on a table by the word for them in 1142.
var tablePrivileges = map[string]sql.PrivilegeType{
	ast.AuthType_SELECT: sql.PrivilegeType_Select, ast.AuthType_INSERT: sql.PrivilegeType_Insert, ast.AuthType_CREATE: sql.PrivilegeType_Create,
	ast.AuthType_DROP: sql.PrivilegeType_Drop,
}

// checkTable refuses who lacks a privilege on a table, and for a table by path also who lacks FILE.
func (c *Catalog) checkTable(ctx *sql.Context, privilege string, name sqlext.Name) error {
	database := name.Database
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	if !c.holds(ctx, sql.PrivilegeCheckSubject{Database: database, Table: name.Name}, tablePrivileges[privilege]) {
		return deniedTable(ctx, privilege, name.Name)
	}
	if strings.EqualFold(database, pathDatabaseName) {
		return c.checkFile(ctx)
	}
	return nil
}
