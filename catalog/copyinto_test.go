package catalog

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/sqlext"
)

const withHeader = " FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')"

func TestCopyIntoTakesEachFileOnce(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, name VARCHAR(20), price DECIMAL(10,2))")
	l.write("in/a.csv", "id,name,price\n1,007,1.5\n2,bob,2\n")
	l.write("in/b.csv", "id,name,price\n3,cat,3.25\n")
	copyIn := "COPY INTO t FROM './in'" + withHeader
	require.Equal(t, []string{"3|3|0"}, l.rows(copyIn))
	require.Equal(t, []string{"1|007|1.50", "2|bob|2.00", "3|cat|3.25"}, l.rows("SELECT * FROM t ORDER BY id"), "in the table's types")
	versions := len(l.rows("DESCRIBE HISTORY t"))
	require.Equal(t, []string{"0|0|0"}, l.rows(copyIn))
	require.Len(t, l.rows("DESCRIBE HISTORY t"), versions, "nothing new, no commit")

	// The file is the same by any path, SELECT and options, and when it changes.
	l.write("in/b.csv", "id,name,price\n4,changed,4\n")
	require.NoError(t, os.Symlink(l.path("in"), l.path("link")))
	for _, again := range []string{
		"COPY INTO t FROM './in/*.csv'" + withHeader,
		"COPY INTO t FROM '" + l.path("in", "a.csv") + "'" + withHeader,
		"COPY INTO t FROM 'file:" + l.path("in") + "'" + withHeader,
		"COPY INTO t FROM './link'" + withHeader,
		"COPY INTO t (id) FROM (SELECT id + 10 FROM './in' WHERE id > 0)" + withHeader,
		"COPY INTO t FROM './in' FILEFORMAT = CSV FILES = ('a.csv', 'b.csv') FORMAT_OPTIONS (header = true, sep = ',')",
		"COPY INTO t FROM './in' FILEFORMAT = CSV PATTERN = '[ab].csv' FORMAT_OPTIONS (header = true)",
		"COPY INTO delta.`" + l.path("lake", "lake", "t") + "` FROM './in'" + withHeader,
	} {
		require.Equal(t, []string{"0|0|0"}, l.rows(again), again)
	}
	l.write("in/c.csv", "id,name,price\n5,dan,5\n")
	l.write("in/skip.txt", "id,name,price\n6,eve,6\n")
	require.Equal(t, []string{"1|1|0"}, l.rows("COPY INTO t FROM './in' FILEFORMAT = CSV PATTERN = '*.csv' FORMAT_OPTIONS (header = true)"))
	require.NoError(t, l.c.Close())

	l = openLab(t, l.dir)
	require.Equal(t, []string{"1|1|0"}, l.rows(copyIn), "behind a restart, what is new")
	require.Equal(t, []string{"5"}, l.rows("SELECT COUNT(*) FROM t"))
	require.Equal(t, []string{"5|5|0"}, l.rows(copyIn+" COPY_OPTIONS ('force' = 'true')"), "all of them, as they are now")
	require.Equal(t, []string{"0|0|0"}, l.rows(copyIn))
	require.Equal(t, []string{"1", "1", "1", "2", "2", "3", "4", "5", "5", "6", "6"}[1:], l.rows("SELECT id FROM t ORDER BY id"))
	require.Contains(t, l.rows("DESCRIBE HISTORY t")[0], `|COPY INTO|`)
	require.Contains(t, l.rows("DESCRIBE HISTORY t")[0], `"numOutputRows":"5"`)

	// Another table has files of its own, and so has the next table of the name.
	l.exec("CREATE TABLE u (id INT, name VARCHAR(20), price DECIMAL(10,2))")
	require.Equal(t, []string{"5|5|0"}, l.rows(strings.Replace(copyIn, "t", "u", 1)))
	l.exec("ALTER TABLE t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 hours')", "OPTIMIZE t", "VACUUM t RETAIN 0 HOURS")
	require.Equal(t, []string{"0|0|0"}, l.rows(copyIn))
	l.exec("DELETE FROM t")
	require.Equal(t, []string{"0|0|0"}, l.rows(copyIn), "rows that were deleted do not come back")
	l.exec("RESTORE TABLE t TO VERSION AS OF 0")
	require.Contains(t, l.rows("SHOW WARNINGS")[0], "COPY_OPTIONS ('force' = 'true')")
	require.Equal(t, []string{"0|0|0"}, l.rows(copyIn))
	l.exec("CREATE OR REPLACE TABLE t (id INT, name VARCHAR(20), price DECIMAL(10,2))")
	require.Equal(t, []string{"5|5|0"}, l.rows(copyIn), "a table that was replaced is a new one")
	require.Equal(t, []string{"0|0|0"}, l.rows(copyIn))
	l.exec("DROP TABLE t")
	require.NoDirExists(t, l.path("lake", "lake", "t"))
	l.exec("CREATE TABLE t (id INT, name VARCHAR(20), price DECIMAL(10,2))")
	require.Equal(t, []string{"5|5|0"}, l.rows(copyIn))
}

