package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMerge(t *testing.T) {
	for _, properties := range withVectors {
		l := newLab(t)
		l.exec("CREATE TABLE t (id INT, v INT, s VARCHAR(10)) USING DELTA "+properties, "INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')", "INSERT INTO t VALUES (3, 30, 'c'), (4, 40, 'd')",
			"CREATE TABLE u (id INT, v INT, s VARCHAR(10))", "INSERT INTO u VALUES (2, 200, 'bb'), (3, 300, NULL), (5, 500, 'ee'), (6, 600, 'ff')")
		ok := l.ok("MERGE INTO t USING u ON t.id = u.id WHEN MATCHED AND u.s IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET v = t.v + u.v, s = u.s " +
			"WHEN NOT MATCHED AND u.id = 5 THEN INSERT (id, v) VALUES (u.id, u.v + 1) WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN UPDATE SET v = 0")
		require.EqualValues(t, 4, ok.RowsAffected)
		require.Contains(t, ok.Info.String(), "Rows inserted: 1  Updated: 2  Deleted: 1")
		require.Equal(t, []string{"1|10|a", "2|220|bb", "4|0|d", "5|501|NULL"}, l.rows("SELECT * FROM t ORDER BY id"))
		require.Equal(t, 5, l.affected("MERGE INTO t AS x USING (SELECT * FROM u WHERE id <> 2) y ON x.id = y.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE AND x.id < 3 THEN DELETE"))
		require.Equal(t, []string{"3|300|NULL", "4|0|d", "5|500|ee", "6|600|ff"}, l.rows("SELECT * FROM t ORDER BY id"))
		l.refused("MERGE INTO t USING (SELECT 3 AS id, 1 AS v UNION ALL SELECT 3, 2) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v", "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE")
		require.Equal(t, 1, l.affected("MERGE INTO t USING (SELECT 3 AS id, 1 AS v UNION ALL SELECT 3, 2) s ON t.id = s.id AND s.v = 2 WHEN MATCHED THEN UPDATE SET v = s.v, s = NULL"))
		require.Equal(t, 1, l.affected("MERGE INTO t USING (SELECT 3 AS id UNION ALL SELECT 3) s ON t.id = s.id WHEN MATCHED THEN DELETE"))
		require.Equal(t, 0, l.affected("MERGE INTO t USING u ON t.id = u.id WHEN MATCHED AND false THEN DELETE"))
		require.Equal(t, 2, l.affected("MERGE INTO t USING t AS s ON t.id = s.id + 1 WHEN MATCHED THEN UPDATE SET v = s.v"))
		require.Equal(t, []string{"4|0|d", "5|0|ee", "6|500|ff"}, l.rows("SELECT * FROM t ORDER BY id"))
		require.Equal(t, 1, l.affected("MERGE INTO t USING (SELECT 9 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (id, 1, 'x')"))
		l.bound("MERGE INTO t USING (SELECT 9 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = ?", "77")
		require.Equal(t, []string{"77"}, l.rows("SELECT v FROM t WHERE id = 9"))
		history := l.rows("DESCRIBE HISTORY t LIMIT 1")
		require.Contains(t, history[0], `"numTargetRowsUpdated":"1"`)
	}
}

func TestMergeRefused(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, v INT)", "CREATE TABLE u (id INT, w INT)", "INSERT INTO u VALUES (1, 1)", "INSERT INTO t VALUES (1, 1)")
	for query, part := range map[string]string{
		"MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET *":                                "v",
		"MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT *":                                "v",
		"MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET nope = 1":                         "nope",
		"MERGE INTO t USING u ON t.id = u.nope WHEN MATCHED THEN DELETE":                                    "nope",
		"MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = 'x'":                          "Incorrect integer value: 'x' for column 'v'",
		"MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET u.v = 1":                          "no column of the target",
		"MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = u.w":            "u.w is a column of the source",
		"MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED BY SOURCE AND w + 1 IS NULL THEN DELETE":      "w is a column of the source",
		"MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = t.v + u.id + 1": "u.id is a column of the source",
		"MERGE INTO t USING t ON t.id = t.id WHEN MATCHED THEN DELETE":                                      "alias",
		"MERGE INTO nope USING u ON nope.id = u.id WHEN MATCHED THEN DELETE":                                "nope",
		"MERGE INTO t USING nope ON t.id = nope.id WHEN MATCHED THEN DELETE":                                "nope",
		"MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED THEN INSERT VALUES (1)":                       "",
		"MERGE INTO t USING u ON t.id = u.id WHEN MATCHED AND 1/0 = 1 + THEN DELETE":                        "near",
	} {
		l.refused(query, part)
	}
	require.Equal(t, []string{"1|1"}, l.rows("SELECT * FROM t"))
}

func TestMergeFeed(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, v INT) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')",
		"INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
		"MERGE INTO t USING (SELECT 1 AS id, 10 AS v UNION ALL SELECT 2, NULL UNION ALL SELECT 4, 40) s ON t.id = s.id WHEN MATCHED AND s.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
	require.Equal(t, []string{"1|10|update_postimage", "1|1|update_preimage", "2|2|delete", "4|40|insert"}, l.feed("t", l.version("t")))
	require.Equal(t, []string{"1|10", "3|3", "4|40"}, l.rows("SELECT * FROM t ORDER BY id"))
}

// The rows of a file that change lie far from each other, so that they are read in batches of their own.
func TestMergeUpdatesAndDeletesInOneFile(t *testing.T) {
	for vectors, properties := range withVectors {
		l := newLab(t)
		l.exec("CREATE TABLE t (id INT, v INT) USING DELTA "+properties,
			"INSERT INTO t WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 199) SELECT a.i * 200 + b.i, 1 FROM n a, n b",
			"MERGE INTO t USING (SELECT 1 AS id, 10 AS v UNION ALL SELECT 30000, NULL UNION ALL SELECT 39000, NULL) s ON t.id = s.id "+
				"WHEN MATCHED AND s.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET *")
		require.Equal(t, []string{"39998|40007"}, l.rows("SELECT COUNT(*), SUM(v) FROM t"), vectors)
		require.Empty(t, l.rows("SELECT id FROM t WHERE id IN (30000, 39000)"), vectors)
	}
}
