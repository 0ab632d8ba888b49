package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// NoOffset stands for a source that has no offset yet.
const NoOffset = "-"

// Offsets say where a batch ends.
type Offsets struct {
	WatermarkMs int64           // the batch's watermark, epoch ms; 0 when there is none
	TimestampMs int64           // when the batch was planned, epoch ms: its current_timestamp, also when it is run again
	Conf        json.RawMessage // settings for the life of the checkpoint: an object, kept verbatim; nil where the file has none
	Sources     []string        // the offset of each source as JSON, or NoOffset
}

// newConf are the settings that Spark 4.0 writes; each reader takes those it knows. Streams of ours use none of them.
const newConf = `{"spark.sql.streaming.stateStore.providerClass":"org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",` +
	`"spark.sql.streaming.stateStore.rocksdb.formatVersion":"5",` +
	`"spark.sql.streaming.stateStore.encodingFormat":"unsaferow",` +
	`"spark.sql.streaming.statefulOperator.useStrictDistribution":"true",` +
	`"spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion":"2",` +
	`"spark.sql.streaming.aggregation.stateFormatVersion":"2",` +
	`"spark.sql.shuffle.partitions":"200",` +
	`"spark.sql.streaming.join.stateFormatVersion":"2",` +
	`"spark.sql.streaming.stateStore.compression.codec":"lz4",` +
	`"spark.sql.streaming.multipleWatermarkPolicy":"min",` +
	`"spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan":"false"}`

// NewConf is the Conf of a new checkpoint's first batch. Later batches carry forward what the one before them has.
func NewConf() json.RawMessage { return json.RawMessage(newConf) }

// OffsetLog is offsets/: what each batch will read, durable before it is read.
type OffsetLog struct{ log }

// Read returns a batch's offsets. A file that is missing, empty or torn is Kind Damaged.
func (l *OffsetLog) Read(ctx context.Context, id int64) (Offsets, error) {
	lines, err := l.read(ctx, id)
	if err != nil {
		return Offsets{}, err
	}
	o, err := decodeOffsets(lines)
	if err != nil {
		return Offsets{}, l.bad(id, Damaged, err)
	}
	return o, nil
}

// Add writes a batch's offsets; id must follow the newest. Kind Concurrent when another process has written it.
func (l *OffsetLog) Add(ctx context.Context, id int64, o Offsets) error {
	data, err := encodeOffsets(o)
	if err != nil {
		return fmt.Errorf("write offsets of batch %d: %w", id, err)
	}
	return l.add(ctx, id, data)
}

func encodeOffsets(o Offsets) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("v1\n" + `{"batchWatermarkMs":` + strconv.FormatInt(o.WatermarkMs, 10) +
		`,"batchTimestampMs":` + strconv.FormatInt(o.TimestampMs, 10))
	if o.Conf != nil {
		if !isObject(o.Conf) || bytes.ContainsAny(o.Conf, "\r\n") {
			return nil, fmt.Errorf("conf must be a JSON object on one line, got %s", excerpt(string(o.Conf)))
		}
		b.WriteString(`,"conf":`)
		b.Write(o.Conf)
	}
	b.WriteByte('}')
	if len(o.Sources) == 0 {
		return nil, errors.New("there is no source")
	}
	for _, s := range o.Sources {
		if err := checkOffset(s); err != nil {
			return nil, err
		}
		b.WriteString("\n" + s)
	}
	return b.Bytes(), nil
}

func checkOffset(s string) error {
	if s != NoOffset && (!json.Valid([]byte(s)) || strings.ContainsAny(s, "\r\n")) {
		return fmt.Errorf("want the offset of a source, JSON on one line or -, found %s", excerpt(s))
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(raw)
}

// decodeOffsets reads the lines behind the version. Unknown fields are ignored, missing ones are zero; the line of metadata and one
// of a source must be there, or the file is torn.
func decodeOffsets(lines []string) (Offsets, error) {
	if len(lines) < 2 {
		return Offsets{}, fmt.Errorf("the file is torn: %d lines behind v1, want the metadata and one for each source", len(lines))
	}
	var m struct {
		BatchWatermarkMs int64
		BatchTimestampMs int64
		Conf             json.RawMessage
	}
	if err := json.Unmarshal([]byte(lines[0]), &m); err != nil {
		return Offsets{}, fmt.Errorf("the metadata in line 2 is %s: %w", excerpt(lines[0]), err)
	}
	o := Offsets{WatermarkMs: m.BatchWatermarkMs, TimestampMs: m.BatchTimestampMs, Sources: lines[1:]}
	if m.Conf != nil && string(m.Conf) != "null" {
		if !isObject(m.Conf) {
			return Offsets{}, fmt.Errorf("conf in line 2 is %s, want an object", excerpt(string(m.Conf)))
		}
		o.Conf = m.Conf
	}
	for i, s := range o.Sources {
		if err := checkOffset(s); err != nil {
			return Offsets{}, fmt.Errorf("line %d: %w", i+3, err)
		}
	}
	return o, nil
}
