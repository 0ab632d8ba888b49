package clients

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// TestWhatClientsRelyOn are the assertions of docs/clients.md that stand in no other test, each with its number.
func TestWhatClientsRelyOn(t *testing.T) {
	s := openShop(t)
	db := s.DB
	for _, statement := range []string{
		"CREATE TABLE sales (id INT NOT NULL, amount DECIMAL(10,2), Item VARCHAR(10))", "INSERT INTO sales VALUES (1, 0.10, 'a'), (2, 0.20, 'A')",
		"CREATE TABLE keyed (id INT PRIMARY KEY)", "INSERT INTO keyed VALUES (1)",
	} {
		s.Exec(t, statement)
	}
	t.Run("T01 versions", func(t *testing.T) {
		rows := s.Rows(t, "SELECT VERSION(), @@version, @@version_comment")
		require.Equal(t, []string{handshakeVersion(t, s.Addr), handshakeVersion(t, s.Addr)}, rows[0][:2])
		require.Contains(t, rows[0][2], "lakesql")
	})
	for name, c := range map[string]struct{ statement, want string }{
		"T03 syntax":             {"SELEC 1", "error 1064 42000"},
		"T04 unknown column":     {"SELECT nosuch FROM sales", "error 1054 42S22"},
		"T05 unknown variable":   {"SELECT @@nosuch", "error 1193 HY000"},
		"T06 unknown function":   {"SELECT nosuch(1)", "error 1305 42000"},
		"T07 ambiguous column":   {"SELECT id FROM sales a JOIN sales b", "error 1052 23000"},
		"T08 only full group by": {"SELECT id, COUNT(*) FROM sales", "error 1140 42000"},
		"T18 hint":               {"SELECT /*+ MAX_EXECUTION_TIME(50) */ COUNT(*) FROM shop.numbers a, shop.numbers b, shop.numbers c, shop.numbers d", "error 3024 HY000"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, ask(t, db, c.statement).outcome) })
	}
	t.Run("T08 of a group", func(t *testing.T) {
		require.Equal(t, "error 1055 42000", ask(t, db, "SELECT id, amount FROM sales GROUP BY id").outcome)
	})
	t.Run("T09 keys are information", func(t *testing.T) { // Delta knows no unique keys: what MySQL refuses with 1062 is a second row
		require.Equal(t, "ok", ask(t, db, "INSERT INTO keyed VALUES (1)").outcome)
		require.Equal(t, [][]string{{"2"}}, s.Rows(t, "SELECT COUNT(*) FROM keyed"))
	})
	t.Run("T10 access denied", func(t *testing.T) {
		require.Equal(t, "error 1045 28000", login(t, s, "ann:wrong@tcp(%s)/?tls=skip-verify"))
	})
	t.Run("T11 unknown database at login", func(t *testing.T) { require.Equal(t, "error 1049 42000", login(t, s, "root@tcp(%s)/nosuch")) })
	t.Run("T12 type of sums", func(t *testing.T) {
		rows, err := db.Query("SELECT SUM(amount), AVG(amount) FROM sales")
		require.NoError(t, err)
		types, err := rows.ColumnTypes()
		require.NoError(t, err)
		for i, digits := range []int64{2, 6} {
			require.Equal(t, "DECIMAL", types[i].DatabaseTypeName())
			_, scale, _ := types[i].DecimalSize()
			require.Equal(t, digits, scale)
		}
		require.NoError(t, rows.Close())
	})
	t.Run("T13 sums are exact", func(t *testing.T) {
		require.Equal(t, [][]string{{"0.30", "0.150000", "1"}}, s.Rows(t, "SELECT SUM(amount), AVG(amount), SUM(amount) = 0.30 FROM sales"))
	})
	t.Run("T15 EXPLAIN by a driver", func(t *testing.T) {
		require.NotEmpty(t, s.Rows(t, "EXPLAIN SELECT * FROM sales"))
		prepared, err := db.Prepare("EXPLAIN SELECT * FROM sales WHERE id = ?")
		require.NoError(t, err)
		defer prepared.Close()
		rows, err := prepared.Query(1)
		require.NoError(t, err)
		read, err := harness.TextRows(rows)
		require.NoError(t, err)
		require.NotEmpty(t, read)
	})
	t.Run("T18 variable", func(t *testing.T) {
		one, err := sql.Open("mysql", "root@tcp("+s.Addr+")/shop?max_execution_time=50")
		require.NoError(t, err)
		defer one.Close()
		require.Equal(t, "error 3024 HY000", ask(t, one, "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d").outcome)
	})
	t.Run("T19 a client that leaves", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		left := make(chan error, 1)
		go func() {
			_, err := db.QueryContext(ctx, "SELECT COUNT(*) /* leaves */ FROM shop.numbers a, shop.numbers b, shop.numbers c, shop.numbers d")
			left <- err
		}()
		running := func() bool {
			return len(s.Rows(t, "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT COUNT(*) /* leaves%'")) > 0
		}
		require.Eventually(t, running, time.Minute, 10*time.Millisecond)
		cancel()
		require.ErrorIs(t, <-left, context.Canceled)
		require.Eventually(t, func() bool { return !running() }, time.Minute, 10*time.Millisecond)
	})
	t.Run("T31 lengths of characters", func(t *testing.T) {
		require.Empty(t, s.Rows(t, "SELECT * FROM information_schema.COLLATIONS c LEFT JOIN information_schema.CHARACTER_SETS s USING (CHARACTER_SET_NAME) WHERE MAXLEN IS NULL"))
	})
	t.Run("T33 SHOW GRANTS", func(t *testing.T) {
		s.Exec(t, "CREATE USER eve")
		s.Exec(t, "GRANT SELECT ON shop.every TO eve")
		eve, err := sql.Open("mysql", "eve@tcp("+s.Addr+")/")
		require.NoError(t, err)
		defer eve.Close()
		for _, form := range []string{"SHOW GRANTS", "SHOW GRANTS FOR CURRENT_USER", "SHOW GRANTS FOR CURRENT_USER()"} {
			rows, err := eve.Query(form)
			require.NoError(t, err, form)
			read, err := harness.TextRows(rows)
			require.NoError(t, err)
			require.Equal(t, [][]string{{"GRANT USAGE ON *.* TO `eve`@`%`"}, {"GRANT SELECT ON `shop`.`every` TO `eve`@`%`"}}, read, form)
		}
	})
	t.Run("T35 grains", func(t *testing.T) {
		require.Equal(t, [][]string{{"2024-03-05 11:00:00", "2024-03-04", "2024-01-01", "2024-03-01"}}, s.Rows(t, `SELECT DATE_ADD(DATE(c), INTERVAL (HOUR(c)*60*60) SECOND),
			DATE(DATE_SUB(c, INTERVAL DAYOFWEEK(DATE_SUB(c, INTERVAL 1 DAY)) - 1 DAY)), MAKEDATE(YEAR(c), 1) + INTERVAL QUARTER(c) QUARTER - INTERVAL 1 QUARTER,
			DATE(DATE_SUB(c, INTERVAL DAYOFMONTH(c) - 1 DAY)) FROM (SELECT CAST('2024-03-05 11:12:13' AS DATETIME) AS c) d`))
	})
	t.Run("T43 SQL_SELECT_LIMIT", func(t *testing.T) {
		for limit, want := range map[string]int{"1": 1, "DEFAULT": 2} {
			one, err := sql.Open("mysql", "root@tcp("+s.Addr+")/lake?sql_select_limit="+limit) // the limit is the connection's: no other test may get it
			require.NoError(t, err)
			defer one.Close()
			rows, err := one.Query("SELECT id FROM sales")
			require.NoError(t, err)
			read, err := harness.TextRows(rows)
			require.NoError(t, err)
			require.Len(t, read, want, limit)
		}
	})
	t.Run("T44 sizes of tables", func(t *testing.T) {
		rows := s.Rows(t, "SELECT TABLE_ROWS, DATA_LENGTH > 0, CREATE_TIME IS NOT NULL, UPDATE_TIME >= CREATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'numbers'")
		require.Equal(t, [][]string{{"1000", "1", "1", "1"}}, rows)
	})
	t.Run("T46 texts compare by bytes", func(t *testing.T) {
		require.Equal(t, [][]string{{"0"}}, s.Rows(t, "SELECT 'A' = 'a'"))
		require.Equal(t, [][]string{{"1"}}, s.Rows(t, "SELECT id FROM sales WHERE Item = 'a'"))
		require.Equal(t, [][]string{{"1"}, {"2"}}, s.Rows(t, "SELECT id FROM sales WHERE Item = 'a' COLLATE utf8mb4_0900_ai_ci ORDER BY id"))
	})
	t.Run("T47 names of columns in any case", func(t *testing.T) {
		require.Equal(t, [][]string{{"0"}}, s.Rows(t, "SELECT @@lower_case_table_names"))
		require.Equal(t, [][]string{{"a"}}, s.Rows(t, "SELECT ITEM FROM sales WHERE ID = 1"))
	})
	t.Run("T49 upkeep of tables", func(t *testing.T) {
		for _, statement := range []string{"FLUSH PRIVILEGES", "ANALYZE TABLE sales", "CHECKSUM TABLE sales", "OPTIMIZE TABLE sales"} {
			require.NotContains(t, ask(t, db, statement).outcome, "error", statement)
		}
	})
	t.Run("T50 comments before our own statements", func(t *testing.T) {
		for _, comment := range []string{"/* ApplicationName=DBeaver 24.2 - Main */ ", "/*!50002 ", "-- a line\n", "# a line\n"} {
			end := ""
			if strings.HasPrefix(comment, "/*!") {
				end = " */"
			}
			for _, statement := range []string{"SHOW STREAMS", "DESCRIBE HISTORY sales", "OPTIMIZE sales", "SHOW TBLPROPERTIES sales"} {
				require.NotContains(t, ask(t, db, comment+statement+end).outcome, "error", comment+statement)
			}
		}
	})
}

