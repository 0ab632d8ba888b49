package delta

import "lakesql/batch"

// The columns of a checkpoint: one for each kind of action, with the fields, order and nullability that Spark writes. A row has one
// of them.

var (
	textType    = batch.Type{Kind: batch.String}
	longType    = batch.Type{Kind: batch.Int64}
	intType     = batch.Type{Kind: batch.Int32}
	boolType    = batch.Type{Kind: batch.Bool}
	textMapType = batch.MapOf(nullable("key", textType), nullable("value", textType))
	textsType   = batch.ListOf(nullable("element", textType))
)

func nullable(name string, t batch.Type) batch.Field {
	return batch.Field{Name: name, Type: t, Nullable: true}
}

var vectorFields = []batch.Field{
	nullable("storageType", textType),
	nullable("pathOrInlineDv", textType),
	nullable("offset", intType),
	nullable("sizeInBytes", intType),
	nullable("cardinality", longType),
	nullable("maxRowIndex", longType), // of old drafts; always null
}

// addFields stand before those that depend on the table: stats, partitionValues_parsed, stats_parsed.
var addFields = []batch.Field{
	nullable("path", textType),
	nullable("partitionValues", textMapType),
	nullable("size", longType),
	nullable("modificationTime", longType),
	nullable("dataChange", boolType),
	nullable("tags", textMapType),
	nullable("deletionVector", batch.StructOf(vectorFields...)),
	nullable("baseRowId", longType),
	nullable("defaultRowCommitVersion", longType),
	nullable("clusteringProvider", textType),
}

// removeFields are those of a tombstone, which needs no tags and no statistics.
var removeFields = []batch.Field{
	nullable("path", textType),
	nullable("deletionTimestamp", longType),
	nullable("dataChange", boolType),
	nullable("extendedFileMetadata", boolType),
	nullable("partitionValues", textMapType),
	nullable("size", longType),
	nullable("deletionVector", batch.StructOf(vectorFields...)),
	nullable("baseRowId", longType),
	nullable("defaultRowCommitVersion", longType),
}

var txnFields = []batch.Field{
	nullable("appId", textType),
	nullable("version", longType),
	nullable("lastUpdated", longType),
}

var metadataFields = []batch.Field{
	nullable("id", textType),
	nullable("name", textType),
	nullable("description", textType),
	nullable("format", batch.StructOf(nullable("provider", textType), nullable("options", textMapType))),
	nullable("schemaString", textType),
	nullable("partitionColumns", textsType),
	nullable("configuration", textMapType),
	nullable("createdTime", longType),
}

var protocolFields = []batch.Field{
	nullable("minReaderVersion", intType),
	nullable("minWriterVersion", intType),
	nullable("readerFeatures", textsType),
	nullable("writerFeatures", textsType),
}

var domainFields = []batch.Field{
	nullable("domain", textType),
	nullable("configuration", textType),
	nullable("removed", boolType),
}

var checkpointMetadataFields = []batch.Field{
	nullable("version", longType),
	nullable("tags", textMapType),
}

var sidecarFields = []batch.Field{
	nullable("path", textType),
	nullable("sizeInBytes", longType),
	nullable("modificationTime", longType),
	nullable("tags", textMapType),
}

func actionColumn(name string, fields []batch.Field) batch.Field {
	return nullable(name, batch.StructOf(fields...))
}

// classicSchema is that of a checkpoint which is one file, with everything in it.
func classicSchema(add []batch.Field) *batch.Schema {
	return batch.NewSchema(actionColumn("txn", txnFields), actionColumn("add", add), actionColumn("remove", removeFields),
		actionColumn("metaData", metadataFields), actionColumn("protocol", protocolFields), actionColumn("domainMetadata", domainFields))
}

// topSchema is that of a V2 checkpoint's own file, where no row has an add or a remove.
func topSchema(add []batch.Field) *batch.Schema {
	s := classicSchema(add)
	s.Fields = append(s.Fields, actionColumn("checkpointMetadata", checkpointMetadataFields), actionColumn("sidecar", sidecarFields))
	return s
}

// sidecarSchema is that of the files that hold a V2 checkpoint's adds and removes.
func sidecarSchema(add []batch.Field) *batch.Schema {
	return batch.NewSchema(actionColumn("add", add), actionColumn("remove", removeFields))
}
