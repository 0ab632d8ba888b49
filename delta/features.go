package delta

import (
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
)

// A table names what an engine must know: features, or in older tables version numbers that stand for features. A feature
// that is listed may still be asleep: nothing in the table uses it.

// feature is what this build knows of one table feature.
type feature struct {
	reader                     bool // readers must know it too
	legacyReader, legacyWriter int  // the versions that imply it; 0: none do
	needs                      string
	stays                      bool // DropFeature cannot take it out
	// active tells that metadata make use of the feature, so that the protocol must name it. nil: nothing in them does.
	active func(m *Metadata, schema *batch.Schema) bool
	// blocksWrite says when this build cannot write; nil: it always can.
	blocksWrite func(m *Metadata, schema *batch.Schema) bool
}

// features are all that this build can read. One that is not here is refused: by readers where it is a reader feature, else by writers.
var features = map[string]feature{
	"appendOnly":                  {legacyWriter: 2, active: propertyOn("delta.appendOnly")},
	"invariants":                  {legacyWriter: 2, active: columnsHave(invariantsKey)},
	"checkConstraints":            {legacyWriter: 3, active: hasConstraints},
	"changeDataFeed":              {legacyWriter: 4, active: propertyOn("delta.enableChangeDataFeed")},
	"generatedColumns":            {legacyWriter: 4, active: columnsHave(GenerationKey)},
	"columnMapping":               {reader: true, legacyReader: 2, legacyWriter: 5, active: mappingOn},
	"identityColumns":             {legacyWriter: 6, active: columnsHave(IdentityStart)},
	"deletionVectors":             {reader: true, active: propertyOn("delta.enableDeletionVectors")},
	"timestampNtz":                {reader: true, active: holdsType(batch.TimestampNTZ)},
	"v2Checkpoint":                {reader: true, active: propertyIs("delta.checkpointPolicy", "v2")},
	"vacuumProtocolCheck":         {reader: true},
	"typeWidening":                {reader: true, active: widened},
	"variantType":                 {reader: true, active: holdsType(batch.Variant)},
	"variantShredding":            {reader: true, needs: "variantType", active: propertyOn("delta.enableVariantShredding")},
	"domainMetadata":              {},
	"rowTracking":                 {needs: "domainMetadata", stays: true, active: propertyOn(rowTrackingProperty)},
	clusteringFeature:             {needs: "domainMetadata"},
	"allowColumnDefaults":         {active: columnsHave(DefaultKey)},
	"inCommitTimestamp":           {active: propertyOn(inCommitProperty)},
	"checkpointProtection":        {stays: true},
	"materializePartitionColumns": {active: propertyOn("delta.enableMaterializePartitionColumnsFeature")},
	"icebergCompatV1":             icebergCompat("delta.enableIcebergCompatV1"),
	"icebergCompatV2":             icebergCompat("delta.enableIcebergCompatV2"),
	"icebergCompatV3":             icebergCompat("delta.enableIcebergCompatV3"),
	"icebergWriterCompatV1":       icebergCompat("delta.enableIcebergWriterCompatV1"),
	"icebergWriterCompatV3":       icebergCompat("delta.enableIcebergWriterCompatV3"),
	"collations":                  {needs: "domainMetadata", active: columnsHave("__COLLATIONS"), blocksWrite: columnsHave("__COLLATIONS")},
}

// featureAliases are names that tables keep from before the feature had its own.
var featureAliases = map[string]string{
	"typeWidening-preview":      "typeWidening",
	"variantType-preview":       "variantType",
	"variantShredding-preview":  "variantShredding",
	"inCommitTimestamp-preview": "inCommitTimestamp",
	"collations-preview":        "collations",
	"timestampWithoutTimezone":  "timestampNtz",
}

// icebergCompat is a promise about files that this build does not keep.
func icebergCompat(property string) feature {
	return feature{needs: "columnMapping", active: propertyOn(property), blocksWrite: propertyOn(property)}
}

func featureNamed(name string) (feature, bool) {
	if canonical, ok := featureAliases[name]; ok {
		name = canonical
	}
	f, ok := features[name]
	return f, ok
}

func propertyOn(name string) func(*Metadata, *batch.Schema) bool { return propertyIs(name, "true") }

func propertyIs(name, value string) func(*Metadata, *batch.Schema) bool {
	return func(m *Metadata, _ *batch.Schema) bool { return strings.EqualFold(m.Configuration[name], value) }
}

func hasConstraints(m *Metadata, _ *batch.Schema) bool {
	for k := range m.Configuration {
		if strings.HasPrefix(k, ConstraintPrefix) {
			return true
		}
	}
	return false
}

// columnsHave looks for a key of column metadata, at any depth.
func columnsHave(key string) func(*Metadata, *batch.Schema) bool {
	return func(_ *Metadata, schema *batch.Schema) bool {
		return anyField(schema, func(f batch.Field) bool { return f.Metadata[key] != "" })
	}
}

