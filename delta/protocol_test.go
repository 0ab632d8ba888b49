package delta

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// text is "reader,writer [reader features] [writer features]".
func (p *Protocol) text() string {
	if p == nil {
		return "enough"
	}
	out := fmt.Sprintf("%d,%d", p.MinReader, p.MinWriter)
	if p.MinWriter == maxWriter {
		out += fmt.Sprintf(" %v %v", p.ReaderFeatures, p.WriterFeatures)
	}
	return out
}

func TestRequiredProtocol(t *testing.T) {
	field := func(name string, k batch.Kind) batch.Field {
		return batch.Field{Name: name, Type: kind(k), Nullable: true}
	}
	deep := func(k batch.Kind) batch.Field {
		return batch.Field{Name: "deep", Nullable: true, Type: batch.MapOf(field("", batch.String), batch.Field{Type: batch.ListOf(batch.Field{Type: batch.StructOf(field("x", k))})})}
	}
	legacy := &Protocol{MinReader: 1, MinWriter: 2}
	mapped := &Protocol{MinReader: 2, MinWriter: 5}
	identity := &Protocol{MinReader: 1, MinWriter: 6}
	uniform := &Protocol{MinReader: 2, MinWriter: 7, WriterFeatures: []string{"columnMapping", "icebergCompatV2"}}
	listed := &Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"typeWidening-preview"}, WriterFeatures: []string{"typeWidening-preview", "appendOnly"}}
	for _, c := range []struct {
		now    *Protocol
		config string
		fields []batch.Field
		want   string
	}{
		{nil, "", nil, "1,2"},
		{legacy, "", nil, "enough"},
		{&Protocol{MinReader: 1, MinWriter: 1}, "delta.appendOnly=true", nil, "1,2"},
		{legacy, "delta.constraints.c=x", nil, "1,3"},
		{legacy, "delta.enableChangeDataFeed=true", nil, "1,4"},
		{legacy, "delta.enableChangeDataFeed=false", nil, "enough"},
		{legacy, "delta.columnMapping.mode=name", nil, "2,5"},
		{legacy, "delta.columnMapping.mode=none", nil, "enough"},
		{identity, "delta.columnMapping.mode=id", nil, "2,6"},
		{legacy, "", []batch.Field{ruleColumn("g", map[string]string{GenerationKey: `"1"`})}, "1,4"},
		{nil, "", []batch.Field{ruleColumn("i", map[string]string{IdentityStart: "1"})}, "1,6"},
		{nil, "", []batch.Field{deep(batch.TimestampNTZ)}, "3,7 [timestampNtz] [appendOnly invariants timestampNtz]"},
		{nil, "", []batch.Field{deep(batch.Variant)}, "3,7 [variantType] [appendOnly invariants variantType]"},
		{legacy, "delta.enableDeletionVectors=true", nil, "3,7 [deletionVectors] [appendOnly invariants deletionVectors]"},
		{mapped, "delta.enableDeletionVectors=true", nil,
			"3,7 [columnMapping deletionVectors] [appendOnly changeDataFeed checkConstraints columnMapping generatedColumns invariants deletionVectors]"},
		{identity, "delta.checkpointPolicy=v2", nil,
			"3,7 [v2Checkpoint] [appendOnly changeDataFeed checkConstraints generatedColumns identityColumns invariants v2Checkpoint]"},
		{legacy, "delta.enableRowTracking=true", nil, "1,7 [] [appendOnly invariants domainMetadata rowTracking]"},
		{legacy, "delta.enableInCommitTimestamps=true delta.columnMapping.mode=name", nil, "2,7 [] [appendOnly invariants columnMapping inCommitTimestamp]"},
		{uniform, "delta.columnMapping.mode=name", nil, "enough"},
		{uniform, "delta.enableDeletionVectors=true", nil, "3,7 [columnMapping deletionVectors] [columnMapping icebergCompatV2 deletionVectors]"},
		{listed, "delta.enableTypeWidening=true", nil, "enough"},
		{listed, "", []batch.Field{ruleColumn("w", map[string]string{typeChangesKey: `[]`})}, "enough"},
		{listed, "delta.columnMapping.mode=name", nil, "3,7 [typeWidening-preview columnMapping] [typeWidening-preview appendOnly columnMapping]"},
		{legacy, "delta.feature.allowColumnDefaults=supported", nil, "1,7 [] [appendOnly invariants allowColumnDefaults]"},
		{legacy, "delta.feature.VARIANTSHREDDING=enabled", nil, "3,7 [variantShredding variantType] [appendOnly invariants variantShredding variantType]"},
		{legacy, "delta.feature.typeWidening-preview=supported", nil, "3,7 [typeWidening] [appendOnly invariants typeWidening]"},
		{legacy, "delta.minReaderVersion=2 delta.minWriterVersion=5", nil, "2,5"},
		{legacy, "delta.minReaderVersion=1 delta.minWriterVersion=1", nil, "enough"},
		{legacy, "delta.minWriterVersion=7", nil, "1,7 [] [appendOnly invariants]"},
		{legacy, "delta.minReaderVersion=3", nil, "3,7 [] [appendOnly invariants]"},
		{mapped, "delta.minReaderVersion=3", nil, "3,7 [columnMapping] [appendOnly changeDataFeed checkConstraints columnMapping generatedColumns invariants]"},
	} {
		m := &Metadata{Configuration: map[string]string{}}
		for _, property := range strings.Fields(c.config) {
			key, value, _ := strings.Cut(property, "=")
			require.NoError(t, checkProperty(key, value))
			m.Configuration[key] = value
		}
		got := requiredProtocol(c.now, m, batch.NewSchema(append(c.fields, field("id", batch.Int64))...))
		require.Equal(t, c.want, got.text(), "%s on %s", c.config, c.now.text())
		if got != nil {
			require.Nil(t, requiredProtocol(got, m, batch.NewSchema(append(c.fields, field("id", batch.Int64))...)), "it is enough then")
		}
	}
}

