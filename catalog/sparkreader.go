package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"lakesql/batch"
	"lakesql/files"
	"lakesql/sqlext"
	"lakesql/stream"
	"lakesql/stream/source"
	filesource "lakesql/stream/source/files"
)

// sparkReader is a spark.readStream.
type sparkReader struct {
	format  string
	schema  string // DDL; "": none is given
	options []sparkOption
	path    string // Python's; "": nothing is loaded by a path
}

// sparkOption is an option, with its value as Python.
type sparkOption struct{ name, value string }

func (r *sparkReader) option(name, value string) {
	r.options = append(r.options, sparkOption{name, py(value)})
}

func (p *sparkProgram) reader(s *stream.HandoverSource) *sparkReader {
	r := &sparkReader{}
	switch s.Spec.Kind {
	case "files":
		p.filesReader(s, r)
	case "delta":
		p.deltaReader(s, r)
	case "kafka":
		p.kafkaReader(s, r)
	case "rate":
		r.format = "rate"
		p.same(s.Spec.Options, r, "rowsPerSecond", "rampUpTime")
	default:
		p.refuse("Spark has nothing like STREAM %s", s.Spec.Kind)
	}
	return r
}

// same passes options on that Spark has under the same name, and refuses the rest.
func (p *sparkProgram) same(options map[string]string, r *sparkReader, names ...string) {
	for _, given := range slices.Sorted(maps.Keys(options)) {
		at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, given) })
		if at < 0 {
			p.refuse("Spark has nothing like the option %s => '%s'", given, options[given])
			return
		}
		value := sparkValue(names[at], options[given])
		if strings.HasPrefix(names[at], "kafka.") && strings.HasPrefix(value, "env:") {
			r.options = append(r.options, sparkOption{names[at], "os.environ[" + py(strings.TrimPrefix(value, "env:")) + "]"})
			continue
		}
		r.option(names[at], value)
	}
}

// sparkBooleans are options of tables and topics that Spark reads as true or false, and nothing else.
var sparkBooleans = []string{"ignoreDeletes", "ignoreChanges", "skipChangeCommits", "ignoreFileDeletion", "readChangeFeed", "readChangeData", "failOnDataLoss", "includeHeaders"}

// sparkValue is a value as Spark reads it.
func sparkValue(name, value string) string {
	if name == "maxBytesPerTrigger" { // of files a number without a suffix
		if n, err := files.ParseBytes(value); err == nil {
			return strconv.FormatInt(n, 10)
		}
	}
	if slices.Contains(sparkBooleans, name) {
		if b, err := strconv.ParseBool(strings.ToLower(value)); err == nil {
			return strconv.FormatBool(b)
		}
	}
	return value
}

// limits adds what bounds a batch: what OPTIONS of the stream say holds instead of what the source's say.
func (p *sparkProgram) limits(options map[string]string, names ...string) map[string]string {
	out := maps.Clone(options)
	if out == nil {
		out = map[string]string{}
	}
	for given, value := range p.h.Definition.Options {
		key := files.OptionKey(given)
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, key) }) {
			maps.DeleteFunc(out, func(name, _ string) bool { return files.OptionKey(name) == key })
			out[key] = value
		}
	}
	return out
}

// readerOptions are those of read_files that Spark's readers have, all with the same meaning.
var readerOptions = []string{
	"pathGlobFilter", "recursiveFileLookup", "maxFilesPerTrigger", "maxBytesPerTrigger", "latestFirst", "fileNameOnly", "cleanSource", "sourceArchiveDir",
	"dateFormat", "timestampFormat", "timestampNTZFormat", "timeZone", "lineSep", "encoding", "multiLine", "columnNameOfCorruptRecord", "locale",
	"header", "sep", "quote", "escape", "charToEscapeQuoteEscaping", "comment", "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "nullValue", "emptyValue", "nanValue",
	"positiveInf", "negativeInf", "preferDate", "maxColumns", "maxCharsPerColumn", "unescapedQuoteHandling", "wholeText",
	"primitivesAsString", "prefersDecimal", "inferTimestamp", "dropFieldIfAllNull", "allowSingleQuotes", "allowNonNumericNumbers", "allowComments", "allowUnquotedFieldNames",
	"allowNumericLeadingZeros", "allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars", "mode",
}

// goesWithoutSaying are options of read_files that say what the program has in its schema, or does anyway. Those with a value are refused with another one.
var goesWithoutSaying = map[string]string{
	"format": "", "schema": "", "schemahints": "", "infercolumntypes": "", "enforceschema": "", "includeexistingfiles": "true",
	"allowoverwrites": "false", "samplingratio": "",
}

