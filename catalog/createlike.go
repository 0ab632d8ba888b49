package catalog

import (
	"maps"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/google/uuid"

	"lakesql/sqlext"
)

// createLike makes an empty table with the columns, partitions, constraints and properties of another one, as Delta's CREATE TABLE LIKE does.
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
	meta := *from.snap.Metadata()
	meta.ID, meta.CreatedTime = uuid.NewString(), time.Now().UTC()
	meta.Configuration = maps.Clone(meta.Configuration)
	maps.DeleteFunc(meta.Configuration, func(k, _ string) bool { return strings.HasPrefix(k, "delta.rowTracking.materialized") })
	for k, v := range t.clauses.Properties {
		if meta.Configuration == nil {
			meta.Configuration = make(map[string]string)
		}
		meta.Configuration[k] = v
	}
	if t.clauses.Comment != "" {
		meta.Description = t.clauses.Comment
	}
	t.metadata = &meta
	if t.clauses.ClusterBy, err = from.snap.ClusteringColumns(); err != nil {
		return err
	}
	_, err = c.makeTable(ctx, t)
	return err
}