func TestProtocolsThatAreRefused(t *testing.T) {
	snapshot := func(p Protocol, config map[string]string) *Snapshot {
		s := newSnapshot("mem://t")
		s.applyState(&commit{protocol: &p, metadata: &Metadata{SchemaString: FormatSchema(testSchema), Configuration: config}})
		return s
	}
	both := func(features ...string) Protocol {
		return Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: features, WriterFeatures: features}
	}
	writer := func(features ...string) Protocol {
		return Protocol{MinReader: 1, MinWriter: 7, WriterFeatures: features}
	}
	for _, c := range []struct {
		protocol    Protocol
		config      map[string]string
		read, write string // what is named; "" allowed
	}{
		{Protocol{MinReader: 0, MinWriter: 2}, nil, "reader version 0", ""},
		{Protocol{MinReader: 4, MinWriter: 7}, nil, "reader version 4", ""},
		{Protocol{MinReader: 1, MinWriter: 8}, nil, "", "writer version 8"},
		{Protocol{MinReader: 3, MinWriter: 6}, nil, "7 is needed", ""},
		{Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"deletionVectors"}}, nil, "without the writer feature", ""},
		{both("catalogManaged"), nil, "catalogManaged", ""},
		{both("catalogOwned-preview"), nil, "catalogOwned-preview", ""},
		{both("geospatial", "timestampNanos"), nil, "geospatial, timestampNanos", ""},
		{both("adaptiveMetadata-preview"), nil, "adaptiveMetadata-preview", ""},
		{both("redirectReaderWriter-preview"), nil, "redirectReaderWriter-preview", ""},
		{writer("coordinatedCommits-preview", "redirectWriterOnly-preview"), nil, "", "coordinatedCommits-preview, redirectWriterOnly-preview"},
		{writer("liquid", "columnMappingUsageTracking"), nil, "", "liquid, columnMappingUsageTracking"},
		{writer("icebergCompatV1", "icebergCompatV2"), nil, "", ""},
		{writer("icebergCompatV1", "icebergCompatV2"), map[string]string{"delta.enableIcebergCompatV2": "true"}, "", "icebergCompatV2"},
		{writer("icebergWriterCompatV1"), map[string]string{"delta.enableIcebergWriterCompatV1": "true"}, "", "icebergWriterCompatV1"},
		{both("typeWidening-preview", "variantType-preview", "variantShredding-preview", "timestampWithoutTimezone", "vacuumProtocolCheck"), nil, "", ""},
		{writer("inCommitTimestamp-preview", "rowTracking", "domainMetadata", "clustering", "checkpointProtection", "collations-preview"), nil, "", ""},
		{writer(sortedKeys(features)...), nil, "", ""},
	} {
		s := snapshot(c.protocol, c.config)
		err := checkReadable(s)
		if c.read != "" {
			require.ErrorContains(t, err, c.read)
			continue
		}
		require.NoError(t, err)
		if err = CheckWritable(s); c.write == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.write)
	}
	s := snapshot(writer("collations"), nil)
	s.setMetadata(&Metadata{SchemaString: FormatSchema(batch.NewSchema(ruleColumn("c", map[string]string{"__COLLATIONS": `{"c":"ICU.de"}`})))})
	require.ErrorContains(t, CheckWritable(s), "collations")
}
