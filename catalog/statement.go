package catalog

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// statement is the executable node of a statement of ours.
//
// A statement with parameters is parsed twice: at PREPARE, for its columns, and when it is executed, with the literals in the place
// of the question marks. So every part of every statement may be a parameter without its node knowing.
type statement struct {
	action
	text     string
	written  ast.Statement // of MySQL's grammar; nil for one of ours
	params   []sql.Expression
	affected int64                                 // rows that the execution has changed
	parse    func(text string) (*statement, error) // parses the bound text
}

// action is what a statement does.
type action struct {
	name   string     // for the plan
	schema sql.Schema // types.OkResultSchema for one that returns no rows
	writes bool
	run    func(ctx *sql.Context) ([]sql.Row, error)
}

var (
	_ sql.ExecSourceRel = (*statement)(nil)
	_ sql.Disposable    = (*statement)(nil)
	_ ast.Injectable    = (*statement)(nil)
)

// command is an action that returns no rows.
func command(name string, run func(ctx *sql.Context) error) action {
	return action{name: name, schema: types.OkResultSchema, writes: true, run: func(ctx *sql.Context) ([]sql.Row, error) {
		if err := run(ctx); err != nil {
			return nil, err
		}
		return []sql.Row{{types.NewOkResult(0)}}, nil
	}}
}

// query is an action that returns rows.
func query(name string, schema sql.Schema, run func(ctx *sql.Context) ([]sql.Row, error)) action {
	return action{name: name, schema: schema, run: run}
}

// WithResolvedChildren takes the parameters: literals at execution, unbound ones at PREPARE.
func (s *statement) WithResolvedChildren(_ context.Context, children []any) (any, error) {
	out := *s
	out.params = nil
	for _, c := range children {
		e, ok := c.(sql.Expression)
		if !ok {
			return nil, fmt.Errorf("%s: parameter of type %T", s.name, c)
		}
		out.params = append(out.params, e)
	}
	return &out, nil
}

// Resolved is true: nothing in the node refers to columns.
func (s *statement) Resolved() bool { return true }

// IsReadOnly says whether a read-only server may execute the statement.
func (s *statement) IsReadOnly() bool { return !s.writes }
func (s *statement) String() string   { return s.name }

// TextOf is a parsed statement as SQL: one of ours as it was written.
func TextOf(stmt ast.Statement) string {
	if injected, ok := stmt.(ast.InjectedStatement); ok {
		if own, ok := injected.Statement.(*statement); ok {
			return own.text
		}
	}
	return ast.String(stmt)
}

// Written is a parsed statement as MySQL's grammar has it, where it became one of ours.
func Written(stmt ast.Statement) ast.Statement {
	if injected, ok := stmt.(ast.InjectedStatement); ok {
		if own, ok := injected.Statement.(*statement); ok && own.written != nil {
			return own.written
		}
	}
	return stmt
}

// Schema is that of the rows.
func (s *statement) Schema(*sql.Context) sql.Schema { return s.schema }

// Children are none.
func (s *statement) Children() []sql.Node { return nil }

// WithChildren returns the node: it has none.
func (s *statement) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) > 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(children), 0)
	}
	return s, nil
}

// RowIter executes the statement.
func (s *statement) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	bound := s
	if len(s.params) > 0 {
		var err error
		if bound, err = s.bind(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := bound.run(ctx)
	if err != nil {
		return nil, err
	}
	if len(rows) == 1 && len(rows[0]) == 1 {
		if ok, is := rows[0][0].(types.OkResult); is {
			s.affected = int64(ok.RowsAffected)
		}
	}
	return sql.RowsToRowIter(rows...), nil
}

// Dispose tells ROW_COUNT() how many rows the statement changed. It is called when the rows are closed, behind the engine's own word on it,
// which takes every node that it does not know for a query.
func (s *statement) Dispose(ctx *sql.Context) {
	if types.IsOkResultSchema(s.schema) {
		ctx.GetLastQueryInfo().RowCount.Store(s.affected)
	}
}

func (s *statement) bind(ctx *sql.Context) (*statement, error) {
	literals := make([]string, len(s.params))
	for i, e := range s.params {
		if expression.IsBindVar(e) {
			return nil, refuse(KindInvalid, "%s: parameter %d has no value", s.name, i+1)
		}
		v, err := e.Eval(ctx, nil)
		if err != nil {
			return nil, err
		}
		if literals[i], err = literalText(v); err != nil {
			return nil, fmt.Errorf("%s: parameter %d: %w", s.name, i+1, err)
		}
	}
	text, err := sqlext.Bind(s.text, literals)
	if err != nil {
		return nil, err
	}
	return s.parse(text)
}

// literalText is a value as SQL.
func literalText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "NULL", nil
	case string:
		return sqlext.QuoteString(v), nil
	case []byte:
		return sqlext.QuoteString(string(v)), nil
	case time.Time:
		return sqlext.QuoteString(v.UTC().Format("2006-01-02 15:04:05.999999")), nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return fmt.Sprint(v), nil
	case fmt.Stringer:
		return v.String(), nil // decimals
	default:
		return "", fmt.Errorf("value of type %T", v)
	}
}

