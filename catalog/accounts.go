package catalog

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/compile"
	"lakesql/sqlext"
)

// MySQL's limits of an account's name, in bytes.
const (
	maxUserName = 32
	maxHostName = 255
)

// errNoUsers says why there are no statements about accounts.
var errNoUsers = refuse(KindUnsupported, "this server keeps no accounts: its data folder was not opened")

// accountEditor changes the accounts for a user.
type accountEditor struct {
	*mysql_db.Editor
	begin             func()                  // is called before the first change
	user              mysql_db.UserPrimaryKey // who asks
	super, createUser bool                    // what he holds
}

// accountCommand is the action of a statement about accounts. It has an editor of the accounts; what it leaves there is kept when it succeeds.
func (c *Catalog) accountCommand(name string, run func(ctx *sql.Context, ed accountEditor) error) action {
	return command(name, func(ctx *sql.Context) error {
		if c.users == nil {
			return errNoUsers
		}
		return c.users.change(func(begin func()) error {
			user, host := account(ctx)
			ed := accountEditor{
				begin: begin, user: mysql_db.UserPrimaryKey{User: user, Host: host},
				super:      c.holds(ctx, sql.PrivilegeCheckSubject{}, sql.PrivilegeType_Super),
				createUser: c.holds(ctx, sql.PrivilegeCheckSubject{}, sql.PrivilegeType_CreateUser),
			}
			ed.Editor = c.users.db.Editor() // from here on GMS's accounts are locked: no privilege can be looked up
			defer ed.Close()
			if err := run(ctx, ed); err != nil {
				return err
			}
			return c.users.db.Persist(ctx, ed.Editor)
		})
	})
}

func (c *Catalog) changeUsers(s *sqlext.ChangeUsers) action {
	name := "ALTER USER"
	if s.Create {
		name = "CREATE USER"
	}
	return c.accountCommand(name, func(ctx *sql.Context, ed accountEditor) error {
		var failed []string
		for _, l := range s.Logins {
			key, err := accountKey(ctx, l.Account)
			if err != nil {
				return err
			}
			if err := ed.mayChange(key, s.Create || l.Plugin != "" || s.TLS != sqlext.TLSUnsaid || s.Lock != sqlext.LockUnsaid); err != nil {
				return err
			}
			old, there := ed.GetUser(key)
			if there == s.Create {
				if s.IfThere {
					ctx.Warn(noteAccount, "Authorization ID %s already exists or is unknown.", quoteAccount(key))
				} else {
					failed = append(failed, quoteAccount(key))
				}
				continue
			}
			u := &mysql_db.User{User: key.User, Host: key.Host, Plugin: string(mysql.CachingSha2Password), PrivilegeSet: mysql_db.NewPrivilegeSet()}
			if there {
				u = mysql_db.UserCopy(old)
			}
			if err := c.setLogin(ctx, u, l, s); err != nil {
				return err
			}
			ed.begin()
			ed.RemoveUser(key)
			ed.PutUser(u)
		}
		if len(failed) > 0 {
			kind := sql.ErrUserAlterFailure
			if s.Create {
				kind = sql.ErrUserCreationFailure
			}
			return kind.New(strings.Join(failed, ","))
		}
		return nil
	})
}

// noteAccount is MySQL's ER_USER_ALREADY_EXISTS, which it notes for IF [NOT] EXISTS.
const noteAccount = 3163

// setLogin gives an account what the statement says.
func (c *Catalog) setLogin(ctx *sql.Context, u *mysql_db.User, l sqlext.Login, s *sqlext.ChangeUsers) error {
	if l.Plugin != "" {
		if err := c.checkPlugin(l.Plugin); err != nil {
			return err
		}
		u.Plugin, u.AuthString = l.Plugin, ""
	}
	switch {
	case l.Password != nil:
		var err error
		if u.AuthString, err = hashPassword(u.Plugin, l.Password.Text); err != nil {
			return err
		}
		u.PasswordLastChanged = time.Now().UTC()
	case l.Hash != nil:
		if err := checkHash(u.Plugin, l.Hash.Text); err != nil {
			return err
		}
		u.AuthString, u.PasswordLastChanged = l.Hash.Text, time.Now().UTC()
	}
	if u.AuthString == "" {
		ctx.Warn(warningNoPassword, "%s has no password, and so gets in from this machine only", quoteAccount(mysql_db.UserPrimaryKey{User: u.User, Host: u.Host}))
	}
	switch s.TLS {
	case sqlext.TLSNone:
		u.SslType = ""
	case sqlext.TLSAny:
		u.SslType = "ANY"
	case sqlext.TLSX509:
		u.SslType = "X509"
	}
	if s.Lock != sqlext.LockUnsaid {
		u.Locked = s.Lock == sqlext.Lock
	}
	return nil
}

