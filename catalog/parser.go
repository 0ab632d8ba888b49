package catalog

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"

	"lakesql/sqlext"
)

// parser is MySQL's grammar and ours: sqlext's statements become nodes of this package, everything else goes to vitess. Its errors
// are those of sqlext and vitess, as they are. A text may be parsed more than once: its rewriting is idempotent.
type parser struct {
	c     *Catalog
	mysql sql.Parser
}

var _ sql.Parser = (*parser)(nil)

// ParseSimple parses one statement.
func (p *parser) ParseSimple(query string) (ast.Statement, error) {
	if stmt, _, ok, err := p.own(query); ok || err != nil {
		return stmt, err
	}
	text, err := sqlext.Rewrite(query)
	if err != nil {
		return nil, err
	}
	stmt, err := p.mysql.ParseSimple(text)
	if err != nil {
		return nil, explained(query, err)
	}
	return p.adapt(stmt, text)
}

// Parse parses one statement, or with multi the first of several.
func (p *parser) Parse(ctx *sql.Context, query string, multi bool) (ast.Statement, string, string, error) {
	return p.ParseWithOptions(ctx, query, ';', multi, sql.LoadSqlMode(ctx).ParserOptions())
}

// ParseWithOptions returns the statement, its text, and with multi the text behind it.
func (p *parser) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, opts ast.ParserOptions) (ast.Statement, string, string, error) {
	if stmt, rest, ok, err := p.own(query); ok || err != nil {
		parsed := sql.RemoveSpaceAndDelimiter(query[:len(query)-len(rest)], ';')
		if !multi && strings.TrimSpace(rest) != "" && err == nil {
			_, _, _, err = p.mysql.ParseWithOptions(ctx, "; "+rest, delimiter, false, opts) // vitess words the error
		}
		return stmt, parsed, rest, err
	}
	text, err := sqlext.Rewrite(query)
	if err != nil {
		return nil, query, "", err
	}
	stmt, parsed, rest, err := p.mysql.ParseWithOptions(ctx, text, delimiter, multi, opts)
	if err != nil {
		return nil, parsed, rest, explained(query, err)
	}
	if text != query {
		keepViewText(stmt, text)
	}
	if stmt, err = p.adapt(stmt, parsed); err == nil {
		markView(ctx, stmt, query)
		err = nameCurrentTables(ctx, stmt)
	}
	return stmt, parsed, rest, err
}

// ParseOneWithOptions returns the first statement, and where in query the next one begins.
func (p *parser) ParseOneWithOptions(ctx context.Context, query string, opts ast.ParserOptions) (ast.Statement, int, error) {
	if stmt, rest, ok, err := p.own(query); ok || err != nil {
		return stmt, len(query) - len(rest), err
	}
	text, err := sqlext.Rewrite(query)
	if err != nil {
		return nil, 0, err
	}
	stmt, end, err := p.mysql.ParseOneWithOptions(ctx, text, opts)
	if err != nil {
		return nil, 0, explained(query, err)
	}
	stmt, err = p.adapt(stmt, text[:min(end, len(text))])
	return stmt, originalEnd(query, text, end), err
}

// explained is what MySQL says of a text that is not in the grammar, where that is another error than one of syntax.
func explained(query string, err error) error {
	if _, syntax := vterrors.AsSyntaxError(err); syntax && sqlext.DerivedWithoutAlias(query) {
		return mysql.NewSQLError(1248, "42000", "Every derived table must have its own alias")
	}
	return err
}

// originalEnd finds the place in query from which rewriting gives the text behind end.
func originalEnd(query, rewritten string, end int) int {
	if query == rewritten || end <= 0 {
		return end
	}
	if end >= len(rewritten) {
		return len(query)
	}
	for i := 0; i < len(query); i++ {
		if query[i] != ';' {
			continue
		}
		if rest, err := sqlext.Rewrite(query[i+1:]); err == nil && rest == rewritten[end:] {
			return i + 1
		}
	}
	return len(query)
}

// own parses a statement of ours. ok is false when it is not ours.
func (p *parser) own(query string) (stmt ast.Statement, rest string, ok bool, err error) {
	parsed, rest, ok, err := sqlext.Parse(query)
	if err != nil || !ok {
		return nil, rest, ok, err
	}
	text := query[:len(query)-len(rest)]
	node, auth, err := p.c.newStatement(parsed, text)
	if err != nil {
		return nil, rest, true, err
	}
	return ast.InjectedStatement{Statement: node, Auth: auth, Children: parameters(sqlext.Params(text))}, rest, true, nil
}

// parameters are n placeholders, which GMS resolves to literals before the node is executed.
func parameters(n int) ast.Exprs {
	out := make(ast.Exprs, n)
	for i := range out {
		out[i] = ast.NewValArg([]byte(":v" + strconv.Itoa(i+1)))
	}
	return out
}

