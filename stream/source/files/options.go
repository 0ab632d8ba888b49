package files

import (
	"errors"
	"maps"
	"strings"

	"lakesql/files"
	"lakesql/format/csv"
	"lakesql/stream/source"
)

// parseOptions reads the named arguments of read_files and refuses those that are not built for streams.
func parseOptions(args map[string]string) (*files.Options, error) {
	opts, err := files.ParseOptions(args)
	if err != nil {
		return nil, err
	}
	switch {
	case !opts.IncludeExistingFiles:
		return nil, notBuilt("includeExistingFiles => false is not supported yet: move the files that are not to be read elsewhere")
	case opts.SchemaLocation != "":
		return nil, notBuilt("schemaLocation is not supported yet: the inferred schema is kept in the stream's checkpoint")
	}
	return opts, nil
}

func notBuilt(text string) error { return &files.ArgumentError{Err: errors.New(text), Later: true} }

// withoutSchema reads the named arguments but the one that gives the schema.
func withoutSchema(args map[string]string) (*files.Options, error) {
	rest := maps.Clone(args)
	maps.DeleteFunc(rest, func(name, _ string) bool { return optionKey(name) == "schema" })
	return files.ParseOptions(rest)
}

func optionKey(name string) string { return strings.TrimPrefix(strings.ToLower(name), "cloudfiles.") }

// applyMode lets ON ERROR decide what becomes of malformed rows, unless read_files says so itself by its option mode.
func applyMode(opts *files.Options, args map[string]string, m source.Malformed) {
	for name := range args {
		if optionKey(name) == "mode" {
			return
		}
	}
	switch m {
	case source.DropRow:
		opts.CSV.Mode = csv.DropMalformed
	case source.FailRead:
		opts.CSV.Mode = csv.FailFast
	}
}
