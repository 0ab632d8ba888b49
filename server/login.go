package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"
)

// localhost is the host of accounts for this machine.
const localhost = "localhost"

// logins decides who gets in. It is a mysql.AuthServer on GMS's accounts.
//
//   - Passwords are checked over TLS by caching_sha2_password; by mysql_native_password, where it is switched on, over any connection.
//   - An account without a password gets in from this machine only. There are no accounts without a name.
//   - Of several accounts of a name, the one whose host says most is taken, as MySQL does.
//   - Whoever fails hears the same words, in the same steps and after the same work, whether or not there is such an account; save that an
//     account with mysql_native_password can be told from one that is not there.
//   - What is answered tells a guesser something only where it can be counted (see throttle): a proof that is wrong too.
type logins struct {
	users    *mysql_db.MySQLDb
	native   bool   // mysql_native_password is switched on
	owner    []byte // the digest of a password of root@localhost for this run, for the process's own client; nil: none
	throttle *throttle
	log      *slog.Logger
	methods  []mysql.AuthMethod
	decoy    string // the hash that an unknown user's password is compared with

	mu    sync.Mutex
	known map[mysql_db.UserPrimaryKey]knownPassword
}

// knownPassword is a password that has been checked: its next check needs one round of hashing.
type knownPassword struct {
	hash string // of the account, when it was checked
	fast [sha256.Size]byte
}

var _ mysql.AuthServer = (*logins)(nil)

func newLogins(cfg Config) (*logins, error) {
	l := &logins{
		users: cfg.Engine.Analyzer.Catalog.MySQLDb, native: cfg.NativePassword,
		throttle: newThrottle(cfg.Now), log: cfg.Logger, known: make(map[mysql_db.UserPrimaryKey]knownPassword),
	}
	if cfg.OwnerPassword != "" {
		digest := digestOf(cfg.OwnerPassword)
		l.owner = digest[:]
	}
	salt, err := mysql.NewSalt()
	if err != nil {
		return nil, err
	}
	decoy, err := mysql.SerializeCachingSha2PasswordAuthString(rand.Text(), salt, mysql.DefaultCachingSha2PasswordHashIterations)
	if err != nil {
		return nil, fmt.Errorf("make a decoy: %w", err)
	}
	l.decoy = string(decoy)
	l.methods = []mysql.AuthMethod{
		loginMethod{mysql.NewSha2CachingAuthMethod((*sha2Fast)(l), (*sha2Full)(l), nil), l},
		loginMethod{mysql.NewMysqlNativeAuthMethod((*nativePassword)(l), nil), l},
	}
	return l, nil
}

// AuthMethods are those that there are.
func (l *logins) AuthMethods() []mysql.AuthMethod { return l.methods }

// DefaultAuthMethodDescription is what the greeting names.
func (l *logins) DefaultAuthMethodDescription() mysql.AuthMethodDescription {
	return mysql.CachingSha2Password
}

// loginMethod is a way to log in, with what all have in common around it.
type loginMethod struct {
	mysql.AuthMethod
	l *logins
}

// AllowClearTextWithoutTLS is true: no method sends a password in clear text without TLS.
func (m loginMethod) AllowClearTextWithoutTLS() bool { return true }

// HandleUser says whether the user logs in this way: native where his account has it or needs no password, else sha2.
func (m loginMethod) HandleUser(c *mysql.Conn, user string) bool {
	u := m.l.find(user, c.RemoteAddr())
	if m.Name() == mysql.MysqlNativePassword {
		return u != nil && (m.l.isNative(u) || u.AuthString == "" && isLocal(c.RemoteAddr()))
	}
	return u == nil || !m.l.isNative(u)
}

