package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"
)

// A statement that changes rows, and its EXPLAIN, want the privileges of what it does to its target, and SELECT on what it reads.
func TestChangesWantPrivileges(t *testing.T) {
	l := newLab(t)
	l.openUsers()
	l.exec("CREATE TABLE t (k INT, v INT)", "CREATE TABLE u (k INT, v INT)", "INSERT INTO t VALUES (1, 1)", "INSERT INTO u VALUES (1, 2)", "CREATE USER ann")
	ann := l.session()
	ann.sess = l.c.newSession(sql.Client{User: "ann", Address: "localhost"}, "", 7)
	for statement, wanted := range map[string][]string{
		"INSERT INTO t SELECT * FROM u":                                          {"INSERT ON t", "SELECT ON u"},
		"INSERT OVERWRITE t SELECT * FROM u":                                     {"INSERT ON t", "DELETE ON t", "SELECT ON u"},
		"UPDATE t SET v = 3 WHERE k = 1":                                         {"UPDATE ON t"},
		"UPDATE t JOIN u ON t.k = u.k SET t.v = u.v":                             {"UPDATE ON t", "UPDATE ON u"}, // as GMS has it: of all tables that UPDATE names
		"DELETE FROM t WHERE k = 7":                                              {"DELETE ON t"},
		"DELETE FROM t WHERE k IN (SELECT v + 9 FROM u)":                         {"DELETE ON t", "SELECT ON u"},
		"MERGE INTO t USING u ON t.k = u.k WHEN MATCHED THEN UPDATE SET v = u.v": {"SELECT ON t", "UPDATE ON t", "SELECT ON u"},
		"MERGE INTO t USING u ON t.k = u.k AND u.v > 9 WHEN MATCHED THEN DELETE": {"SELECT ON t", "DELETE ON t", "SELECT ON u"},
		"MERGE INTO t USING u ON t.k = u.k WHEN NOT MATCHED THEN INSERT *":       {"SELECT ON t", "INSERT ON t", "SELECT ON u"},
		"MERGE INTO t USING (SELECT k, v FROM u WHERE v IN (SELECT v FROM u)) s ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE": {"SELECT ON t", "DELETE ON t", "SELECT ON u"},
		"TRUNCATE t": {"DROP ON t"},
	} {
		for _, missing := range append(wanted, "") {
			for _, grant := range wanted {
				if grant != missing {
					l.exec("GRANT " + strings.Replace(grant, " ON ", " ON lake.", 1) + " TO ann")
				}
			}
			for _, prefix := range []string{"EXPLAIN ", ""} {
				if prefix != "" && strings.HasPrefix(statement, "TRUNCATE") {
					continue
				}
				_, err := ann.try("%s", prefix+statement)
				if missing == "" {
					require.NoError(t, err, prefix+statement)
				} else {
					require.Error(t, err, "%s without %s", prefix+statement, missing)
					require.Contains(t, strings.ToLower(err.Error()), "denied", prefix+statement)
				}
			}
			for _, grant := range slices.Clone(wanted) {
				if grant != missing {
					l.exec("REVOKE " + strings.Replace(grant, " ON ", " ON lake.", 1) + " FROM ann")
				}
			}
		}
	}
}
