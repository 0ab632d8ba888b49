package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
)

// clusteringFeature is the feature of tables that have the domain.
const clusteringFeature = "clustering"

// clusteringDomain holds by which columns a table is clustered: paths of physical names.
const clusteringDomain = "delta.clustering"

// clusteringJSON is the domain's configuration, as Spark writes it.
type clusteringJSON struct {
	ClusteringColumns [][]string `json:"clusteringColumns"`
	DomainName        string     `json:"domainName"`
}

// ClusteringColumns are the columns whose neighbouring values the table keeps in the same files; nil when it is not clustered. A nested
// column is a path of names.
func (s *Snapshot) ClusteringColumns() ([][]string, error) {
	text, ok := s.domains[clusteringDomain]
	if !ok {
		return nil, nil
	}
	var in clusteringJSON
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return nil, fmt.Errorf("%w: domainMetadata %s of %s: %w", ErrCorrupt, clusteringDomain, s.uri, err)
	}
	var out [][]string
	for _, physical := range in.ClusteringColumns {
		path, ok := columnPath(s.schema.Fields, physical, s.metadata.physicalName)
		if !ok {
			return nil, fmt.Errorf("%w: clustering column %s of %s is not in the schema", ErrCorrupt, strings.Join(physical, "."), s.uri)
		}
		out = append(out, path)
	}
	return out, nil
}

// ClusterBy sets the columns, given by the paths of their names in meta; none ends the clustering. The table gets the feature that it
// takes.
func (x *Transaction) ClusterBy(meta *Metadata, columns [][]string) error {
	schema, err := ParseSchema(meta.SchemaString)
	if err != nil {
		return err
	}
	if len(meta.PartitionColumns) > 0 && len(columns) > 0 {
		return errors.New("[DELTA_CLUSTER_BY_WITH_PARTITIONED_BY] a table is partitioned or clustered, not both")
	}
	out := clusteringJSON{ClusteringColumns: [][]string{}, DomainName: clusteringDomain}
	known := leavesWithStats(meta, schema)
	for _, path := range columns {
		physical, err := physicalPath(meta, schema.Fields, path)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(known, func(leaf []string) bool { return equalFoldAll(leaf, path) }) {
			return fmt.Errorf("[DELTA_CLUSTERING_COLUMN_MISSING_STATS] a table cannot be clustered by %s, of which it keeps no statistics: "+
				"delta.dataSkippingStatsColumns and delta.dataSkippingNumIndexedCols say of which it does", strings.Join(path, "."))
		}
		out.ClusteringColumns = append(out.ClusteringColumns, physical)
	}
	x.SetDomain(clusteringDomain, string(mustJSON(out)))
	return nil
}

// leavesWithStats are the paths of the columns that statistics are written of.
func leavesWithStats(m *Metadata, schema *batch.Schema) [][]string {
	var out [][]string
	pick := m.statsPick()
	targets(m, nil, schema.Fields, func(path []string) bool {
		ok := pick(path)
		if ok {
			out = append(out, path)
		}
		return ok
	})
	return out
}

// columnPath finds the field at a path of names, by which name calls fields, and returns its path of own names.
func columnPath(fields []batch.Field, path []string, name func(batch.Field) string) ([]string, bool) {
	for _, f := range fields {
		if name(f) != path[0] {
			continue
		}
		if len(path) == 1 {
			return []string{f.Name}, true
		}
		rest, ok := columnPath(f.Type.Fields(), path[1:], name)
		return append([]string{f.Name}, rest...), ok
	}
	return nil, false
}

// physicalPath is the path of physical names of a column that can be clustered by.
func physicalPath(meta *Metadata, fields []batch.Field, path []string) ([]string, error) {
	for _, f := range fields {
		if !strings.EqualFold(f.Name, path[0]) {
			continue
		}
		if len(path) > 1 && f.Type.Kind == batch.Struct {
			rest, err := physicalPath(meta, f.Type.Fields(), path[1:])
			return append([]string{meta.physicalName(f)}, rest...), err
		}
		if len(path) > 1 || !batch.Ordered(f.Type) {
			return nil, fmt.Errorf("[DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED] a table cannot be clustered by %s: values of type %s have no order", f.Name, f.Type)
		}
		return []string{meta.physicalName(f)}, nil
	}
	return nil, fmt.Errorf("[DELTA_COLUMN_NOT_FOUND] there is no column %s to cluster by", strings.Join(path, "."))
}