// adaptations change what GMS would take for something else, in statements whose text has the word, in this order.
var adaptations = []struct {
	word  string // in lower case
	adapt func(stmt ast.SQLNode) error
}{
	{"select", nameColumns}, {fileMetadata, findFileMetadata}, {"interval", callIntervals}, {"collate", castParameters}, {"cast", sizeCasts}, {"convert", sizeCasts}, {"char", cutTexts}, {"binary", cutBinaries}, {"~", invertBits}, {"select", refuseMisplaced}, {"with", uniqueNames}, {sqlext.RollupFunction, rollUp}, {"grouping", refuseGrouping}, {"having", ownNames}, {"having", havingOverGroups}, {"over", adaptWindows}, {"group_concat", orderByArguments}, {"exists", countRows}, {"order", nameUnited}, {"in", compareRows}, {"union", boundUnited}, {"except", boundUnited}, {"intersect", boundUnited}, {"mysql", nameSystemTables},
	{sqlext.QuantifiedFunction, compareQuantified},
}

// adaptQuery makes the adaptations, also below EXPLAIN, into which a walk does not go.
func adaptQuery(stmt ast.SQLNode, text string) error {
	if e, ok := stmt.(*ast.Explain); ok {
		stmt = e.Statement
	}
	text = strings.ToLower(text)
	for _, a := range adaptations {
		if strings.Contains(text, a.word) {
			if err := a.adapt(stmt); err != nil {
				return err
			}
		}
	}
	return nil
}

// adapt changes a statement of MySQL's where the lake differs: CREATE TABLE becomes ours, plain EXPLAIN takes the form that
// all drivers can read, and what a Delta table cannot do yet is refused in words of its own.
func (p *parser) adapt(stmt ast.Statement, text string) (ast.Statement, error) {
	if err := adaptQuery(stmt, text); err != nil {
		return nil, err
	}
	switch s := stmt.(type) {
	case *ast.Explain:
		if node := p.explainStatement(s, text); node != nil {
			return node, nil
		}
		if s.ExplainFormat == "" || strings.EqualFold(s.ExplainFormat, "traditional") {
			s.ExplainFormat = ast.TreeStr
		}
	case *ast.GrantPrivilege, *ast.GrantRole, *ast.GrantProxy, *ast.RevokePrivilege, *ast.RevokeRole, *ast.RevokeProxy, *ast.CreateRole, *ast.DropRole:
		return p.grantStatement(stmt, text)
	case *ast.Flush:
		if strings.EqualFold(s.Option.Name, "privileges") {
			return p.grantStatement(stmt, text)
		}
		return flushStatement(s, text)
	case *ast.ShowGrants:
		nameHosts(s)
		s.Auth = grantsOf(s)
	case *ast.Kill:
		s.Auth = checkedByItself // the server knows whose connection it is
	case *ast.Show:
		if err := adaptShow(s); err != nil {
			return nil, err
		}
	case *ast.DBDDL:
		if s.Action == ast.DropStr && builtInDatabase(s.DBName) {
			return nil, refuse(KindInvalid, "database %s cannot be dropped: it always exists", s.DBName)
		}
		if s.Auth.TargetType == ast.AuthTargetType_Global { // CREATE and DROP, as GMS has them
			s.Auth = needsDatabase(s.Auth.AuthType, s.DBName)
		}
	case *ast.DDL:
		if s.ViewSpec != nil && s.Auth.AuthType == ast.AuthType_CREATE_VIEW && s.Auth.TargetType == ast.AuthTargetType_DatabaseIdentifiers {
			s.Auth = needs(ast.AuthType_CREATE_VIEW, namesOf(ast.TableNames{s.ViewSpec.ViewName})[0])
		}
		if s.Action == ast.CreateStr && s.TableSpec != nil && s.TableSpec.PartitionOpt != nil {
			return nil, notYet("PARTITION BY "+s.TableSpec.PartitionOpt.PartitionType, "PARTITIONED BY (col, ...) makes a folder for each value")
		}
		if s.Action == ast.CreateStr && s.Temporary {
			return nil, refuse(KindUnsupported, "CREATE TEMPORARY TABLE is not supported: tables here are Delta tables, which outlast a session; write CREATE VIEW, or WITH name AS (SELECT ...) in the query")
		}
		if s.Action == ast.CreateStr && isTableDDL(s) {
			node := p.c.newCreateTable(s, nil, text)
			return ast.InjectedStatement{
				Statement: node, Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, Children: parameters(sqlext.Params(text)),
			}, nil
		}
		if s.Action == ast.DropStr && len(s.FromTables) > 0 && !s.Temporary && !slices.ContainsFunc(s.FromTables, inBuiltInDatabase) {
			return ast.InjectedStatement{
				Statement: p.c.newDropTable(s, text), Auth: needsAll(ast.AuthType_DROP, namesOf(s.FromTables)),
			}, nil
		}
		if s.Action == ast.TruncateStr {
			if systemTable(s.Table) {
				return nil, errGrantTables
			}
			return p.truncateStatement(text, s), nil
		}
	case *ast.AlterTable: // CREATE INDEX and DROP INDEX; ALTER TABLE itself is ours
		if !systemTable(s.Table) {
			return nil, refuse(KindUnsupported, "%s INDEX on a Delta table is not supported: it has no indexes, and files that a condition rules out are skipped by their statistics",
				strings.ToUpper(strings.Fields(text)[0]))
		}
	case ast.SelectStatement:
		if into := s.GetInto(); into != nil && (into.Outfile != "" || into.Dumpfile != "") {
			return nil, refuse(KindInvalid, "INTO OUTFILE would write the server's disk, which no statement does: let the client write its result")
		}
	case *ast.Load:
		if !bool(s.Local) {
			return nil, refuse(KindInvalid, "LOAD DATA INFILE would read the server's disk: "+
				"write LOAD DATA LOCAL INFILE, or INSERT INTO t SELECT * FROM read_files('path', format => 'csv')")
		}
		s.Auth = needs(ast.AuthType_INSERT, namesOf(ast.TableNames{s.Table})[0]) // no FILE: the file is the client's
	case *ast.Update:
		if systemTables(s.TableExprs) {
			return nil, errGrantTables
		}
		return p.changeStatement("UPDATE", text, s, bySelect, func(ctx *sql.Context, stmt ast.Statement) (types.OkResult, error) {
			return p.c.update(ctx, stmt.(*ast.Update))
		}), nil
	case *ast.Delete:
		if systemTables(s.TableExprs) {
			return nil, errGrantTables
		}
		return p.changeStatement("DELETE", text, s, bySelect, func(ctx *sql.Context, stmt ast.Statement) (types.OkResult, error) {
			return p.c.delete(ctx, stmt.(*ast.Delete))
		}), nil
	case *ast.Insert:
		if systemTable(s.Table) {
			return nil, errGrantTables
		}
		if s.Action == ast.ReplaceStr {
			return nil, mergeInstead("REPLACE", s)
		}
		if len(s.OnDup) > 0 {
			return nil, mergeInstead("INSERT ... ON DUPLICATE KEY UPDATE", s)
		}
	}
	return stmt, nil
}

