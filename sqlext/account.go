package sqlext

import "strings"

// Account names a user or role.
type Account struct {
	User    string
	Host    string // "%" where none was given
	Current bool   // USER() or CURRENT_USER: who asks
}

// Login is an account with the way in which it proves who it is.
type Login struct {
	Account
	Plugin   string // "" for the one that it has, or the server's own
	Password *Value // IDENTIFIED BY: the password as it is typed
	Hash     *Value // IDENTIFIED WITH plugin AS: what mysql.user has of it
}

// TLSRequirement is what REQUIRE says.
type TLSRequirement uint8

// What a connection of an account must have.
const (
	TLSUnsaid TLSRequirement = iota // no REQUIRE
	TLSNone                         // REQUIRE NONE
	TLSAny                          // REQUIRE SSL
	TLSX509                         // REQUIRE X509: a certificate of the client
)

// LockChange is what ACCOUNT says.
type LockChange uint8

// Whether an account may log in.
const (
	LockUnsaid LockChange = iota
	Lock
	Unlock
)

// ChangeUsers is CREATE USER, ALTER USER and SET PASSWORD.
type ChangeUsers struct {
	Create  bool
	IfThere bool // IF [NOT] EXISTS
	Logins  []Login
	TLS     TLSRequirement
	Lock    LockChange
}

// DropUsers is DROP USER [IF EXISTS] account, ...
type DropUsers struct {
	IfExists bool
	Accounts []Account
}

// RenameUsers is RENAME USER old TO new, ...
type RenameUsers struct{ Pairs [][2]Account }

// ShowCreateUser is SHOW CREATE USER account.
type ShowCreateUser struct{ Account Account }

func (*ChangeUsers) statement()    {}
func (*DropUsers) statement()      {}
func (*RenameUsers) statement()    {}
func (*ShowCreateUser) statement() {}

// accountWords are the second words of the statements about accounts.
var accountWords = []string{"USER", "PASSWORD"}

// claimAccounts takes the statements about accounts. What GRANT and REVOKE say is MySQL's grammar.
func (p *parser) claimAccounts() func() Statement {
	switch {
	case p.words("CREATE USER"), p.words("ALTER USER"):
		return p.changeUsers
	case p.words("DROP USER"):
		return p.dropUsers
	case p.words("RENAME USER"):
		return p.renameUsers
	case p.words("SET PASSWORD") && (p.peek(2).is("FOR") || p.assignAt(2) > 0 || p.peek(2).is("TO")):
		return p.setPassword
	case p.words("SHOW CREATE USER"):
		return func() Statement {
			p.expect("SHOW CREATE USER")
			return &ShowCreateUser{Account: p.account()}
		}
	}
	return nil
}

// account parses user, user@host, USER() or CURRENT_USER.
func (p *parser) account() Account {
	for _, word := range []string{"CURRENT_USER", "USER"} {
		if p.words(word) && !p.peek(1).punct("@") && (word == "CURRENT_USER" || p.peek(1).punct("(")) {
			p.next()
			if p.acceptPunct("(") {
				p.expectPunct(")")
			}
			return Account{Current: true}
		}
	}
	a := Account{User: p.accountWord("the name of a user"), Host: "%"}
	if p.acceptPunct("@") {
		a.Host = strings.ToLower(p.accountWord("the name of a host"))
	}
	return a
}

func (p *parser) accountWord(what string) string {
	t := p.peek(0)
	if t.kind != tokString && t.kind != tokQuoted && (t.kind != tokWord || t.text[0] == '@') {
		p.fail(what)
		return ""
	}
	return p.next().text
}