// warningNoPassword is MySQL's ER_UNKNOWN_ERROR: the text says what is meant.
const warningNoPassword = 1105

func (c *Catalog) checkPlugin(plugin string) error {
	switch mysql.AuthMethodDescription(plugin) {
	case mysql.CachingSha2Password:
		return nil
	case mysql.MysqlNativePassword:
		if c.cfg.NativePassword {
			return nil
		}
	}
	return mysql.NewSQLError(1524, mysql.SSUnknownSQLState, "Plugin '%s' is not loaded", plugin)
}

func hashPassword(plugin, password string) (string, error) {
	if plugin == string(mysql.MysqlNativePassword) {
		return plan.AuthenticationMysqlNativePassword(password).AuthString()
	}
	return plan.NewCachingSha2PasswordAuthentication(password).AuthString()
}

// checkHash refuses a text that no password leads to.
func checkHash(plugin, hash string) error {
	var err error
	if plugin == string(mysql.MysqlNativePassword) {
		if len(hash) != 41 || hash[0] != '*' {
			err = fmt.Errorf("%d bytes", len(hash))
		} else {
			_, err = mysql.DecodeMysqlNativePasswordHex(hash)
		}
	} else {
		_, _, _, _, err = mysql.DeserializeCachingSha2PasswordAuthString([]byte(hash))
	}
	if err != nil {
		return mysql.NewSQLError(1827, mysql.SSUnknownSQLState, "The password hash doesn't have the expected format.")
	}
	return nil
}

// mayChange says who may change an account: who has CREATE USER, everybody his own password, and an account with SUPER only another such.
// more says that it is not only the password.
func (ed accountEditor) mayChange(key mysql_db.UserPrimaryKey, more bool) error {
	if key == ed.user && !more {
		return nil
	}
	if !ed.createUser {
		return needsPrivilege("CREATE USER")
	}
	if u, there := ed.GetUser(key); there && isSuper(ed, u) && !ed.super {
		return needsPrivilege("SUPER")
	}
	return nil
}

// accountReader is what both a reader and an editor of the accounts can be asked.
type accountReader interface {
	GetUser(mysql_db.UserPrimaryKey) (*mysql_db.User, bool)
	GetToUserRoleEdges(mysql_db.RoleEdgesToKey) []*mysql_db.RoleEdge
}

// isSuper says whether an account holds SUPER, by itself or by one of its roles.
func isSuper(rd accountReader, u *mysql_db.User) bool {
	if u.PrivilegeSet.Has(sql.PrivilegeType_Super) {
		return true
	}
	for _, e := range rd.GetToUserRoleEdges(mysql_db.RoleEdgesToKey{ToHost: u.Host, ToUser: u.User}) {
		if role, there := rd.GetUser(mysql_db.UserPrimaryKey{User: e.FromUser, Host: e.FromHost}); there && role.PrivilegeSet.Has(sql.PrivilegeType_Super) {
			return true
		}
	}
	return false
}

