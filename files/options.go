package files

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/csv"
	"lakesql/format/json"
)

// RowError is one malformed record of a source file.
type RowError = format.RowError

// Options are the named arguments of read_files that say how files are found and read. Make them with ParseOptions.
type Options struct {
	Format string // lower case: csv, json, parquet or text
	CSV    csv.Options
	JSON   json.Options
	// IncludeExistingFiles says whether a stream takes the files that its first listing finds; looked at only on the first
	// start.
	IncludeExistingFiles bool
	// MaxFilesPerTrigger and MaxBytesPerTrigger bound a batch; 0: not given.
	MaxFilesPerTrigger int
	MaxBytesPerTrigger int64
	// SchemaLocation is where a stream keeps the inferred schema; "": in its checkpoint.
	SchemaLocation string
	// LatestFirst says that a stream takes the newest files first.
	LatestFirst bool
	// IgnoreMissing and IgnoreCorrupt say that a file is left out that is gone when its turn comes, or that cannot be read.
	IgnoreMissing, IgnoreCorrupt bool
	// AllowOverwrites says that a file which is written to, or replaced, after a stream has read it is read again, whole.
	AllowOverwrites bool
	// Clean says what a stream does with files whose rows are committed.
	Clean Clean
	// EvolutionMode is Auto Loader's schemaEvolutionMode in lower case; "": not given.
	EvolutionMode string

	schema         *batch.Schema // given by the option schema
	hints          *batch.Schema // given by the option schemaHints
	streamOnly     []string      // options that were given and have no meaning but for a stream
	pathGlobFilter []string      // patterns of which a file's name must match one; nil: any name
	modifiedAfter  time.Time     // files count that were modified later; zero: all
	modifiedBefore time.Time     // files count that were modified earlier; zero: all
	modifiedText   [2]string     // of the two, as given
	recursive      bool
	partitions     []string          // the option partitionColumns
	somePartitions bool              // partitionColumns was given
	whole          bool              // whole files are looked at for their columns
	wholeText      bool              // of text: a file is a row
	charset        encoding.Encoding // of text formats; nil: UTF-8
}

// Clean is what the options cleanSource say.
type Clean struct {
	Mode      CleanMode
	Folder    string // the URI of sourceArchiveDir or cleanSource.moveDestination
	Retention string // cleanSource.retentionDuration as given; "": the mode's default
}

// CleanMode is what becomes of a file whose rows are committed.
type CleanMode uint8

// The modes of cleanSource.
const (
	CleanOff     CleanMode = iota // nothing
	CleanDelete                   // it is deleted
	CleanArchive                  // Spark's: it is moved to its whole path below the folder
	CleanMove                     // Auto Loader's: it is moved to the folder, with its path below the one that is read
)

// PathOptions are the options, as OptionKey has them, whose values are paths.
var PathOptions = []string{"schemalocation", "sourcearchivedir"}

// Schema is the explicit schema of the option schema, nil when it was not given, with the column of rescued data.
func (o *Options) Schema() *batch.Schema { return o.schema }

// DefaultRescuedColumn is Auto Loader's name of the column of rescued data.
const DefaultRescuedColumn = "_rescued_data"

// Rescue adds a column to all schemas, a STRING, that has what no other column takes: see format.Rescued. It is given by the option rescuedDataColumn, and without
// that has its default name.
func (o *Options) Rescue() error {
	name := o.CSV.Rescued.Column
	if name == "" {
		name = DefaultRescuedColumn
	}
	o.CSV.Rescued.Column, o.JSON.Rescued.Column = name, name
	if o.schema == nil {
		return nil
	}
	if at := o.schema.Index(name); at >= 0 && o.schema.Fields[at].Type.Kind != batch.String {
		return argumentError(fmt.Errorf("the column of rescued data, %s, is a %s in the schema: make it a STRING, or give it another name by rescuedDataColumn", name, o.schema.Fields[at].Type))
	}
	o.schema = batch.NewSchema(slices.Clone(o.schema.Fields)...)
	o.AddRescued(o.schema)
	return nil
}

// RescuedColumn names the column of rescued data; "" where the options have none.
func (o *Options) RescuedColumn() string { return o.CSV.Rescued.Column }

