package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The tables of accounts are changed by the statements about accounts alone, also where their database is the current one.
func TestGrantTablesAreReadOnly(t *testing.T) {
	l := newLab(t)
	l.openUsers()
	before := l.rows("SELECT Host, User FROM mysql.user")
	for _, use := range []string{"lake", "mysql"} {
		l.exec("USE " + use)
		prefix := map[string]string{"lake": "mysql."}[use]
		for _, statement := range []string{
			"INSERT INTO " + prefix + "user (Host, User, Super_priv, plugin, authentication_string, ssl_type, ssl_cipher, x509_issuer, x509_subject) VALUES ('%', 'evil', 'Y', '', '', '', '', '', '')",
			"INSERT INTO " + prefix + "user (Host, User) SELECT '%', 'evil'", "INSERT IGNORE INTO " + prefix + "user (Host, User) VALUES ('%', 'evil')",
			"REPLACE INTO " + prefix + "user (Host, User) VALUES ('%', 'evil')", "INSERT INTO " + prefix + "role_edges VALUES ('%', 'a', '%', 'b', 'N')",
			"UPDATE " + prefix + "user SET User = 'evil'", "DELETE FROM " + prefix + "user", "TRUNCATE TABLE " + prefix + "user", "DROP TABLE " + prefix + "user",
			"ALTER TABLE " + prefix + "user ADD COLUMN x INT", "CREATE VIEW " + prefix + "v AS SELECT 1", "CREATE TABLE " + prefix + "t (a INT)",
			"MERGE INTO " + prefix + "user t USING (SELECT 1 AS a) s ON t.User = s.a WHEN MATCHED THEN DELETE", "INSERT OVERWRITE " + prefix + "user SELECT 1",
		} {
			_, err := l.tryRows(statement)
			require.Error(t, err, "%s: %s", use, statement)
		}
	}
	l.exec("USE lake")
	require.Equal(t, before, l.rows("SELECT Host, User FROM mysql.user"))
}