// accountKey finds the account that a statement names.
func accountKey(ctx *sql.Context, a sqlext.Account) (mysql_db.UserPrimaryKey, error) {
	if a.Current {
		user, host := account(ctx)
		return mysql_db.UserPrimaryKey{User: user, Host: host}, nil
	}
	key := mysql_db.UserPrimaryKey{User: a.User, Host: hostOf(a.Host)}
	switch {
	case a.User == "":
		return key, refuse(KindUnsupported, "accounts without a name are not supported: who logs in says who he is")
	case len(a.User) > maxUserName:
		return key, mysql.NewSQLError(1470, mysql.SSUnknownSQLState, "String '%s' is too long for user name (should be no longer than %d)", a.User, maxUserName)
	case len(a.Host) > maxHostName:
		return key, mysql.NewSQLError(1470, mysql.SSUnknownSQLState, "String '%s' is too long for host name (should be no longer than %d)", a.Host, maxHostName)
	case !isHost(key.Host):
		return key, refuse(KindUnsupported, "host '%s': names are not looked up, so nobody would get in from there; give localhost, an address, one with %% such as '10.0.%%', or a network such as '10.0.0.0/8'", a.Host)
	}
	return key, nil
}

// hostOf is a host as accounts have it, whichever way it is written: in small letters, localhost for a loopback address, another address as a
// client's is written.
func hostOf(host string) string {
	host = strings.ToLower(host)
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return host
	case ip.Unmap().IsLoopback():
		return rootHost
	}
	return ip.Unmap().String()
}

// isHost says whether a connection's address can match.
func isHost(host string) bool {
	if _, err := netip.ParseAddr(host); host == rootHost || err == nil || strings.Contains(host, "%") && strings.Trim(host, "%_.:0123456789abcdef") == "" {
		return true
	}
	_, err := netip.ParsePrefix(host)
	return err == nil
}

func quoteAccount(key mysql_db.UserPrimaryKey) string {
	return mysql_db.User{User: key.User, Host: key.Host}.UserHostToString("'")
}

func (c *Catalog) dropUsers(s *sqlext.DropUsers) action {
	return c.accountCommand("DROP USER", func(ctx *sql.Context, ed accountEditor) error {
		var failed []string
		for _, a := range s.Accounts {
			key, err := accountKey(ctx, a)
			if err != nil {
				return err
			}
			if err := ed.mayChange(key, true); err != nil {
				return err
			}
			if _, there := ed.GetUser(key); !there {
				if s.IfExists {
					ctx.Warn(noteAccountGone, "Authorization ID %s does not exist.", quoteAccount(key))
				} else {
					failed = append(failed, quoteAccount(key))
				}
				continue
			}
			ed.begin()
			ed.RemoveUser(key)
			moveRoles(ed.Editor, key, nil)
		}
		if len(failed) > 0 {
			return sql.ErrUserDeletionFailure.New(strings.Join(failed, ","))
		}
		return nil
	})
}

// noteAccountGone is MySQL's ER_USER_DOES_NOT_EXIST, which it notes for IF EXISTS.
const noteAccountGone = 3162

func (c *Catalog) renameUsers(s *sqlext.RenameUsers) action {
	return c.accountCommand("RENAME USER", func(ctx *sql.Context, ed accountEditor) error {
		for _, pair := range s.Pairs {
			from, err := accountKey(ctx, pair[0])
			if err != nil {
				return err
			}
			to, err := accountKey(ctx, pair[1])
			if err != nil {
				return err
			}
			if err := ed.mayChange(from, true); err != nil {
				return err
			}
			old, there := ed.GetUser(from)
			if _, taken := ed.GetUser(to); !there || taken {
				return mysql.NewSQLError(1396, mysql.SSUnknownSQLState, "Operation RENAME USER failed for %s", quoteAccount(from))
			}
			u := mysql_db.UserCopy(old)
			u.User, u.Host = to.User, to.Host
			ed.begin()
			ed.RemoveUser(from)
			ed.PutUser(u)
			moveRoles(ed.Editor, from, &to)
		}
		return nil
	})
}

// moveRoles gives an account's grants of roles to another; nil: to nobody.
func moveRoles(ed *mysql_db.Editor, from mysql_db.UserPrimaryKey, to *mysql_db.UserPrimaryKey) {
	var edges []mysql_db.RoleEdge
	ed.VisitRoleEdges(func(e *mysql_db.RoleEdge) {
		if e.FromUser == from.User && e.FromHost == from.Host || e.ToUser == from.User && e.ToHost == from.Host {
			edges = append(edges, *e)
		}
	})
	ed.RemoveRoleEdgesFromKey(mysql_db.RoleEdgesFromKey{FromHost: from.Host, FromUser: from.User})
	ed.RemoveRoleEdgesToKey(mysql_db.RoleEdgesToKey{ToHost: from.Host, ToUser: from.User})
	if to == nil {
		return
	}
	for _, e := range edges {
		if e.FromUser == from.User && e.FromHost == from.Host {
			e.FromUser, e.FromHost = to.User, to.Host
		}
		if e.ToUser == from.User && e.ToHost == from.Host {
			e.ToUser, e.ToHost = to.User, to.Host
		}
		ed.PutRoleEdge(&e)
	}
}

