package integration

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// Statements that write, as Go programs send them: prepared, with parameters in the text, and with CLIENT_FOUND_ROWS.
func TestStatementsThatWriteByDriver(t *testing.T) {
	p := harness.Start(t, t.TempDir())
	for i, dsn := range []string{"", "?interpolateParams=true", "?clientFoundRows=true", "?interpolateParams=true&clientFoundRows=true&parseTime=true"} {
		db, err := sql.Open("mysql", "root@tcp("+p.Addr+")/lake"+dsn)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		found := i >= 2
		exec := func(query string, args ...any) (affected, id int64) {
			t.Helper()
			r, err := db.Exec(query, args...)
			require.NoError(t, err, "%s\n%s", query, p.Log)
			affected, err = r.RowsAffected()
			require.NoError(t, err)
			id, err = r.LastInsertId()
			require.NoError(t, err)
			return affected, id
		}
		table := fmt.Sprintf("t%d", i)
		exec("CREATE TABLE " + table + " (id BIGINT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(20), d DATE, at DATETIME(6), v DOUBLE)")
		day := time.Date(2024, 1, 2, 10, 0, 0, 500_000_000, time.UTC)
		affected, id := exec("INSERT INTO "+table+" (s, d, at, v) VALUES (?, ?, ?, ?), (?, ?, ?, ?)", "it's", "2024-01-02", day, 1.5, nil, nil, nil, nil)
		require.EqualValues(t, []int64{2, 1}, []int64{affected, id}, dsn)
		affected, id = exec("INSERT INTO "+table+" (s) SELECT CONCAT(d, '') FROM "+table+" WHERE v > ?", 1)
		require.EqualValues(t, []int64{1, 3}, []int64{affected, id}, dsn)

		affected, id = exec("UPDATE "+table+" SET v = ? WHERE id IN (?, ?)", 1.5, 1, 2)
		want := int64(1)
		if found {
			want = 2
		}
		require.EqualValues(t, []int64{want, 0}, []int64{affected, id}, dsn)
		affected, _ = exec("UPDATE "+table+" SET s = ? WHERE id = ?", "it's", 1)
		require.EqualValues(t, want-1, affected, dsn)
		affected, _ = exec("MERGE INTO "+table+" t USING (SELECT ? AS k, ? AS w) q ON t.id = q.k WHEN MATCHED THEN UPDATE SET s = w", 3, "merged")
		require.EqualValues(t, 1, affected, dsn)
		affected, _ = exec("DELETE FROM "+table+" WHERE s IS NULL AND id > ?", 0)
		require.EqualValues(t, 1, affected, dsn)

		var got []string
		rows, err := db.Query("SELECT CONCAT_WS('|', id, s, d, at, v) FROM " + table + " ORDER BY id")
		require.NoError(t, err)
		for rows.Next() {
			var s string
			require.NoError(t, rows.Scan(&s))
			got = append(got, s)
		}
		require.NoError(t, rows.Err())
		require.Equal(t, []string{"1|it's|2024-01-02|2024-01-02 10:00:00.500000|1.5", "3|merged"}, got, dsn)

		_, err = db.Exec("INSERT INTO "+table+" (d) VALUES (?)", "2024-02-30")
		require.ErrorContains(t, err, "Error 1292 (22007): Incorrect date value: '2024-02-30' for column 'd' at row 1")
		_, err = db.Exec("UPDATE " + table + " SET v = 1 / 0")
		require.ErrorContains(t, err, "Error 1365 (22012): Division by 0")
	}
}
