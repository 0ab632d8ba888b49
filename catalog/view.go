package catalog

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// CreateView keeps a view in the catalog table.
func (d database) CreateView(ctx *sql.Context, name, selectText, createText string) error {
	if err := checkName("view", name); err != nil {
		return err
	}
	return d.c.ledger.update(ctx, "CREATE VIEW "+qualified(d.name, name), func(s *state) ([]entry, error) {
		if _, ok := s.get(viewEntry, qualified(d.name, name)); ok {
			return nil, sql.ErrExistingView.New(d.name, name)
		}
		if err := d.c.checkFree(ctx, s, d.name, name); err != nil {
			return nil, err
		}
		e, err := newEntry(viewEntry, qualified(d.name, name), viewDefinition{
			Select: selectText, Create: sqlext.AsWritten(createText), SQLMode: sql.LoadSqlMode(ctx).String(),
		})
		return []entry{e}, err
	})
}

// DropView forgets a view.
func (d database) DropView(ctx *sql.Context, name string) error {
	return d.c.ledger.update(ctx, "DROP VIEW "+qualified(d.name, name), func(s *state) ([]entry, error) {
		e, ok := s.get(viewEntry, qualified(d.name, name))
		if !ok {
			return nil, sql.ErrViewDoesNotExist.New(d.name, name)
		}
		e.Deleted = true
		return []entry{e}, nil
	})
}

// GetViewDefinition returns a view's text. One on which the user has no privilege is not there: GMS asks for none in DESCRIBE and SHOW, and then looks for a
// table, which it refuses.
func (d database) GetViewDefinition(ctx *sql.Context, name string) (sql.ViewDefinition, bool, error) {
	s, err := d.c.ledger.read(ctx)
	if err != nil {
		return sql.ViewDefinition{}, false, err
	}
	e, ok := s.get(viewEntry, qualified(d.name, name))
	if !ok || !d.c.viewer(ctx).table(d.name, name) {
		return sql.ViewDefinition{}, false, nil
	}
	v, err := viewOf(e)
	if of, ok := ctx.Session.(*session); ok {
		of.resolving = resolvingView{viewName{d.name, v.Name}, v.CreateViewStatement}
	}
	return v, err == nil, err
}

// viewName is a view by whose query a table is read.
type viewName struct{ database, name string }

// resolvingView is the view whose definition was asked for last: its text is parsed next where it is read.
type resolvingView struct {
	viewName
	create string
}

// keepViewText has a view keep its query as it was written: GMS takes it from a place in a text, which may not be the one that was parsed.
func keepViewText(stmt ast.Statement, parsed string) {
	ddl, ok := stmt.(*ast.DDL)
	if ok && ddl.ViewSpec != nil && ddl.SubStatementStr == "" && ddl.SubStatementPositionEnd <= len(parsed) {
		ddl.SubStatementStr = sqlext.AsWritten(parsed[ddl.SubStatementPositionStart:ddl.SubStatementPositionEnd])
	}
}

// markView names the view to the checks of privileges on what it reads.
func markView(ctx context.Context, stmt ast.Statement, text string) {
	sctx, ok := ctx.(*sql.Context)
	if !ok {
		return
	}
	s, ok := sctx.Session.(*session)
	if !ok || s.resolving.create == "" || s.resolving.create != text {
		return
	}
	view := s.resolving.viewName
	s.resolving = resolvingView{}
	ddl, ok := stmt.(*ast.DDL)
	if !ok || ddl.ViewSpec == nil {
		return
	}
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // the function has no error
		if t, ok := n.(*ast.AliasedTableExpr); ok {
			t.Auth.Extra = view
		}
		return true, nil
	}, ddl.ViewSpec.ViewExpr)
}

// AllViews lists the views that the user sees.
func (d database) AllViews(ctx *sql.Context) ([]sql.ViewDefinition, error) {
	s, err := d.c.ledger.read(ctx)
	if err != nil {
		return nil, err
	}
	viewer := d.c.viewer(ctx)
	var out []sql.ViewDefinition
	for _, e := range s.list(viewEntry, d.name) {
		v, err := viewOf(e)
		if err != nil {
			return nil, err
		}
		if viewer.table(d.name, v.Name) {
			out = append(out, v)
		}
	}
	return out, nil
}

func viewOf(e entry) (sql.ViewDefinition, error) {
	var def viewDefinition
	if err := e.decode(&def); err != nil {
		return sql.ViewDefinition{}, err
	}
	_, name := unqualified(e.Name)
	return sql.ViewDefinition{Name: name, TextDefinition: sqlext.AsWritten(def.Select), CreateViewStatement: def.Create, SqlMode: def.SQLMode}, nil
}