// sparkCaseSensitive is the value of readerCaseSensitive, by format, that says what Spark does anyway: the keys of JSON are columns in their own case, a header's names in any.
var sparkCaseSensitive = map[string]string{"json": "true", "csv": "false"}

func (p *sparkProgram) filesReader(s *stream.HandoverSource, r *sparkReader) {
	options := map[string]string{}
	for name, value := range p.limits(s.Spec.Options, "maxFilesPerTrigger", "maxBytesPerTrigger") {
		options[files.OptionKey(name)] = value
	}
	format := strings.ToLower(options["format"])
	rest := map[string]string{}
	for key, value := range options {
		only, silent := goesWithoutSaying[key]
		if key == "readercasesensitive" {
			only, silent = sparkCaseSensitive[format]
		}
		switch {
		case silent && only == "":
		case silent && strings.EqualFold(value, only):
		default:
			rest[key] = truth(value, key)
		}
	}
	r.format = format
	if !slices.Contains([]string{"csv", "json", "parquet", "text"}, format) {
		p.refuse("format => '%s' is not among those that both read alike: csv, json, parquet and text", format)
	}
	r.path = py(p.path(s.Spec.Path))
	if strings.Contains(s.Spec.Path, "**") {
		p.refuse("Spark has nothing like ** in the path %s", s.Spec.Path)
	}
	_, byFiles := rest["maxfilespertrigger"]
	_, byBytes := rest["maxbytespertrigger"]
	switch {
	case byFiles && byBytes:
		p.refuse("Spark takes maxFilesPerTrigger or maxBytesPerTrigger, not both")
	case !byFiles && !byBytes:
		rest["maxfilespertrigger"] = strconv.Itoa(source.DefaultMaxFiles)
	}
	p.onError(format, rest)
	p.cleanSource(rest)
	p.same(rest, r, readerOptions...)
	r.option("maxFileAge", "36500d") // Spark passes over files that are older than the newest one by a week
	if format == "csv" && s.ByName {
		r.option("enforceSchema", "false") // a header with other columns ends the query, where they would be taken for these
	}
	if format != "text" {
		r.schema = sparkDDL(s.Stored)
	}
	p.folders(s)
}

// cleanSource passes on what open-source Spark does likewise: it deletes or archives a file, and keeps it for no time.
func (p *sparkProgram) cleanSource(options map[string]string) {
	const retention = "cleansource.retentionduration"
	clean := files.Clean{Retention: options[retention]}
	switch strings.ToLower(options["cleansource"]) {
	case "move":
		p.refuse("open-source Spark has nothing like cleanSource => 'move', only 'archive' and 'delete'")
		return
	case "archive":
		clean.Mode = files.CleanArchive
		options["sourcearchivedir"] = p.path(options["sourcearchivedir"])
	case "delete":
		clean.Mode = files.CleanDelete
	default:
		return
	}
	delete(options, retention)
	kept, err := filesource.Retention(clean)
	if err != nil && p.err == nil {
		p.err = err
	}
	if kept > 0 {
		p.refuse("its files stay for %s before cleanSource takes them away, and Spark's for no time: they are one with cleanSource.retentionDuration => '0 seconds'", kept)
	}
}

// truth is a value as Spark reads booleans.
func truth(value, key string) string {
	switch key {
	case "maxfilespertrigger", "maxcolumns", "maxcharspercolumn":
		return value
	}
	if word, ok := map[string]string{"1": "true", "0": "false"}[value]; ok && slices.Contains([]string{
		"recursivefilelookup", "multiline", "header", "ignoreleadingwhitespace", "ignoretrailingwhitespace", "preferdate", "wholetext", "primitivesasstring", "prefersdecimal",
		"infertimestamp", "dropfieldifallnull", "allowsinglequotes", "allownonnumericnumbers", "latestfirst", "filenameonly",
	}, key) {
		return word
	}
	return value
}

// onError adds the mode that ON ERROR means.
func (p *sparkProgram) onError(format string, options map[string]string) {
	if _, given := options["mode"]; given || format == "parquet" || format == "text" {
		return
	}
	switch p.h.Definition.OnError.Mode {
	case stream.Fail:
		options["mode"] = "FAILFAST"
	case stream.SkipRow:
		options["mode"] = "DROPMALFORMED"
	}
}

