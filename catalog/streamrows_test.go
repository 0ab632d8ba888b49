package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// castStream makes a stream over in/ that ends, and returns what waiting for it gave.
func (l *lab) castStream(name, onError, columns string) error {
	l.t.Helper()
	l.exec(fmt.Sprintf("CREATE STREAM s_%s INTO %s WITH CHECKPOINT './cp/%s' TRIGGER AVAILABLE NOW %s AS SELECT %s", name, name, name, onError, columns))
	_, err := l.try("WAIT FOR STREAM s_%s TIMEOUT 300 SECONDS", name)
	return err
}

// errorRows are the columns and messages of SHOW STREAM ERRORS, and how many rows were counted.
func (l *lab) errorRows(name string) (lines []string, counted string) {
	l.t.Helper()
	lines = l.rows("SELECT CONCAT_WS('|', `COLUMN`, MESSAGE) FROM information_schema.STREAM_ERRORS WHERE STREAM_NAME = 's_" + name + "'")
	return lines, l.rows("SELECT ERROR_ROWS FROM information_schema.STREAMS WHERE STREAM_NAME = 's_" + name + "'")[0]
}

const castSource = " FROM STREAM read_files('./in', format => 'csv', header => true)"

func TestStreamCastThatFails(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,item\n1,ItemA\n2,7\n3, 8 \n4,1.5\n5,99999999999999999999\n6,\n")
	cast := "id, CAST(item AS SIGNED) AS n" + castSource

	require.NoError(t, l.castStream("permissive", "", cast))
	require.Equal(t, []string{"1|NULL", "2|7", "3|8", "4|NULL", "5|NULL", "6|NULL"}, l.rows("SELECT * FROM permissive ORDER BY id"))
	lines, counted := l.errorRows("permissive")
	require.Len(t, lines, 3)
	require.Equal(t, "3", counted)
	require.Contains(t, strings.Join(lines, "\n"), "ItemA")
	require.True(t, strings.HasPrefix(lines[0], "n|"), lines[0])

	require.NoError(t, l.castStream("skipped", "ON ERROR SKIP ROW", cast))
	require.Equal(t, []string{"2|7", "3|8", "6|NULL"}, l.rows("SELECT * FROM skipped ORDER BY id"))
	_, counted = l.errorRows("skipped")
	require.Equal(t, "3", counted)

	err := l.castStream("failed", "ON ERROR FAIL", cast)
	require.ErrorContains(t, err, "ItemA")
	require.ErrorContains(t, err, `"n"`)
	err = l.castStream("too_many", "ON ERROR PERMISSIVE MAX 2 ROWS", cast)
	require.ErrorContains(t, err, "3 malformed rows")
	require.ErrorContains(t, err, "ItemA")
}

func TestStreamConversionsThatFail(t *testing.T) {
	l := newLab(t)
	var names, texts, exprs, want, failed []string
	for i, c := range []struct {
		text, expr, want string
		fails            bool
	}{
		{"x", "CAST(v AS DOUBLE)", "NULL", true},
		{"1e3", "CAST(v AS DOUBLE)", "1000", false},
		{"1e999", "CAST(v AS DOUBLE)", "NULL", true},
		{"12abc", "CAST(v AS DOUBLE)", "NULL", true},
		{"-1", "CAST(v AS UNSIGNED)", "NULL", true},
		{"18446744073709551615", "CAST(v AS UNSIGNED)", "18446744073709551615", false},
		{"x", "CAST(v AS DECIMAL(5,2))", "NULL", true},
		{"123456", "CAST(v AS DECIMAL(5,2))", "NULL", true},
		{"1.239", "CAST(v AS DECIMAL(5,2))", "1.24", false},
		{"2024-13-45", "CAST(v AS DATE)", "NULL", true},
		{"2024-12-31", "CAST(v AS DATE)", "2024-12-31", false},
		{"soon", "CAST(v AS DATETIME)", "NULL", true},
		{"1.6", "CAST(CAST(v AS DOUBLE) AS SIGNED)", "2", false},
		{"x", "v + 1", "NULL", true},
		{"x", "ABS(v)", "NULL", true},
		{"x", "COALESCE(CAST(v AS SIGNED), -1)", "-1", true},
		{"x", "CASE WHEN v REGEXP '^[0-9]+$' THEN CAST(v AS SIGNED) END", "NULL", false},
		{"x", "CONVERT(v, SIGNED) + CAST(v AS DOUBLE)", "NULL", true},
	} {
		name := fmt.Sprintf("v%d", i)
		names, texts, want = append(names, name+" STRING"), append(texts, c.text), append(want, c.want)
		exprs = append(exprs, strings.NewReplacer("(v", "("+name, "v +", name+" +", "v REGEXP", name+" REGEXP").Replace(c.expr)+fmt.Sprintf(" AS n%d", i))
		if c.fails {
			failed = append(failed, fmt.Sprintf("n%d", i))
		}
	}
	l.write("in/a.csv", strings.Join(texts, ";")+"\n")
	require.NoError(t, l.castStream("t", "", strings.Join(exprs, ", ")+
		" FROM STREAM read_files('./in', format => 'csv', sep => ';', schema => '"+strings.Join(names, ", ")+"')"))
	require.Equal(t, strings.Join(want, "|"), l.rows("SELECT * FROM t")[0])
	lines, counted := l.errorRows("t")
	require.Equal(t, "1", counted)
	var columns []string
	for _, line := range lines {
		column, _, _ := strings.Cut(line, "|")
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
	}
	require.ElementsMatch(t, failed, columns)
}

