package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastInsertID(t *testing.T) {
	l := newLab(t)
	last := func(want string) {
		t.Helper()
		require.Equal(t, []string{want}, l.rows("SELECT LAST_INSERT_ID()"))
	}
	l.exec("CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)", "CREATE TABLE u (v INT)")
	last("0")
	l.exec("INSERT INTO t (v) VALUES (1)")
	last("1")
	l.exec("INSERT INTO t (v) VALUES (2), (3), (4)")
	last("2")
	l.exec("INSERT INTO u VALUES (1), (2)", "UPDATE t SET v = 9 WHERE id = 1", "INSERT INTO t VALUES (100, 1)")
	last("2")
	l.exec("INSERT INTO t (v) SELECT v FROM u")
	last(l.rows("SELECT MAX(id) - 1 FROM t WHERE id <> 100")[0])
	l.exec("INSERT INTO t VALUES (200, 1), (NULL, 77), (DEFAULT, 78)")
	last(l.rows("SELECT id FROM t WHERE v = 77")[0])
	l.exec("BEGIN", "INSERT INTO t (v) VALUES (80)")
	last(l.rows("SELECT id FROM t WHERE v = 80")[0])
	l.exec("ROLLBACK")
}
