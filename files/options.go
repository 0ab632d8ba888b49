package files

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"lakesql/batch"
	"lakesql/format/csv"
)

// RowError is one malformed record of a source file.
type RowError = csv.RowError

// Options are the named arguments of read_files that say how files are found and read. Make them with ParseOptions.
type Options struct {
	Format string // lower case
	CSV    csv.Options
	// IncludeExistingFiles says whether a stream takes the files that its first listing finds; looked at only on the first
	// start.
	IncludeExistingFiles bool
	// MaxFilesPerTrigger and MaxBytesPerTrigger bound a batch; 0: not given.
	MaxFilesPerTrigger int
	MaxBytesPerTrigger int64
	// SchemaLocation is where a stream keeps the inferred schema; "": in its checkpoint.
	SchemaLocation string

	schema         *batch.Schema // given by the option schema
	hints          *batch.Schema // given by the option schemaHints
	pathGlobFilter string
	recursive      bool
	partitions     []string // the option partitionColumns
	somePartitions bool     // partitionColumns was given
}

// Schema is the explicit schema of the option schema, nil when it was not given.
func (o *Options) Schema() *batch.Schema { return o.schema }

// formats that are named but not built.
var laterFormats = []string{"json", "parquet", "text", "avro", "orc", "xml", "binaryfile", "delta"}

// ParseOptions reads named arguments: Spark's and Auto Loader's names in any case, with or without "cloudFiles.".
// An option that is unknown, or known and not built, is an *ArgumentError that names it: none is ignored.
func ParseOptions(args map[string]string) (*Options, error) {
	o, err := parseOptions(args)
	if err != nil {
		return nil, argumentError(err)
	}
	return o, nil
}

func parseOptions(args map[string]string) (*Options, error) {
	o := &Options{CSV: csv.DefaultOptions(), IncludeExistingFiles: true}
	given := make(map[string]string, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		key := strings.ToLower(name)
		key = strings.TrimPrefix(key, "cloudfiles.")
		if known, ok := aliases[key]; ok {
			key = known
		}
		if other, ok := given[key]; ok {
			return nil, fmt.Errorf("option %s is given twice, as %s too: leave one out", name, other)
		}
		given[key] = name
		if err := o.set(key, name, args[name]); err != nil {
			return nil, err
		}
	}
	if o.Format == "" {
		return nil, fmt.Errorf("option format is missing: say how the files are to be read, such as format => 'csv'")
	}
	return o, nil
}

// aliases are other names of options, all in lower case.
var aliases = map[string]string{
	"delimiter": "sep", "charset": "encoding", "inferschema": "infercolumntypes", "filenamepattern": "pathglobfilter",
}

func (o *Options) set(key, name, value string) error {
	if parse, ok := parsers[key]; ok {
		if err := parse(o, value); err != nil {
			return fmt.Errorf("option %s => '%s': %w", name, value, err)
		}
		return nil
	}
	if only, ok := laterOptions[key]; ok {
		if only != "" && strings.EqualFold(value, only) {
			return nil
		}
		if only == "" {
			return notBuilt("option %s is not supported yet: leave it out", name)
		}
		return notBuilt("option %s => '%s' is not supported yet: leave it out, which means '%s'", name, value, only)
	}
	if hint, ok := elsewhere[key]; ok {
		return fmt.Errorf("option %s does not belong to read_files: %s", name, hint)
	}
	return fmt.Errorf("unknown option %s: did you mean %s?", name, nearest(key))
}

// laterOptions are known and not built. Those with a value accept it, since it is what happens anyway.
var laterOptions = map[string]string{
	"allowoverwrites": "false", "backfillinterval": "", "usenotifications": "false", "usemanagedfileevents": "false",
	"useincrementallisting": "false", "cleansource": "off", "sourcearchivedir": "", "latestfirst": "false",
	"filenameonly": "false", "maxfileage": "", "maxcachedfiles": "", "discardcachedinputratio": "",
	"modifiedbefore": "", "modifiedafter": "", "ignoremissingfiles": "false", "ignorecorruptfiles": "false",
	"rescueddatacolumn": "", "schemaevolutionmode": "", "usestrictglobber": "", "validateoptions": "true",
	"enabledatetimeparsingfallback": "", "inputbuffersize": "", "compression": "", "codec": "",
	"locale": "en-US", "unescapedquotehandling": "STOP_AT_DELIMITER", "samplingratio": "1.0", "basepath": "",
	"singlevariantcolumn": "", "readercasesensitive": "false",
}

// elsewhere are options of other things.
var elsewhere = map[string]string{
	"mergeschema":        "it is an option of the stream, OPTIONS (mergeSchema = true)",
	"checkpointlocation": "write WITH CHECKPOINT 'path' behind INTO",
	"trigger":            "write TRIGGER ... in front of AS SELECT",
	"escapequotes":       "it is for writing files",
	"quoteall":           "it is for writing files",
	"path":               "the path is its first argument",
}