// HandleAuthPluginData checks the client's proof.
func (m loginMethod) HandleAuthPluginData(c *mysql.Conn, user string, server, client []byte, remote net.Addr) (mysql.Getter, error) {
	started := time.Now()
	origin := originOf(user, remote)
	if wait := m.l.throttle.wait(origin); wait > 0 {
		return nil, m.l.blocked(user, remote, wait)
	}
	secure := front(c).security.conn != nil
	if secure {
		c.Capabilities |= mysql.CapabilityClientSSL
	}
	who, err := m.AuthMethod.HandleAuthPluginData(c, user, server, client, remote)
	var refused *refusedLogin
	var early *tooEarly
	switch {
	case errors.As(err, &early):
		return nil, m.l.blocked(user, remote, early.wait)
	case err != nil && !errors.As(err, &refused):
		m.l.log.Debug("a client left in the midst of its login", "user", user, "address", remote.String(), "error", err)
		return nil, err
	case front(c).security.wrongProof: // is counted
	default:
		if wait := m.l.throttle.answer(origin, err == nil); wait > 0 {
			return nil, m.l.blocked(user, remote, wait)
		}
	}
	if err == nil {
		account := who.(sql.MysqlConnectionUser)
		m.l.log.Info("login", "audit", "login", "user", user, "account", account.User+"@"+account.Host, "address", remote.String(),
			"connection", c.ConnectionID, "tls", secure, "took", time.Since(started))
		return who, nil
	}
	m.l.log.Warn("login failed", "audit", "login", "user", user, "address", remote.String(), "reason", refused.reason, "tls", secure)
	return nil, refused.toClient(user, hostOf(remote), !isEmptyProof(client), secure)
}

// blocked is what a client hears who has to wait.
func (l *logins) blocked(user string, remote net.Addr, wait time.Duration) error {
	l.log.Warn("login refused", "audit", "login", "user", user, "address", remote.String(), "reason", "too many failed logins", "wait", wait.Round(time.Millisecond))
	return mysql.NewSQLError(1129, mysql.SSUnknownSQLState, "Host '%s' is blocked because of many failed logins; it may try again in %d seconds",
		hostOf(remote), int(math.Ceil(wait.Seconds())))
}

// tooEarly is a login whose address has come to wait while it was looked at.
type tooEarly struct{ wait time.Duration }

func (e *tooEarly) Error() string { return "too many failed logins" }

// refusedLogin is a login that was refused, and why: the log tells that, and the client not.
type refusedLogin struct{ reason string }

func (e *refusedLogin) Error() string { return e.reason }

func (e *refusedLogin) toClient(user, host string, password, secure bool) error {
	using, hint := "NO", ""
	if password {
		using = "YES"
		if !secure {
			hint = "; passwords are taken over TLS only: connect with it, as in mysql --ssl-mode=REQUIRED"
		}
	}
	return mysql.NewSQLError(mysql.ERAccessDeniedError, mysql.SSAccessDeniedError, "Access denied for user '%s'@'%s' (using password: %s)%s", user, host, using, hint)
}

func refuseLogin(reason string) error { return &refusedLogin{reason} }

// sha2Fast is the first step of caching_sha2_password: a client without a password is done, and one whose password is known.
type sha2Fast logins

// UserEntryWithCacheHash checks the proof that the client made of its password and the salt. Whether a known password is asked for again tells
// the client that its proof was wrong, so that is counted here: it may leave without the second step.
func (f *sha2Fast) UserEntryWithCacheHash(c *mysql.Conn, salt []byte, user string, proof []byte, remote net.Addr) (mysql.Getter, mysql.CacheState, error) {
	l := (*logins)(f)
	u := l.find(user, remote)
	if isEmptyProof(proof) {
		who, err := l.withoutPassword(c, u)
		return who, mysql.AuthAccepted, err
	}
	if front(c).security.conn == nil {
		return nil, mysql.AuthRejected, refuseLogin("a password without TLS")
	}
	if len(proof) != sha256.Size {
		return nil, mysql.AuthNeedMoreData, nil
	}
	if l.owner != nil && user == "root" && isLocal(remote) && mysql.VerifyHashedCachingSha2Password(proof, salt, l.owner) {
		return sql.MysqlConnectionUser{User: "root", Host: localhost}, mysql.AuthAccepted, nil
	}
	if u == nil || u.AuthString == "" {
		return nil, mysql.AuthNeedMoreData, nil
	}
	l.mu.Lock()
	known, ok := l.known[mysql_db.UserPrimaryKey{User: u.User, Host: u.Host}]
	l.mu.Unlock()
	if !ok || known.hash != u.AuthString {
		return nil, mysql.AuthNeedMoreData, nil
	}
	right := mysql.VerifyHashedCachingSha2Password(proof, salt, known.fast[:])
	if wait := l.throttle.answer(originOf(user, remote), right); wait > 0 {
		return nil, mysql.AuthRejected, &tooEarly{wait}
	}
	if !right {
		front(c).security.wrongProof = true
		return nil, mysql.AuthNeedMoreData, nil
	}
	who, err := l.admit(c, u)
	return who, mysql.AuthAccepted, err
}

