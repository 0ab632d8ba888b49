package stream

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lakesql/files"
	"lakesql/stream/source"
)

// streamOptions are OPTIONS (...) of CREATE STREAM.
type streamOptions struct {
	limit       source.Limit
	mergeSchema bool
	loss        *bool // failOnDataLoss; nil: not given
}

// parseOptions reads OPTIONS (...): names in any case, with or without cloudFiles. in front. An unknown one is refused.
func parseOptions(options map[string]string) (streamOptions, error) {
	var o streamOptions
	given := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		key, value := optionKey(name), options[name]
		if other, twice := given[key]; twice {
			return o, fmt.Errorf("option %s of a stream is given twice, as %s too: leave one out", name, other)
		}
		given[key] = name
		var err error
		switch key {
		case "maxfilespertrigger":
			var n int64
			n, err = fromOne(value)
			o.limit.Files = int(n)
		case "maxbytespertrigger":
			o.limit.Bytes, err = files.ParseBytes(value)
		case "maxoffsetspertrigger":
			o.limit.Rows, err = fromOne(value)
		case "mergeschema":
			o.mergeSchema, err = trueOrFalse(value)
		case "failondataloss":
			var fail bool
			fail, err = trueOrFalse(value)
			o.loss = &fail
		default:
			return o, fmt.Errorf("option %s of a stream is not known; OPTIONS takes maxFilesPerTrigger, maxBytesPerTrigger, maxOffsetsPerTrigger, failOnDataLoss and mergeSchema, "+
				"and what says how files are read goes into read_files(...)", name)
		}
		if err != nil {
			return o, fmt.Errorf("option %s = '%s': %w", name, value, err)
		}
	}
	return o, nil
}

func fromOne(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 {
		return 0, errors.New("give a whole number from 1 on")
	}
	return n, nil
}

func trueOrFalse(value string) (bool, error) {
	b, err := strconv.ParseBool(strings.ToLower(value))
	if err != nil {
		return false, errors.New("give true or false")
	}
	return b, nil
}

// honouredBy says which kinds of sources an option is for. One that is not here is the stream's own.
var honouredBy = map[string][]string{
	"maxfilespertrigger":   {"files", "delta"},
	"maxbytespertrigger":   {"files", "delta"},
	"maxoffsetspertrigger": {"kafka"},
	"failondataloss":       {"kafka", "delta"},
}

// checkOptions refuses an option that none of the stream's sources honours.
func checkOptions(d *Definition, specs []source.Spec) error {
	if d.OnSchemaChange == SchemaRescue && !slices.ContainsFunc(specs, func(s source.Spec) bool { return s.Kind == "files" || s.Kind == "kafka" }) {
		return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
			"ON SCHEMA CHANGE RESCUE does nothing for what the stream reads (%s), it is for files and for values of Kafka: leave it out", kindsOf(specs))}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Options)) {
		kinds, ok := honouredBy[optionKey(name)]
		if ok && !slices.ContainsFunc(specs, func(s source.Spec) bool { return slices.Contains(kinds, s.Kind) }) {
			return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
				"option %s does nothing for what the stream reads (%s), it is for %s: leave it out", name, kindsOf(specs), strings.Join(kinds, " and "))}
		}
	}
	return nil
}

func kindsOf(specs []source.Spec) string {
	var kinds []string
	for _, s := range specs {
		kinds = append(kinds, s.Kind)
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), ", ")
}

func optionKey(name string) string { return strings.TrimPrefix(strings.ToLower(name), "cloudfiles.") }
