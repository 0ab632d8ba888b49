package sqlext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRedactTakesPasswordsAndNothingElse(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE USER ann IDENTIFIED BY 'pw'":                                                                          "CREATE USER ann IDENTIFIED BY '<secret>'",
		"create user 'ann'@'%' identified with 'caching_sha2_password' by \"p\"\"w\"":                                 "create user 'ann'@'%' identified with 'caching_sha2_password' by '<secret>'",
		"/* x */ CREATE USER IF NOT EXISTS 'a' IDENTIFIED BY 'p', 'b' IDENTIFIED BY 'q'":                              "/* x */ CREATE USER IF NOT EXISTS 'a' IDENTIFIED BY '<secret>', 'b' IDENTIFIED BY '<secret>'",
		"CREATE USER ann IDENTIFEID BY 'pw'":                                                                          "CREATE USER ann IDENTIFEID BY '<secret>'",
		"CREATE USER ann IDENTIFIED BY 'pw":                                                                           "CREATE USER ann IDENTIFIED BY '<secret>'",
		"SELECT 1; ALTER USER ann@localhost IDENTIFIED BY 'pw'; SELECT 'user'":                                        "SELECT 1; ALTER USER ann@localhost IDENTIFIED BY '<secret>'; SELECT 'user'",
		"SET PASSWORD FOR 'ann'@'h' = 'pw'":                                                                           "SET PASSWORD FOR 'ann'@'h' = '<secret>'",
		"CREATE USER ann IDENTIFIED BY 0x7077":                                                                        "CREATE USER ann IDENTIFIED BY '<secret>'",
		"ALTER USER ann IDENTIFIED BY x'7077' PASSWORD EXPIRE INTERVAL 9 DAY":                                         "ALTER USER ann IDENTIFIED BY '<secret>' PASSWORD EXPIRE INTERVAL 9 DAY",
		"CREATE STREAM s AS SELECT * FROM STREAM kafka('h', kafka.sasl.password => 'pw', kafka.sasl.username => 'u')": "CREATE STREAM s AS SELECT * FROM STREAM kafka('h', kafka.sasl.password => '<secret>', kafka.sasl.username => 'u')",
		"CREATE STREAM s AS SELECT * FROM STREAM kafka('h', kafka.sasl.jaas.config => 'pw')":                          "CREATE STREAM s AS SELECT * FROM STREAM kafka('h', kafka.sasl.jaas.config => '<secret>')",
		"CREATE STREAM s AS SELECT * FROM STREAM kafka('h', `kafka.sasl.jaas.config` => 'pw')":                        "CREATE STREAM s AS SELECT * FROM STREAM kafka('h', `kafka.sasl.jaas.config` => '<secret>')",
		"CREATE STREAM s AS SELECT * FROM STREAM kafka('h', kafka.sasl.password => 'env:LAKESQL_SECRET_A')":           "CREATE STREAM s AS SELECT * FROM STREAM kafka('h', kafka.sasl.password => 'env:LAKESQL_SECRET_A')",
		"SET @a = 'x', @b = f(b.password => 'y'), @c = 'z'":                                                           "SET @a = '<secret>', @b = f(b.password => '<secret>'), @c = '<secret>'",
		"SET PASSWORD TO 'pw'":                                "SET PASSWORD TO '<secret>'",
		"SET PASSWORD FOR 'ann' TO 'pw'":                      "SET PASSWORD FOR 'ann' TO '<secret>'",
		"SET PASSWORD = 'pw'":                                 "SET PASSWORD = '<secret>'",
		"GRANT ALL ON *.* TO 'ann'@'%' IDENTIFIED BY 'pw'":    "GRANT ALL ON *.* TO 'ann'@'%' IDENTIFIED BY '<secret>'",
		"PREPARE s FROM 'CREATE USER u IDENTIFIED BY ''pw'''": "PREPARE s FROM '<secret>'",
		"SET @s = 'ALTER USER u IDENTIFIED BY ''pw'''":        "SET @s = '<secret>'",
		"/*!50000 CREATE USER ann IDENTIFIED BY 'pw' */":      "/*!50000 CREATE USER ann IDENTIFIED BY '<secret>' */",
		"INSERT INTO t VALUES ('IDENTIFIED BY x', 'user')":    "INSERT INTO t VALUES ('IDENTIFIED BY x', 'user')",
		"SELECT 'password' FROM mysql.user":                   "SELECT 'password' FROM mysql.user",
		"CREATE TABLE user (a INT COMMENT 'password')":        "CREATE TABLE user (a INT COMMENT 'password')",
		"": "",
	} {
		require.Equal(t, want, Redact(sql))
		require.Equal(t, want, Redact(want), "again")
	}
}
