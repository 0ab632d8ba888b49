package catalog

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// NaN is one value, greater than all others, on batches and on rows.
func TestOrderOfNaN(t *testing.T) {
	l := newLab(t)
	dir := l.dir + "/nan"
	require.NoError(t, os.MkdirAll(dir, 0o755))
	var csv strings.Builder
	csv.WriteString("id,f,g\n")
	for i := range 200 {
		f := fmt.Sprint((i*37)%101 - 50)
		switch i % 5 {
		case 0:
			f = "NaN"
		case 1:
			f = [...]string{"Infinity", "-Infinity", "", "0", "-0.0"}[i/5%5]
		}
		fmt.Fprintf(&csv, "%d,%s,%s\n", i, f, f)
	}
	require.NoError(t, os.WriteFile(dir+"/a.csv", []byte(csv.String()), 0o644))
	l.exec("CREATE TABLE t (id INT, f DOUBLE, g FLOAT)", "INSERT INTO t SELECT id, f, g FROM read_files('"+dir+"', format => 'csv', header => 'true', schema => 'id int, f double, g float')")
	for _, c := range []string{"f", "g"} {
		for _, rows := range []string{c, "IF(id >= 0, " + c + ", 0)"} { // the second runs on rows
			for _, query := range []string{
				"SELECT " + c + " FROM t ORDER BY " + rows + ", id", "SELECT " + c + " FROM t ORDER BY " + rows + ", id LIMIT 200",
				"SELECT x FROM (SELECT " + c + " x, ROW_NUMBER() OVER (ORDER BY " + rows + ", id) n FROM t) q ORDER BY n",
			} {
				got := l.rows(query)
				require.Len(t, got, 200, query)
				require.Equal(t, "NULL", got[0], query)
				for i, v := range got {
					require.Equal(t, i >= 160, v == "NaN", "%s: row %d of %v", query, i, got)
				}
			}
			require.Equal(t, "NaN", l.rows("SELECT " + c + " FROM t ORDER BY " + rows + " DESC LIMIT 1")[0])
			require.Equal(t, []string{"40"}, l.rows("SELECT COUNT(*) FROM t GROUP BY "+rows+" ORDER BY COUNT(*) DESC LIMIT 1"), rows)
			require.Equal(t, l.rows("SELECT COUNT(DISTINCT "+c+") FROM t"), l.rows("SELECT COUNT(DISTINCT "+rows+") FROM t"))
			require.Len(t, l.rows("SELECT DISTINCT "+rows+" x FROM t WHERE "+rows+" > 1000"), 2, rows)
			require.Equal(t, []string{"NaN|1"}, l.rows("SELECT MAX("+rows+"), MIN("+rows+") < -50 FROM t"))
			require.Len(t, l.rows("SELECT DISTINCT "+rows+" x FROM t WHERE "+rows+" = 0"), 1, rows)
		}
	}
}
