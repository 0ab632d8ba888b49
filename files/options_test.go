package files

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/json"

	"github.com/stretchr/testify/require"
)

func TestParseOptions(t *testing.T) {
	o := parse(t, "HEADER", "true", "cloudFiles.inferColumnTypes", "false", "delimiter", `\t`, "QUOTE", "", "escape", `"`,
		"mode", "dropmalformed", "cloudfiles.maxBytesPerTrigger", "10g", "maxFilesPerTrigger", "7", "timeZone", "+01:00",
		"charset", "utf-8", "schema", "a INT, `b c` DECIMAL(10, 2)", "schemaHints", "d: date", "nullValue", "NA",
		"locale", "en-US", "cleanSource", "OFF", "includeExistingFiles", "false", "maxColumns", "9", "lineSep", ";")
	require.Equal(t, "csv", o.Format)
	require.True(t, o.CSV.Header)
	require.False(t, o.CSV.InferTypes)
	require.Equal(t, "\t", o.CSV.Sep)
	require.Zero(t, o.CSV.Quote)
	require.Equal(t, byte('"'), o.CSV.Escape)
	require.Equal(t, format.DropMalformed, o.CSV.Mode)
	require.EqualValues(t, 10<<30, o.MaxBytesPerTrigger)
	require.Equal(t, 7, o.MaxFilesPerTrigger)
	require.Equal(t, "NA", o.CSV.NullValue)
	require.False(t, o.IncludeExistingFiles)
	require.Equal(t, ";", o.CSV.LineSep)
	require.Equal(t, 9, o.CSV.MaxColumns)
	_, offset := time.Now().In(o.CSV.Location).Zone()
	require.Equal(t, 3600, offset)
	require.Equal(t, []batch.Field{
		{Name: "a", Type: batch.Type{Kind: batch.Int32}, Nullable: true},
		{Name: "b c", Type: batch.DecimalOf(10, 2), Nullable: true},
	}, o.Schema().Fields)
}

func TestParseOptionsDefaults(t *testing.T) {
	o := parse(t)
	require.True(t, o.CSV.InferTypes)
	require.False(t, o.CSV.Header)
	require.False(t, o.CSV.EnforceSchema)
	require.True(t, o.IncludeExistingFiles)
	require.Nil(t, o.Schema())
}

func TestParseOptionsErrors(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"headr", "true", "unknown option headr: did you mean header?"},
		{"infercolumtypes", "true", "did you mean inferColumnTypes?"},
		{"header", "yes", "option header => 'yes': give true or false"},
		{"format", "avro", "the format avro is not supported yet"},
		{"format", "cvs", "there is no such format; csv, json, parquet and text are supported"},
		{"format", "delta", "STREAM delta."},
		{"dateFormat", "yyyy-QQ", "option dateFormat is 'yyyy-QQ': the letter 'Q' is not supported when reading"},
		{"timestampFormat", "yyyy-MM-dd'T", "option timestampFormat is"},
		{"timestampNTZFormat", "q", "option timestampNTZFormat is 'q'"},
		{"sep", "\n", "option sep is \"\\n\": a line end cannot separate fields"},
		{"quote", ",", "options sep and quote both begin with"},
		{"schema", "a STRUCT<b: INT>", "column \"a\": a CSV file cannot hold struct"},
		{"maxFileAge", "7d", "option maxFileAge is not supported: a file is never skipped for its age"},
		{"cloudFiles.useNotifications", "true", "option cloudFiles.useNotifications => 'true' is not supported, only 'false' is"},
		{"cleanSource", "maybe", "give off, delete, archive or move"},
		{"cleanSource", "archive", "give sourceArchiveDir => './archive' too"},
		{"sourceArchiveDir", "/x", "is for cleanSource => 'archive' and 'move'"},
		{"cloudFiles.cleanSource.retentionDuration", "1 day", "is for cleanSource => 'delete'"},
		{"schemaEvolutionMode", "always", "give addNewColumns, rescue, failOnNewColumns or none"},
		{"modifiedAfter", "yesterday", "option modifiedAfter => 'yesterday': give a time, such as '2026-01-02 03:04:05'"},
		{"mergeSchema", "true", "option of the stream"},
		{"encoding", "Latin", "there is no such character set"},
		{"encoding", "ISO-2022-CN", "the character set ISO-2022-CN is not supported: convert the files"},
		{"wholeText", "true", "option wholeText is one of format => 'text', and the format is 'csv'"},
		{"mode", "LAX", "give PERMISSIVE, DROPMALFORMED or FAILFAST"},
		{"quote", "''", "one ASCII character"},
		{"quote", "é", "one ASCII character"},
		{"sep", "", "at least one character"},
		{"sep", `\q`, `\q is no character`},
		{"maxFilesPerTrigger", "0", "from 1 on"},
		{"maxBytesPerTrigger", "10 parsecs", "a number of bytes"},
		{"timeZone", "Mars/Base", "unknown time zone"},
		{"pathGlobFilter", "[", "it matches file names"},
		{"schema", "a INT, b", `field b has no type`},
		{"schema", "a INT, a INT", "field a is there twice"},
		{"schema", "a BLUB", "unknown type"},
		{"schema", "a INT NOT NULL", "NOT NULL is a matter of the table"},
		{"unescapedQuoteHandling", "SKIP_VALUE", "is not supported, only 'STOP_AT_DELIMITER' is"},
	} {
		args := map[string]string{"format": "csv", tt.name: tt.value}
		_, err := ParseOptions(args)
		require.ErrorContains(t, err, tt.want, "%s => %q", tt.name, tt.value)
	}
	_, err := ParseOptions(nil)
	require.ErrorContains(t, err, "format => 'csv'")
	_, err = ParseOptions(map[string]string{"format": "csv", "sep": ";", "delimiter": ","})
	require.ErrorContains(t, err, "given twice")
}