// parsers are the options that are built.
var parsers = map[string]func(o *Options, value string) error{
	"format":                    (*Options).setFormat,
	"schema":                    func(o *Options, v string) (err error) { o.schema, err = parseColumns(v); return err },
	"schemahints":               func(o *Options, v string) (err error) { o.hints, err = parseColumns(v); return err },
	"schemalocation":            func(o *Options, v string) error { o.SchemaLocation = v; return nil },
	"pathglobfilter":            (*Options).setFilter,
	"recursivefilelookup":       boolean(func(o *Options) *bool { return &o.recursive }),
	"partitioncolumns":          (*Options).setPartitions,
	"includeexistingfiles":      boolean(func(o *Options) *bool { return &o.IncludeExistingFiles }),
	"maxfilespertrigger":        number(func(o *Options) *int { return &o.MaxFilesPerTrigger }, 1),
	"maxbytespertrigger":        func(o *Options, v string) (err error) { o.MaxBytesPerTrigger, err = parseBytes(v); return err },
	"infercolumntypes":          boolean(func(o *Options) *bool { return &o.CSV.InferTypes }),
	"header":                    boolean(func(o *Options) *bool { return &o.CSV.Header }),
	"enforceschema":             boolean(func(o *Options) *bool { return &o.CSV.EnforceSchema }),
	"multiline":                 boolean(func(o *Options) *bool { return &o.CSV.MultiLine }),
	"preferdate":                boolean(func(o *Options) *bool { return &o.CSV.PreferDate }),
	"ignoreleadingwhitespace":   boolean(func(o *Options) *bool { return &o.CSV.IgnoreLeadingWhiteSpace }),
	"ignoretrailingwhitespace":  boolean(func(o *Options) *bool { return &o.CSV.IgnoreTrailingWhiteSpace }),
	"sep":                       func(o *Options, v string) (err error) { o.CSV.Sep, err = unescapeSep(v); return err },
	"linesep":                   (*Options).setLineSep,
	"quote":                     character(func(o *Options) *byte { return &o.CSV.Quote }),
	"escape":                    character(func(o *Options) *byte { return &o.CSV.Escape }),
	"chartoescapequoteescaping": character(func(o *Options) *byte { return &o.CSV.CharToEscapeQuoteEscaping }),
	"comment":                   character(func(o *Options) *byte { return &o.CSV.Comment }),
	"nullvalue":                 text(func(o *Options) *string { return &o.CSV.NullValue }),
	"emptyvalue":                text(func(o *Options) *string { return &o.CSV.EmptyValue }),
	"nanvalue":                  text(func(o *Options) *string { return &o.CSV.NaNValue }),
	"positiveinf":               text(func(o *Options) *string { return &o.CSV.PositiveInf }),
	"negativeinf":               text(func(o *Options) *string { return &o.CSV.NegativeInf }),
	"dateformat":                text(func(o *Options) *string { return &o.CSV.DateFormat }),
	"timestampformat":           text(func(o *Options) *string { return &o.CSV.TimestampFormat }),
	"timestampntzformat":        text(func(o *Options) *string { return &o.CSV.TimestampNTZFormat }),
	"columnnameofcorruptrecord": text(func(o *Options) *string { return &o.CSV.CorruptRecordColumn }),
	"mode":                      (*Options).setMode,
	"maxcolumns":                number(func(o *Options) *int { return &o.CSV.MaxColumns }, 1),
	"maxcharspercolumn":         number(func(o *Options) *int { return &o.CSV.MaxCharsPerColumn }, -1),
	"timezone":                  func(o *Options, v string) (err error) { o.CSV.Location, err = parseZone(v); return err },
	"encoding":                  (*Options).setEncoding,
}

func (o *Options) setFormat(value string) error {
	o.Format = strings.ToLower(value)
	switch {
	case o.Format == "csv":
		return nil
	case slices.Contains(laterFormats, o.Format):
		return notBuilt("the format %s is not supported yet; csv is", o.Format)
	}
	return fmt.Errorf("there is no such format; csv is supported, %s will be", strings.Join(laterFormats, ", "))
}

func (o *Options) setFilter(value string) error {
	if _, err := path.Match(value, ""); err != nil || strings.ContainsAny(value, "/{}") {
		return fmt.Errorf("it matches file names with * ? [a-z], such as '*.csv'")
	}
	o.pathGlobFilter = value
	return nil
}

func (o *Options) setPartitions(value string) error {
	o.somePartitions = true
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			o.partitions = append(o.partitions, name)
		}
	}
	return nil
}

func (o *Options) setLineSep(value string) error {
	if value == "" || len(value) > 2 {
		return fmt.Errorf("give one or two characters")
	}
	o.CSV.LineSep = value
	return nil
}

func (o *Options) setMode(value string) error {
	switch strings.ToUpper(value) {
	case "PERMISSIVE":
		o.CSV.Mode = csv.Permissive
	case "DROPMALFORMED":
		o.CSV.Mode = csv.DropMalformed
	case "FAILFAST":
		o.CSV.Mode = csv.FailFast
	default:
		return fmt.Errorf("give PERMISSIVE, DROPMALFORMED or FAILFAST")
	}
	return nil
}

