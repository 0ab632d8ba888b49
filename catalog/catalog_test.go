package catalog

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"

	"lakesql/store"
)

func TestInsertSelectAllTypes(t *testing.T) {
	l := newLab(t)
	l.exec(
		`CREATE TABLE t (a TINYINT, b SMALLINT, c INT, d BIGINT, e FLOAT, f DOUBLE, g DECIMAL(10,2), h DECIMAL(38,4), i BOOLEAN, j DATE,
		 k DATETIME(6), l VARCHAR(20), m TEXT, n BLOB)`,
		`INSERT INTO t VALUES (1, -2, 3, -4, 1.5, 2.25, 12.345, 12345678901234567890.5, true, '2024-02-29', '2024-02-29 12:34:56.789012', 'x', 'long', x'00ff'),
		 (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
	)
	require.Equal(t, []string{
		"1|-2|3|-4|1.5|2.25|12.35|12345678901234567890.5000|1|2024-02-29|2024-02-29 12:34:56.789012|x|long|\x00\xff",
		"NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL",
	}, l.rows("SELECT * FROM t"))
	require.Equal(t, []string{"2"}, l.rows("SELECT COUNT(*) FROM t"))
	require.Equal(t, []string{"long|1"}, l.rows("SELECT m, a FROM t WHERE k > '2024-01-01' AND l = 'x'"))
}

func TestDataFolderIsNotInTheLake(t *testing.T) {
	dir := t.TempDir()
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	_, err = Open(context.Background(), Config{
		Warehouse: store.FileURI(filepath.Join(dir, "lake")), Fence: fence, DataDir: filepath.Join(dir, "lake", "data"),
	})
	var refused *Error
	require.ErrorAs(t, err, &refused)
	require.Contains(t, err.Error(), "--data-dir")
}

// Another server may have registered a folder that this one may not reach.
func TestExternalTableOutsideTheFence(t *testing.T) {
	dir := t.TempDir()
	wide := openLab(t, dir)
	wide.exec("CREATE TABLE e (a INT) USING DELTA LOCATION './outside/e'")
	lake := filepath.Join(dir, "lake")
	fence, err := store.NewFence(lake, lake)
	require.NoError(t, err)
	c, err := Open(context.Background(), Config{Warehouse: store.FileURI(lake), Fence: fence, Owner: "narrow"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	narrow := &lab{t: t, dir: dir, c: c, sess: c.newSession(sql.Client{User: "root", Address: "localhost"}, "", 1)}
	_, err = narrow.try("SELECT * FROM e")
	var outside *store.OutsideError
	require.ErrorAs(t, err, &outside)
}

// A stream's definer is user@host, and a user's name may have an @ of its own: it must not make him another user.
func TestADefinersNameIsTakenApartAtItsHost(t *testing.T) {
	for definer, want := range map[string][2]string{"ann@%": {"ann", "%"}, "root@localhost@%": {"root@localhost", "%"}, "": {"", ""}, "@": {"", ""}} {
		user, host := splitAccount(definer)
		require.Equal(t, want, [2]string{user, host}, definer)
	}
}