func TestCopyIntoColumns(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, a INT NOT NULL, b STRING DEFAULT 'none', twice INT GENERATED ALWAYS AS (a * 2), CONSTRAINT small CHECK (a < 100)) USING DELTA")
	l.write("in/1.csv", "a\n1\n")
	require.Equal(t, []string{"1|1|0"}, l.rows("COPY INTO t FROM './in'"+withHeader))
	l.write("in/2.csv", "B,A\nx,2\n")
	require.Equal(t, []string{"1|1|0"}, l.rows("COPY INTO t FROM './in'"+withHeader))
	l.write("bare/3.csv", "y;3\nz;4\n")
	require.Equal(t, []string{"2|2|0"}, l.rows("COPY INTO t (b, a) FROM './bare' FILEFORMAT = CSV FORMAT_OPTIONS ('delimiter' = ';')"))
	l.write("bare/4.csv", "w;5\n")
	require.Equal(t, []string{"1|1|0"},
		l.rows("COPY INTO t FROM (SELECT CAST(_c1 AS SIGNED) + 1 AS a, upper(_c0) b FROM './bare' WHERE _c1 > 0) FILEFORMAT = CSV FORMAT_OPTIONS (sep = ';')"))
	require.Equal(t, []string{"1|none|2", "2|x|4", "3|y|6", "4|z|8", "6|W|12"}, l.rows("SELECT a, b, twice FROM t ORDER BY a"))
	require.Equal(t, []string{"5"}, l.rows("SELECT COUNT(DISTINCT id) FROM t"))

	l.write("bare/5.csv", "v;6\n")
	l.refused("COPY INTO t FROM (SELECT _c1 * 10000000000 AS a FROM './bare') FILEFORMAT = CSV FORMAT_OPTIONS (sep = ';')", `column "a"`, "60000000000", "integer")

	l.write("bad/null.csv", "a,b\n,1\n")
	l.refused("COPY INTO t FROM './bad/null.csv'"+withHeader, "COPY INTO lake.t", "NOT NULL", "a")
	l.write("bad/check.csv", "a,b\n100,1\n")
	l.refused("COPY INTO t FROM './bad/check.csv'"+withHeader, "COPY INTO lake.t", "small")
	l.write("bad/extra.csv", "a,b,more\n7,b,2024-01-02\n")
	l.refused("COPY INTO t FROM './bad/extra.csv'"+withHeader, "more", "mergeSchema")
	require.Equal(t, []string{"1|1|0"}, l.rows("COPY INTO t FROM './bad/extra.csv'"+withHeader+" COPY_OPTIONS ('mergeSchema' = 'true')"))
	require.Equal(t, []string{"7|b|2024-01-02"}, l.rows("SELECT a, b, more FROM t WHERE more IS NOT NULL"))
	l.refused("COPY INTO t FROM './bare' FILEFORMAT = CSV COPY_OPTIONS ('force' = 'true')", "_c0", "'header' = 'true'")
	l.refused("COPY INTO t (a) FROM './bare' FILEFORMAT = CSV FORMAT_OPTIONS (sep = ';') COPY_OPTIONS ('force' = 'true')", "1 columns are named", "gives 2")

	l.exec("CREATE TABLE n (id INT, tags ARRAY<STRING>, day DATE, region STRING) USING DELTA")
	l.write("nested/region=eu/1.csv", "id|tags|day\n1|[\"a\",\"b\"]|03.02.2024\n")
	require.Equal(t, []string{"1|1|0"}, l.rows("COPY INTO n FROM './nested' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true', 'sep' = '|', 'quote' = '', 'dateFormat' = 'dd.MM.yyyy')"))
	require.Equal(t, []string{`1|["a","b"]|2024-02-03|eu`}, l.rows("SELECT * FROM n"))
}