// showCreateUser answers without the password's hash to who may not read mysql.user.
func (c *Catalog) showCreateUser(s *sqlext.ShowCreateUser) action {
	schema := sql.Schema{{Name: "CREATE USER", Type: textType}}
	return query("SHOW CREATE USER", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		if c.users == nil {
			return nil, errNoUsers
		}
		key, err := accountKey(ctx, s.Account)
		if err != nil {
			return nil, err
		}
		reads := c.holds(ctx, sql.PrivilegeCheckSubject{Database: "mysql", Table: "user"}, sql.PrivilegeType_Select)
		if user, host := account(ctx); !reads && (key.User != user || key.Host != host) {
			return nil, deniedDatabase(ctx, "mysql")
		}
		rd := c.users.db.Reader()
		defer rd.Close()
		u, there := rd.GetUser(key)
		if !there {
			return nil, mysql.NewSQLError(1396, mysql.SSUnknownSQLState, "Operation SHOW CREATE USER failed for %s", quoteAccount(key))
		}
		text := fmt.Sprintf("CREATE USER %s IDENTIFIED WITH '%s'", u.UserHostToString("`"), u.Plugin)
		switch {
		case u.AuthString != "" && reads:
			text += " AS " + sqlext.QuoteString(u.AuthString)
		case u.AuthString != "":
			text += " AS '<secret>'"
		}
		text += " REQUIRE " + map[string]string{"": "NONE", "ANY": "SSL", "X509": "X509"}[u.SslType]
		if u.Locked {
			return []sql.Row{{text + " ACCOUNT LOCK"}}, nil
		}
		return []sql.Row{{text + " ACCOUNT UNLOCK"}}, nil
	})
}

// grantStatement is GRANT, REVOKE, CREATE ROLE, DROP ROLE and FLUSH PRIVILEGES: GMS's own, which keep all that they change or nothing.
func (p *parser) grantStatement(stmt ast.Statement, text string) (ast.Statement, error) {
	if err := grantable(stmt); err != nil {
		return nil, err
	}
	name := strings.ToUpper(strings.Fields(text)[0])
	a := command(name, func(ctx *sql.Context) error {
		if p.c.users == nil {
			return errNoUsers
		}
		if _, flush := stmt.(*ast.Flush); flush {
			return p.c.users.reload()
		}
		stmt, _, _, err := p.mysql.ParseWithOptions(ctx, text, ';', false, sql.LoadSqlMode(ctx).ParserOptions())
		if err != nil {
			return err
		}
		nameHosts(stmt)
		return p.c.users.change(func(begin func()) error {
			node, err := p.c.analyze(ctx, stmt, text) // refuses who may not, before anything is said of who is there
			if err != nil {
				return err
			}
			if err := p.c.checkGrantees(stmt); err != nil {
				return err
			}
			if err := p.c.checkDroppedRoles(ctx, stmt); err != nil {
				return err
			}
			begin()
			rows, err := p.c.engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
			if err != nil {
				return err
			}
			_, err = compile.Drain(ctx, rows)
			return err
		})
	})
	auth := bySelect
	if _, flush := stmt.(*ast.Flush); flush {
		auth = ast.AuthInformation{AuthType: ast.AuthType_RELOAD, TargetType: ast.AuthTargetType_Global}
	}
	return ast.InjectedStatement{Statement: &statement{action: a, text: text, parse: p.parseChange}, Auth: auth}, nil
}

