package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
	"lakesql/sqlext"
)

// showProperties is SHOW TBLPROPERTIES: what the table is set to, and as Spark does what its protocol is.
func (c *Catalog) showProperties(s *sqlext.ShowProperties) action {
	schema := sql.Schema{{Name: "key", Type: textType}, {Name: "value", Type: textType}}
	return query("SHOW TBLPROPERTIES", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		t, err := c.lookup(ctx, s.Table)
		if err != nil {
			return nil, err
		}
		all := shownProperties(t.snap)
		if s.Key != "" {
			value, ok := all[s.Key]
			if !ok {
				value = fmt.Sprintf("Table %s does not have property: %s", qualifiedName(t.database, t.name), s.Key)
			}
			return []sql.Row{{s.Key, value}}, nil
		}
		var rows []sql.Row
		for _, k := range slices.Sorted(maps.Keys(all)) {
			rows = append(rows, sql.Row{k, all[k]})
		}
		return rows, nil
	})
}

func shownProperties(snap *delta.Snapshot) map[string]string {
	out := maps.Clone(snap.Metadata().Configuration)
	if out == nil {
		out = make(map[string]string)
	}
	p := snap.Protocol()
	out["delta.minReaderVersion"], out["delta.minWriterVersion"] = strconv.Itoa(int(p.MinReader)), strconv.Itoa(int(p.MinWriter))
	for _, f := range p.WriterFeatures {
		out["delta.feature."+f] = "supported"
	}
	return out
}

// nullPartition is how Hive and Spark write the partition of NULL.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// showPartitions is SHOW PARTITIONS: as Spark's, a text a partition.
func (c *Catalog) showPartitions(s *sqlext.ShowPartitions) action {
	return query("SHOW PARTITIONS", sql.Schema{{Name: "partition", Type: textType}}, func(ctx *sql.Context) ([]sql.Row, error) {
		t, err := c.lookup(ctx, s.Table)
		if err != nil {
			return nil, err
		}
		columns := t.snap.Metadata().PartitionColumns
		if len(columns) == 0 {
			return nil, refuse(KindInvalid, "[INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY] table %s.%s is not partitioned", t.database, t.name)
		}
		seen := make(map[string]bool)
		for f := range t.snap.Files() {
			parts := make([]string, len(columns))
			for i, name := range columns {
				value, ok := f.PartitionValues[name]
				if !ok {
					value = nullPartition
				}
				parts[i] = name + "=" + value
			}
			seen[strings.Join(parts, "/")] = true
		}
		var rows []sql.Row
		for _, p := range slices.Sorted(maps.Keys(seen)) {
			rows = append(rows, sql.Row{p})
		}
		return rows, nil
	})
}