func TestZonesOfTheSystem(t *testing.T) { // T34: Metabase asks how far from UTC the server is
	dir := t.TempDir()
	cmd := harness.Command("serve", "--warehouse", "./lake", "--listen", "127.0.0.1:0", "--data-dir", "./data")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TZ=America/New_York")
	p := harness.Await(t, cmd)
	require.Equal(t, [][]string{{"+00:00", "00:00"}}, p.Rows(t,
		"SELECT @@GLOBAL.time_zone AS global_tz, time_format(timediff(now(), convert_tz(now(), @@GLOBAL.time_zone, '+00:00')), '%H:%i') AS offset"))
	require.Equal(t, [][]string{{"2024-07-01 08:00:00"}}, p.Rows(t, "SELECT CAST(CONVERT_TZ('2024-07-01 12:00:00', 'UTC', 'America/New_York') AS DATETIME)"))
}

// login tries to log in by a DSN and says how that ends.
func login(t *testing.T, s *shop, dsn string) string {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf(dsn, s.Addr))
	require.NoError(t, err)
	defer db.Close()
	err = db.Ping()
	var e *mysql.MySQLError
	require.True(t, errors.As(err, &e), "%v", err)
	return outcomeOf(t, e)
}

// handshakeVersion is the server's version in the first packet.
func handshakeVersion(t *testing.T, addr string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	header := make([]byte, 4)
	_, err = io.ReadFull(conn, header)
	require.NoError(t, err)
	payload := make([]byte, binary.LittleEndian.Uint32(append(header[:3:3], 0)))
	_, err = io.ReadFull(conn, payload)
	require.NoError(t, err)
	version, _, _ := strings.Cut(string(payload[1:]), "\x00")
	return version
}

// TestTheListIsWhole reads docs/clients.md: each number from T01 to T50 stands there, and the tests it names are there.
func TestTheListIsWhole(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	require.NoError(t, err)
	row := regexp.MustCompile(`(?m)^\| T(\d\d) \| .* \| (.*) \|$`)
	named := regexp.MustCompile("`([a-z/]+) (Test[A-Za-z0-9]+)(?:/([^`]+))?`")
	rows := row.FindAllStringSubmatch(string(page), -1)
	require.Len(t, rows, 50)
	for i, r := range rows {
		require.Equal(t, fmt.Sprintf("%02d", i+1), r[1])
		tests := named.FindAllStringSubmatch(r[2], -1)
		require.NotEmpty(t, tests, "T%s", r[1])
		for _, n := range tests {
			files, err := filepath.Glob(filepath.Join("..", "..", n[1], "*_test.go"))
			require.NoError(t, err)
			found := false
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				found = found || strings.Contains(string(text), "func "+n[2]+"(") && (n[3] == "" || strings.Contains(string(text), `"`+n[3]))
			}
			require.True(t, found, "T%s: there is no %s %s/%s", r[1], n[1], n[2], n[3])
		}
	}
}
