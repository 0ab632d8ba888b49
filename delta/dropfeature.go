package delta

import (
	"slices"

	"lakesql/batch"
)

// usedBy says what makes use of a feature, so that it cannot be dropped.
var usedBy = map[string]string{
	"appendOnly":                  propertyUse("delta.appendOnly"),
	"invariants":                  "invariants of columns",
	"checkConstraints":            "constraints: ALTER TABLE ... DROP CONSTRAINT takes them out",
	"changeDataFeed":              propertyUse("delta.enableChangeDataFeed"),
	"generatedColumns":            "generated columns",
	"identityColumns":             "identity columns",
	"allowColumnDefaults":         "defaults: ALTER TABLE ... ALTER COLUMN ... DROP DEFAULT takes them out",
	"inCommitTimestamp":           propertyUse(inCommitProperty),
	"materializePartitionColumns": propertyUse("delta.enableMaterializePartitionColumnsFeature"),
	"collations":                  "collations of columns",
	clusteringFeature:             "the columns that it is clustered by: ALTER TABLE ... CLUSTER BY NONE takes them out",
	"domainMetadata":              "domains of metadata",
}

func propertyUse(name string) string {
	return "the table property " + name + ": ALTER TABLE ... UNSET TBLPROPERTIES ('" + name + "') takes it out"
}

// CanDropFeature tells whether DropFeature can take a feature out of a table that does not use it. Those of readers stay: who does not know
// one would misread the older versions of the table. So do those that files keep traces of. What is no feature is for DropFeature to refuse.
func CanDropFeature(name string) bool {
	f := features[canonicalFeature(name)]
	return !f.reader && !f.stays
}

// DropFeature takes a feature out of the protocol, so that engines that do not know it can write to the table. It needs CanDropFeature, and the
// table, with the metadata of the transaction, must not use the feature.
func (x *Transaction) DropFeature(name string) error {
	feature := canonicalFeature(name)
	if feature == "" || !x.base.protocol.Supports(feature) {
		return Refuse("[DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT] table %s does not have the feature %s; SHOW TBLPROPERTIES lists those that it has, as delta.feature.name", x.base.uri, name)
	}
	x.dropped = append(x.dropped, feature)
	if _, has := x.base.domains[clusteringDomain]; has && feature == clusteringFeature {
		x.setDomain(domainAction{domain: clusteringDomain, configuration: "{}", removed: true})
	}
	if feature == "inCommitTimestamp" {
		x.SetMetadata(x.nextMetadata().withoutProperty(inCommitVersion).withoutProperty(inCommitTimestamp))
	}
	schema, err := ParseSchema(x.nextMetadata().SchemaString)
	if err != nil {
		return err
	}
	return x.checkDropped(schema)
}

// nextMetadata are the metadata that the commit leaves in force.
func (x *Transaction) nextMetadata() *Metadata {
	if x.metadata != nil {
		return x.metadata
	}
	return x.base.metadata
}

// checkDropped refuses to drop features that the table uses, or that others which stay need.
func (x *Transaction) checkDropped(schema *batch.Schema) error {
	for _, name := range x.dropped {
		if x.uses(name, schema) {
			return Refuse("[DELTA_FEATURE_DROP_CONFLICT] feature %s of table %s cannot be dropped, for the table has %s", name, x.base.uri, usedBy[name])
		}
		for _, other := range sortedKeys(features) {
			if features[other].needs == name && x.base.protocol.Supports(other) && !slices.Contains(x.dropped, other) {
				return Refuse("[DELTA_FEATURE_DROP_DEPENDENT_FEATURE] feature %s of table %s cannot be dropped, for %s needs it", name, x.base.uri, other)
			}
		}
	}
	return nil
}

func (x *Transaction) uses(name string, schema *batch.Schema) bool {
	switch name {
	case "domainMetadata":
		return len(x.base.domains) > 0
	case clusteringFeature:
		columns, err := x.base.ClusteringColumns()
		return err != nil || len(columns) > 0
	}
	f := features[name]
	return f.active != nil && f.active(x.nextMetadata(), schema)
}

// without is the protocol without some of its features: by old version numbers where these say the same, else as a list.
func (p *Protocol) without(dropped []string) *Protocol {
	out := &Protocol{MinReader: p.MinReader, MinWriter: maxWriter}
	out.list(p, nil)
	gone := func(name string) bool { return slices.Contains(dropped, canonicalFeature(name)) }
	out.WriterFeatures = slices.DeleteFunc(out.WriterFeatures, gone)
	for old := (Protocol{MinReader: p.MinReader, MinWriter: 1}); old.MinReader < maxReader && old.MinWriter < maxWriter; old.MinWriter++ {
		same := true
		for name := range features {
			same = same && old.Supports(name) == out.Supports(name)
		}
		if same && !slices.ContainsFunc(out.WriterFeatures, func(name string) bool { return canonicalFeature(name) == "" }) {
			return &old
		}
	}
	return out
}