func (p *parser) changeUsers() Statement {
	s := &ChangeUsers{Create: p.accept("CREATE")}
	if s.Create {
		p.expect("USER")
		s.IfThere = p.accept("IF NOT EXISTS")
	} else {
		p.expect("ALTER USER")
		s.IfThere = p.accept("IF EXISTS")
	}
	for p.err == nil {
		s.Logins = append(s.Logins, p.login())
		if !p.acceptPunct(",") {
			break
		}
	}
	if p.accept("REQUIRE") {
		s.TLS = p.tlsRequirement()
	}
	for p.err == nil && !isEnd(p.peek(0)) {
		switch {
		case p.accept("ACCOUNT LOCK"):
			s.Lock = Lock
		case p.accept("ACCOUNT UNLOCK"):
			s.Lock = Unlock
		case p.words("DEFAULT ROLE"):
			p.refuse(NotSupported, "DEFAULT ROLE is not supported: the roles that a user was granted are in force at each login; GRANT the roles after CREATE USER")
		case p.words("WITH"), p.words("PASSWORD"), p.words("FAILED_LOGIN_ATTEMPTS"), p.words("PASSWORD_LOCK_TIME"), p.words("COMMENT"), p.words("ATTRIBUTE"):
			p.refuse(NotSupported, strings.ToUpper(p.peek(0).text)+" ... of an account is not supported: it may have IDENTIFIED ..., REQUIRE NONE, SSL or X509, and ACCOUNT LOCK or UNLOCK")
		default:
			p.fail("REQUIRE, ACCOUNT LOCK, ACCOUNT UNLOCK, or the end of the statement")
		}
	}
	return s
}

// login parses account [IDENTIFIED [WITH plugin] [BY 'password' | AS 'hash']].
func (p *parser) login() Login {
	l := Login{Account: p.account()}
	if !p.accept("IDENTIFIED") {
		return l
	}
	if p.accept("WITH") {
		l.Plugin = strings.ToLower(p.accountWord("the name of an authentication plugin"))
	}
	switch {
	case p.words("BY RANDOM PASSWORD"):
		p.refuse(NotSupported, "IDENTIFIED BY RANDOM PASSWORD is not supported: give a password, such as one that a password manager makes")
	case p.accept("BY"):
		v := p.stringValue("a password in quotes")
		l.Password = &v
	case l.Plugin != "" && p.accept("AS"):
		v := p.stringValue("the text that mysql.user has of a password, in quotes")
		l.Hash = &v
	case l.Plugin == "":
		p.fail("BY or WITH")
	}
	p.noMorePasswords()
	return l
}

// noMorePasswords refuses the clauses that have to do with more than one password.
func (p *parser) noMorePasswords() {
	if p.words("REPLACE") || p.words("RETAIN") || p.words("AND IDENTIFIED") || p.words("INITIAL") {
		p.refuse(NotSupported, strings.ToUpper(p.peek(0).text)+" is not supported here: an account has one password, and who may change it need not give the one before")
	}
}

func (p *parser) tlsRequirement() TLSRequirement {
	switch {
	case p.accept("NONE"):
		return TLSNone
	case p.accept("SSL"):
		return TLSAny
	case p.accept("X509"):
		return TLSX509
	case p.words("SUBJECT"), p.words("ISSUER"), p.words("CIPHER"):
		p.refuse(NotSupported, "REQUIRE "+strings.ToUpper(p.peek(0).text)+" is not supported: REQUIRE X509 wants a certificate that --ssl-ca vouches for, REQUIRE SSL an encrypted connection")
	default:
		p.fail("NONE, SSL or X509")
	}
	return TLSUnsaid
}

func (p *parser) dropUsers() Statement {
	p.expect("DROP USER")
	s := &DropUsers{IfExists: p.accept("IF EXISTS")}
	for p.err == nil {
		s.Accounts = append(s.Accounts, p.account())
		if !p.acceptPunct(",") {
			break
		}
	}
	return s
}

func (p *parser) renameUsers() Statement {
	p.expect("RENAME USER")
	s := &RenameUsers{}
	for p.err == nil {
		from := p.account()
		p.expect("TO")
		s.Pairs = append(s.Pairs, [2]Account{from, p.account()})
		if !p.acceptPunct(",") {
			break
		}
	}
	return s
}

// setPassword parses SET PASSWORD [FOR account] = 'password'.
func (p *parser) setPassword() Statement {
	p.expect("SET PASSWORD")
	l := Login{Account: Account{Current: true}}
	if p.accept("FOR") {
		l.Account = p.account()
	}
	if p.words("TO RANDOM") {
		p.refuse(NotSupported, "SET PASSWORD TO RANDOM is not supported: give a password, such as one that a password manager makes")
	}
	p.expectPunct("=")
	v := p.stringValue("a password in quotes")
	l.Password = &v
	p.noMorePasswords()
	return &ChangeUsers{Logins: []Login{l}}
}
