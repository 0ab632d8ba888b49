package catalog

import (
	"cmp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/sqlext"
)

// reportTables is a statement that looks at tables, one after the other, with MySQL's answer: a row "OK" for each, or rows of what is wrong. Of what the
// server makes by itself there is nothing to look at. look returns what of a table is damaged, and what kept it from looking.
func (c *Catalog) reportTables(op string, tables []sqlext.Name, look func(*sql.Context, *table) (damaged []error, err error)) action {
	schema := sql.Schema{{Name: "Table", Type: textType}, {Name: "Op", Type: textType}, {Name: "Msg_type", Type: textType}, {Name: "Msg_text", Type: textType}}
	return query(strings.ToUpper(op)+" TABLE", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		var rows []sql.Row
		for _, name := range tables {
			database := cmp.Or(name.Database, ctx.GetCurrentDatabase())
			called := qualifiedName(database, name.Name)
			report := func(kind, text string) { rows = append(rows, sql.Row{called, op, kind, text}) }
			if serverMade(database) {
				report("note", "The storage engine for the table doesn't support "+op)
				continue
			}
			t, err := c.lookup(ctx, name)
			var damaged []error
			if err == nil {
				damaged, err = look(ctx, t)
			}
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case sql.ErrTableNotFound.Is(err):
				report("Error", "Table '"+called+"' doesn't exist")
				report("status", "Operation failed")
			case err != nil:
				report("Error", err.Error())
				report("status", "Operation failed")
			case len(damaged) > 0:
				for _, err := range damaged {
					report("Error", err.Error())
				}
				report("error", "Corrupt")
			default:
				report("status", "OK")
			}
		}
		return rows, nil
	})
}
