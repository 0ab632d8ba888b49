package delta

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lakesql/batch"
)

// NewMetadata describes a new table: a new id, created now. It refuses schemas that other engines cannot read, and table
// properties of Delta that are unknown or that this build would not honour. Other properties are kept as they are.
func NewMetadata(schema *batch.Schema, partitionBy []string, config map[string]string) (*Metadata, error) {
	if err := checkNewSchema(schema, partitionBy); err != nil {
		return nil, err
	}
	m := &Metadata{ID: uuid.NewString(), SchemaString: FormatSchema(schema), PartitionColumns: slices.Clone(partitionBy),
		Configuration: maps.Clone(config), CreatedTime: time.Now().UTC()}
	for _, k := range sortedKeys(config) {
		if err := checkProperty(k, config[k]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// propertyKind is what values a table property takes.
type propertyKind uint8

const (
	boolProperty propertyKind = iota + 1
	countProperty
	intervalProperty
	textProperty
)

// properties are Delta's table properties that may be set on a new table. Those about retention are kept for the
// engines that clean up.
var properties = map[string]propertyKind{
	"delta.appendOnly":                      boolProperty,
	"delta.checkpointInterval":              countProperty,
	"delta.checkpointRetentionDuration":     intervalProperty,
	"delta.dataSkippingNumIndexedCols":      countProperty,
	"delta.dataSkippingStatsColumns":        textProperty,
	"delta.dataSkippingStringPrefixLength":  countProperty,
	"delta.deletedFileRetentionDuration":    intervalProperty,
	"delta.enableExpiredLogCleanup":         boolProperty,
	"delta.isolationLevel":                  textProperty,
	"delta.logRetentionDuration":            intervalProperty,
	"delta.parquet.compression.codec":       textProperty,
	"delta.setTransactionRetentionDuration": intervalProperty,
}

func checkProperty(key, value string) error {
	if !strings.HasPrefix(strings.ToLower(key), "delta.") {
		return nil
	}
	bad := func(want string) error {
		return fmt.Errorf("table property %s = %q: %s is expected", key, value, want)
	}
	switch properties[key] {
	case boolProperty:
		if value != "true" && value != "false" {
			return bad("true or false")
		}
	case countProperty:
		if n, err := strconv.Atoi(value); err != nil || n < -1 || n == 0 && key != "delta.dataSkippingNumIndexedCols" {
			return bad("a number above 0")
		}
	case intervalProperty:
		if _, err := parseInterval(value); err != nil {
			return err
		}
	case textProperty:
		switch key {
		case "delta.isolationLevel":
			if value != serializable && value != writeSerializable {
				return bad("Serializable or WriteSerializable")
			}
		case "delta.parquet.compression.codec":
			if _, _, err := compressionOf(value); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("[DELTA_UNKNOWN_CONFIGURATION] table property %s is not known or not supported yet; known are %s", key, strings.Join(sortedKeys(properties), ", "))
	}
	return nil
}

// count is a property's number; def when it is not set or not a number.
func (m *Metadata) count(key string, def int) int {
	if n, err := strconv.Atoi(m.Configuration[key]); err == nil {
		return n
	}
	return def
}

// intervalUnits are the fixed units that Delta allows in intervals.
var intervalUnits = map[string]time.Duration{
	"microsecond": time.Microsecond, "millisecond": time.Millisecond, "second": time.Second, "minute": time.Minute,
	"hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// parseInterval reads an interval such as "interval 1 week" or "2 days 12 hours".
func parseInterval(text string) (time.Duration, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	var sum time.Duration
	for i := 0; i+1 < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i], 10, 32)
		unit, ok := intervalUnits[strings.TrimSuffix(words[i+1], "s")]
		if err != nil || !ok {
			return 0, intervalError(text)
		}
		sum += time.Duration(n) * unit
	}
	if len(words) == 0 || len(words)%2 != 0 || sum < 0 {
		return 0, intervalError(text)
	}
	return sum, nil
}

func intervalError(text string) error {
	return fmt.Errorf("%q is not an interval; write for example \"interval 7 days\"", text)
}

// defaultTombstoneRetention is Delta's default of delta.deletedFileRetentionDuration.
const defaultTombstoneRetention = 7 * 24 * time.Hour

// interval is a property's duration; def when it is not set or not an interval.
func (m *Metadata) interval(key string, def time.Duration) time.Duration {
	if d, err := parseInterval(m.Configuration[key]); err == nil {
		return d
	}
	return def
}
