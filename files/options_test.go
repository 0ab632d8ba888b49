package files

import (
	"strings"
	"testing"
	"time"

	"lakesql/batch"
	"lakesql/format/csv"

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
	require.Equal(t, csv.DropMalformed, o.CSV.Mode)
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
		{"format", "parquet", "the format parquet is not supported yet"},
		{"format", "cvs", "there is no such format; csv is supported"},
		{"cloudFiles.allowOverwrites", "true", "option cloudFiles.allowOverwrites => 'true' is not supported yet"},
		{"rescuedDataColumn", "_rescued", "option rescuedDataColumn is not supported yet"},
		{"mergeSchema", "true", "option of the stream"},
		{"encoding", "ISO-8859-1", "the encoding ISO-8859-1 is not supported yet"},
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
		{"unescapedQuoteHandling", "SKIP_VALUE", "is not supported yet"},
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
		require.Contains(t, parsers, strings.ToLower(name))
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "512k": 512 << 10, "10 GB": 10 << 30, "2m": 2 << 20, "1tb": 1 << 40} {
		n, err := parseBytes(text)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "k", "-1", "1.5g", "9999999999t", "1x"} {
		_, err := parseBytes(text)
		require.Error(t, err, text)
	}
}
