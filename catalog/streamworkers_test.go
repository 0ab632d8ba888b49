package catalog

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManyWorkersOfASelect: what a SELECT and a table's rules make of a batch that several workers read is what one makes of it.
func TestManyWorkersOfASelect(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	l := newLab(t)
	const rows = 2200
	pad := strings.Repeat("p", 4000)
	for f, name := range []string{"a", "b"} {
		var text strings.Builder
		text.WriteString("id,day,pad\n")
		for i := range rows {
			fmt.Fprintf(&text, "%d,2024-01-%02d,%s\n", f*rows+i, i%5+1, pad)
		}
		l.write("in/"+name+".csv", text.String())
	}
	l.exec("CREATE TABLE dim (k INT, label STRING)", "INSERT INTO dim VALUES (0, 'even'), (1, 'odd')")
	load := func(target, query string) {
		l.exec("CREATE STREAM s_"+target+" INTO "+target+" WITH CHECKPOINT './cp_"+target+"' TRIGGER AVAILABLE NOW AS "+query, "WAIT FOR STREAM s_"+target+" TIMEOUT 300 SECONDS")
	}
	const from = " FROM STREAM read_files('./in', format => 'csv', header => true, schema => 'id INT, day DATE, pad STRING')"
	all := fmt.Sprintf("%d|%d|%d", 2*rows, 2*rows, rows*(2*rows-1))
	for _, c := range []struct{ name, table, query string }{
		{"made", "(id INT CHECK (id >= 0), day DATE, month INT GENERATED ALWAYS AS (MONTH(day)), n INT DEFAULT 7) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "SELECT id, day" + from},
		{"counted", "(nr BIGINT GENERATED ALWAYS AS IDENTITY, id INT)", "SELECT id" + from},
		{"parted", "(id INT, day DATE) PARTITIONED BY (day)", "SELECT id, day" + from},
		{"tracked", "(id INT) TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "SELECT id" + from},
		{"named", "", "SELECT id, day, _metadata.file_name AS file, CONCAT(id, pad) AS text" + from},
		{"joined", "", "SELECT id, label" + from + " JOIN dim ON id % 2 = k"},
	} {
		if c.table != "" {
			l.exec("CREATE TABLE " + c.name + " " + c.table)
		}
		load(c.name, c.query)
		require.Equal(t, []string{all}, l.rows("SELECT COUNT(*), COUNT(DISTINCT id), CAST(SUM(id) AS SIGNED) FROM "+c.name), c.name)
	}
	require.Equal(t, []string{fmt.Sprintf("%d|1|7", 2*rows)}, l.rows("SELECT COUNT(*), MAX(month), MIN(n) FROM made"))
	require.Equal(t, []string{fmt.Sprint(2 * rows)}, l.rows("SELECT COUNT(*) FROM TABLE_CHANGES('made', 1)"))
	require.Equal(t, []string{fmt.Sprint(2 * rows)}, l.rows("SELECT COUNT(DISTINCT nr) FROM counted"))
	require.Equal(t, []string{"a.csv|2200", "b.csv|2200"}, l.rows("SELECT file, COUNT(*) FROM named WHERE (id < 2200) = (file = 'a.csv') GROUP BY file ORDER BY file"))
	require.Equal(t, []string{"even|2200", "odd|2200"}, l.rows("SELECT label, COUNT(*) FROM joined GROUP BY label ORDER BY label"))
	l.exec("CREATE TABLE copied (id INT, day DATE, pad STRING)")
	require.Equal(t, []string{"4400|4400|0"}, l.rows("COPY INTO copied FROM './in'"+withHeader))
	require.Contains(t, l.rows("DESCRIBE HISTORY copied")[0], `"numOutputRows":"4400"`)
	// A row of the older file, which is whole first: no batch but the refused one can have come before it.
	l.exec("CREATE TABLE strict (id INT CHECK (id <> 2100))")
	l.exec("CREATE STREAM strict_s INTO strict WITH CHECKPOINT './cp_strict' TRIGGER AVAILABLE NOW AS SELECT id" + from)
	l.refused("WAIT FOR STREAM strict_s TIMEOUT 300 SECONDS", "strict_chk_1")
	require.Equal(t, []string{"0"}, l.rows("SELECT COUNT(*) FROM strict"))
}

// TestNewColumnAmidALargeBatch: a key that the last lines of a large file have is a column of the table, and each row is there once.
func TestNewColumnAmidALargeBatch(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	l := newLab(t)
	l.write("in/first.json", "{\"id\":-1,\"pad\":\"x\"}\n")
	l.exec("CREATE STREAM s INTO t WITH CHECKPOINT './cp' ON SCHEMA CHANGE ADD COLUMNS AS SELECT * FROM STREAM read_files('./in', format => 'json')",
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	const rows = 4400
	pad := strings.Repeat("p", 4000)
	var text strings.Builder
	for i := range rows {
		extra := ""
		if i > rows-100 {
			extra = `,"late":"L"`
		}
		fmt.Fprintf(&text, "{\"id\":%d,\"pad\":\"%s\"%s}\n", i, pad, extra)
	}
	l.write("in/large.json", text.String())
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"4401|4401|99"}, l.rows("SELECT COUNT(*), COUNT(DISTINCT id), COUNT(late) FROM t"))
}