func (o *Options) setEncoding(value string) error {
	switch strings.ToUpper(value) {
	case "UTF-8", "UTF8", "US-ASCII", "ASCII":
		return nil
	}
	return notBuilt("the encoding %s is not supported yet, only UTF-8: convert the files, for example with iconv -f %s -t UTF-8", value, value)
}

func boolean(field func(*Options) *bool) func(*Options, string) error {
	return func(o *Options, value string) error {
		switch strings.ToLower(value) {
		case "true", "1":
			*field(o) = true
		case "false", "0":
			*field(o) = false
		default:
			return fmt.Errorf("give true or false")
		}
		return nil
	}
}

func text(field func(*Options) *string) func(*Options, string) error {
	return func(o *Options, value string) error {
		*field(o) = value
		return nil
	}
}

// number reads a whole number; -1 as least also allows 0 for no limit.
func number(field func(*Options) *int, least int) func(*Options, string) error {
	return func(o *Options, value string) error {
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < least || n > math.MaxInt32 {
			return fmt.Errorf("give a whole number from %d on", least)
		}
		*field(o) = n
		return nil
	}
}

// character reads one ASCII character, or none at all.
func character(field func(*Options) *byte) func(*Options, string) error {
	return func(o *Options, value string) error {
		decoded, err := unescapeSep(value)
		if value == "" {
			*field(o) = 0
			return nil
		}
		if err != nil || len(decoded) != 1 || decoded[0] >= 0x80 {
			return fmt.Errorf("give one ASCII character, or '' for none")
		}
		*field(o) = decoded[0]
		return nil
	}
}

// unescapeSep reads \t, \\ and the like as Spark does in separators.
func unescapeSep(value string) (string, error) {
	if value == "" {
		return "", fmt.Errorf("give at least one character")
	}
	if value == `\` {
		return value, nil
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			b.WriteByte(value[i])
			continue
		}
		if i++; i == len(value) {
			return "", fmt.Errorf(`a backslash at the end; write \\ for one`)
		}
		at := strings.IndexByte(`trnbf0"'\`, value[i])
		if at < 0 {
			return "", fmt.Errorf(`\%c is no character; write \\ for a backslash`, value[i])
		}
		b.WriteByte("\t\r\n\b\f\x00\"'\\"[at])
	}
	return b.String(), nil
}

// parseBytes reads 1048576, 512k, 10g and the like.
func parseBytes(value string) (int64, error) {
	digits := strings.TrimRight(strings.ToLower(strings.TrimSpace(value)), "abcdefghijklmnopqrstuvwxyz ")
	unit := strings.TrimSuffix(strings.TrimSpace(strings.ToLower(strings.TrimSpace(value))[len(digits):]), "b")
	shift, ok := map[string]uint{"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[unit]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n <= 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("give a number of bytes, such as 1048576, 512k or 10g")
	}
	return n << shift, nil
}

// parseZone reads UTC, +01:00, GMT+1 or Europe/Berlin.
func parseZone(value string) (*time.Location, error) {
	if loc, err := time.LoadLocation(value); err == nil && value != "" && value != "Local" {
		return loc, nil
	}
	offset := strings.TrimPrefix(strings.TrimPrefix(strings.ToUpper(value), "UTC"), "GMT")
	if len(offset) >= 2 && (offset[0] == '+' || offset[0] == '-') {
		hourText, minuteText, _ := strings.Cut(offset[1:], ":")
		if len(hourText) == 4 && minuteText == "" {
			hourText, minuteText = hourText[:2], hourText[2:]
		}
		hours, err1 := strconv.ParseUint(hourText, 10, 8)
		minutes, err2 := strconv.ParseUint("0"+minuteText, 10, 8)
		if err1 == nil && err2 == nil && hours <= 18 && minutes < 60 {
			seconds := int(hours*3600 + minutes*60)
			if offset[0] == '-' {
				seconds = -seconds
			}
			return time.FixedZone(value, seconds), nil
		}
	}
	return nil, fmt.Errorf("unknown time zone; give UTC, an offset such as +01:00, or a name such as Europe/Berlin")
}

// nearest is the known option whose name differs least.
func nearest(key string) string {
	best, least := "", math.MaxInt
	for _, name := range slices.Sorted(maps.Keys(parsers)) {
		if d := distance(key, name); d < least {
			best, least = name, d
		}
	}
	return spelling(best)
}

// distance is the number of letters to insert, remove or change between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// spellings are the names with capitals, as Spark's documentation has them.
var spellings = strings.Fields(`schemaHints schemaLocation pathGlobFilter recursiveFileLookup partitionColumns includeExistingFiles
	maxFilesPerTrigger maxBytesPerTrigger inferColumnTypes enforceSchema multiLine preferDate ignoreLeadingWhiteSpace
	ignoreTrailingWhiteSpace lineSep charToEscapeQuoteEscaping nullValue emptyValue nanValue positiveInf negativeInf dateFormat
	timestampFormat timestampNTZFormat columnNameOfCorruptRecord maxColumns maxCharsPerColumn timeZone`)

func spelling(key string) string {
	for _, name := range spellings {
		if strings.EqualFold(name, key) {
			return name
		}
	}
	return key
}
