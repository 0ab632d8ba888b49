package delta

import (
	"fmt"
	"slices"
	"strings"
)

// A table names what an engine must know: features, or in older tables version numbers that stand for features. A feature
// that is listed may still be asleep: nothing in the table uses it. featureRules holds, for every feature that this
// package knows, when it stands in the way.

// featureRule says when a feature stops this build. A nil function never does.
type featureRule struct {
	legacyReader, legacyWriter int // the versions that imply it; 0: none do
	blocksRead, blocksWrite    func(s *Snapshot) bool
}

var featureRules = map[string]featureRule{
	"appendOnly":           {legacyWriter: 2}, // a transaction refuses removes
	"invariants":           {legacyWriter: 2, blocksWrite: hasColumnKey("delta.invariants")},
	"checkConstraints":     {legacyWriter: 3, blocksWrite: hasPropertyPrefix("delta.constraints.")},
	"changeDataFeed":       {legacyWriter: 4}, // a transaction refuses what would need change files
	"generatedColumns":     {legacyWriter: 4, blocksWrite: hasColumnKey("delta.generationExpression")},
	"columnMapping":        {legacyReader: 2, legacyWriter: 5, blocksRead: columnMappingOn, blocksWrite: columnMappingOn},
	"identityColumns":      {legacyWriter: 6, blocksWrite: hasColumnKey("delta.identity.start")},
	"deletionVectors":      {blocksRead: func(s *Snapshot) bool { return s.files.withDV > 0 }},
	"timestampNtz":         {},
	"v2Checkpoint":         {},
	"vacuumProtocolCheck":  {},
	"typeWidening":         {blocksRead: hasColumnKey("delta.typeChanges")},
	"typeWidening-preview": {blocksRead: hasColumnKey("delta.typeChanges")},
	"variantType":          {}, // ParseSchema refuses the type
	"variantType-preview":  {},
	"variantShredding":     {},
	"domainMetadata":       {},
	"allowColumnDefaults":  {blocksWrite: hasColumnKey("CURRENT_DEFAULT")},
	"inCommitTimestamp":    {blocksWrite: propertyOn("delta.enableInCommitTimestamps")},
	"icebergCompatV1":      {blocksWrite: propertyOn("delta.enableIcebergCompatV1")},
	"icebergCompatV2":      {blocksWrite: propertyOn("delta.enableIcebergCompatV2")},
	"icebergCompatV3":      {blocksWrite: propertyOn("delta.enableIcebergCompatV3")},
}

func propertyOn(name string) func(*Snapshot) bool {
	return func(s *Snapshot) bool { return strings.EqualFold(s.metadata.Configuration[name], "true") }
}

func hasPropertyPrefix(prefix string) func(*Snapshot) bool {
	return func(s *Snapshot) bool {
		for k := range s.metadata.Configuration {
			if strings.HasPrefix(k, prefix) {
				return true
			}
		}
		return false
	}
}

// hasColumnKey looks for a key of column metadata. It looks at the text, so that it finds the key at any depth of any type.
func hasColumnKey(key string) func(*Snapshot) bool {
	return func(s *Snapshot) bool {
		for rest := s.metadata.SchemaString; ; {
			_, after, found := strings.Cut(rest, `"`+key+`"`)
			if !found {
				return false
			}
			if strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":") {
				return true
			}
			rest = after
		}
	}
}

func columnMappingOn(s *Snapshot) bool {
	mode := s.metadata.Configuration["delta.columnMapping.mode"]
	return mode != "" && !strings.EqualFold(mode, "none")
}

const (
	maxReader = 3 // from 3 on, readers go by the list of features
	maxWriter = 7 // from 7 on, writers do
)

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
		for _, f := range p.ReaderFeatures {
			if !slices.Contains(p.WriterFeatures, f) {
				return fmt.Errorf("%w: protocol of %s has reader feature %s without the writer feature of that name", ErrCorrupt, s.uri, f)
			}
			if rule, known := featureRules[f]; !known || rule.blocksRead != nil && rule.blocksRead(s) {
				refused = append(refused, f)
			}
		}
	default:
		for _, f := range sortedKeys(featureRules) {
			rule := featureRules[f]
			if rule.legacyReader > 0 && rule.legacyReader <= p.MinReader && rule.blocksRead(s) {
				refused = append(refused, f)
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

// CheckWritable returns an *UnsupportedError that names what appending to the table needs and this build does not have.
func CheckWritable(s *Snapshot) error {
	if err := checkReadable(s); err != nil {
		return err
	}
	p := s.protocol
	var refused []string
	switch {
	case p.MinWriter < 1 || p.MinWriter > maxWriter:
		refused = append(refused, fmt.Sprintf("writer version %d", p.MinWriter))
	case p.MinWriter == maxWriter:
		for _, f := range p.WriterFeatures {
			if rule, known := featureRules[f]; !known || rule.blocksWrite != nil && rule.blocksWrite(s) {
				refused = append(refused, f)
			}
		}
	default:
		for _, f := range sortedKeys(featureRules) {
			rule := featureRules[f]
			if rule.legacyWriter > 0 && rule.legacyWriter <= p.MinWriter && rule.blocksWrite != nil && rule.blocksWrite(s) {
				refused = append(refused, f)
			}
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return &UnsupportedError{Op: "write", URI: s.uri, Features: refused, Detail: "use an engine that supports them"}
}

// activeFeatures are the known features that the table uses and that this build cannot write with.
func activeFeatures(s *Snapshot) []string {
	var active []string
	for _, f := range sortedKeys(featureRules) {
		rule := featureRules[f]
		if rule.blocksWrite != nil && rule.blocksWrite(s) || rule.blocksRead != nil && rule.blocksRead(s) {
			active = append(active, f)
		}
	}
	return active
}

// appendOnly tells whether the table lets no row be removed or changed.
func appendOnly(s *Snapshot) bool { return propertyOn("delta.appendOnly")(s) }

// changeFeed tells whether the table records its changes.
func changeFeed(s *Snapshot) bool { return propertyOn("delta.enableChangeDataFeed")(s) }