// AddRescued gives a schema the column of rescued data, where the options have one.
func (o *Options) AddRescued(schema *batch.Schema) {
	name := o.CSV.Rescued.Column
	if name == "" {
		return
	}
	field := batch.Field{Name: name, Type: batch.Type{Kind: batch.String}, Nullable: true}
	if at := schema.Index(name); at >= 0 {
		schema.Fields[at].Type = field.Type
		return
	}
	schema.Fields = append(schema.Fields, field)
}

// Typed says that the files themselves know the types of their columns: they are no text.
func (o *Options) Typed() bool { return o.Format == "parquet" }

// formats that are named but not built.
var laterFormats = []string{"avro", "orc", "xml", "binaryfile"}

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
	o := &Options{CSV: csv.DefaultOptions(), JSON: json.DefaultOptions(), IncludeExistingFiles: true}
	given := make(map[string]string, len(args))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		key := OptionKey(name)
		if other, ok := given[key]; ok {
			return nil, fmt.Errorf("option %s is given twice, as %s too: leave one out", name, other)
		}
		given[key] = name
	}
	name, ok := given["format"]
	if !ok {
		return nil, fmt.Errorf("option format is missing: say how the files are to be read, such as format => 'csv'")
	}
	if err := o.set("format", name, args[name]); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if err := o.set(key, given[key], args[given[key]]); err != nil {
			return nil, err
		}
	}
	o.JSON.TextOptions = o.CSV.TextOptions
	if err := errors.Join(o.parseModified(), o.Clean.check()); err != nil {
		return nil, err
	}
	if o.CSV.Rescued.Column != "" {
		if err := o.Rescue(); err != nil {
			return nil, err
		}
	}
	return o, o.check()
}

// check refuses what makes any file unreadable, so that no file is blamed for it: patterns of dates, options that contradict each other, and a schema that the format cannot have.
func (o *Options) check() error {
	if o.Format == "parquet" {
		_, err := o.CSV.Times() // of values in the path
		return err
	}
	schema := &batch.Schema{}
	if o.schema != nil && o.Format != "text" { // of text, the columns of its key=value folders are not known yet
		schema = o.schema
	}
	_, err := o.lineReader(strings.NewReader(""), 1, schema, o.CSV.Rescued, nil)
	return err
}

// OptionKey is an option's name in lower case, without what may stand in front, and with its aliases made one.
func OptionKey(name string) string {
	key := strings.TrimPrefix(strings.ToLower(name), "cloudfiles.")
	if known, ok := aliases[key]; ok {
		return known
	}
	return key
}

// ForNewColumns returns the options by which the columns are found that a file has and a schema lacks. A key may come late in a
// file of JSON, so all of it is looked at; one that has no value but null is no column yet.
func (o *Options) ForNewColumns() *Options {
	out := *o
	out.whole = o.Format == "json"
	out.JSON.DropFieldIfAllNull = true
	return &out
}

// SetMode sets what becomes of malformed rows.
func (o *Options) SetMode(m format.Mode) { o.CSV.Mode, o.JSON.Mode = m, m }

// aliases are other names of options, all in lower case.
var aliases = map[string]string{
	"delimiter": "sep", "charset": "encoding", "inferschema": "infercolumntypes", "filenamepattern": "pathglobfilter",
	"cleansource.movedestination": "sourcearchivedir",
}

func (o *Options) set(key, name, value string) error {
	for _, options := range []map[string]parser{parsers, formatParsers[o.Format]} {
		if parse, ok := options[key]; ok {
			if err := parse(o, value); err != nil {
				return fmt.Errorf("option %s => '%s': %w", name, value, err)
			}
			if IsStreamOption(key) {
				o.streamOnly = append(o.streamOnly, name)
			}
			return nil
		}
	}
	if known, err := o.refused(key, name, value); known {
		return err
	}
	if hint, ok := elsewhere[key]; ok {
		return fmt.Errorf("option %s does not belong to read_files: %s", name, hint)
	}
	for _, format := range slices.Sorted(maps.Keys(formatParsers)) {
		_, built := formatParsers[format][key]
		if _, known := refusedFormatOptions[format][key]; built || known {
			return fmt.Errorf("option %s is one of format => '%s', and the format is '%s': leave it out", name, format, o.Format)
		}
	}
	return fmt.Errorf("unknown option %s: did you mean %s?", name, o.nearest(key))
}

