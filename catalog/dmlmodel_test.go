package catalog

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestChangesAgainstAModel runs random statements on tables of every kind and compares with rows in memory.
func TestChangesAgainstAModel(t *testing.T) {
	kinds := []string{
		"", "PARTITIONED BY (p)", "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
		"PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name')",
		"TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableRowTracking' = 'true')",
	}
	l := newLab(t)
	tables := 0
	rapid.Check(t, func(t *rapid.T) {
		tables++
		table := fmt.Sprintf("t%d", tables)
		l.exec("CREATE TABLE " + table + " (k INT, v INT, p INT) USING DELTA " + rapid.SampledFrom(kinds).Draw(t, "kind"))
		type row struct{ v, p int }
		model := make(map[int]row)
		next := 0
		for range rapid.IntRange(3, 8).Draw(t, "statements") {
			a, b := rapid.IntRange(0, 12).Draw(t, "a"), rapid.IntRange(0, 12).Draw(t, "b")
			switch rapid.IntRange(0, 4).Draw(t, "statement") {
			case 0:
				l.exec(fmt.Sprintf("INSERT INTO %s VALUES (%d, %d, %d), (%d, %d, 2)", table, next, a, b%3, next+1, b))
				model[next], model[next+1] = row{a, b % 3}, row{b, 2}
				next += 2
			case 1:
				l.exec(fmt.Sprintf("UPDATE %s SET v = v + %d, p = 1 WHERE v >= %d", table, a, b))
				for k, r := range model {
					if r.v >= b {
						model[k] = row{r.v + a, 1}
					}
				}
			case 2:
				l.exec(fmt.Sprintf("DELETE FROM %s WHERE v < %d AND p = %d", table, a, b%3))
				for k, r := range model {
					if r.v < a && r.p == b%3 {
						delete(model, k)
					}
				}
			case 3:
				l.exec(fmt.Sprintf("MERGE INTO %s t USING (SELECT %d AS k, %d AS v UNION ALL SELECT %d, -1) s ON t.k = s.k WHEN MATCHED AND s.v < 0 THEN DELETE "+
					"WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED AND s.v >= 0 THEN INSERT (k, v, p) VALUES (s.k, s.v, 0) "+
					"WHEN NOT MATCHED BY SOURCE AND t.p = 2 THEN UPDATE SET v = t.v + 1", table, a, b, a+1))
				_, had := model[a]
				for k, r := range model {
					if k != a && k != a+1 && r.p == 2 {
						model[k] = row{r.v + 1, 2}
					}
				}
				delete(model, a+1)
				if had {
					model[a] = row{b, model[a].p}
				} else {
					model[a] = row{b, 0}
				}
				next = max(next, a+2)
			default:
				l.exec(fmt.Sprintf("UPDATE %s t JOIN (SELECT %d AS k, %d AS w) s ON t.k = s.k SET t.v = s.w", table, a, b))
				if r, ok := model[a]; ok {
					model[a] = row{b, r.p}
				}
			}
			want := make([]string, 0, len(model))
			for k, r := range model {
				want = append(want, fmt.Sprintf("%d|%d|%d", k, r.v, r.p))
			}
			got := l.rows("SELECT * FROM " + table)
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, want, got)
			require.Equal(t, []string{fmt.Sprint(len(model))}, l.rows("SELECT COUNT(*) FROM "+table))
		}
	})
}