// newStatement makes the node of a parsed statement.
func (c *Catalog) newStatement(parsed sqlext.Statement, text string) (*statement, ast.AuthInformation, error) {
	if create, ok := parsed.(*sqlext.CreateTable); ok {
		auth := ast.AuthInformation{AuthType: ast.AuthType_IGNORE} // GMS checks the statement inside
		if create.NoColumns {
			auth = needs(ast.AuthType_CREATE, create.Name)
		}
		node, err := c.newSparkTable(create, text)
		return node, auth, err
	}
	if explain, ok := parsed.(*sqlext.ExplainChange); ok {
		change, _, _, err := sqlext.Parse(explain.SQL)
		if err != nil {
			return nil, ast.AuthInformation{}, err
		}
		_, auth := c.actionOf(change)
		return &statement{action: c.explainOwn(change), text: text, parse: c.parseOwn}, auth, nil
	}
	a, auth := c.actionOf(parsed)
	return &statement{action: a, text: text, parse: c.parseOwn}, auth, nil
}

// parseOwn parses a text that is a statement of ours.
func (c *Catalog) parseOwn(text string) (*statement, error) {
	parsed, _, ok, err := sqlext.Parse(text)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("statement %q is not one of lakesql's", text)
	}
	s, _, err := c.newStatement(parsed, text)
	return s, err
}

// actionOf says what a statement does and which privilege it wants.
func (c *Catalog) actionOf(parsed sqlext.Statement) (action, ast.AuthInformation) {
	switch s := parsed.(type) {
	case *sqlext.CreateStream:
		return c.createStream(s), needs(ast.AuthType_INSERT, s.Target)
	case *sqlext.ExplainCreateStream:
		return c.explainStream(s.Create), checkedByItself // what it checks is what CREATE STREAM checks
	case *sqlext.DropStream:
		return c.dropStream(s), checkedByItself
	case *sqlext.AlterStream:
		return c.alterStream(s), checkedByItself
	case *sqlext.StopAllStreams:
		return command("STOP STREAM ALL", func(ctx *sql.Context) error { return c.streams.StopAll(ctx) }),
			ast.AuthInformation{AuthType: ast.AuthType_SUPER, TargetType: ast.AuthTargetType_Global}
	case *sqlext.ShowStreams:
		return c.showStreams(s), needsDatabase(ast.AuthType_VISIBLE, s.Database)
	case *sqlext.ShowStreamStatus:
		return c.showStreamStatus(s), needsStream(s.Name)
	case *sqlext.ShowStreamProgress:
		return c.showStreamProgress(s), needsStream(&s.Name)
	case *sqlext.ShowStreamFiles:
		return c.showStreamFiles(s), needsStream(&s.Name)
	case *sqlext.ShowStreamErrors:
		return c.showStreamErrors(s), needsStream(s.Name)
	case *sqlext.ShowCreateStream:
		return c.showCreateStream(s), needsStream(&s.Name)
	case *sqlext.DescribeStream:
		return c.describeStream(s), needsStream(&s.Name)
	case *sqlext.WaitForStream:
		return c.waitForStream(s), needsStream(&s.Name)
	case *sqlext.InsertOverwrite:
		return change("INSERT OVERWRITE", func(ctx *sql.Context) (types.OkResult, error) { return c.insertOverwrite(ctx, s) }), needs(ast.AuthType_DELETE, s.Table)
	case *sqlext.Merge:
		return change("MERGE", func(ctx *sql.Context) (types.OkResult, error) { return c.merge(ctx, s) }), bySelect
	case *sqlext.DescribeHistory:
		return c.describeHistory(s), needs(ast.AuthType_SELECT, s.Table)
	case *sqlext.Optimize:
		return c.optimize(s), needsAll(ast.AuthType_INSERT, s.Tables)
	case *sqlext.Vacuum:
		return c.vacuum(s), needs(ast.AuthType_DELETE, s.Table)
	case *sqlext.Restore:
		return c.restore(s), needs(ast.AuthType_ALTER, s.Table)
	case *sqlext.ConvertToDelta:
		return c.convertToDelta(s), ast.AuthInformation{AuthType: ast.AuthType_FILE, TargetType: ast.AuthTargetType_Global}
	case *sqlext.DescribeDetail:
		return c.describeDetail(s), needs(ast.AuthType_SELECT, s.Table)
	case *sqlext.CopyInto:
		return c.copyInto(s), needs(ast.AuthType_INSERT, s.Table)
	case *sqlext.AnalyzeTable:
		return c.analyzeTable(s), needsTables(ast.AuthType_SELECT, s.Tables)
	case *sqlext.CheckTable:
		return c.checkTables(s), needsTables(ast.AuthType_SELECT, s.Tables)
	case *sqlext.AlterTable:
		return c.alterTable(s), needs(ast.AuthType_ALTER, s.Name)
	case *sqlext.RenameTables:
		return c.renameTables(s), needsRename(s.Pairs)
	case *sqlext.ShowProperties:
		return c.showProperties(s), needs(ast.AuthType_SELECT, s.Table)
	case *sqlext.ShowPartitions:
		return c.showPartitions(s), needs(ast.AuthType_SELECT, s.Table)
	case *sqlext.ShowMetadata:
		return c.showMetadata(s), checkedByItself
	case *sqlext.ShowDiagnostics:
		return c.showDiagnostics(s), checkedByItself
	case *sqlext.ShowProfiles:
		return c.showProfiles(), checkedByItself
	case *sqlext.ShowProfile:
		return c.showProfile(s), checkedByItself
	case *sqlext.ChecksumTable:
		return c.checksumTable(s), needsTables(ast.AuthType_SELECT, s.Tables)
	case *sqlext.Help:
		return c.help(), checkedByItself
	case *sqlext.ExplainFormat:
		return c.explainFormat(s), checkedByItself // planning asks for what the statement wants
	case *sqlext.ChangeUsers:
		return c.changeUsers(s), checkedByItself
	case *sqlext.DropUsers:
		return c.dropUsers(s), checkedByItself
	case *sqlext.RenameUsers:
		return c.renameUsers(s), checkedByItself
	case *sqlext.ShowCreateUser:
		return c.showCreateUser(s), checkedByItself
	default:
		name := strings.ToUpper(strings.TrimPrefix(fmt.Sprintf("%T", s), "*sqlext."))
		return command(name, func(*sql.Context) error {
			return refuse(KindUnsupported, "%s on a Delta table is not supported yet", name)
		}), ast.AuthInformation{AuthType: ast.AuthType_IGNORE}
	}
}

