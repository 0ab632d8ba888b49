package catalog

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// changeStatement is the node of a statement of MySQL's grammar that changes rows. Each run parses it anew, as planning changes the AST.
// auth is checked before; the SELECT that the statement is turned into checks what is needed for its tables.
func (p *parser) changeStatement(name, text string, written ast.Statement, auth ast.AuthInformation, run func(ctx *sql.Context, stmt ast.Statement) (types.OkResult, error)) ast.Statement {
	a := change(name, func(ctx *sql.Context) (types.OkResult, error) {
		stmt, _, _, err := p.mysql.ParseWithOptions(ctx, text, ';', false, sql.LoadSqlMode(ctx).ParserOptions())
		if err == nil {
			err = adaptQuery(stmt, text)
		}
		if err != nil {
			return types.OkResult{}, err
		}
		return run(ctx, stmt)
	})
	return ast.InjectedStatement{
		Statement: &statement{action: a, text: text, written: written, parse: p.parseChange},
		Auth:      auth,
		Children:  parameters(sqlext.Params(text)),
	}
}

// truncateStatement is the node of TRUNCATE.
func (p *parser) truncateStatement(text string, written *ast.DDL) ast.Statement {
	table := written.Table
	auth := needs(ast.AuthType_DROP, sqlext.Name{Database: table.DbQualifier.String(), Name: table.Name.String()})
	return p.changeStatement("TRUNCATE", text, written, auth, func(ctx *sql.Context, stmt ast.Statement) (types.OkResult, error) {
		table := stmt.(*ast.DDL).Table
		expr := &ast.AliasedTableExpr{Expr: table}
		return p.c.truncate(ctx, tableRefs(ast.TableExprs{expr}, nil)[0])
	})
}

// parseChange parses the text of a changeStatement with its parameters bound.
func (p *parser) parseChange(text string) (*statement, error) {
	stmt, err := p.ParseSimple(text)
	if err != nil {
		return nil, err
	}
	injected, ok := stmt.(ast.InjectedStatement)
	if !ok {
		return nil, fmt.Errorf("statement %q changes no rows", text)
	}
	return injected.Statement.(*statement), nil
}

// change is an action that changes rows. run is called again when another commit won.
func change(name string, run func(ctx *sql.Context) (types.OkResult, error)) action {
	return action{name: name, schema: types.OkResultSchema, writes: true, run: func(ctx *sql.Context) ([]sql.Row, error) {
		ok, err := untilCommitted(ctx, run)
		if err != nil {
			return nil, err
		}
		return []sql.Row{{ok}}, nil
	}}
}