// elsewhere are options of other things.
var elsewhere = map[string]string{
	"mergeschema":        "it is an option of the stream, OPTIONS (mergeSchema = true)",
	"checkpointlocation": "write WITH CHECKPOINT 'path' behind INTO",
	"trigger":            "write TRIGGER ... in front of AS SELECT",
	"escapequotes":       "it is for writing files",
	"quoteall":           "it is for writing files",
	"ignorenullfields":   "it is for writing files",
	"path":               "the path is its first argument",
}

// streamOnly are options that say nothing about a SELECT over the files that are there.
var streamOnly = []string{"maxfilespertrigger", "maxbytespertrigger", "includeexistingfiles", "schemalocation", "latestfirst", "schemaevolutionmode",
	"allowoverwrites", "cleansource", "cleansource.retentionduration", "sourcearchivedir"}

// IsStreamOption tells of an option, as OptionKey has it, whether it has no meaning but for a stream.
func IsStreamOption(key string) bool { return slices.Contains(streamOnly, key) }

// StreamOnly names the options that were given and have no meaning but for a stream.
func (o *Options) StreamOnly() []string { return o.streamOnly }

// parser reads the value of an option.
type parser = func(o *Options, value string) error

// parsers are the options that are built, of every format: values in the path are read by those of dates, too. What all text formats
// have is CSV's until all are read.
var parsers = map[string]parser{
	"format":                        (*Options).setFormat,
	"schema":                        func(o *Options, v string) (err error) { o.schema, err = parseColumns(v); return err },
	"schemahints":                   func(o *Options, v string) (err error) { o.hints, err = parseColumns(v); return err },
	"schemalocation":                func(o *Options, v string) error { o.SchemaLocation = v; return nil },
	"pathglobfilter":                (*Options).setFilter,
	"recursivefilelookup":           boolean(func(o *Options) *bool { return &o.recursive }),
	"partitioncolumns":              (*Options).setPartitions,
	"includeexistingfiles":          boolean(func(o *Options) *bool { return &o.IncludeExistingFiles }),
	"allowoverwrites":               boolean(func(o *Options) *bool { return &o.AllowOverwrites }),
	"cleansource":                   (*Options).setClean,
	"sourcearchivedir":              anyText(func(o *Options) *string { return &o.Clean.Folder }),
	"cleansource.retentionduration": anyText(func(o *Options) *string { return &o.Clean.Retention }),
	"latestfirst":                   boolean(func(o *Options) *bool { return &o.LatestFirst }),
	"ignoremissingfiles":            boolean(func(o *Options) *bool { return &o.IgnoreMissing }),
	"ignorecorruptfiles":            boolean(func(o *Options) *bool { return &o.IgnoreCorrupt }),
	"schemaevolutionmode":           (*Options).setEvolution,
	"modifiedafter":                 func(o *Options, v string) error { o.modifiedText[0] = v; return nil },
	"modifiedbefore":                func(o *Options, v string) error { o.modifiedText[1] = v; return nil },
	"maxfilespertrigger":            number(func(o *Options) *int { return &o.MaxFilesPerTrigger }, 1),
	"maxbytespertrigger":            func(o *Options, v string) (err error) { o.MaxBytesPerTrigger, err = ParseBytes(v); return err },
	"infercolumntypes":              boolean(func(o *Options) *bool { return &o.CSV.InferTypes }),
	"dateformat":                    anyText(func(o *Options) *string { return &o.CSV.DateFormat }),
	"timestampformat":               anyText(func(o *Options) *string { return &o.CSV.TimestampFormat }),
	"timestampntzformat":            anyText(func(o *Options) *string { return &o.CSV.TimestampNTZFormat }),
	"rescueddatacolumn":             (*Options).setRescued,
	"timezone":                      func(o *Options, v string) (err error) { o.CSV.Location, err = parseZone(v); return err },
}

// textParsers are the options that text formats have.
var textParsers = map[string]parser{
	"linesep":  (*Options).setLineSep,
	"encoding": (*Options).setEncoding,
	"mode":     (*Options).setMode,
}

