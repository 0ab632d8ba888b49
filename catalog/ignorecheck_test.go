package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIgnorePassesOverWhatCheckRefuses(t *testing.T) {
	for _, properties := range []string{"", " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"} {
		l := newLab(t)
		l.exec("CREATE TABLE t (id INT, v INT, g INT GENERATED ALWAYS AS (v * 2), CONSTRAINT small CHECK (v < 10))"+properties, "INSERT INTO t (id, v) VALUES (1, 1), (2, 2), (3, 9), (4, 4)")
		require.Equal(t, 2, l.affected("INSERT IGNORE INTO t (id, v) VALUES (5, 5), (6, 60), (7, NULL), (8, 8)"))
		warnings := l.rows("SHOW WARNINGS")
		require.Len(t, warnings, 2)
		require.Contains(t, warnings[0], "3819|")
		require.Contains(t, warnings[0], "CHECK constraint small")
		require.Equal(t, 2, l.affected("UPDATE IGNORE t SET v = v + 3 WHERE v IN (2, 9, 4, 8)"))
		require.Len(t, l.rows("SHOW WARNINGS"), 2)
		require.Equal(t, []string{"1|1|2", "2|5|10", "3|9|18", "4|7|14", "5|5|10", "8|8|16"}, l.rows("SELECT * FROM t ORDER BY id"))
		require.Equal(t, 0, l.affected("UPDATE IGNORE t SET v = 10"))

		for _, s := range []string{"UPDATE t SET v = v + 1", "INSERT INTO t (id, v) VALUES (9, 90)", "MERGE INTO t USING (SELECT 1 AS one) q ON id = one WHEN MATCHED THEN UPDATE SET v = 90"} {
			_, err := l.try("%s", s)
			require.True(t, strings.HasPrefix(fmt.Sprint(err), "constraint violated: [DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint small (v < 10) violated by row"), "%s: %v", s, err)
		}
	}
}
