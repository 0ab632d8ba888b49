package delta

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lakesql/batch"
)

// NewMetadata describes a new table: a new id, created now. It refuses schemas that other engines cannot read, and table
// properties of Delta that are unknown or that this build would not honour. Other properties are kept as they are; those that begin with
// delta.constraints. are the table's CHECKs. With column mapping among the properties the columns get their ids and physical names.
func NewMetadata(schema *batch.Schema, partitionBy []string, config map[string]string) (*Metadata, error) {
	return newMetadata(schema, partitionBy, config, 0)
}

// newMetadata takes ids of columns behind the one given.
func newMetadata(schema *batch.Schema, partitionBy []string, config map[string]string, lastID int) (*Metadata, error) {
	schema = &batch.Schema{Fields: slices.Clone(schema.Fields)}
	for i, f := range schema.Fields {
		schema.Fields[i] = fresh(f)
	}
	m := &Metadata{ID: uuid.NewString(), PartitionColumns: slices.Clone(partitionBy), Configuration: maps.Clone(config), CreatedTime: time.Now().UTC()}
	for _, k := range sortedKeys(config) {
		if strings.HasPrefix(k, ConstraintPrefix) {
			continue
		}
		if err := checkSetByHand(k, config[k]); err != nil {
			return nil, err
		}
	}
	if err := checkNewSchema(schema, m); err != nil {
		return nil, err
	}
	m.nameRowTracking()
	return m.withSchema(schema, lastID, newPhysicalName), nil
}

// nameRowTracking names the columns of files that keep the tracking of rows that are moved, once the table tracks rows.
func (m *Metadata) nameRowTracking() {
	if !m.on(rowTrackingProperty) || m.Configuration[rowIDColumnProperty] != "" {
		return
	}
	m.Configuration[rowIDColumnProperty] = "_row-id-col-" + uuid.NewString()
	m.Configuration[rowCommitVersionColumnProperty] = "_row-commit-version-col-" + uuid.NewString()
}

// parseTableSchema reads the schema of metadata and checks that files of it can be read.
func parseTableSchema(m *Metadata) (*batch.Schema, error) {
	schema, err := ParseSchema(m.SchemaString)
	if err != nil {
		return nil, err
	}
	if err := checkMapping(m, schema); err != nil {
		return nil, err
	}
	return schema, checkTypeChanges(schema)
}

// check refuses metadata that cannot be put on top of a snapshot: what is not built, and what its files would not fit. empties says that
// none of these files stays.
func (m *Metadata) check(before *Snapshot, empties bool) error {
	schema, err := parseTableSchema(m)
	if err != nil {
		return err
	}
	if err := checkNewSchema(schema, m); err != nil {
		return err
	}
	old := before.metadata
	if old == nil {
		old = &Metadata{}
	} else if !empties && !slices.EqualFunc(m.partitionKeys(), old.partitionKeys(), func(a, b partitionKey) bool { return a.stored == b.stored }) {
		return fmt.Errorf("the partition columns of %s cannot be changed from %v to %v while files of the old layout stay; replace all rows in the same statement",
			before.uri, old.PartitionColumns, m.PartitionColumns)
	}
	for _, k := range sortedKeys(m.Configuration) {
		if v, had := old.Configuration[k]; had && v == m.Configuration[k] {
			continue
		}
		if err := checkProperty(k, m.Configuration[k]); err != nil {
			return err
		}
	}
	after := Snapshot{uri: before.uri, metadata: m, schema: schema, domains: before.domains}
	if _, err := after.ClusteringColumns(); err != nil && !empties {
		return fmt.Errorf("a column that the table is clustered by cannot be dropped: %w", err)
	}
	if blocked := blockedFeatures(m, schema); len(blocked) > 0 {
		return &UnsupportedError{Op: "write", URI: before.uri, Features: blocked, Detail: "the new metadata use them"}
	}
	return nil
}