// recordParsers are the options of text formats with several columns.
var recordParsers = map[string]parser{
	"multiline":                 boolean(func(o *Options) *bool { return &o.CSV.MultiLine }),
	"columnnameofcorruptrecord": anyText(func(o *Options) *string { return &o.CSV.CorruptRecordColumn }),
}

// formatParsers are the options that are built of one format.
var formatParsers = map[string]map[string]parser{
	"parquet": {},
	"text":    joined(textParsers, map[string]parser{"wholetext": boolean(func(o *Options) *bool { return &o.wholeText })}),
	"csv": joined(textParsers, recordParsers, map[string]parser{
		"header":                    boolean(func(o *Options) *bool { return &o.CSV.Header }),
		"enforceschema":             boolean(func(o *Options) *bool { return &o.CSV.EnforceSchema }),
		"preferdate":                boolean(func(o *Options) *bool { return &o.CSV.PreferDate }),
		"ignoreleadingwhitespace":   boolean(func(o *Options) *bool { return &o.CSV.IgnoreLeadingWhiteSpace }),
		"ignoretrailingwhitespace":  boolean(func(o *Options) *bool { return &o.CSV.IgnoreTrailingWhiteSpace }),
		"sep":                       func(o *Options, v string) (err error) { o.CSV.Sep, err = unescapeSep(v); return err },
		"quote":                     character(func(o *Options) *byte { return &o.CSV.Quote }),
		"escape":                    character(func(o *Options) *byte { return &o.CSV.Escape }),
		"chartoescapequoteescaping": character(func(o *Options) *byte { return &o.CSV.CharToEscapeQuoteEscaping }),
		"comment":                   character(func(o *Options) *byte { return &o.CSV.Comment }),
		"nullvalue":                 anyText(func(o *Options) *string { return &o.CSV.NullValue }),
		"emptyvalue":                anyText(func(o *Options) *string { return &o.CSV.EmptyValue }),
		"nanvalue":                  anyText(func(o *Options) *string { return &o.CSV.NaNValue }),
		"positiveinf":               anyText(func(o *Options) *string { return &o.CSV.PositiveInf }),
		"negativeinf":               anyText(func(o *Options) *string { return &o.CSV.NegativeInf }),
		"maxcolumns":                number(func(o *Options) *int { return &o.CSV.MaxColumns }, 1),
		"maxcharspercolumn":         number(func(o *Options) *int { return &o.CSV.MaxCharsPerColumn }, -1),
	}),
	"json": joined(textParsers, recordParsers, map[string]parser{
		"primitivesasstring":     boolean(func(o *Options) *bool { return &o.JSON.PrimitivesAsString }),
		"prefersdecimal":         boolean(func(o *Options) *bool { return &o.JSON.PrefersDecimal }),
		"infertimestamp":         boolean(func(o *Options) *bool { return &o.JSON.InferTimestamp }),
		"dropfieldifallnull":     boolean(func(o *Options) *bool { return &o.JSON.DropFieldIfAllNull }),
		"allowsinglequotes":      boolean(func(o *Options) *bool { return &o.JSON.AllowSingleQuotes }),
		"allownonnumericnumbers": boolean(func(o *Options) *bool { return &o.JSON.AllowNonNumericNumbers }),
		"readercasesensitive":    boolean(func(o *Options) *bool { return &o.JSON.CaseSensitive }),
	}),
}

func joined(lists ...map[string]parser) map[string]parser {
	all := map[string]parser{}
	for _, list := range lists {
		maps.Copy(all, list)
	}
	return all
}

func (o *Options) setFormat(value string) error {
	o.Format = strings.ToLower(value)
	if _, ok := formatParsers[o.Format]; ok {
		return nil
	}
	switch {
	case slices.Contains(laterFormats, o.Format):
		return notBuilt("the format %s is not supported yet; csv, json, parquet and text are", o.Format)
	case o.Format == "delta":
		return fmt.Errorf("a Delta table is no folder of files: read it as delta.`path`, as a stream by STREAM delta.`path`")
	}
	return fmt.Errorf("there is no such format; csv, json, parquet and text are supported")
}

