package deltatable

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lakesql/batch"
	"lakesql/files"
	"lakesql/stream/source"
)

// options are the named arguments of STREAM(table, ...).
type options struct {
	maxFiles int   // 0: not given
	maxBytes int64 // 0: not given

	startingVersion   int64 // -1: not given
	latest            bool  // startingVersion => 'latest'
	startingTimestamp *time.Time

	ignoreDeletes     bool // versions that only delete
	ignoreChanges     bool // and those that rewrite rows: whole files are read again
	skipChangeCommits bool // versions that delete or rewrite rows are left out whole
	dataLoss          bool // failOnDataLoss is false
	changeFeed        bool
	exclude           *regexp.Regexp // nil: none
}

// begins says whether the stream begins at a version that the options name, and not with a snapshot.
func (o *options) begins() bool {
	return o.startingVersion >= 0 || o.latest || o.startingTimestamp != nil
}

// later says whether the version that they name may be another one when they are looked at again.
func (o *options) later() bool { return o.latest || o.startingTimestamp != nil }

func parseOptions(args map[string]string) (options, error) {
	o := options{startingVersion: -1}
	for name, value := range args {
		if err := o.set(strings.ToLower(name), value); err != nil {
			return o, fmt.Errorf("option %s => '%s': %w", name, value, err)
		}
	}
	if o.startingTimestamp != nil && (o.latest || o.startingVersion >= 0) {
		return o, fmt.Errorf("[DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET] give startingVersion or startingTimestamp, not both")
	}
	if o.changeFeed && o.skipChangeCommits {
		return o, fmt.Errorf("readChangeFeed gives what versions change, and skipChangeCommits leaves them out: give one of them")
	}
	return o, nil
}

func (o *options) set(name, value string) (err error) {
	boolean := func(to *bool) {
		if *to, err = strconv.ParseBool(strings.ToLower(value)); err != nil {
			err = fmt.Errorf("give true or false")
		}
	}
	also := func(to *bool) { // options that are two names for one thing: either one is enough
		var on bool
		boolean(&on)
		*to = *to || on
	}
	switch name {
	case "maxfilespertrigger":
		if o.maxFiles, err = strconv.Atoi(value); err != nil || o.maxFiles < 1 {
			return fmt.Errorf("give a whole number from 1 on")
		}
	case "maxbytespertrigger":
		o.maxBytes, err = files.ParseBytes(value)
	case "startingversion":
		if o.latest = strings.EqualFold(value, "latest"); o.latest {
			return nil
		}
		if o.startingVersion, err = strconv.ParseInt(value, 10, 64); err != nil || o.startingVersion < 0 {
			return fmt.Errorf("give a version from 0 on, or 'latest'")
		}
	case "startingtimestamp":
		us, parseErr := batch.ParseTimestamp([]byte(value), time.UTC)
		if parseErr != nil {
			return parseErr
		}
		at := time.UnixMicro(us).UTC()
		o.startingTimestamp = &at
	case "ignoredeletes":
		also(&o.ignoreDeletes)
	case "ignorechanges", "ignorefiledeletion":
		also(&o.ignoreChanges)
	case "skipchangecommits":
		boolean(&o.skipChangeCommits)
	case "failondataloss":
		boolean(&o.dataLoss)
		o.dataLoss = !o.dataLoss
	case "readchangefeed", "readchangedata":
		also(&o.changeFeed)
	case "excluderegex":
		if o.exclude, err = regexp.Compile(value); err != nil {
			return fmt.Errorf("it is no regular expression of RE2, the kind without backtracking: %w", err)
		}
	case "schematrackinglocation", "schemalocation", "streamingsourcetrackingid":
		return fmt.Errorf("it is not supported: columns that are added, and types that are widened, are followed without it (ON SCHEMA CHANGE)")
	case "allowsourcecolumnrename", "allowsourcecolumndrop", "allowsourcecolumntypechange":
		return fmt.Errorf("it is not supported: a column of the source that is renamed or dropped ends the stream, and a new one begins behind it with startingVersion")
	default:
		return fmt.Errorf("it is not known: there are startingVersion, startingTimestamp, maxFilesPerTrigger, maxBytesPerTrigger, ignoreDeletes, ignoreChanges, " +
			"skipChangeCommits, ignoreFileDeletion, failOnDataLoss, excludeRegex and readChangeFeed")
	}
	return err
}

// admission counts what a range takes.
type admission struct {
	files    int
	bytes    int64
	maxFiles int
	maxBytes int64 // 0: any number
	all      bool
}

func (o *options) admission(l source.Limit) *admission {
	a := &admission{maxFiles: l.Files, maxBytes: l.Bytes, all: l.All}
	if a.maxFiles == 0 {
		a.maxFiles = o.maxFiles
	}
	if a.maxFiles == 0 {
		a.maxFiles = source.DefaultMaxFiles
	}
	if a.maxBytes == 0 {
		a.maxBytes = o.maxBytes
	}
	return a
}

// admit says whether files of these sizes go into the range, too, all or none. The bound on bytes is soft: the files that reach it are taken.
func (a *admission) admit(sizes ...int64) bool {
	if !a.all && (a.files >= a.maxFiles || a.maxBytes > 0 && a.bytes >= a.maxBytes) {
		return false
	}
	a.files += len(sizes)
	for _, n := range sizes {
		a.bytes += n
	}
	return true
}
