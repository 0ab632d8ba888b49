package catalog

import (
	"encoding/json"

	"lakesql/delta"
)

// createParameters are the operationParameters that Delta's own CREATE TABLE writes.
func createParameters(meta *delta.Metadata) map[string]string {
	partitions := meta.PartitionColumns
	if partitions == nil {
		partitions = []string{}
	}
	properties := meta.Configuration
	if properties == nil {
		properties = map[string]string{}
	}
	text := func(v any) string {
		b, _ := json.Marshal(v) // strings always marshal
		return string(b)
	}
	return map[string]string{
		"partitionBy": text(partitions), "properties": text(properties), "description": meta.Description, "isManaged": "true",
	}
}
