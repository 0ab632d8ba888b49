package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/batch"
	"lakesql/format/avro"
)

// Formats of values in Avro's binary encoding: as it is, and behind the header that the serializers of Confluent's schema registry write.
const (
	formatAvro      = "avro"
	formatConfluent = "avro-confluent"
)

// avroOptions say how values in Avro's binary encoding are read.
type avroOptions struct {
	schema *avro.Schema
	header bool  // values begin with Confluent's header
	id     int64 // the schema's number in its registry, which each header must have; -1: any
}

// A header is a byte 0 and the number of the schema, its highest byte first.
const (
	headerBytes = 5
	headerMagic = 0
)

func (v *valueOptions) parseAvro(options, given map[string]string) (err error) {
	text, ok := options["avroschema"]
	if !ok {
		return argumentError(`format => '%s' wants the schema that values were written by: avroSchema => '{"type":"record","name":"order","fields":[{"name":"id","type":"long"}]}'`, v.format)
	}
	v.avro = &avroOptions{header: v.format == formatConfluent, id: -1}
	if v.avro.schema, err = avro.Parse(text); err != nil {
		return argumentError("option %s: %w", given["avroschema"], err)
	}
	if text, ok := options["avroschemaid"]; ok {
		id, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return argumentError("option %s => '%s': give the number that the registry has given the schema", given["avroschemaid"], text)
		}
		v.avro.id = int64(id)
	}
	return nil
}

// decodeAvro reads each value by the schema. One that is malformed is a row of NULLs.
func (v *valueOptions) decodeAvro(records []*kgo.Record, schema *batch.Schema) *table {
	t := &table{cols: make([]*batch.Vector, len(schema.Fields))}
	for i, f := range schema.Fields {
		t.cols[i] = batch.NewVector(f.Type, len(records))
	}
	for i, rec := range records {
		if len(rec.Value) > 0 {
			err := v.avro.append(t.cols, rec.Value)
			if err == nil {
				continue
			}
			column := ""
			if bad := (*avro.MalformedError)(nil); errors.As(err, &bad) {
				column = bad.Column
			}
			t.reject(len(records), i, column, err.Error())
		}
		for _, col := range t.cols {
			col.AppendNull()
		}
	}
	return t
}

func (a *avroOptions) append(cols []*batch.Vector, value []byte) error {
	if !a.header {
		err := a.schema.Append(cols, value)
		if err != nil && len(value) > headerBytes && value[0] == headerMagic {
			err = fmt.Errorf("%w; values that begin with the %d bytes of a schema registry are read by format => '%s'", err, headerBytes, formatConfluent)
		}
		return err
	}
	if len(value) < headerBytes || value[0] != headerMagic {
		return fmt.Errorf("the value does not begin with the byte 0 and the 4 of a schema's number; values without them are read by format => '%s'", formatAvro)
	}
	if id := int64(binary.BigEndian.Uint32(value[1:headerBytes])); a.id >= 0 && id != a.id {
		return fmt.Errorf("the value was written by schema %d of the registry, and avroSchemaId is %d", id, a.id)
	}
	err := a.schema.Append(cols, value[headerBytes:])
	if bad := (*avro.MalformedError)(nil); errors.As(err, &bad) {
		bad.At += headerBytes
	}
	return err
}