func (o *Options) setFilter(value string) error {
	globs, err := parseGlobs(value)
	if err != nil || value == "" || strings.Contains(value, "/") {
		return fmt.Errorf("it matches file names with * ? [a-z] {a,b}, such as '*.csv'")
	}
	for _, glob := range globs {
		o.pathGlobFilter = append(o.pathGlobFilter, glob[0])
	}
	return nil
}

func (o *Options) setClean(value string) error {
	mode, ok := map[string]CleanMode{"off": CleanOff, "delete": CleanDelete, "archive": CleanArchive, "move": CleanMove}[strings.ToLower(value)]
	if !ok {
		return fmt.Errorf("give off, delete, archive or move")
	}
	o.Clean.Mode = mode
	return nil
}

// check wants the options that a mode needs, and no others.
func (c *Clean) check() error {
	moves := c.Mode == CleanArchive || c.Mode == CleanMove
	switch {
	case moves && c.Folder == "":
		return fmt.Errorf("option cleanSource moves files, and there is no folder: give sourceArchiveDir => './archive' too")
	case !moves && c.Folder != "":
		return fmt.Errorf("option sourceArchiveDir (cleanSource.moveDestination) is for cleanSource => 'archive' and 'move': leave it out, or say one of them")
	case c.Mode == CleanOff && c.Retention != "":
		return fmt.Errorf("option cleanSource.retentionDuration is for cleanSource => 'delete', 'archive' and 'move': leave it out, or say one of them")
	}
	return nil
}

func (o *Options) setEvolution(value string) error {
	o.EvolutionMode = strings.ToLower(value)
	switch o.EvolutionMode {
	case "addnewcolumns", "rescue", "failonnewcolumns", "none":
		return nil
	}
	return fmt.Errorf("give addNewColumns, rescue, failOnNewColumns or none")
}

// parseModified reads the times of modifiedAfter and modifiedBefore, which without a zone are in that of timeZone.
func (o *Options) parseModified() error {
	for i, to := range []*time.Time{&o.modifiedAfter, &o.modifiedBefore} {
		text := o.modifiedText[i]
		if text == "" {
			continue
		}
		us, err := batch.ParseTimestamp([]byte(text), o.CSV.Location)
		if err != nil {
			return fmt.Errorf("option %s => '%s': give a time, such as '2026-01-02 03:04:05'", []string{"modifiedAfter", "modifiedBefore"}[i], text)
		}
		*to = time.UnixMicro(us)
	}
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

func (o *Options) setRescued(value string) error {
	if value == "" {
		return fmt.Errorf("give the name of a column, such as '%s'", DefaultRescuedColumn)
	}
	o.CSV.Rescued.Column = value
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
		o.CSV.Mode = format.Permissive
	case "DROPMALFORMED":
		o.CSV.Mode = format.DropMalformed
	case "FAILFAST":
		o.CSV.Mode = format.FailFast
	default:
		return fmt.Errorf("give PERMISSIVE, DROPMALFORMED or FAILFAST")
	}
	return nil
}

func (o *Options) setEncoding(value string) (err error) {
	o.charset, err = charsetOf(value)
	return err
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

func anyText(field func(*Options) *string) func(*Options, string) error {
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

// ParseBytes reads a number of bytes from 1 on, with one of Spark's suffixes, which are powers of 1024, or without.
func ParseBytes(value string) (int64, error) {
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
func (o *Options) nearest(key string) string {
	best, least := "", math.MaxInt
	for _, options := range []map[string]parser{parsers, formatParsers[o.Format]} {
		for _, name := range slices.Sorted(maps.Keys(options)) {
			if d := distance(key, name); d < least {
				best, least = name, d
			}
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
	timestampFormat timestampNTZFormat columnNameOfCorruptRecord maxColumns maxCharsPerColumn timeZone primitivesAsString prefersDecimal inferTimestamp
	dropFieldIfAllNull allowSingleQuotes allowNonNumericNumbers readerCaseSensitive wholeText rescuedDataColumn
	allowOverwrites cleanSource sourceArchiveDir latestFirst ignoreMissingFiles ignoreCorruptFiles schemaEvolutionMode modifiedAfter modifiedBefore`)

func spelling(key string) string {
	for _, name := range spellings {
		if strings.EqualFold(name, key) {
			return name
		}
	}
	return key
}