func TestCopyIntoBadRows(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, day DATE)")
	l.write("in/a.csv", "id,day\n1,2024-01-02\n")
	l.write("in/b.csv", "id,day\n2,2024-01-02\nthree,2024-01-02\n")
	copyIn := "COPY INTO t FROM './in'" + withHeader
	for range 2 {
		l.refused(copyIn, "COPY INTO lake.t", "b.csv", "line 3", "three", "'mode' = 'PERMISSIVE'", "Nothing was committed")
	}
	require.Empty(t, l.rows("SELECT * FROM t"))
	require.Len(t, l.rows("DESCRIBE HISTORY t"), 1)
	parquet, err := os.ReadDir(l.path("lake", "lake", "t"))
	require.NoError(t, err)
	require.Len(t, parquet, 1, "only the log: %v", parquet)
	l.write("in/b.csv", "id,day\n2,2024-01-02\n3,2024-01-02\n")
	require.Equal(t, []string{"3|3|0"}, l.rows(copyIn), "a file that was put right is a new one, for nothing was committed")

	l.write("in/c.csv", "id,day\nfour,2024-01-02\n5,2024-01-02\n")
	require.Equal(t, []string{"2|2|0"}, l.rows("COPY INTO t FROM './in' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true', 'mode' = 'PERMISSIVE')"))
	require.Contains(t, l.rows("SHOW WARNINGS")[0], "c.csv line 2")
	l.write("in/d.csv", "id,day\nsix,2024-01-02\n7,2024-01-02\n")
	require.Equal(t, []string{"1|1|0"}, l.rows("COPY INTO t FROM './in' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true', 'mode' = 'DROPMALFORMED')"))
	require.Equal(t, []string{"NULL", "1", "2", "3", "5", "7"}, l.rows("SELECT id FROM t ORDER BY id"))
	l.write("in/e.csv", "id,day\n8,2024-01-02\n")
	l.refused("COPY INTO t FROM (SELECT id, CAST(concat(day, 'x') AS DATE) AS day FROM './in')"+withHeader, "COPY INTO lake.t", "SELECT")
}

func TestCopyIntoOddNames(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)")
	for _, folder := range []string{"a b", "p%20q", "ünï#", "br[ab]", "st*r", `back\sl`} {
		l.exec("TRUNCATE TABLE t")
		l.write(folder+"/x%41 y.csv", "a\n1\n")
		l.write(folder+"/z,[1].csv", "a\n2\n")
		from := "COPY INTO t FROM " + sqlext.QuoteString("./"+folder)
		require.Equal(t, []string{"1|1|0"}, l.rows(from+" FILEFORMAT = CSV FILES = ('x%41 y.csv') FORMAT_OPTIONS (header = true)"), folder)
		require.Equal(t, []string{"1|1|0"}, l.rows(from+" FILEFORMAT = CSV FILES = ('z,[1].csv', 'x%41 y.csv') FORMAT_OPTIONS (header = true)"), folder)
		one := "COPY INTO t FROM " + sqlext.QuoteString("./"+globLiteral.Replace(folder)+"/x%41 y.csv") + withHeader
		require.Equal(t, []string{"0|0|0"}, l.rows(one), folder)
		require.Equal(t, []string{"1|1|0"}, l.rows(one+" COPY_OPTIONS ('force' = 'true')"), folder)
		require.Equal(t, []string{"1", "1", "2"}, l.rows("SELECT * FROM t ORDER BY a"), folder)
	}
}