// nameHosts writes the hosts of a statement's accounts as accounts have them, as the statements of ours do.
func nameHosts(stmt ast.Statement) {
	var named [][]ast.AccountName
	switch s := stmt.(type) {
	case *ast.GrantPrivilege:
		named = [][]ast.AccountName{s.To}
	case *ast.GrantRole:
		named = [][]ast.AccountName{s.To, s.Roles}
	case *ast.RevokePrivilege:
		named = [][]ast.AccountName{s.From}
	case *ast.RevokeRole:
		named = [][]ast.AccountName{s.From, s.Roles}
	case *ast.CreateRole:
		named = [][]ast.AccountName{s.Roles}
	case *ast.DropRole:
		named = [][]ast.AccountName{s.Roles}
	case *ast.ShowGrants:
		if s.For != nil {
			s.For.Host = hostOf(s.For.Host)
		}
		named = [][]ast.AccountName{s.Using}
	}
	for _, accounts := range named {
		for i := range accounts {
			accounts[i].Host = hostOf(accounts[i].Host)
		}
	}
}

// grantable refuses what GMS takes and does not heed.
func grantable(stmt ast.Statement) error {
	var privileges []ast.Privilege
	switch s := stmt.(type) {
	case *ast.GrantPrivilege:
		privileges = s.Privileges
	case *ast.RevokePrivilege:
		privileges = s.Privileges
	case *ast.GrantProxy, *ast.RevokeProxy:
		return refuse(KindUnsupported, "PROXY is not supported: grant the privileges themselves, or a role that has them")
	}
	for _, p := range privileges {
		if len(p.Columns) > 0 {
			return refuse(KindUnsupported, "privileges on columns are not supported: CREATE VIEW of the columns, and grant SELECT on the view")
		}
	}
	return nil
}

// checkGrantees wants each account to be there by its very name: GMS would take one that matches the host's pattern.
func (c *Catalog) checkGrantees(stmt ast.Statement) error {
	var to []ast.AccountName
	missing := func(a ast.AccountName) error { return sql.ErrGrantUserDoesNotExist.New() }
	switch s := stmt.(type) {
	case *ast.GrantPrivilege:
		to = s.To
	case *ast.GrantRole:
		to = append(append(to, s.To...), s.Roles...)
		missing = func(a ast.AccountName) error {
			return mysql.NewSQLError(3523, mysql.SSUnknownSQLState, "Unknown authorization ID %s", a.String())
		}
	case *ast.RevokePrivilege:
		if !s.IgnoreUnknownUser {
			to = s.From
		}
		missing = func(a ast.AccountName) error { return sql.ErrRevokeUserDoesNotExist.New(a.Name, a.Host) }
	}
	rd := c.users.db.Reader()
	defer rd.Close()
	for _, a := range to {
		u, there := rd.GetUser(grantKey(a))
		if !there {
			return missing(a)
		}
		if s, role := stmt.(*ast.GrantRole); role && u.Locked && u.AuthString == "" && !isRoleOf(s, a) {
			return refuse(KindUnsupported, "%s is a role: roles of roles are not supported; grant both roles to the user", a.String())
		}
	}
	return nil
}

// checkDroppedRoles keeps accounts that hold SUPER from DROP ROLE of who does not: GMS would drop an account that is no role as well.
func (c *Catalog) checkDroppedRoles(ctx *sql.Context, stmt ast.Statement) error {
	s, ok := stmt.(*ast.DropRole)
	if !ok || c.holds(ctx, sql.PrivilegeCheckSubject{}, sql.PrivilegeType_Super) {
		return nil
	}
	rd := c.users.db.Reader()
	defer rd.Close()
	for _, a := range s.Roles {
		if u, there := rd.GetUser(grantKey(a)); there && isSuper(rd, u) {
			return needsPrivilege("SUPER")
		}
	}
	return nil
}

// grantKey is an account as GMS has parsed it.
func grantKey(a ast.AccountName) mysql_db.UserPrimaryKey {
	if a.AnyHost {
		return mysql_db.UserPrimaryKey{User: a.Name, Host: "%"}
	}
	return mysql_db.UserPrimaryKey{User: a.Name, Host: a.Host}
}

// isRoleOf says whether the account is one of the roles that are granted.
func isRoleOf(s *ast.GrantRole, a ast.AccountName) bool {
	for _, r := range s.Roles {
		if r == a {
			return true
		}
	}
	return false
}
