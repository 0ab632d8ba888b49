package catalog

import (
	"context"
	"iter"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/vector"
)

// target is the table that a statement changes. The statement's own SELECT reads it with the address of each row.
type target struct {
	*table
	alias string                       // of the table in the SELECT
	files iter.Seq2[int64, delta.File] // that are read, by their numbers; nil: all of the version
	// elsewhere: the statement reads the table in a subquery too.
	elsewhere bool
}

// targetAsOf stands behind AS OF in the SELECT of a statement for its target.
const targetAsOf = "target:"

// targetKey is the context's key of the *target of the statement that is being planned.
type targetKey struct{}

// with is the context in which the SELECT is planned.
func (t *target) with(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, targetKey{}, t))
}

// targetOf is the table that targetAsOf stands for; nil outside of the SELECT of a statement.
func targetOf(ctx *sql.Context) *table {
	t, ok := ctx.Value(targetKey{}).(*target)
	if !ok {
		return nil
	}
	out := *t.table
	out.target = t
	return &out
}

// alsoReads notes that the statement looks at a table beside its target.
func alsoReads(ctx *sql.Context, handle *delta.Table) {
	if t, ok := ctx.Value(targetKey{}).(*target); ok && t.handle == handle {
		t.elsewhere = true
	}
}

// mark makes a reference in FROM one to the target.
func (t *target) mark(ref *ast.AliasedTableExpr) {
	ref.AsOf = &ast.AsOf{Time: ast.NewStrVal([]byte(targetAsOf))}
	ref.As = ast.NewTableIdent(t.alias)
}

// column is a column of the target in the SELECT.
func (t *target) column(name string) *ast.ColName {
	return &ast.ColName{Qualifier: ast.TableName{Name: ast.NewTableIdent(t.alias)}, Name: ast.NewColIdent(name)}
}

// address are the columns of the SELECT that tell where a row is.
func (t *target) address() ast.SelectExprs {
	return ast.SelectExprs{
		&ast.AliasedExpr{Expr: t.column(vector.FileColumn)},
		&ast.AliasedExpr{Expr: t.column(vector.RowColumn)},
	}
}

var addressFields = []batch.Field{vector.AddressField(vector.FileColumn), vector.AddressField(vector.RowColumn)}

// tableRef is a table in the FROM of a statement.
type tableRef struct {
	expr  *ast.AliasedTableExpr
	name  sqlext.Name
	alias string // or the table's name, in lower case
}

// tableRefs are the tables that FROM names, in order, without those of WITH and without those inside of subqueries.
func tableRefs(from ast.TableExprs, with *ast.With) []tableRef {
	common := make(map[string]bool)
	if with != nil {
		for _, cte := range with.Ctes {
			common[strings.ToLower(cte.As.String())] = true
		}
	}
	var out []tableRef
	var walk func(e ast.TableExpr)
	walk = func(e ast.TableExpr) {
		switch e := e.(type) {
		case *ast.AliasedTableExpr:
			name, ok := e.Expr.(ast.TableName)
			if !ok || name.DbQualifier.IsEmpty() && common[strings.ToLower(name.Name.String())] {
				return
			}
			ref := tableRef{expr: e, name: sqlext.Name{Database: name.DbQualifier.String(), Name: name.Name.String()}, alias: strings.ToLower(e.As.String())}
			if e.As.IsEmpty() {
				ref.alias = strings.ToLower(ref.name.Name)
			}
			out = append(out, ref)
		case *ast.JoinTableExpr:
			walk(e.LeftExpr)
			walk(e.RightExpr)
		case *ast.ParenTableExpr:
			for _, inner := range e.Exprs {
				walk(inner)
			}
		}
	}
	for _, e := range from {
		walk(e)
	}
	return out
}

// is tells whether a qualifier of a column, or a target of DELETE, names the table.
func (r tableRef) is(ctx *sql.Context, name ast.TableName) bool {
	if !strings.EqualFold(name.Name.String(), r.alias) {
		return false
	}
	database := r.name.Database
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	return name.DbQualifier.IsEmpty() || strings.EqualFold(name.DbQualifier.String(), database)
}

// mayChange refuses an UPDATE or DELETE to who lacks a privilege on a table of its FROM.
func (c *Catalog) mayChange(ctx *sql.Context, from ast.TableExprs, with *ast.With) error {
	var wanted []ast.AuthInformation
	for _, ref := range tableRefs(from, with) {
		wanted = append(wanted, ref.expr.Auth)
	}
	return c.mayDo(ctx, wanted...)
}

// openTarget opens a table for a statement that changes it, and marks its reference.
func (c *Catalog) openTarget(ctx *sql.Context, ref tableRef, statement string) (*target, error) {
	if ref.expr.AsOf != nil {
		return nil, refuse(KindInvalid, "%s: a version of the past cannot be written; leave out AS OF behind %s", statement, ref.name)
	}
	t, err := c.lookup(ctx, ref.name)
	if sql.ErrTableNotFound.Is(err) && c.isView(ctx, ref.name) {
		return nil, plan.ErrUpdateForTableNotSupported.New(ref.name.Name)
	}
	if err != nil {
		return nil, err
	}
	if err := t.checkWrite(ctx); err != nil {
		return nil, err
	}
	out := &target{table: t, alias: ref.alias}
	out.mark(ref.expr)
	return out, nil
}

// isView tells whether a name is that of a view.
func (c *Catalog) isView(ctx *sql.Context, name sqlext.Name) bool {
	database := name.Database
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	db, err := provider{c}.Database(ctx, database)
	if err != nil {
		return false
	}
	views, ok := db.(sql.ViewDatabase)
	if !ok {
		return false
	}
	_, found, err := views.GetViewDefinition(ctx, name.Name)
	return found && err == nil
}
