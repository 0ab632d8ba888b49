package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
)

// A MERGE leaves out files that have none of the source's keys: they can be gone. What others add to them meanwhile counts all the same.
func TestMergeReadsFilesOfTheKeys(t *testing.T) {
	for column, keys := range map[string][3]string{
		"INT": {"-7", "2", "30"}, "BIGINT": {"-7000000000", "2", "3000000000"}, "DECIMAL(20,3)": {"-1.5", "2", "30.125"}, "DECIMAL(5,0)": {"-1", "2", "30"},
		"DATE": {"'1999-12-31'", "'2026-11-29'", "'2026-11-30'"}, "TIMESTAMP": {"'2026-11-29 10:00:00'", "'2026-11-30 10:00:00'", "'2026-11-30 10:00:00.000001'"},
		"DATETIME": {"'2026-11-29 10:00:00'", "'2026-11-30 10:00:00'", "'2026-11-30 10:00:00.000001'"}, "VARCHAR(20)": {"'!'", "'A'", "'a''\\\\b'"}, "TEXT": {"'B'", "'a'", "'ä'"},
	} {
		for _, partitioned := range []string{"", "PARTITIONED BY (k)"} {
			t.Run(column+partitioned, func(t *testing.T) {
				l := newLab(t)
				other := l.session()
				l.exec(fmt.Sprintf("CREATE TABLE t (k %s, v INT) USING DELTA %s TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", column, partitioned))
				l.exec(fmt.Sprintf("CREATE TABLE u (k %s, v INT)", column))
				l.exec("INSERT INTO t VALUES ("+keys[0]+", 1)", "INSERT INTO t VALUES (NULL, 5)")
				gone := l.dataFiles("t")
				l.exec("INSERT INTO t VALUES ("+keys[1]+", 2)", "INSERT INTO t VALUES ("+keys[2]+", 3)")
				l.exec("INSERT INTO u VALUES (" + keys[2] + ", 30), (NULL, 0), (" + keys[1] + ", 20)")
				for _, file := range gone {
					require.NoError(t, os.Rename(file, file+".away"))
				}
				merge := "MERGE INTO t USING u AS s ON (s.k = t.k AND (1 = 1)) WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
				require.Equal(t, 3, l.affected(merge), "two match, the one without a key is new")
				other.exec("BEGIN")
				require.Equal(t, 2, other.affected("MERGE INTO t USING (SELECT * FROM u WHERE k IS NOT NULL) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v + 1 WHEN NOT MATCHED THEN INSERT *"))
				l.exec("UPDATE t SET v = 0 WHERE k = "+keys[1], "INSERT INTO t VALUES ("+keys[1]+", 9)")
				_, err := other.try("COMMIT")
				require.ErrorIs(t, err, delta.ErrConflict)
				require.Equal(t, 0, l.affected("MERGE INTO t USING (SELECT * FROM u WHERE v > 99) s ON t.k = s.k WHEN MATCHED THEN DELETE"))
				for _, file := range gone {
					require.NoError(t, os.Rename(file+".away", file))
				}
				require.Equal(t, []string{"0|1", "5|1", "1|1", "0|1", "9|1", "30|1"}, l.rows("SELECT v, COUNT(*) FROM t GROUP BY k, v ORDER BY k, v"))
			})
		}
	}
}

// A text that is compared in another way than by its bytes says nothing about files.
func TestMergeComparesAsMySQL(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (k VARCHAR(9), f DOUBLE, v INT)", "INSERT INTO t VALUES ('a', 1, 1)", "INSERT INTO t VALUES ('B', 0, 2)")
	require.Equal(t, 1, l.affected("MERGE INTO t USING (SELECT 'b' AS k) s ON t.k COLLATE utf8mb4_general_ci = s.k WHEN MATCHED THEN UPDATE SET v = 20"))
	require.Equal(t, 1, l.affected("MERGE INTO t USING (SELECT -0e0 AS k) s ON t.f = s.k WHEN MATCHED THEN UPDATE SET v = v + 1"))
	require.Equal(t, 1, l.affected("MERGE INTO t USING (SELECT '1.0' AS k) s ON t.f = s.k WHEN MATCHED THEN UPDATE SET v = v + 1"))
	require.Equal(t, []string{"2", "21"}, l.rows("SELECT v FROM t ORDER BY v"))
}

// dataFiles are the data files in a table's folders.
func (l *lab) dataFiles(table string) []string {
	l.t.Helper()
	var out []string
	err := filepath.WalkDir(l.path("lake", "lake", table), func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".parquet") && !strings.Contains(path, "_delta_log") {
			out = append(out, path)
		}
		return err
	})
	require.NoError(l.t, err)
	return out
}
