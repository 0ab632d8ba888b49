package files

import "strings"

// refusedOption is an option that is known, and not taken, since what it asks for is not done here.
type refusedOption struct {
	fine string // the value that means what happens anyway, in any case, and is taken; "": none
	why  string // and what to type instead
}

const (
	findsItself = "files are found by listing the folder, at the system's hints and by themselves: leave it out"
	cachesAll   = "a listing is used whole, and only what changed is looked at again: leave it out"
	endingSays  = "the file's ending says how it is compressed, such as a.csv.gz: leave it out"
)

// refusedOptions are those of all formats.
var refusedOptions = map[string]refusedOption{
	"backfillinterval":              {"", findsItself},
	"usenotifications":              {"false", findsItself},
	"usemanagedfileevents":          {"false", findsItself},
	"useincrementallisting":         {"false", findsItself},
	"maxfileage":                    {"", "a file is never skipped for its age, however late it comes: leave it out. modifiedAfter => '2026-01-02 03:04:05' leaves out old files"},
	"filenameonly":                  {"false", "a file is known by its whole path: leave it out"},
	"maxcachedfiles":                {"", cachesAll},
	"discardcachedinputratio":       {"", cachesAll},
	"usestrictglobber":              {"true", "in a pattern * stays within a folder, and ** is any number of folders: leave it out"},
	"validateoptions":               {"true", "an option that is not known is always an error: leave it out"},
	"enabledatetimeparsingfallback": {"false", "dateFormat and timestampFormat say how texts are read: leave it out"},
	"inputbuffersize":               {"", "leave it out"},
	"compression":                   {"", endingSays},
	"codec":                         {"", endingSays},
	"locale":                        {"en-US", "names of months and days are English: leave it out"},
	"samplingratio":                 {"1.0", "columns are told from the first 1000 files, of each the first 16 MiB: leave it out"},
	"basepath":                      {"", "partitionColumns => 'year,month' says which key=value folders are columns: leave it out"},
	"singlevariantcolumn":           {"", "leave it out. In JSON files, schema => 'a VARIANT' reads the key a as one"},
}

// refusedFormatOptions are those of one format.
var refusedFormatOptions = map[string]map[string]refusedOption{
	"csv": {
		"unescapedquotehandling": {"STOP_AT_DELIMITER", "a field with a quote inside ends at the next separator: leave it out"},
		"readercasesensitive":    {"false", "names of a header are matched in any case: leave it out"},
	},
	"json": {
		"allowcomments":                      {"false", "leave it out"},
		"allowunquotedfieldnames":            {"false", "leave it out"},
		"allownumericleadingzeros":           {"false", "leave it out"},
		"allowbackslashescapinganycharacter": {"false", "leave it out"},
		"allowunquotedcontrolchars":          {"false", "leave it out"},
		"badrecordspath":                     {"", "ON ERROR DEAD LETTER INTO t keeps such rows in a table: leave it out"},
	},
	"parquet": {"mergeschema": {"true", "the columns of all files are merged: leave it out"}},
}

// refused says why a known option is not taken; nil where its value is what happens anyway.
func (o *Options) refused(key, name, value string) (known bool, err error) {
	r, known := refusedOptions[key]
	if !known {
		r, known = refusedFormatOptions[o.Format][key]
	}
	switch {
	case !known:
		return false, nil
	case r.fine != "" && strings.EqualFold(value, r.fine):
		return true, nil
	case r.fine == "":
		return true, notBuilt("option %s is not supported: %s", name, r.why)
	}
	return true, notBuilt("option %s => '%s' is not supported, only '%s' is: %s", name, value, r.fine, r.why)
}