// errGrantTables says why nobody writes mysql.user and its kin.
var errGrantTables = refuse(KindInvalid, "the tables of the database mysql are read only: CREATE USER, ALTER USER, DROP USER, GRANT and REVOKE change them")

// bySelect leaves privileges to the SELECT that a statement is turned into, which keeps what UPDATE and DELETE want of its tables.
var bySelect = ast.AuthInformation{AuthType: ast.AuthType_IGNORE}

// mergeInstead refuses a statement that would look for a key, and writes the MERGE that does the same for a key of the user's choice.
func mergeInstead(what string, s *ast.Insert) error {
	table := sqlext.Name{Database: s.Table.DbQualifier.String(), Name: s.Table.Name.String()}
	key, set := "id", "*"
	if len(s.Columns) > 0 {
		key = sqlext.QuoteName(s.Columns[0].String())
	}
	if len(s.OnDup) > 0 {
		texts := make([]string, len(s.OnDup))
		for i, e := range s.OnDup {
			texts[i] = ast.String(e)
		}
		set = strings.Join(texts, ", ")
	}
	return refuse(KindUnsupported, "%s is not supported: a Delta table enforces no keys. Say which column is the key: "+
		"MERGE INTO %s t USING (SELECT ...) s ON t.%s = s.%s WHEN MATCHED THEN UPDATE SET %s WHEN NOT MATCHED THEN INSERT *", what, table, key, key, set)
}

func isTableDDL(s *ast.DDL) bool {
	return s.ViewSpec == nil && s.TriggerSpec == nil && s.ProcedureSpec == nil && s.EventSpec == nil && s.IndexSpec == nil && !s.Table.Name.IsEmpty()
}

// builtInDatabase says whether a database is none of the lake's.
func builtInDatabase(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case pathDatabaseName, sql.InformationSchemaDatabaseName, "mysql":
		return true
	}
	_, ok := systemDatabases[name]
	return ok
}

// namesOf are the names of tables that vitess has parsed.
func namesOf(tables ast.TableNames) []sqlext.Name {
	names := make([]sqlext.Name, len(tables))
	for i, t := range tables {
		names[i] = sqlext.Name{Database: t.DbQualifier.String(), Name: t.Name.String()}
	}
	return names
}

func inBuiltInDatabase(t ast.TableName) bool { return builtInDatabase(t.DbQualifier.String()) }

// systemTable says whether a table is in the database of users and grants, which is GMS's own.
func systemTable(t ast.TableName) bool { return strings.EqualFold(t.DbQualifier.String(), "mysql") }

func systemTables(exprs ast.TableExprs) bool {
	for _, e := range exprs {
		aliased, ok := e.(*ast.AliasedTableExpr)
		if !ok {
			return false
		}
		name, ok := aliased.Expr.(ast.TableName)
		if !ok || !systemTable(name) {
			return false
		}
	}
	return len(exprs) > 0
}
