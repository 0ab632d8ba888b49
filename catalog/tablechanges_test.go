package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableChanges(t *testing.T) {
	for _, vectors := range []string{"false", "true"} {
		l := newLab(t)
		l.exec("CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = '"+vectors+"')",
			"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')", "UPDATE t SET s = 'B' WHERE id = 2", "DELETE FROM t WHERE id = 3", "INSERT INTO t VALUES (4, NULL)")
		require.Equal(t, []string{"1|a|insert|1", "2|b|insert|1", "3|c|insert|1", "2|B|update_postimage|2", "2|b|update_preimage|2", "3|c|delete|3", "4|NULL|insert|4"},
			l.rows("SELECT id, s, _change_type, _commit_version FROM table_changes('t', 0) ORDER BY _commit_version, id, _change_type"))
		require.Equal(t, []string{"3"}, l.rows("SELECT id FROM table_changes('lake.t', 3, 3)"))
		require.Equal(t, []string{"2"}, l.rows("SELECT COUNT(*) FROM table_changes('delta.`"+l.path("lake", "lake", "t")+"`', 2, 2) c WHERE c._commit_timestamp > '2020-01-01'"))
		require.Equal(t, []string{"7"}, l.rows("SELECT COUNT(*) FROM table_changes('t', '2020-01-01')"))
		require.Equal(t, []string{"4"}, l.rows("SELECT id FROM t WHERE s IS NULL AND id IN (SELECT id FROM table_changes('t', 4))"))
		l.refused("SELECT * FROM table_changes('t', 9)", "version")
		l.refused("SELECT * FROM table_changes('t', 3, 2)", "DELTA_INVALID_CDC_RANGE")
		l.refused("SELECT * FROM table_changes('none', 0)", "none")
		l.refused("SELECT * FROM table_changes('t')", "the first version")
		l.exec("CREATE TABLE u (id INT)")
		l.refused("SELECT * FROM table_changes('u', 0)", "delta.enableChangeDataFeed")
	}
}
