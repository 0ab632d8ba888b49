package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/delta"
	"lakesql/sqlext"
)

// createLike makes an empty table with the columns, partitions, constraints and properties of another one, as Delta's CREATE TABLE LIKE does. What
// belongs to the other's files, such as the ids of its columns, is made anew.
func (c *Catalog) createLike(ctx *sql.Context, ddl *ast.DDL, t newTable, text string) error {
	if len(ddl.OptLike.LikeTables) != 1 || len(t.clauses.PartitionedBy) > 0 || len(t.clauses.ClusterBy) > 0 {
		return refuse(KindInvalid, "CREATE TABLE ... LIKE copies one table: leave out other tables, PARTITIONED BY and CLUSTER BY")
	}
	if _, _, err := planbuilder.New(ctx, c.engine.Analyzer.Catalog, nil).BindOnly(ddl, text, nil); err != nil {
		return err // names and privileges
	}
	like := ddl.OptLike.LikeTables[0]
	from, err := c.lookup(ctx, sqlext.Name{Database: like.DbQualifier.String(), Name: like.Name.String()})
	if err != nil {
		return err
	}
	meta := from.snap.Metadata()
	t.schema, t.clauses.PartitionedBy, t.comment = from.snap.Schema(), meta.PartitionColumns, meta.Description
	for k, v := range meta.Configuration {
		if _, given := t.clauses.Properties[k]; !given && (!delta.KeptByTable(k) || strings.HasPrefix(k, delta.ConstraintPrefix)) {
			t.clauses.Properties[k] = v
		}
	}
	if t.clauses.ClusterBy, err = from.snap.ClusteringColumns(); err != nil {
		return err
	}
	_, err = c.makeTable(ctx, t)
	return err
}
