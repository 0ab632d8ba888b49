package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/batch"
)

// metaColumn is the column that has what Kafka knows of a record, where the columns of its value are beside it.
const metaColumn = "_kafka"

var (
	binaryType = batch.Type{Kind: batch.Binary}
	textType   = batch.Type{Kind: batch.String}
	headerType = batch.ListOf(batch.Field{Type: batch.StructOf(
		batch.Field{Name: "key", Type: textType, Nullable: true}, batch.Field{Name: "value", Type: binaryType, Nullable: true}), Nullable: true})
)

// recordFields are Spark's columns of a record: with or without its value, and with its headers where they are asked for.
func recordFields(value, headers bool) []batch.Field {
	fields := []batch.Field{{Name: "key", Type: binaryType}}
	if value {
		fields = append(fields, batch.Field{Name: "value", Type: binaryType})
	}
	fields = append(fields,
		batch.Field{Name: "topic", Type: textType},
		batch.Field{Name: "partition", Type: batch.Type{Kind: batch.Int32}},
		batch.Field{Name: "offset", Type: batch.Type{Kind: batch.Int64}},
		batch.Field{Name: "timestamp", Type: batch.Type{Kind: batch.Timestamp}},
		batch.Field{Name: "timestampType", Type: batch.Type{Kind: batch.Int32}},
	)
	if headers {
		fields = append(fields, batch.Field{Name: "headers", Type: headerType})
	}
	for i := range fields {
		fields[i].Nullable = true
	}
	return fields
}

// recordColumns fills the columns of recordFields.
func recordColumns(records []*kgo.Record, value, headers bool) []*batch.Vector {
	fields := recordFields(value, headers)
	cols := make([]*batch.Vector, len(fields))
	for i, f := range fields {
		cols[i] = batch.NewVector(f.Type, len(records))
	}
	rest := cols[1:]
	for _, rec := range records {
		appendBytes(cols[0], rec.Key)
	}
	if value {
		for _, rec := range records {
			appendBytes(cols[1], rec.Value)
		}
		rest = cols[2:]
	}
	for _, rec := range records {
		rest[0].AppendString(rec.Topic)
		rest[1].AppendInt32(rec.Partition)
		rest[2].AppendInt64(rec.Offset)
		rest[3].AppendInt64(rec.Timestamp.UnixMicro())
		rest[4].AppendInt32(int32(rec.Attrs.TimestampType()))
	}
	if headers {
		for _, rec := range records {
			appendHeaders(rest[5], rec.Headers)
		}
	}
	return cols
}

func appendBytes(v *batch.Vector, data []byte) {
	if data == nil {
		v.AppendNull()
	} else {
		v.AppendBytes(data)
	}
}

// appendHeaders adds a list; a record without headers has NULL, as in Spark.
func appendHeaders(v *batch.Vector, headers []kgo.RecordHeader) {
	if len(headers) == 0 {
		v.AppendNull()
		return
	}
	list := make([]any, len(headers))
	for i, h := range headers {
		var value any
		if h.Value != nil {
			value = h.Value
		}
		list[i] = []any{h.Key, value}
	}
	if err := v.AppendValue(list); err != nil {
		panic("kafka: a list of headers is one: " + err.Error())
	}
}