func TestStreamCastInConditions(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,item\n1,a\n2,b\n3,7\n4,c\n")
	l.exec("CREATE TABLE dim (n BIGINT, label VARCHAR(10))", "INSERT INTO dim VALUES (0, 'zero'), (7, 'seven')")
	require.NoError(t, l.castStream("filtered", "", "id, item"+castSource+" WHERE CAST(item AS SIGNED) < 10"))
	require.Equal(t, []string{"3|7"}, l.rows("SELECT * FROM filtered"))
	_, counted := l.errorRows("filtered")
	require.Equal(t, "3", counted)
	require.NoError(t, l.castStream("skipped", "ON ERROR SKIP ROW", "id, item"+castSource+" WHERE CAST(item AS SIGNED) IS NULL OR id = 3"))
	require.Equal(t, []string{"3|7"}, l.rows("SELECT * FROM skipped"))
	require.NoError(t, l.castStream("joined", "", "q.id, d.label FROM (SELECT id, CAST(item AS SIGNED) AS n"+castSource+") q JOIN dim d ON d.n = q.n"))
	require.Equal(t, []string{"3|seven"}, l.rows("SELECT * FROM joined"))
	_, counted = l.errorRows("joined")
	require.Equal(t, "3", counted)
	require.NoError(t, l.castStream("on_cast", "", "s.id, d.label"+castSource+" s JOIN dim d ON d.n = CAST(s.item AS SIGNED)"))
	require.Equal(t, []string{"3|seven"}, l.rows("SELECT * FROM on_cast"))
}

func TestStreamCastOfManyRows(t *testing.T) {
	l := newLab(t)
	var csv strings.Builder
	csv.WriteString("id,item\n")
	for i := range 10000 {
		fmt.Fprintf(&csv, "%d,x%d\n", i, i)
	}
	l.write("in/a.csv", csv.String())
	require.NoError(t, l.castStream("many", "", "id, CAST(item AS SIGNED) AS n"+castSource))
	require.Equal(t, []string{"10000|0"}, l.rows("SELECT COUNT(*), COUNT(n) FROM many"))
	lines, counted := l.errorRows("many")
	require.Len(t, lines, 200)
	require.Equal(t, "10000", counted)
}

func TestStreamDividesIntegers(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id\n1\n2\n")
	require.NoError(t, l.castStream("halves", "", "id/2 AS h"+castSource))
	require.Equal(t, []string{"0.5000", "1.0000"}, l.rows("SELECT * FROM halves ORDER BY h"))
	require.Equal(t, []string{"h|decimal(14,4)|YES||NULL|"}, l.rows("DESCRIBE halves"))
	require.NoError(t, l.castStream("wide", "", "id, CAST('9999999999999999999999999999999999' AS DECIMAL(65,0)) * 10 * id / 2 AS h"+castSource))
	require.Equal(t, []string{"1|NULL", "2|NULL"}, l.rows("SELECT id, h FROM wide ORDER BY id"))
	_, counted := l.errorRows("wide")
	require.Equal(t, "2", counted)
}

func TestInsertSelectIsStrict(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,item\n1,x\n2,5\n")
	l.exec("CREATE TABLE t (a BIGINT)", "INSERT INTO t SELECT CAST('7' AS SIGNED)")
	l.refused("INSERT INTO t SELECT CAST('x' AS SIGNED)", "'x'")
	l.refused("INSERT INTO t SELECT CAST(item AS SIGNED) FROM read_files('./in', format => 'csv', header => true)", "x")
	l.refused("CREATE TABLE made AS SELECT CAST(item AS SIGNED) AS a FROM read_files('./in', format => 'csv', header => true)", "x")
	l.refused("SELECT * FROM made", "made")
	require.Equal(t, []string{"7"}, l.rows("SELECT * FROM t"))
	l.exec("SET sql_mode = ''", "INSERT INTO t SELECT CAST('x' AS SIGNED)")
	require.Equal(t, []string{"0", "7"}, l.rows("SELECT * FROM t ORDER BY a"))
}

// A text goes into a nested column as the JSON that it is.
func TestStreamIntoNestedColumns(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id;doc;v\n1;{\"a\": 1.50};[1]\n2;{\"a\": \"x\"};{\n3;;\n4;{\"b\": 1};7\n")
	source := "id, doc, v FROM STREAM read_files('./in', format => 'csv', header => true, sep => ';')"
	for _, name := range []string{"permissive", "skipped", "failed"} {
		l.exec("CREATE TABLE " + name + " (id INT, doc STRUCT<a: DECIMAL(5,2)>, v VARIANT)")
	}
	require.NoError(t, l.castStream("permissive", "", source))
	require.Equal(t, []string{`1|{"a":1.50}|[1]`, "2|NULL|NULL", "3|NULL|NULL", "4|NULL|7"}, l.rows("SELECT * FROM permissive ORDER BY id"))
	lines, counted := l.errorRows("permissive")
	require.Equal(t, "2", counted)
	require.Contains(t, strings.Join(lines, "\n"), `doc|read JSON at $.a: found "\"x\"", expected decimal(5,2)`)
	require.Contains(t, strings.Join(lines, "\n"), `v|read JSON at $: found the end of the text`)
	require.NoError(t, l.castStream("skipped", "ON ERROR SKIP ROW", source))
	require.Equal(t, []string{`1|{"a":1.50}|[1]`, "3|NULL|NULL"}, l.rows("SELECT * FROM skipped ORDER BY id"))
	require.ErrorContains(t, l.castStream("failed", "ON ERROR FAIL", source), `column "doc": read JSON at $.a`)
}
