package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// warningKeys is MySQL's ER_NOT_SUPPORTED_YET.
const warningKeys = 1235

// newCreateTable is the node of a CREATE TABLE that vitess has parsed. spark is nil without anything that vitess does not know.
func (c *Catalog) newCreateTable(ddl *ast.DDL, spark *sqlext.CreateTable, text string) *statement {
	keys, indexes := takeKeys(ddl)
	a := action{name: "CREATE TABLE", schema: types.OkResultSchema, writes: true}
	a.run = func(ctx *sql.Context) ([]sql.Row, error) {
		if err := columnSizes(ddl); err != nil {
			return nil, err
		}
		clauses, err := c.clausesOf(spark)
		if err != nil {
			return nil, err
		}
		for _, columns := range indexes {
			ctx.Warn(warningKeys, "KEY (%s) has no effect: a Delta table has no indexes, and files that a condition rules out are skipped by their statistics", columns)
		}
		for property, text := range keys {
			clauses.Properties[property] = text
			ctx.Warn(warningKeys, "%s is kept as information: NOT NULL is enforced, uniqueness and references are not", keyNames[property])
		}
		n, err := c.runCreateTable(ctx, ddl, clauses, text)
		return []sql.Row{{types.NewOkResult(int(n))}}, err
	}
	return &statement{action: a, text: text, parse: c.parseCreateTable}
}

// newSparkTable is the node of a CREATE TABLE with Spark's clauses.
func (c *Catalog) newSparkTable(create *sqlext.CreateTable, text string) (*statement, error) {
	if create.NoColumns {
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
	return c.newCreateTable(ddl, create, text), nil
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

// runCreateTable makes a table and returns how many rows its SELECT has put into it. GMS plans the statement, which checks privileges
// and names; what it describes is made here. A transaction that has written ends first, as in MySQL.
func (c *Catalog) runCreateTable(ctx *sql.Context, ddl *ast.DDL, clauses createClauses, text string) (int64, error) {
	if err := currentTransaction(ctx).commit(ctx); err != nil {
		return 0, err
	}
	return untilWon(ctx, func(ctx *sql.Context) (int64, error) { return c.tryCreateTable(ctx, ddl, clauses, text) }, isConflict)
}

func (c *Catalog) tryCreateTable(ctx *sql.Context, ddl *ast.DDL, clauses createClauses, text string) (int64, error) {
	if err := c.mayDo(ctx, ddl.Auth); err != nil {
		return 0, err
	}
	t, exists, err := c.newTableOf(ctx, ddl.Table, clauses)
	if err != nil {
		return 0, err
	}
	switch {
	case exists && ddl.IfNotExists:
		ctx.Session.Warn(&sql.Warning{Level: "Note", Code: noteExists, Message: fmt.Sprintf("Table '%s' already exists", t.name)})
		return 0, nil
	case exists && !clauses.OrReplace:
		return 0, sql.ErrTableAlreadyExists.New(t.name)
	case ddl.OptLike != nil:
		return 0, c.createLike(ctx, ddl, t, text)
	}
	create, err := c.planCreate(ctx, ddl, text)
	if err != nil {
		return 0, err
	}
	t.comment, _ = create.table.TableOpts["comment"].(string)
	if create.rows == nil {
		t.schema, err = deltaSchema(create.table.PkSchema().Schema, clauses)
	} else {
		t.schema, t.rows, err = c.selectFor(ctx, ddl, create, clauses)
	}
	if err != nil {
		return 0, err
	}
	return c.makeTable(ctx, t)
}

// plannedCreate is a CREATE TABLE as GMS plans it.
type plannedCreate struct {
	table *plan.CreateTable
	rows  sql.Node // AS SELECT, analyzed; nil: none
}

func (c *Catalog) planCreate(ctx *sql.Context, ddl *ast.DDL, text string) (plannedCreate, error) {
	node, err := c.analyze(ctx, ddl, text)
	if err != nil {
		return plannedCreate{}, err
	}
	var out plannedCreate
	transform.Inspect(node, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.TableCopier:
			out.rows = n.Source
			node = n.Destination
		case *plan.CreateTable:
			out.table = n
		}
		return out.table == nil && out.rows == nil
	})
	if out.rows != nil {
		transform.Inspect(node, func(n sql.Node) bool {
			if create, ok := n.(*plan.CreateTable); ok {
				out.table = create
			}
			return out.table == nil
		})
	}
	if out.table == nil {
		return out, fmt.Errorf("CREATE TABLE is planned as %T", node)
	}
	return out, nil
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
	switch {
	case create.Location == nil:
		return refuse(KindInvalid, "CREATE TABLE without columns: give the columns, AS SELECT, or the LOCATION of a Delta table")
	case create.OrReplace:
		return refuse(KindInvalid, "CREATE OR REPLACE TABLE without columns would empty the table: leave OR REPLACE out to register it, or give the columns")
	case len(create.PartitionedBy) > 0 || len(create.Properties) > 0 || len(create.ClusterBy) > 0:
		return refuse(KindInvalid, "CREATE TABLE of a table that exists takes it as it is: leave out PARTITIONED BY, CLUSTER BY and TBLPROPERTIES")
	}
	clauses, err := c.clausesOf(create)
	if err != nil {
		return err
	}
	t, exists, err := c.newTableOf(ctx, ast.TableName{DbQualifier: ast.NewTableIdent(create.Name.Database), Name: ast.NewTableIdent(create.Name.Name)}, clauses)
	if err != nil || exists && create.IfNotExists {
		return err
	}
	if exists {
		return sql.ErrTableAlreadyExists.New(t.name)
	}
	_, err = c.createExternal(ctx, t)
	return err
}

// clausesOf reads Spark's clauses. The location is resolved, and fenced.
func (c *Catalog) clausesOf(create *sqlext.CreateTable) (createClauses, error) {
	out := createClauses{Properties: make(map[string]string)}
	if create == nil {
		return out, nil
	}
	out.OrReplace, out.PartitionedBy, out.ClusterBy = create.OrReplace, create.PartitionedBy, create.ClusterBy
	out.Columns, out.Checks = create.Columns, create.Checks
	if create.Comment != nil {
		out.Comment = create.Comment.Text
	}
	if err := setProperties(out.Properties, create.Properties); err != nil {
		return out, err
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

// setProperties sets properties that a statement names. Those of the server's own are not for statements.
func setProperties(properties map[string]string, options []sqlext.Option) error {
	for _, o := range options {
		if strings.HasPrefix(o.Key, "lakesql.") {
			return refuse(KindInvalid, "property %s: names that begin with lakesql. are kept for the server", o.Key)
		}
		properties[o.Key] = o.Value.Text
	}
	return nil
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
