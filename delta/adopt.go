package delta

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/buger/jsonparser"
)

// A concurrent change of the protocol or the metadata conflicts, but for those that leave valid what others are writing at the time:
// then a transaction adopts them.

// adoptableFeatures may come into force while others write.
var adoptableFeatures = []string{"appendOnly", "changeDataFeed", "columnMapping", "deletionVectors", "domainMetadata", "icebergCompatV1", "icebergCompatV2",
	"inCommitTimestamp", "rowTracking", "timestampNtz", "typeWidening", "typeWidening-preview", "v2Checkpoint", "vacuumProtocolCheck"}

// checkProtocol is a conflict when the winner's protocol makes demands on commits that were under way.
func (x *Transaction) checkProtocol(w *winner) error {
	if w.protocol == nil && x.read != nil {
		return nil
	}
	if x.read == nil || x.protocol != nil || !adoptableProtocol(x.base.protocol, w.protocol) {
		return w.conflict(classProtocolChanged, "the protocol of table %s has been changed by a concurrent commit", w.uri)
	}
	return nil
}

func adoptableProtocol(before, after *Protocol) bool {
	old, next := before.featureSet(), after.featureSet()
	for name := range old {
		if !next[name] {
			return false
		}
	}
	for name := range next {
		if !old[name] && !slices.Contains(adoptableFeatures, name) {
			return false
		}
	}
	return true
}

// featureSet are the features that the protocol lists or implies.
func (p *Protocol) featureSet() map[string]bool {
	out := make(map[string]bool)
	for _, list := range [][]string{p.ReaderFeatures, p.WriterFeatures} {
		for _, name := range list {
			out[name] = true
		}
	}
	for name, rule := range features {
		if p.MinWriter < maxWriter && rule.legacyWriter > 0 && rule.legacyWriter <= p.MinWriter {
			out[name] = true
		}
	}
	return out
}

// identityTag is the tag of a commit whose metadata only move the marks of identity columns.
const identityTag = "delta.identity.schemaUpdate"

// checkMetadata is a conflict when the winner's metadata may make wrong what the transaction read or wrote.
func (x *Transaction) checkMetadata(w *winner) error {
	if w.metadata == nil {
		return nil
	}
	marks, err := jsonparser.GetString(w.info, "tags", identityTag)
	identity := err == nil && marks == "true"
	if x.read == nil || x.metadata != nil || !identity && !adoptableMetadata(x.base.metadata, w.metadata) {
		return w.conflict(classMetadataChanged, "the metadata of table %s has been changed by a concurrent commit", w.uri)
	}
	if w.metadata.on(rowTrackingProperty) && !x.base.metadata.on(rowTrackingProperty) {
		x.idsLost = len(x.files.touched) > 0
	}
	return nil
}

// adoptableProperties may be set while others write; to this value where there is one.
var adoptableProperties = map[string]string{
	mappingMode:                    mappingByName,
	mappingMaxID:                   "",
	"delta.enableDeletionVectors":  "true",
	"delta.checkpointPolicy":       "v2",
	inCommitProperty:               "true",
	inCommitVersion:                "",
	inCommitTimestamp:              "",
	rowTrackingProperty:            "true",
	rowIDColumnProperty:            "",
	rowCommitVersionColumnProperty: "",
}

func adoptableMetadata(before, after *Metadata) bool {
	for k := range after.Configuration {
		if before.Configuration[k] == after.Configuration[k] {
			continue
		}
		if value, ok := adoptableProperties[k]; !ok || value != "" && value != after.Configuration[k] {
			return false
		}
	}
	for k := range before.Configuration {
		if _, kept := after.Configuration[k]; !kept {
			return false
		}
	}
	mapped := before.Mapping() != after.Mapping()
	if mapped && before.Mapping() != "" {
		return false // other names for what the files have
	}
	return sameButColumnKeys(before, after, func(key string) bool { return mapped && strings.HasPrefix(key, "delta.columnMapping.") })
}

// identityOnly tells whether metadata differ in the marks of identity columns alone.
func identityOnly(before, after *Metadata) bool {
	return before.SchemaString != after.SchemaString && maps.Equal(before.Configuration, after.Configuration) &&
		sameButColumnKeys(before, after, func(key string) bool { return key == identityMark })
}

// sameButColumnKeys compares metadata without their properties, and without those keys of their columns that are to be ignored.
func sameButColumnKeys(a, b *Metadata, ignore func(key string) bool) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Description == b.Description && slices.Equal(a.PartitionColumns, b.PartitionColumns) &&
		(a.SchemaString == b.SchemaString || reflect.DeepEqual(schemaWithout(a.SchemaString, ignore), schemaWithout(b.SchemaString, ignore)))
}

// schemaWithout is a schema as encoding/json has it, without those keys of the metadata of its columns, at any depth.
func schemaWithout(schemaString string, ignore func(key string) bool) any {
	var out any
	if json.Unmarshal([]byte(schemaString), &out) != nil {
		return schemaString
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, child := range v {
				if keys, ok := child.(map[string]any); ok && k == "metadata" {
					maps.DeleteFunc(keys, func(key string, _ any) bool { return ignore(key) })
				}
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(out)
	return out
}