// sha2Full is the second step: the password itself, over TLS.
type sha2Full logins

// UserEntryWithPassword checks the password.
func (f *sha2Full) UserEntryWithPassword(c *mysql.Conn, user, password string, remote net.Addr) (mysql.Getter, error) {
	l := (*logins)(f)
	u := l.find(user, remote)
	hash := l.decoy
	if u != nil && u.AuthString != "" && u.Plugin == string(mysql.CachingSha2Password) {
		hash = u.AuthString
	}
	_, iterations, salt, _, err := mysql.DeserializeCachingSha2PasswordAuthString([]byte(hash))
	if err != nil {
		return nil, refuseLogin("the account's hash cannot be read")
	}
	made, err := mysql.SerializeCachingSha2PasswordAuthString(password, salt, iterations)
	if err != nil {
		return nil, refuseLogin("the password cannot be hashed")
	}
	switch {
	case subtle.ConstantTimeCompare(made, []byte(hash)) == 0 && u == nil:
		return nil, refuseLogin("no such account")
	case u == nil || hash == l.decoy || front(c).security.wrongProof || subtle.ConstantTimeCompare(made, []byte(hash)) == 0:
		return nil, refuseLogin("wrong password")
	}
	who, err := l.admit(c, u)
	if err == nil {
		l.mu.Lock()
		l.known[mysql_db.UserPrimaryKey{User: u.User, Host: u.Host}] = knownPassword{hash, digestOf(password)}
		l.mu.Unlock()
	}
	return who, err
}

// digestOf is what a proof of a password is checked against.
func digestOf(password string) [sha256.Size]byte {
	once := sha256.Sum256([]byte(password))
	return sha256.Sum256(once[:])
}

// nativePassword is mysql_native_password.
type nativePassword logins

// nativeProof is the size of what a client makes of its password, in bytes: a SHA-1.
const nativeProof = 20

// UserEntryWithHash checks the proof that the client made of its password and the salt.
func (n *nativePassword) UserEntryWithHash(c *mysql.Conn, salt []byte, user string, proof []byte, remote net.Addr) (mysql.Getter, error) {
	l := (*logins)(n)
	u := l.find(user, remote)
	switch {
	case isEmptyProof(proof):
		return l.withoutPassword(c, u)
	case u == nil || !l.isNative(u) || len(proof) != nativeProof || u.AuthString == "":
		return nil, refuseLogin("wrong password")
	}
	hash, err := mysql.DecodeMysqlNativePasswordHex(u.AuthString)
	if err != nil {
		return nil, refuseLogin("the account's hash cannot be read")
	}
	if !mysql.VerifyHashedMysqlNativePassword(proof, salt, hash) {
		return nil, refuseLogin("wrong password")
	}
	return l.admit(c, u)
}

func (l *logins) isNative(u *mysql_db.User) bool {
	return l.native && u.Plugin == string(mysql.MysqlNativePassword)
}