// folders refuses columns of key=value folders that Spark would not find.
func (p *sparkProgram) folders(s *stream.HandoverSource) {
	for part := range strings.SplitSeq(s.Spec.Path, "/") {
		if strings.Contains(part, "=") {
			p.refuse("the folder %s lies in the path %s itself, where Spark looks for no columns", part, s.Spec.Path)
		}
	}
	if len(s.Folders) > 0 && strings.ContainsAny(s.Spec.Path, "*?[{") {
		p.refuse("its files lie in key=value folders below a pattern, where Spark looks for no columns: name the folder above them")
	}
	for name, value := range s.Spec.Options {
		if files.OptionKey(name) == "partitioncolumns" {
			p.refuse("Spark has nothing like the option %s => '%s'", name, value)
		}
	}
}

// sparkDDL is a list of columns.
func sparkDDL(fields []batch.Field) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = sqlext.SparkName(f.Name) + " " + f.Type.String()
	}
	return strings.Join(out, ", ")
}

func (p *sparkProgram) deltaReader(s *stream.HandoverSource, r *sparkReader) {
	r.format, r.path = "delta", py(p.path(s.Spec.Path))
	options := p.limits(s.Spec.Options, "maxFilesPerTrigger", "maxBytesPerTrigger", "failOnDataLoss")
	if s.Start >= 0 { // what the options mean is decided once, when the stream begins
		maps.DeleteFunc(options, func(name, _ string) bool {
			return strings.EqualFold(name, "startingTimestamp") || strings.EqualFold(name, "startingVersion")
		})
		options["startingVersion"] = strconv.FormatInt(s.Start, 10)
	}
	p.same(options, r, "startingVersion", "startingTimestamp", "maxFilesPerTrigger", "maxBytesPerTrigger", "ignoreDeletes", "ignoreChanges", "skipChangeCommits",
		"ignoreFileDeletion", "failOnDataLoss", "excludeRegex", "readChangeFeed", "readChangeData")
}

func (p *sparkProgram) kafkaReader(s *stream.HandoverSource, r *sparkReader) {
	r.format = "kafka"
	options := map[string]string{}
	for name, value := range p.limits(s.Spec.Options, "maxOffsetsPerTrigger", "failOnDataLoss") {
		switch key := strings.ToLower(name); key {
		case "topic", "topics":
			name = "subscribe"
		case "format", "value_format", "valueformat":
			p.refuse("its source takes the values of records apart, by %s => '%s', and Spark's gives them as they are. "+
				"Only a stream without that option, whose SELECT takes the column value, goes on there", name, value)
		default:
			if strings.HasPrefix(key, "kafka.") {
				name = key
			}
		}
		if strings.HasPrefix(value, "file:") {
			p.refuse("the secret %s => '%s' is in a folder of the server: keep it in an environment variable, env:NAME", name, value)
		}
		options[name] = value
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(options)), func(name string) bool { return strings.EqualFold(name, "maxOffsetsPerTrigger") }) {
		options["maxOffsetsPerTrigger"] = "1000000"
	}
	jaas := javaProperties(options)
	names := []string{"subscribe", "subscribePattern", "assign", "startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp", "startingOffsetsByTimestampStrategy",
		"failOnDataLoss", "includeHeaders", "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay"}
	for name := range options {
		if strings.HasPrefix(name, "kafka.") {
			names = append(names, name)
		}
	}
	p.same(options, r, names...)
	if jaas != "" {
		r.options = append(r.options, sparkOption{"kafka.sasl.jaas.config", jaas})
	}
}

// javaProperties makes the properties those of Kafka's Java client: name and password are a login module's there, which it returns as Python, the mechanism is another one
// unless it is said, and certificates are no PEM unless that is said.
func javaProperties(options map[string]string) (jaas string) {
	if strings.HasPrefix(strings.ToUpper(options["kafka.security.protocol"]), "SASL") && options["kafka.sasl.mechanism"] == "" {
		options["kafka.sasl.mechanism"] = "PLAIN"
	}
	for of, store := range map[string]string{"kafka.ssl.truststore.certificates": "kafka.ssl.truststore.type", "kafka.ssl.keystore.key": "kafka.ssl.keystore.type"} {
		if _, given := options[of]; given {
			options[store] = "PEM"
		}
	}
	password, given := options["kafka.sasl.password"]
	if !given {
		return ""
	}
	module := "org.apache.kafka.common.security.plain.PlainLoginModule"
	if strings.HasPrefix(strings.ToUpper(options["kafka.sasl.mechanism"]), "SCRAM") {
		module = "org.apache.kafka.common.security.scram.ScramLoginModule"
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	head := module + ` required username="` + quoted.Replace(options["kafka.sasl.username"]) + `" password="`
	delete(options, "kafka.sasl.username")
	delete(options, "kafka.sasl.password")
	return py(head) + " + os.environ[" + py(strings.TrimPrefix(password, "env:")) + `].replace("\\", "\\\\").replace('"', '\\"') + ` + py(`";`)
}
