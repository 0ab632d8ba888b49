package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// EXPLAIN of a statement that changes rows plans it, looks at files' statistics, and changes nothing.
func TestExplainOfChanges(t *testing.T) {
	for _, vectors := range []bool{false, true} {
		l := newLab(t)
		l.exec("CREATE TABLE t (k INT, p INT, v VARCHAR(9)) USING DELTA PARTITIONED BY (p) "+withVectors[vectors], "CREATE TABLE u (k INT, p INT, v VARCHAR(9))",
			"INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')", "INSERT INTO t VALUES (40, 1, 'd')")
		how := map[bool]string{false: "of these anew where rows change (copy-on-write)", true: "of these by deletion vectors"}[vectors]
		for statement, parts := range map[string][]string{
			"UPDATE t SET v = 'x' WHERE k < 3":                        {"Update lake.t version 2", "Read 2 of 4 files", " 2 " + how, "Filter (t.k < 3)"},
			"UPDATE t JOIN u ON t.k = u.k AND t.p = 1 SET t.v = u.v":  {"Update lake.t version 2", "Read 2 of 4 files", "Scan lake.u version 0"},
			"UPDATE t SET v = 'x' WHERE k < 3 AND soundex(v) <> 'x'":  {"Read 2 of 4 files"},
			"DELETE FROM t WHERE p = 1 OR k = 3":                      {"Delete from lake.t version 2", "Remove 3 of 4 files, without reading them", "Read 0 of 4 files (0 bytes)"},
			"DELETE FROM t WHERE p = 1 AND soundex(v) > 'a'":          {"Read 2 of 4 files"},
			"INSERT INTO t (k, p) SELECT k, p FROM u WHERE k > 5":     {"Insert into lake.t version 2", "Scan lake.u version 0"},
			"INSERT OVERWRITE t SELECT * FROM u":                      {"Overwrite lake.t version 2", "Remove 4 of 4 files", "Scan lake.u version 0"},
			"INSERT OVERWRITE t PARTITION (p = 1) SELECT k, v FROM u": {"Remove 2 of 4 files"},
			"INSERT OVERWRITE t PARTITION (p) SELECT * FROM u":        {"Remove the files of the partitions that rows are written to"},
			"MERGE INTO t USING u s ON t.k = s.k AND t.p = 1 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *": {"Merge into lake.t version 2", "Read 2 of 4 files",
				"Of these, only files whose t.k can be one of s.k", "Source, read once", "Scan lake.u version 0"},
			"MERGE INTO t USING u s ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE": {"Read 4 of 4 files", "Left join"},
		} {
			text := strings.Join(l.rows("EXPLAIN "+statement), "\n")
			for _, part := range parts {
				require.Contains(t, text, part, statement)
			}
		}
		require.NotContains(t, strings.Join(l.rows("EXPLAIN MERGE INTO t USING u s ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE"), "\n"), "Of these, only")
		l.refused("EXPLAIN UPDATE t SET nope = 1", "nope")
		l.refused("EXPLAIN DELETE FROM nope", "nope")
		l.refused("EXPLAIN MERGE INTO t USING nope s ON t.k = s.k WHEN MATCHED THEN DELETE", "nope")
		l.refused("EXPLAIN MERGE INTO t", "near")
		l.exec("SET autocommit = 0", "EXPLAIN DELETE FROM t", "ROLLBACK", "SET autocommit = 1")
		require.Equal(t, []string{"4"}, l.rows("SELECT COUNT(*) FROM t"))
		require.EqualValues(t, 2, l.version("t"))
	}
}