// checkedByItself leaves privileges to the statement.
var checkedByItself = ast.AuthInformation{AuthType: ast.AuthType_IGNORE}

func needs(privilege string, table sqlext.Name) ast.AuthInformation {
	return ast.AuthInformation{
		AuthType: privilege, TargetType: ast.AuthTargetType_SingleTableIdentifier, TargetNames: []string{table.Database, table.Name},
	}
}

// needsAll wants a privilege on each of several tables.
func needsAll(privilege string, tables []sqlext.Name) ast.AuthInformation {
	auth := ast.AuthInformation{AuthType: privilege, TargetType: ast.AuthTargetType_MultipleTableIdentifiers}
	for _, t := range tables {
		auth.TargetNames = append(auth.TargetNames, t.Database, t.Name)
	}
	return auth
}

func needsDatabase(privilege, database string) ast.AuthInformation {
	return ast.AuthInformation{
		AuthType: privilege, TargetType: ast.AuthTargetType_DatabaseIdentifiers, TargetNames: []string{database},
	}
}

// needsTables is one privilege on several tables.
func needsTables(privilege string, tables []sqlext.Name) ast.AuthInformation {
	auth := ast.AuthInformation{AuthType: privilege, TargetType: ast.AuthTargetType_MultipleTableIdentifiers}
	for _, t := range tables {
		auth.TargetNames = append(auth.TargetNames, t.Database, t.Name)
	}
	return auth
}

// needsRename are the privileges of RENAME TABLE, on the old names and the new ones.
func needsRename(pairs []sqlext.TablePair) ast.AuthInformation {
	auth := ast.AuthInformation{AuthType: ast.AuthType_RENAME, TargetType: ast.AuthTargetType_Ignore}
	for _, p := range pairs {
		auth.TargetNames = append(auth.TargetNames, p.From.Database, p.From.Name, p.To.Database, p.To.Name)
	}
	return auth
}

func needsStream(name *sqlext.Name) ast.AuthInformation {
	if name == nil {
		return needsDatabase(ast.AuthType_VISIBLE, "")
	}
	return needsDatabase(ast.AuthType_VISIBLE, name.Database)
}
