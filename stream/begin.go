package stream

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"lakesql/files"
	"lakesql/stream/source"
)

// BeginAt is what a RESET says of where sources begin.
type BeginAt string

// Where sources begin.
const (
	BeginAsDefined BeginAt = ""          // where their options say
	BeginBeginning BeginAt = "BEGINNING" // with the first that they have
	BeginLatest    BeginAt = "LATEST"    // behind what is there now
	BeginVersion   BeginAt = "VERSION"   // of tables
	BeginTimestamp BeginAt = "TIMESTAMP" // of tables and of Kafka
)

// Begin is where the sources of a stream begin, in the place of what their options say.
type Begin struct {
	At      BeginAt   `json:"at,omitempty"`
	Version int64     `json:"version,omitempty"` // of BeginVersion
	Time    time.Time `json:"time,omitzero"`     // of BeginTimestamp
}

// sources are those of the SELECT, which begin where the last RESET says.
func (m *Manager) sources(ctx context.Context, d *Definition) ([]source.Spec, error) {
	specs, err := m.cfg.Compiler.Sources(ctx, *d)
	if err != nil || d.Begin.At == BeginAsDefined {
		return specs, err
	}
	for i := range specs {
		begin, err := d.Begin.options(specs[i].Kind)
		if err != nil {
			return nil, err
		}
		options := maps.Clone(specs[i].Options)
		if options == nil {
			options = map[string]string{}
		}
		maps.DeleteFunc(options, func(name, _ string) bool { return beginOptions[files.OptionKey(name)] })
		maps.Copy(options, begin)
		specs[i].Options = options
	}
	return specs, nil
}

// beginOptions are the options of all sources that say where they begin.
var beginOptions = map[string]bool{
	"startingversion": true, "startingtimestamp": true, "startingoffsets": true, "startingoffsetsbytimestamp": true, "startingoffsetsbytimestampstrategy": true,
	"includeexistingfiles": true,
}

// options are those by which a source of a kind begins there.
func (b Begin) options(kind string) (map[string]string, error) {
	at := map[BeginAt]map[string]string{
		BeginBeginning: {}, BeginLatest: {},
	}
	switch kind {
	case "files":
		at[BeginLatest] = map[string]string{"includeExistingFiles": "false"}
	case "delta":
		at[BeginLatest] = map[string]string{"startingVersion": "latest"}
		at[BeginVersion] = map[string]string{"startingVersion": strconv.FormatInt(b.Version, 10)}
		at[BeginTimestamp] = map[string]string{"startingTimestamp": b.Time.UTC().Format("2006-01-02 15:04:05.000000")}
	case "kafka":
		at[BeginBeginning] = map[string]string{"startingOffsets": "earliest"}
		at[BeginLatest] = map[string]string{"startingOffsets": "latest"}
		at[BeginTimestamp] = map[string]string{"startingTimestamp": strconv.FormatInt(b.Time.UnixMilli(), 10), "startingOffsetsByTimestampStrategy": "latest"}
	}
	options, ok := at[b.At]
	if !ok {
		return nil, fmt.Errorf("RESET TO %s is not for %s: TO VERSION is for tables, TO TIMESTAMP for tables and Kafka, TO BEGINNING and TO LATEST for all", b.At, sourceNames[kind])
	}
	return options, nil
}

// beginsNow says whether a source leaves out what is in its store when the stream is made.
func beginsNow(spec source.Spec) bool {
	for name, value := range spec.Options {
		switch key := files.OptionKey(name); {
		case spec.Kind == "files" && key == "includeexistingfiles" && (strings.EqualFold(value, "false") || value == "0"),
			spec.Kind == "delta" && key == "startingversion" && strings.EqualFold(value, "latest"):
			return true
		}
	}
	return false
}

// sourceNames are kinds of sources as people call them.
var sourceNames = map[string]string{"files": "files", "delta": "a table", "kafka": "Kafka", "rate": "rate()"}
