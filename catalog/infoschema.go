package catalog

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/stream"
)

// infoSchema is GMS's information_schema with the tables about streams.
type infoSchema struct {
	sql.Database
	c *Catalog
}

// streamTableNames are the tables that infoSchema adds, in lower case as GMS keeps names there.
var streamTableNames = []string{"stream_errors", "stream_files", "stream_progress", "streams"}

// GetTableNames lists GMS's tables and ours.
func (d infoSchema) GetTableNames(ctx *sql.Context) ([]string, error) {
	names, err := d.Database.GetTableNames(ctx)
	return append(names, streamTableNames...), err
}

// GetTableInsensitive returns a table of information_schema.
func (d infoSchema) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	lower := strings.ToLower(name)
	switch lower {
	case "streams":
		return computed(sql.InformationSchemaDatabaseName, lower, statusColumns, func(ctx *sql.Context) ([]stream.Status, error) { return d.c.visibleStreams(ctx), nil }), true, nil
	case "stream_progress":
		return computed(sql.InformationSchemaDatabaseName, lower, progressColumns, everyStream(d.c, d.c.progressRows)), true, nil
	case "stream_files":
		return computed(sql.InformationSchemaDatabaseName, lower, fileColumns, everyStream(d.c, d.c.fileRows)), true, nil
	case "stream_errors":
		return computed(sql.InformationSchemaDatabaseName, lower, errorColumns, everyStream(d.c, d.c.errorRows)), true, nil
	}
	return d.Database.GetTableInsensitive(ctx, name)
}

// everyStream collects what one stream has over all streams.
func everyStream[T any](c *Catalog, of func(context.Context, stream.Status, int) ([]T, error)) func(*sql.Context) ([]T, error) {
	return func(ctx *sql.Context) ([]T, error) {
		var out []T
		for _, s := range c.visibleStreams(ctx) {
			items, err := of(ctx, s, 0)
			if err != nil {
				err = oneOfMany(ctx, err)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, items...)
		}
		return out, nil
	}
}
