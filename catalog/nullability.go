package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/mysqltype"
)

// nullableFunctions corrects what GMS's planner assumes of table functions: that none of their columns is ever NULL. Without it a
// table made of read_files would be NOT NULL, and NOT IN over its columns wrong. In plans that read a function all columns
// become nullable, which costs nothing but a missed simplification.
func nullableFunctions(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	if !readsFunction(ctx, n) {
		return n, transform.SameTree, nil
	}
	return transform.NodeExprsWithOpaque(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		f, ok := e.(*expression.GetField)
		if !ok || f.IsNullable(ctx) {
			return e, transform.SameTree, nil
		}
		out := expression.NewGetFieldWithTable(int(f.Id()), int(f.TableId()), f.Type(ctx), f.Database(), f.Table(), f.Name(), true)
		return out.WithIndex(f.Index()), transform.NewTree, nil
	})
}

// selectedColumns corrects the columns of a CREATE TABLE ... AS SELECT, which are fixed before any rule runs: of a function that is
// read and of expressions they are nullable, since GMS says of many, MAX among them, that they are never NULL; and a DECIMAL is no wider than Delta's, as with Spark.
// Columns that the statement itself declares stay as declared.
func selectedColumns(ctx *sql.Context, n sql.Node, stmt ast.Statement) {
	create, ok := n.(*plan.CreateTable)
	if !ok || create.Select() == nil {
		return
	}
	function := readsFunction(ctx, create.Select())
	ofTable := map[string]bool{}
	for _, col := range create.Select().Schema(ctx) {
		ofTable[strings.ToLower(col.Name)] = col.DatabaseSource != ""
	}
	ddl, _ := stmt.(*ast.DDL)
	for _, col := range create.PkSchema().Schema {
		if ddl != nil && declares(ddl, col.Name) {
			continue
		}
		col.Nullable = col.Nullable || function || !ofTable[strings.ToLower(col.Name)]
		col.Type = mysqltype.Computed(col.Type)
	}
}

func readsFunction(ctx *sql.Context, n sql.Node) bool {
	found := false
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		switch n.(type) {
		case *readFiles, *streamSource, *tableChanges:
			found = true
		}
		return !found
	})
	return found
}
