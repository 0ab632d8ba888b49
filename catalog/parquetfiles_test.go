package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParquetAndTextFiles(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE src (id INT, name VARCHAR(10), at DATETIME(6), price DECIMAL(8,2), tags ARRAY<STRING>)",
		"INSERT INTO src VALUES (1, 'ann', '2024-01-02 03:04:05.6', 1.5, '[\"a\", \"b\"]'), (2, NULL, NULL, -2.25, NULL)")
	want := []string{`1|ann|2024-01-02 03:04:05.600000|1.50|["a","b"]`, "2|NULL|NULL|-2.25|NULL"}
	require.Equal(t, want, l.rows("SELECT * FROM src ORDER BY id"))
	files := "read_files('./lake/lake/src', format => 'parquet')"
	require.Equal(t, want, l.rows("SELECT * FROM "+files+" ORDER BY id"))
	require.Equal(t, []string{"ann"}, l.rows("SELECT name FROM "+files+" WHERE price > 0"))
	l.exec("CREATE STREAM s INTO streamed WITH CHECKPOINT './cp/s' TRIGGER AVAILABLE NOW AS SELECT * FROM STREAM "+files, "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, want, l.rows("SELECT * FROM streamed ORDER BY id"))
	l.exec("CREATE TABLE copied (id BIGINT, name VARCHAR(10), price DECIMAL(10,2), at DATETIME(6), tags ARRAY<STRING>)")
	require.Equal(t, []string{"2|2|0"}, l.rows("COPY INTO copied FROM './lake/lake/src' FILEFORMAT = PARQUET"))
	require.Equal(t, want, l.rows("SELECT id, name, at, price, tags FROM copied ORDER BY id"))

	l.write("logs/a.log", "GET /a 200\nGET /b 404\n")
	require.Equal(t, []string{"GET /b 404"}, l.rows("SELECT value FROM read_files('./logs', format => 'text') WHERE value LIKE '% 404'"))
	l.exec(`CREATE STREAM logs INTO logged WITH CHECKPOINT './cp/logs' TRIGGER AVAILABLE NOW AS
		SELECT SUBSTRING_INDEX(value, ' ', -1) AS code FROM STREAM read_files('./logs', format => 'text')`, "WAIT FOR STREAM logs TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"200", "404"}, l.rows("SELECT code FROM logged ORDER BY code"))
	l.refused("SELECT * FROM read_files('./logs', format => 'text', header => true)", "header is one of format => 'csv'")
}
