package stream

import (
	"fmt"
	"strconv"
	"strings"

	"lakesql/stream/source"
)

// streamOptions are OPTIONS (...) of CREATE STREAM.
type streamOptions struct {
	limit       source.Limit
	mergeSchema bool
}

// parseOptions reads OPTIONS (...): names in any case, with or without cloudFiles. in front. An unknown one is refused.
func parseOptions(options map[string]string) (streamOptions, error) {
	var o streamOptions
	for name, value := range options {
		key := optionKey(name)
		var err error
		switch key {
		case "maxfilespertrigger":
			o.limit.Files, err = strconv.Atoi(value)
			if err == nil && o.limit.Files <= 0 {
				err = fmt.Errorf("it must be at least 1")
			}
		case "maxbytespertrigger":
			o.limit.Bytes, err = parseBytes(value)
		case "mergeschema":
			o.mergeSchema, err = strconv.ParseBool(strings.ToLower(value))
		default:
			return o, fmt.Errorf("option %s of a stream is not known; OPTIONS takes maxFilesPerTrigger, maxBytesPerTrigger and mergeSchema, "+
				"and what says how files are read goes into read_files(...)", name)
		}
		if err != nil {
			return o, fmt.Errorf("option %s = '%s': %w", name, value, err)
		}
	}
	return o, nil
}

func optionKey(name string) string { return strings.TrimPrefix(strings.ToLower(name), "cloudfiles.") }

// byteUnits are Spark's suffixes of sizes.
var byteUnits = []struct {
	suffix string
	shift  uint
}{{"kb", 10}, {"mb", 20}, {"gb", 30}, {"tb", 40}, {"k", 10}, {"m", 20}, {"g", 30}, {"t", 40}, {"b", 0}}

// parseBytes reads a number of bytes, with one of Spark's suffixes or without.
func parseBytes(text string) (int64, error) {
	lower, shift := strings.TrimSpace(strings.ToLower(text)), uint(0)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(lower, u.suffix); ok {
			lower, shift = strings.TrimSpace(rest), u.shift
			break
		}
	}
	n, err := strconv.ParseInt(lower, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("it is not a number of bytes such as 10485760 or 10m")
	}
	if n <= 0 || n > (1<<62)>>shift {
		return 0, fmt.Errorf("it must be at least 1 byte and less than 4 EB")
	}
	return n << shift, nil
}
