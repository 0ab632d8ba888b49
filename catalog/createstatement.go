package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/compile"
	"lakesql/sqlext"
)

// Our own properties of a table: keys as information.
const (
	primaryKeyProperty  = "lakesql.primaryKey"
	uniqueKeysProperty  = "lakesql.uniqueKeys"
	foreignKeysProperty = "lakesql.foreignKeys"
)

// warningKeys is MySQL's ER_NOT_SUPPORTED_YET.
const warningKeys = 1235

// newCreateTable is the node of a CREATE TABLE that vitess has parsed. spark is nil without Spark's clauses.
func (c *Catalog) newCreateTable(ddl *ast.DDL, spark *sqlext.CreateTable, text string) *statement {
	keys := takeKeys(ddl)
	a := action{name: "CREATE TABLE", schema: types.OkResultSchema, writes: true}
	a.run = func(ctx *sql.Context) ([]sql.Row, error) {
		clauses, err := c.clausesOf(spark)
		if err != nil {
			return nil, err
		}
		if err := refuseClauses(clauses); err != nil {
			return nil, err
		}
		if ddl.OptLike != nil && spark != nil {
			return nil, refuse(KindInvalid, "CREATE TABLE ... LIKE copies the columns only: leave out the other clauses")
		}
		for property, text := range keys {
			clauses.Properties[property] = text
			ctx.Warn(warningKeys, "%s is kept as information: NOT NULL is enforced, uniqueness and references are not", keyNames[property])
		}
		return c.runCreateTable(ctx, ddl, clauses, text)
	}
	return &statement{action: a, text: text, parse: c.parseCreateTable}
}

var keyNames = map[string]string{
	primaryKeyProperty: "PRIMARY KEY", uniqueKeysProperty: "UNIQUE KEY", foreignKeysProperty: "FOREIGN KEY",
}

// refuseClauses refuses what would not be honoured, before anything is made.
func refuseClauses(clauses createClauses) error {
	const checks = "CHECK is not supported yet; put the condition into the SELECT that writes"
	for _, c := range clauses.Columns {
		switch {
		case c.Identity != nil:
			return refuse(KindUnsupported, "column %s: AUTO_INCREMENT is not supported: a lake has no counter that all writers share", c.Name())
		case len(c.Checks) > 0:
			return refuse(KindUnsupported, "column %s: %s", c.Name(), checks)
		}
	}
	if len(clauses.Checks) > 0 {
		return refuse(KindUnsupported, "%s", checks)
	}
	return nil
}

// newSparkTable is the node of a CREATE TABLE with Spark's clauses.
func (c *Catalog) newSparkTable(create *sqlext.CreateTable, text string) (*statement, error) {
	switch {
	case create.OrReplace:
		return nil, notYet("CREATE OR REPLACE TABLE", "DROP TABLE it first")
	case len(create.ClusterBy) > 0:
		return nil, notYet("CLUSTER BY", "PARTITIONED BY columns with few values, or leave it out")
	case create.NoColumns:
		a := command("CREATE TABLE", func(ctx *sql.Context) error { return c.registerExisting(ctx, create) })
		return &statement{action: a, text: text, parse: c.parseOwn}, nil
	}
	parsed, err := ast.Parse(create.Rest)
	if err != nil {
		return nil, err
	}
	ddl, ok := parsed.(*ast.DDL)
	if !ok {
		return nil, fmt.Errorf("CREATE TABLE: %q is no table definition", create.Rest)
	}
	node := c.newCreateTable(ddl, create, text)
	return node, nil
}

func (c *Catalog) parseCreateTable(text string) (*statement, error) {
	stmt, err := c.engine.Parser.ParseSimple(text)
	if err != nil {
		return nil, err
	}
	injected, ok := stmt.(ast.InjectedStatement)
	if !ok {
		return nil, fmt.Errorf("CREATE TABLE: %q is no table definition", text)
	}
	return injected.Statement.(*statement), nil
}

