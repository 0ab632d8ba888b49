package files

import (
	"fmt"
	"maps"

	"lakesql/files"
	"lakesql/format"
	"lakesql/stream/source"
)

// evolution is what schemaEvolutionMode says of new columns, unless ON SCHEMA CHANGE says something else.
func evolution(opts *files.Options, clause source.NewColumns) (source.NewColumns, error) {
	if opts.EvolutionMode == "" {
		return clause, nil
	}
	mode := map[string]source.NewColumns{
		"addnewcolumns": source.AddColumns, "rescue": source.RescueColumns, "failonnewcolumns": source.RefuseColumns, "none": source.IgnoreColumns,
	}[opts.EvolutionMode]
	switch {
	case clause != source.AddWhereInferred && clause != mode:
		return 0, argumentError("option schemaEvolutionMode => '%s' says something else than ON SCHEMA CHANGE: leave one out", opts.EvolutionMode)
	case mode == source.AddColumns && opts.Schema() != nil && clause != mode:
		return 0, argumentError("option schemaEvolutionMode => 'addNewColumns' is for columns that are told from the files, and the schema is given: give schemaHints instead, or say ON SCHEMA CHANGE ADD COLUMNS")
	}
	return mode, nil
}

func argumentError(format string, args ...any) error {
	return &files.ArgumentError{Err: fmt.Errorf(format, args...)}
}

// withoutSchema reads the named arguments but the one that gives the schema, to find new columns by.
func withoutSchema(args map[string]string) (*files.Options, error) {
	rest := maps.Clone(args)
	maps.DeleteFunc(rest, func(name, _ string) bool { return files.OptionKey(name) == "schema" })
	opts, err := files.ParseOptions(rest)
	if err != nil {
		return nil, err
	}
	return opts.ForNewColumns(), nil
}

// applyMode lets ON ERROR decide what becomes of malformed rows, unless read_files says so itself by its option mode.
func applyMode(opts *files.Options, args map[string]string, m source.Malformed) {
	for name := range args {
		if files.OptionKey(name) == "mode" {
			return
		}
	}
	switch m {
	case source.DropRow:
		opts.SetMode(format.DropMalformed)
	case source.FailRead:
		opts.SetMode(format.FailFast)
	}
}