func TestCopyIntoRefusals(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)")
	l.write("in/a.csv", "a\n1\n")
	for statement, part := range map[string]string{
		"COPY INTO t FROM './in' FILEFORMAT = AVRO":                                            "csv, json, parquet and text are",
		"COPY INTO t FROM './in'" + withHeader + " COPY_OPTIONS ('forse' = 'true')":            "'mergeSchema'",
		"COPY INTO t FROM './in'" + withHeader + " COPY_OPTIONS ('force' = 'yes')":             "give 'true' or 'false'",
		"COPY INTO t FROM './in' FILEFORMAT = CSV FORMAT_OPTIONS ('headr' = 'true')":           "did you mean header",
		"COPY INTO t FROM './in' FILEFORMAT = CSV FORMAT_OPTIONS ('maxFilesPerTrigger' = '1')": "leave it out",
		"COPY INTO t FROM './in' FILEFORMAT = CSV FORMAT_OPTIONS ('mergeSchema' = 'false')":    "all files",
		"COPY INTO t FROM './nowhere'" + withHeader:                                            "[PATH_NOT_FOUND]",
		"COPY INTO t FROM './nowhere/*.csv'" + withHeader:                                      "[PATH_NOT_FOUND]",
		"COPY INTO t FROM './in' FILEFORMAT = CSV FILES = ('a.csv', 'z.csv')":                  "z.csv",
		"COPY INTO t FROM './in' FILEFORMAT = CSV FILES = ('./a.csv')":                         "write it as 'name.csv'",
		"COPY INTO t FROM './in' FILEFORMAT = CSV FILES = ('a.csv') PATTERN = '*'":             "not both",
		"COPY INTO t FROM '/etc'" + withHeader:                                                 "--allow-path",
		"COPY INTO t FROM './lake/lake/t'" + withHeader:                                        "in one another",
		"COPY INTO t FROM './{lake,in}/lake'" + withHeader:                                     "in one another",
		"COPY INTO nobody FROM './in'" + withHeader:                                            "table not found",
		"COPY INTO t FROM (SELECT count(*) AS a FROM './in')" + withHeader:                     "INSERT INTO t SELECT",
		"COPY INTO t FROM (SELECT a FROM './in' ORDER BY a LIMIT 1)" + withHeader:              "INSERT INTO t SELECT",
		"COPY INTO t FROM (SELECT nope AS a FROM './in')" + withHeader:                         "nope",
	} {
		l.refused(statement, part)
	}
	l.exec("BEGIN")
	l.refused("COPY INTO t FROM './in'"+withHeader, "transaction", "COMMIT")
	l.exec("ROLLBACK")
	l.exec("SET autocommit = 0")
	require.Equal(t, []string{"1|1|0"}, l.rows("COPY INTO t FROM './in'"+withHeader))
	require.NoError(t, os.MkdirAll(l.path("empty"), 0o755))
	require.Equal(t, []string{"0|0|0"}, l.rows("COPY INTO t FROM './empty'"+withHeader))
	require.Equal(t, []string{"0|0|0"}, l.rows("COPY INTO t FROM './in/*.none'"+withHeader))
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM t"))
	l.write("in/b.csv", "a\n2\n")
	l.bound("COPY INTO t FROM ? FILEFORMAT = CSV FORMAT_OPTIONS ('header' = ?)", "./in", "true")
	require.Equal(t, []string{"1", "2"}, l.rows("SELECT * FROM t ORDER BY a"))
}

func TestCopyIntoOfText(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE notes (value STRING)")
	l.write("in/a.txt", "one\ntwo\n")
	require.Equal(t, []string{"2|2|0"}, l.rows("COPY INTO notes FROM './in' FILEFORMAT = TEXT"))
	require.Equal(t, []string{"one", "two"}, l.rows("SELECT * FROM notes ORDER BY value"))
}