// runCreateTable lets GMS build and execute the statement, with the clauses in the session for the database to find. A
// transaction that has written ends first, as in MySQL.
func (c *Catalog) runCreateTable(ctx *sql.Context, ddl *ast.DDL, clauses createClauses, text string) ([]sql.Row, error) {
	if err := currentTransaction(ctx).commit(ctx); err != nil {
		return nil, err
	}
	s, ok := ctx.Session.(*session)
	if !ok {
		return c.createAndFill(ctx, ddl, text)
	}
	s.create, s.created = &clauses, nil
	defer func() { s.create, s.created = nil, nil }()
	rows, err := c.createAndFill(ctx, ddl, text)
	if err != nil && s.created != nil {
		// What the SELECT could not fill must not stay; a statement that was killed cleans up too.
		undo := ctx.WithContext(context.WithoutCancel(ctx))
		err = errors.Join(err, c.dropTable(undo, s.created.database, s.created.name))
	}
	return rows, err
}

func (c *Catalog) createAndFill(ctx *sql.Context, ddl *ast.DDL, text string) ([]sql.Row, error) {
	iter, err := c.execute(ctx, ddl, text)
	if err != nil {
		return nil, err
	}
	var affected uint64
	err = compile.Each(ctx, iter, func(row sql.Row) error {
		if ok, is := row[0].(types.OkResult); is {
			affected += ok.RowsAffected
		} else {
			affected++ // a row that CREATE TABLE ... AS SELECT has inserted
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []sql.Row{{types.NewOkResult(int(affected))}}, nil
}

// execute plans and builds a parsed statement inside the one that is being executed.
func (c *Catalog) execute(ctx *sql.Context, stmt ast.Statement, text string) (sql.RowIter, error) {
	node, err := c.analyze(ctx, stmt, text)
	if err != nil {
		return nil, err
	}
	return c.engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
}

// analyze plans a parsed statement.
func (c *Catalog) analyze(ctx *sql.Context, stmt ast.Statement, text string) (sql.Node, error) {
	return analyzeWith(ctx, c.engine.Analyzer, stmt, text)
}

func analyzeWith(ctx *sql.Context, a *analyzer.Analyzer, stmt ast.Statement, text string) (sql.Node, error) {
	builder := planbuilder.New(ctx, a.Catalog, nil)
	node, flags, err := builder.BindOnly(stmt, text, nil)
	if err != nil {
		return nil, err
	}
	selectedColumns(ctx, node, stmt)
	return a.Analyze(ctx, node, nil, flags)
}

// registerExisting is CREATE TABLE t USING DELTA LOCATION 'path' of a table that is there.
func (c *Catalog) registerExisting(ctx *sql.Context, create *sqlext.CreateTable) error {
	if create.Location == nil {
		return refuse(KindInvalid, "CREATE TABLE without columns: give the columns, AS SELECT, or the LOCATION of a Delta table")
	}
	if len(create.PartitionedBy) > 0 || len(create.Properties) > 0 {
		return refuse(KindInvalid, "CREATE TABLE of a table that exists takes it as it is: leave out PARTITIONED BY and TBLPROPERTIES")
	}
	clauses, err := c.clausesOf(create)
	if err != nil {
		return err
	}
	database, err := c.databaseOf(ctx, create.Name.Database)
	if err != nil {
		return err
	}
	if s, ok := ctx.Session.(*session); ok {
		s.create = &clauses
		defer func() { s.create = nil }()
	}
	err = c.createTable(ctx, database, create.Name.Name, nil, "")
	if create.IfNotExists && sql.ErrTableAlreadyExists.Is(err) {
		return nil
	}
	return err
}

// clausesOf reads Spark's clauses. The location is resolved, and fenced.
func (c *Catalog) clausesOf(create *sqlext.CreateTable) (createClauses, error) {
	out := createClauses{Properties: make(map[string]string)}
	if create == nil {
		return out, nil
	}
	out.PartitionedBy, out.Columns, out.Checks = create.PartitionedBy, create.Columns, create.Checks
	if create.Comment != nil {
		out.Comment = create.Comment.Text
	}
	for _, o := range create.Properties {
		if strings.HasPrefix(o.Key, "lakesql.") {
			return out, refuse(KindInvalid, "property %s: names that begin with lakesql. are kept for the server", o.Key)
		}
		out.Properties[o.Key] = o.Value.Text
	}
	if create.Location != nil {
		uri, err := c.cfg.Fence.Resolve(create.Location.Text)
		if err != nil {
			return out, err
		}
		out.Location = uri
	}
	return out, nil
}

// databaseOf is the database that an unqualified or qualified name is in, in its own spelling.
func (c *Catalog) databaseOf(ctx *sql.Context, name string) (string, error) {
	if name == "" {
		name = ctx.GetCurrentDatabase()
	}
	if name == "" {
		return "", sql.ErrNoDatabaseSelected.New()
	}
	s, err := c.ledger.read(ctx)
	if err != nil {
		return "", err
	}
	actual, ok, err := c.databaseName(ctx, s, name)
	if err == nil && !ok {
		err = sql.ErrDatabaseNotFound.New(name)
	}
	return actual, err
}

// The values of ast.ColumnKeyOption, which vitess does not export.
const (
	columnKeyPrimary   ast.ColumnKeyOption = 1
	columnKeyUnique    ast.ColumnKeyOption = 3
	columnKeyUniqueKey ast.ColumnKeyOption = 4
)

// takeKeys takes the keys out of a CREATE TABLE, as properties: GMS's planner would trust them. Primary key columns stay NOT NULL.
func takeKeys(ddl *ast.DDL) map[string]string {
	found := make(map[string][]string)
	if ddl.TableSpec == nil {
		return nil
	}
	notNull := make(map[string]bool)
	for _, col := range ddl.TableSpec.Columns {
		switch col.Type.KeyOpt {
		case columnKeyPrimary:
			found[primaryKeyProperty] = append(found[primaryKeyProperty], col.Name.String())
			notNull[col.Name.Lowered()] = true
		case columnKeyUnique, columnKeyUniqueKey:
			found[uniqueKeysProperty] = append(found[uniqueKeysProperty], col.Name.String())
		}
		col.Type.KeyOpt = 0
		if col.Type.ForeignKeyDef != nil {
			found[foreignKeysProperty] = append(found[foreignKeysProperty], ast.String(col.Type.ForeignKeyDef))
			col.Type.ForeignKeyDef = nil
		}
	}
	takeIndexes(ddl.TableSpec, found, notNull)
	for _, col := range ddl.TableSpec.Columns {
		if notNull[col.Name.Lowered()] {
			col.Type.NotNull, col.Type.Null = true, false
		}
	}
	out := make(map[string]string, len(found))
	for property, list := range found {
		out[property] = strings.Join(list, "; ")
	}
	return out
}

// takeIndexes takes the keys that stand behind the columns.
func takeIndexes(spec *ast.TableSpec, found map[string][]string, notNull map[string]bool) {
	for _, index := range spec.Indexes {
		var columns []string
		for _, f := range index.Fields {
			columns = append(columns, f.Column.String())
			if index.Info.Primary {
				notNull[f.Column.Lowered()] = true
			}
		}
		switch {
		case index.Info.Primary:
			found[primaryKeyProperty] = append(found[primaryKeyProperty], strings.Join(columns, ", "))
		case index.Info.Unique:
			found[uniqueKeysProperty] = append(found[uniqueKeysProperty], strings.Join(columns, ", "))
		}
	}
	spec.Indexes = nil
	var kept []*ast.ConstraintDefinition
	for _, constraint := range spec.Constraints {
		if _, ok := constraint.Details.(*ast.ForeignKeyDefinition); ok {
			found[foreignKeysProperty] = append(found[foreignKeysProperty], ast.String(constraint))
			continue
		}
		kept = append(kept, constraint)
	}
	spec.Constraints = kept
}
