package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"lakesql/delta"
)

// clusteringDomain is the domain in which Delta keeps a table's clustering columns.
const clusteringDomain = "delta.clustering"

// clustering is the configuration of the domain. The columns are the ways to them, by their names in files.
type clustering struct {
	Columns [][]string `json:"clusteringColumns"`
	Domain  string     `json:"domainName"`
}

// clusteringColumns are the columns of CLUSTER BY as their names stand in the files; none for a table that has none.
func clusteringColumns(snap *delta.Snapshot) ([]string, error) {
	out := []string{}
	text, ok := snap.Domain(clusteringDomain)
	if !ok {
		return out, nil
	}
	var c clustering
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("%w: domain %s: %w", delta.ErrCorrupt, clusteringDomain, err)
	}
	for _, path := range c.Columns {
		out = append(out, strings.Join(path, "."))
	}
	return out, nil
}