func anyField(schema *batch.Schema, is func(batch.Field) bool) bool {
	var found bool
	_ = eachStructField(schema.Fields, func(_ string, f batch.Field) error {
		found = found || is(f)
		return nil
	})
	return found
}

// holdsType looks for a type at any depth.
func holdsType(kind batch.Kind) func(*Metadata, *batch.Schema) bool {
	var holds func(t batch.Type) bool
	holds = func(t batch.Type) bool {
		return t.Kind == kind || slices.ContainsFunc(t.Fields(), func(f batch.Field) bool { return holds(f.Type) })
	}
	return func(_ *Metadata, schema *batch.Schema) bool {
		return slices.ContainsFunc(schema.Fields, func(f batch.Field) bool { return holds(f.Type) })
	}
}

func mappingOn(m *Metadata, _ *batch.Schema) bool { return m.Mapping() != "" }

func widened(m *Metadata, schema *batch.Schema) bool {
	return propertyOn(typeWideningProperty)(m, schema) || columnsHave(typeChangesKey)(m, schema)
}

const (
	maxReader = 3 // from 3 on, readers go by the list of features
	maxWriter = 7 // from 7 on, writers do
)

// Supports tells whether the protocol has a feature, by its name, a former name of it, or a version that implies it.
func (p *Protocol) Supports(name string) bool {
	if p == nil {
		return false
	}
	f := features[name]
	if p.MinWriter < maxWriter {
		return f.legacyWriter > 0 && f.legacyWriter <= p.MinWriter && f.legacyReader <= p.MinReader
	}
	return slices.ContainsFunc(p.WriterFeatures, func(listed string) bool { return listed == name || featureAliases[listed] == name })
}

// checkReadable returns an *UnsupportedError that names what reading the snapshot needs and this build does not have.
// Features that only concern writers do not matter.
func checkReadable(s *Snapshot) error {
	p := s.protocol
	var refused []string
	switch {
	case p.MinReader < 1 || p.MinReader > maxReader:
		refused = append(refused, fmt.Sprintf("reader version %d", p.MinReader))
	case p.MinReader == maxReader && p.MinWriter < maxWriter:
		return fmt.Errorf("%w: protocol of %s has reader version 3 with writer version %d; 7 is needed", ErrCorrupt, s.uri, p.MinWriter)
	case p.MinReader == maxReader:
		for _, name := range p.ReaderFeatures {
			if !slices.Contains(p.WriterFeatures, name) {
				return fmt.Errorf("%w: protocol of %s has reader feature %s without the writer feature of that name", ErrCorrupt, s.uri, name)
			}
			if _, known := featureNamed(name); !known {
				refused = append(refused, name)
			}
		}
	}
	detail := "use an engine that supports them, or drop the features there first"
	if unsupported, ok := s.schemaErr.(*UnsupportedError); ok && len(refused) == 0 {
		refused, detail = unsupported.Features, unsupported.Detail
	} else if s.schemaErr != nil && len(refused) == 0 {
		return fmt.Errorf("table %s: %w", s.uri, s.schemaErr)
	}
	if len(refused) == 0 {
		return nil
	}
	return &UnsupportedError{Op: "read", URI: s.uri, Features: refused, Detail: detail}
}

// CheckWritable returns an *UnsupportedError that names what writing to the table needs and this build does not have.
func CheckWritable(s *Snapshot) error {
	if err := checkReadable(s); err != nil {
		return err
	}
	var refused []string
	if p := s.protocol; p.MinWriter < 1 || p.MinWriter > maxWriter {
		refused = append(refused, fmt.Sprintf("writer version %d", p.MinWriter))
	} else if p.MinWriter == maxWriter {
		for _, name := range p.WriterFeatures {
			if _, known := featureNamed(name); !known {
				refused = append(refused, name)
			}
		}
	}
	for _, name := range blockedFeatures(s.metadata, s.schema) {
		if s.protocol.Supports(name) {
			refused = append(refused, name)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return &UnsupportedError{Op: "write", URI: s.uri, Features: refused, Detail: "use an engine that supports them"}
}

// blockedFeatures are those that stand in the way of writing when the protocol has them.
func blockedFeatures(m *Metadata, schema *batch.Schema) []string {
	var out []string
	for _, name := range sortedKeys(features) {
		if f := features[name]; f.blocksWrite != nil && f.blocksWrite(m, schema) {
			out = append(out, name)
		}
	}
	return out
}

// appendOnly tells whether the table lets no row be removed or changed.
func appendOnly(s *Snapshot) bool { return s.metadata.on("delta.appendOnly") }

// changeFeed tells whether the table records its changes.
func changeFeed(s *Snapshot) bool { return s.metadata.on("delta.enableChangeDataFeed") }
