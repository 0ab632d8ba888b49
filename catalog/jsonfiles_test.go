package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJSONFiles reads and loads JSON: nested values, numbers with all their digits, and rows that do not fit.
func TestJSONFiles(t *testing.T) {
	l := newLab(t)
	l.write("in/a.json", `{"id":1,"price":12345678901234567.89,"tags":["x","y"],"at":{"lat":1.5}}`+"\n"+`{"id":9007199254740993,"tags":[]}`+"\n")
	from := "FROM read_files('./in', format => 'json'"
	require.Equal(t, []string{`1|1.2345678901234568e+16|["x","y"]|{"lat":1.5}`, "9007199254740993|NULL|[]|NULL"}, l.rows("SELECT * "+from+") ORDER BY id"))
	require.Equal(t, []string{"12345678901234567.89"}, l.rows("SELECT price "+from+", schemaHints => 'price DECIMAL(30,2)') WHERE id = 1"))
	require.Equal(t, []string{"1|y"}, l.rows("SELECT id, tags->>'$[1]' "+from+") WHERE at->>'$.lat' > 1"))
	require.Contains(t, strings.Join(l.rows("EXPLAIN SELECT id "+from+")"), " "), "(json, 1 files)")

	l.exec("CREATE TABLE t (id BIGINT, price DECIMAL(30,2), tags ARRAY<STRING>, note STRING) USING DELTA")
	l.refused("COPY INTO t FROM './in' FILEFORMAT = JSON", "at")
	l.exec("ALTER TABLE t ADD COLUMN at STRUCT<lat: DOUBLE>")
	copyIn := "COPY INTO t FROM './in' FILEFORMAT = JSON"
	require.Equal(t, []string{"2|2|0"}, l.rows(copyIn))
	require.Equal(t, []string{`1|12345678901234567.89|["x","y"]|NULL|{"lat":1.5}`, "9007199254740993|NULL|[]|NULL|NULL"}, l.rows("SELECT * FROM t ORDER BY id"))
	require.Equal(t, []string{"0|0|0"}, l.rows(copyIn))

	l.write("in/b.json", `[{"id":"x","note":{"as":"it is"}},`+"\n"+`{"id":4,"note":1.50}]`)
	l.refused(copyIn, "b.json", "line 1")
	permissive := copyIn + " FORMAT_OPTIONS ('mode' = 'PERMISSIVE', 'multiLine' = 'true')"
	require.Equal(t, []string{"2|2|0"}, l.rows(permissive))
	require.Contains(t, l.rows("SHOW WARNINGS")[0], `b.json line 1: the string "x" is no long`)
	require.Equal(t, []string{`NULL|{"as":"it is"}`, "4|1.50"}, l.rows("SELECT id, note FROM t WHERE note IS NOT NULL ORDER BY id"))
	l.refused("SELECT * "+from+", header => true)", "option header is one of format => 'csv'")
}