func TestSpellingsAreOptions(t *testing.T) {
	for _, name := range spellings {
		key := strings.ToLower(name)
		require.True(t, parsers[key] != nil || formatParsers["csv"][key] != nil || formatParsers["json"][key] != nil || formatParsers["text"][key] != nil, name)
	}
}

func TestParseOptionsOfJSON(t *testing.T) {
	o, err := ParseOptions(map[string]string{"format": "JSON", "multiLine": "true", "mode": "FAILFAST", "dateFormat": "dd.MM.yyyy", "primitivesAsString": "true", "prefersDecimal": "true",
		"inferTimestamp": "true", "dropFieldIfAllNull": "true", "allowSingleQuotes": "false", "allowNonNumericNumbers": "false", "readerCaseSensitive": "false", "timeZone": "+01:00", "allowComments": "false"})
	require.NoError(t, err)
	require.Equal(t, "json", o.Format)
	want := json.Options{TextOptions: o.CSV.TextOptions, PrimitivesAsString: true, PrefersDecimal: true, InferTimestamp: true, DropFieldIfAllNull: true}
	require.Equal(t, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", o.JSON))
	require.True(t, o.JSON.MultiLine)
	require.Equal(t, format.FailFast, o.JSON.Mode)
	require.Equal(t, "dd.MM.yyyy", o.JSON.DateFormat)
	for _, tt := range []struct{ name, value, want string }{
		{"header", "true", "option header is one of format => 'csv', and the format is 'json'"},
		{"allowComments", "true", "option allowComments => 'true' is not supported, only 'false' is"},
		{"allowUnquotedFieldNames", "true", "is not supported, only"},
		{"primitivesAsStrin", "true", "did you mean primitivesAsString?"},
		{"inferTimestamp", "yes", "give true or false"},
		{"ignoreNullFields", "true", "it is for writing files"},
	} {
		_, err := ParseOptions(map[string]string{"format": "json", tt.name: tt.value})
		require.ErrorContains(t, err, tt.want)
	}
	_, err = ParseOptions(map[string]string{"format": "csv", "inferTimestamp": "true"})
	require.ErrorContains(t, err, "option inferTimestamp is one of format => 'json', and the format is 'csv'")
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "512k": 512 << 10, "10 GB": 10 << 30, "2m": 2 << 20, "1tb": 1 << 40} {
		n, err := ParseBytes(text)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "k", "-1", "1.5g", "9999999999t", "1x"} {
		_, err := ParseBytes(text)
		require.Error(t, err, text)
	}
}
