package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShowPropertiesAndPartitions(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, p VARCHAR(9), d DATE) PARTITIONED BY (p, d) TBLPROPERTIES ('delta.appendOnly' = 'true', 'k' = 'v')",
		"INSERT INTO t VALUES (1, 'x', '2024-01-01'), (2, 'x', '2024-01-01'), (3, NULL, '2024-01-02'), (4, 'a b', NULL)")
	require.Equal(t, []string{"delta.appendOnly|true", "delta.minReaderVersion|1", "delta.minWriterVersion|2", "k|v"}, l.rows("SHOW TBLPROPERTIES t"))
	require.Equal(t, []string{"k|v"}, l.rows("SHOW TBLPROPERTIES lake.t ('k')"))
	require.Equal(t, []string{"no|Table lake.t does not have property: no"}, l.rows("SHOW TBLPROPERTIES t (no)"))
	require.Equal(t, []string{"p=__HIVE_DEFAULT_PARTITION__/d=2024-01-02", "p=a b/d=__HIVE_DEFAULT_PARTITION__", "p=x/d=2024-01-01"}, l.rows("SHOW PARTITIONS t"))
	require.Len(t, l.rows("SHOW PARTITIONS delta.`"+l.path("lake", "lake", "t")+"`"), 3)
	l.exec("CREATE TABLE u (a INT)")
	l.refused("SHOW PARTITIONS u", "not partitioned")
	l.refused("SHOW PARTITIONS none", "none")
	require.Len(t, l.rows("DESCRIBE DETAIL '"+l.path("lake", "lake", "t")+"'"), 1)
}

func TestDescribeHasSparksColumns(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)")
	for statement, want := range map[string][]string{
		"DESCRIBE HISTORY t": {"version", "timestamp", "userId", "userName", "operation", "operationParameters", "job", "notebook", "clusterId", "readVersion",
			"isolationLevel", "isBlindAppend", "operationMetrics", "userMetadata", "engineInfo"},
		"DESCRIBE DETAIL t": {"format", "id", "name", "description", "location", "createdAt", "lastModified", "partitionColumns", "clusteringColumns", "numFiles",
			"sizeInBytes", "properties", "minReaderVersion", "minWriterVersion", "tableFeatures", "statistics"},
	} {
		schema, _, _, err := l.c.engine.Query(l.ctx(), statement)
		require.NoError(t, err)
		var names []string
		for _, c := range schema {
			names = append(names, c.Name)
		}
		require.Equal(t, want, names)
	}
}
