package catalog

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSetOperations: UNION, INTERSECT and EXCEPT run on batches, as parts of larger plans too, and give what rows give.
func TestSetOperations(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (n INT, s VARCHAR(9), d DECIMAL(10,2), f DOUBLE)", "INSERT INTO a VALUES (1,'x',1.10,0.0), (1,'x',1.10,0.0), (1,'x',1.10,0.0), (2,'y',2.20,1.5), (NULL,NULL,NULL,NULL), (3,'z',3.30,-0.0)",
		"CREATE TABLE b (n INT, s VARCHAR(9), d DECIMAL(12,4), f DOUBLE)", "INSERT INTO b VALUES (1,'x',1.1000,-0.0), (1,'x',1.1,0.0), (2,'Y',2.2001,1.5), (NULL,NULL,NULL,NULL), (NULL,NULL,NULL,NULL), (4,'w',4.4,9)")
	for _, c := range []struct{ query, want string }{
		{"SELECT n, s FROM a UNION ALL SELECT n, s FROM b", "1|x 1|x 1|x 2|y NULL|NULL 3|z 1|x 1|x 2|Y NULL|NULL NULL|NULL 4|w"},
		{"SELECT n, s FROM a UNION SELECT n, s FROM b", "1|x 2|y NULL|NULL 3|z 2|Y 4|w"},
		{"SELECT n, s FROM a INTERSECT SELECT n, s FROM b", "1|x NULL|NULL"},
		{"SELECT n, s FROM a INTERSECT ALL SELECT n, s FROM b", "1|x 1|x NULL|NULL"},
		{"SELECT n, s FROM a EXCEPT SELECT n, s FROM b", "2|y 3|z"},
		{"SELECT n, s FROM a EXCEPT ALL SELECT n, s FROM b", "1|x 2|y 3|z"},
		{"SELECT n FROM b EXCEPT ALL SELECT n FROM a", "4 NULL"},
		{"SELECT d FROM a UNION SELECT d FROM b ORDER BY d DESC", "4.4000 3.3000 2.2001 2.2000 1.1000 NULL"},
		{"SELECT d FROM a INTERSECT SELECT d FROM b", "1.1000 NULL"},
		{"SELECT n FROM a UNION ALL SELECT d FROM b ORDER BY 1 LIMIT 3 OFFSET 3", "1.0000 1.0000 1.0000"},
		{"SELECT n FROM a UNION ALL SELECT n FROM b UNION ALL SELECT n + 10 FROM b ORDER BY n DESC LIMIT 2", "14 12"},
		{"SELECT n FROM a UNION SELECT n FROM b ORDER BY n LIMIT 2 OFFSET 1", "1 2"},
		{"SELECT COUNT(*), SUM(n), MAX(s) FROM (SELECT n, s FROM a UNION ALL SELECT n, s FROM b) u WHERE n < 3", "7|9|y"},
		{"WITH u AS (SELECT n, d FROM a UNION SELECT n, d FROM b) SELECT n, COUNT(*) FROM u GROUP BY n ORDER BY n", "NULL|1 1|1 2|2 3|1 4|1"},
		{"SELECT n, ROW_NUMBER() OVER (ORDER BY n DESC) FROM (SELECT n FROM a INTERSECT SELECT n FROM b) u ORDER BY n", "NULL|3 1|2 2|1"},
		{"SELECT f FROM a UNION SELECT f FROM b ORDER BY f", "NULL 0 1.5 9"},
		{"SELECT n FROM a UNION ALL SELECT f FROM b WHERE f > 1 ORDER BY 1", "NULL 1 1 1 1.5 2 3 9"},
		{"SELECT n FROM a UNION SELECT s FROM b ORDER BY n", "NULL 1 2 3 Y w x"},
		{"SELECT n FROM a WHERE n IN (SELECT n FROM a EXCEPT SELECT n FROM b)", "3"},
		{"SELECT CONCAT('') FROM a EXCEPT SELECT s FROM b WHERE n > 9", ""},
		{"SELECT DISTINCT n FROM a UNION ALL (SELECT n FROM b ORDER BY n DESC LIMIT 1)", "1 2 NULL 3 4"},
	} {
		got := l.bothRows(c.query)
		want := strings.Fields(c.want)
		if c.want == "" {
			want = []string{""}
		}
		if !strings.Contains(c.query, "ORDER BY n") && !strings.Contains(c.query, "ORDER BY d") && !strings.Contains(c.query, "ORDER BY f") && !strings.Contains(c.query, "ORDER BY 1") {
			slices.Sort(got)
			slices.Sort(want)
		}
		require.Equal(t, want, got, c.query)
		l.sameOnRows(c.query)
	}
	l.exec("CREATE TABLE c (n INT, s VARCHAR(9))", "INSERT INTO c SELECT n, s FROM a UNION SELECT n, s FROM b")
	require.Equal(t, []string{"6|4"}, l.rows("SELECT COUNT(*), MAX(n) FROM c"))
}

// TestSetOperationsOfEveryType: both paths agree on every column.
func TestSetOperationsOfEveryType(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	l := pathsLab(t, r)
	for _, x := range pathsColumns {
		for _, op := range []string{"UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"} {
			l.bothSorted("SELECT " + x.name + " FROM p WHERE n > 0 " + op + " SELECT " + x.name + " FROM p WHERE t < 5")
		}
		y := pathsColumns[r.IntN(len(pathsColumns))]
		l.bothSorted("SELECT " + x.name + " FROM p UNION SELECT " + y.name + " FROM p")
	}
}

// bothSorted compares the rows of a query on both paths, in any order, and what fails.
func (l *lab) bothSorted(query string) {
	l.t.Helper()
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	want, wantErr := rows.tryRows(query)
	got, err := l.tryRows(query)
	if wantErr != nil || err != nil {
		require.Equal(l.t, wantErr == nil, err == nil, "%s: %v, on rows %v", query, err, wantErr)
		return
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(l.t, want, got, query)
}