// withoutPassword lets an account in that has no password.
func (l *logins) withoutPassword(c *mysql.Conn, u *mysql_db.User) (mysql.Getter, error) {
	switch {
	case u == nil:
		return nil, refuseLogin("no such account")
	case u.AuthString != "":
		return nil, refuseLogin("no password given")
	case !isLocal(c.RemoteAddr()):
		return nil, refuseLogin("an account without a password, from another machine")
	}
	return l.admit(c, u)
}

// admit lets somebody in who has shown who he is, if his account is open and the connection is what it requires.
func (l *logins) admit(c *mysql.Conn, u *mysql_db.User) (mysql.Getter, error) {
	tlsConn := front(c).security.conn
	switch {
	case u.Locked:
		return nil, refuseLogin("the account is locked")
	case u.SslType != "" && tlsConn == nil:
		return nil, refuseLogin("the account requires TLS")
	case u.SslType != "" && u.SslType != "ANY" && len(tlsConn.ConnectionState().VerifiedChains) == 0:
		return nil, refuseLogin("the account requires a certificate of the client")
	}
	return sql.MysqlConnectionUser{User: u.User, Host: u.Host}, nil
}

// isEmptyProof says whether the client gave no password.
func isEmptyProof(proof []byte) bool { return len(proof) == 0 || len(proof) == 1 && proof[0] == 0 }

// find returns the account for a user and the address that he comes from, the one whose host says most; nil: there is none.
func (l *logins) find(user string, remote net.Addr) *mysql_db.User {
	if user == "" {
		return nil
	}
	rd := l.users.Reader()
	defer rd.Close()
	host := hostOf(remote)
	var matching []*mysql_db.User
	for _, u := range rd.GetUsersByUsername(user) {
		if matchesHost(u.Host, host, isLocal(remote)) {
			matching = append(matching, mysql_db.UserCopy(u))
		}
	}
	if len(matching) == 0 {
		return nil
	}
	return slices.MaxFunc(matching, func(a, b *mysql_db.User) int { return says(a.Host) - says(b.Host) })
}

// matchesHost says whether an account's host is that of a client.
func matchesHost(pattern, address string, local bool) bool {
	if pattern == "%" || pattern == address || pattern == localhost && local {
		return true
	}
	if network, err := netip.ParsePrefix(pattern); err == nil {
		ip, err := netip.ParseAddr(address)
		return err == nil && network.Contains(ip)
	}
	return strings.Contains(pattern, "%") && like(pattern, address)
}

// like matches MySQL's patterns: % is any text, _ is one character.
func like(pattern, text string) bool {
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '%':
			for rest := range len(text) + 1 {
				if like(pattern[i+1:], text[rest:]) {
					return true
				}
			}
			return false
		case text == "" || pattern[i] != '_' && pattern[i] != text[0]:
			return false
		}
		text = text[1:]
	}
	return text == ""
}

// says is how much a host says: an address more than a network, a network more than a pattern, a pattern more the later its first %.
func says(host string) int {
	if network, err := netip.ParsePrefix(host); err == nil {
		return 1000 + network.Bits()
	}
	if at := strings.IndexAny(host, "%_"); at >= 0 && strings.Contains(host, "%") {
		return at
	}
	return 10_000
}

// addressOf is a client's IP address.
func addressOf(remote net.Addr) netip.Addr {
	if tcp, ok := remote.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

func isLocal(remote net.Addr) bool {
	return remote.Network() == "unix" || addressOf(remote).IsLoopback()
}

// hostOf is a client's host as accounts name it and errors show it.
func hostOf(remote net.Addr) string {
	if isLocal(remote) {
		return localhost
	}
	return addressOf(remote).String()
}

// ipv6Network is how much of an IPv6 address one client has, in bits.
const ipv6Network = 64

// originOf is whose failed logins are counted together: those from an address, from an IPv6 network, or on this machine those of a user: a
// program with a wrong password must not keep root out.
func originOf(user string, remote net.Addr) string {
	address := addressOf(remote)
	if isLocal(remote) {
		return user + "@" + localhost
	}
	if address.Is6() {
		if network, err := address.Prefix(ipv6Network); err == nil {
			return network.String()
		}
	}
	return address.String()
}
