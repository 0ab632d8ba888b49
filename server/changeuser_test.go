package server

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// changeUser sends a COM_CHANGE_USER, answers what is asked for, and returns the packet that ends it.
func (c *rawClient) changeUser(user, password, database string) []byte {
	c.t.Helper()
	p := append([]byte(user), 0, 3, 'o', 'l', 'd')
	p = append(append(p, database...), 0)
	p = binary.LittleEndian.AppendUint16(p, 45)
	c.ask(comChangeUser, append(p, "caching_sha2_password\x00"...)...)
	return c.prove(password)
}

func TestChangeUser(t *testing.T) {
	g := startGuarded(t)
	g.exec(g.as("root", ""), "CREATE DATABASE other", "CREATE TABLE other.t (a INT)", "CREATE USER ann IDENTIFIED BY 'pw', bare",
		"GRANT SELECT ON other.* TO ann")
	for name, how := range map[string]rawLogin{"plain": {}, "tls": {tls: true}, "tls and compressed": {tls: true, capabilities: clientCompress}} {
		t.Run(name, func(t *testing.T) {
			c := how.dial(t, g)
			for _, statement := range []string{"USE lake", "SET @x = 1, autocommit = 0", "START TRANSACTION"} {
				c.query(statement)
				c.succeeds()
			}
			require.Equal(t, "1", c.value("SELECT GET_LOCK('mine', 0)"))
			id := c.prepare("SELECT 1")
			require.Equal(t, "\x00\x00\x00\x02\x00\x00\x00", string(c.changeUser("bare", "", "")))
			require.Equal(t, "bare@%", c.value("SELECT CURRENT_USER()"))
			require.Equal(t, "NULL", c.value("SELECT DATABASE()"))
			require.Equal(t, "NULL", c.value("SELECT @x"))
			require.Equal(t, "1", c.value("SELECT @@autocommit"))
			require.Equal(t, "1", c.value("SELECT IS_FREE_LOCK('mine')"))
			c.ask(comStmtExecute, append(id, 0, 1, 0, 0, 0)...)
			c.fails(1243, "HY000", "Unknown prepared statement handler (1) given to mysqld_stmt_execute")
			if how.tls {
				for range 2 { // the second time the password is known
					require.EqualValues(t, 0, c.changeUser("ann", "pw", "other")[0])
					require.Equal(t, "ann@%", c.value("SELECT CURRENT_USER()"))
					require.Equal(t, "other", c.value("SELECT DATABASE()"))
					require.Equal(t, "0", c.value("SELECT COUNT(*) FROM t"))
				}
				c.query("SELECT * FROM lake.t")
				require.EqualValues(t, 0xff, c.read()[0])
			}
			require.EqualValues(t, 0, c.changeUser("root", "", "")[0])
			require.Equal(t, "root@localhost", c.value("SELECT CURRENT_USER()"))
			require.Equal(t, fmt.Sprint(c.id), c.value("SELECT CONNECTION_ID()"), "the connection is the same")
			require.Equal(t, fmt.Sprintf("%d,root", c.id), c.value(
				fmt.Sprintf("SELECT CONCAT(ID, ',', USER) FROM information_schema.PROCESSLIST WHERE ID = %d", c.id)))
		})
	}
	g.logs(`audit=login user=ann account=ann@% .*tls=true`)
}

func TestChangeUserThatFailsEndsTheConnection(t *testing.T) {
	g := startGuarded(t)
	g.exec(g.as("root", ""), "CREATE USER ann IDENTIFIED BY 'pw'", "CREATE USER strict IDENTIFIED BY 'x' REQUIRE X509")
	for _, c := range []struct {
		name                     string
		how                      rawLogin
		user, password, database string
		number                   uint16
		message                  string
	}{
		{"a wrong password", rawLogin{tls: true}, "ann", "guess", "", 1045, "#28000Access denied for user 'ann'@'localhost' (using password: YES)"},
		{"no such account", rawLogin{tls: true}, "nobody", "guess", "", 1045, "#28000Access denied for user 'nobody'@'localhost' (using password: YES)"},
		{"no certificate", rawLogin{tls: true}, "strict", "x", "", 1045, "#28000Access denied for user 'strict'@'localhost' (using password: YES)"},
		{"a password without TLS", rawLogin{}, "ann", "pw", "", 1045,
			"#28000Access denied for user 'ann'@'localhost' (using password: YES); passwords are taken over TLS only: connect with it, as in mysql --ssl-mode=REQUIRED"},
		{"a database that there is not", rawLogin{}, "root", "", "nowhere", 1049, "#42000Unknown database 'nowhere'"},
		{"a database that is not his", rawLogin{tls: true}, "ann", "pw", "lake", 1044, "#42000Access denied for user 'ann'@'%' to database 'lake'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.how.dial(t, g)
			p := r.changeUser(c.user, c.password, c.database)
			require.EqualValues(t, 0xff, p[0])
			require.Equal(t, c.number, binary.LittleEndian.Uint16(p[1:]), "%q", p)
			require.Equal(t, c.message, string(p[3:]))
			r.ended()
		})
	}
	c := dialRaw(t, g)
	c.ask(comChangeUser, 'x')
	c.fails(1835, "HY000", "Malformed communication packet.")
	c.ended()
	c = dialRaw(t, g)
	c.ask(comChangeUser, append([]byte("root\x00\x00\x00"), make([]byte, maxLoginBytes)...)...)
	c.ended()
	c = dialRaw(t, g)
	c.ask(comChangeUser, []byte("root\x00\x00\x00")...)
	require.EqualValues(t, 0xfe, c.read()[0])
	c.query("SELECT 1") // before the login is over
	c.ended()
}

func TestChangeUserIsThrottledAsALogin(t *testing.T) {
	g := startGuarded(t)
	g.stop()
	now := time.Now()
	g.start(func(c *Config) { c.Now = func() time.Time { return now } }) // the first pause is short
	g.exec(g.as("root", ""), "CREATE USER ann IDENTIFIED BY 'pw'")
	for range freeFailures + 1 {
		r := rawLogin{tls: true}.dial(t, g)
		require.Contains(t, string(r.changeUser("ann", "guess", "")), "Access denied")
	}
	r := rawLogin{tls: true}.dial(t, g)
	p := r.changeUser("ann", "pw", "")
	require.Equal(t, uint16(1129), binary.LittleEndian.Uint16(p[1:]), "%q", p)
	g.logs(`login refused.*audit=login user=ann .*too many failed logins`)
}
