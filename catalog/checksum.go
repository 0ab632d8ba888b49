package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/sqlext"
)

// checksumTable is CHECKSUM TABLE: a number of the rows, whatever their order and files, so that equal tables have equal ones. With QUICK it is
// NULL, as for a table of MySQL's that keeps none.
func (c *Catalog) checksumTable(s *sqlext.ChecksumTable) action {
	schema := sql.Schema{{Name: "Table", Type: textType}, {Name: "Checksum", Type: types.Int64, Nullable: true}}
	return query("CHECKSUM TABLE", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		var rows []sql.Row
		for _, name := range s.Tables {
			if name.Database == "" {
				name.Database = ctx.GetCurrentDatabase()
			}
			row := sql.Row{qualifiedName(name.Database, name.Name), nil}
			t, err := c.lookup(ctx, name)
			if err == nil && !s.Quick {
				row[1], err = c.checksum(ctx, t)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				ctx.Session.Warn(&sql.Warning{Level: errorLevel, Code: warningNoTable, Message: err.Error()})
			}
			rows = append(rows, row)
		}
		return rows, nil
	})
}

// warningNoTable is MySQL's ER_NO_SUCH_TABLE.
const warningNoTable = 1146

// checksum adds up the CRCs of the rows, in each of which a NULL is no text. The sum is of 32 bits, as MySQL's.
func (c *Catalog) checksum(ctx *sql.Context, t *table) (any, error) {
	var parts []string
	for _, f := range t.snap.Schema().Fields {
		column := sqlext.QuoteName(f.Name)
		parts = append(parts, fmt.Sprintf("IFNULL(CONCAT(LENGTH(CAST(%s AS CHAR)), ':', CAST(%s AS CHAR)), 'N')", column, column))
	}
	text := fmt.Sprintf("SELECT COALESCE(SUM(CRC32(CONCAT(%s))), 0) %% 4294967296 FROM %s.%s", strings.Join(parts, ", "), sqlext.QuoteName(t.database), sqlext.QuoteName(t.name))
	stmt, err := c.engine.Parser.ParseSimple(text)
	if err != nil {
		return nil, err
	}
	iter, err := c.execute(ctx, stmt, text)
	if err != nil {
		return nil, err
	}
	rows, err := compile.Drain(ctx, iter)
	if err != nil {
		return nil, err
	}
	sum, _, err := types.Int64.Convert(ctx, rows[0][0])
	return sum, err
}

// help is HELP, which knows no topics: MySQL's are its manual's.
func (c *Catalog) help() action {
	schema := sql.Schema{{Name: "name", Type: textType}, {Name: "is_it_category", Type: textType}}
	return query("HELP", schema, func(*sql.Context) ([]sql.Row, error) { return nil, nil })
}
