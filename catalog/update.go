package catalog

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/vector"
)

// rowSelect is an UPDATE or DELETE as the SELECT of the rows that it changes, with their new values.
type rowSelect struct {
	t      *target
	sel    *ast.Select
	action rowAction
	values []batch.Field
	ignore bool
}

// update runs UPDATE as SELECT address, new values FROM ... WHERE ..., whose rows are then applied to the table's files.
func (c *Catalog) update(ctx *sql.Context, u *ast.Update) (types.OkResult, error) {
	rows, err := c.selectUpdated(ctx, u)
	if err != nil {
		return types.OkResult{}, err
	}
	w, err := c.beginWrite(ctx, rows.t.table)
	if err != nil {
		return types.OkResult{}, err
	}
	changes := newRowChanges(w, []rowAction{rows.action}, rows.values)
	changes.compare, changes.ignore = true, rows.ignore
	if err := c.applySelect(ctx, rows, changes); err != nil {
		return types.OkResult{}, lost(ctx, err, w)
	}
	n := changes.counts
	if n.updated > 0 {
		if err := w.finish(ctx, changes.operation("UPDATE", map[string]string{"predicate": predicateText(u.Where)})); err != nil {
			return types.OkResult{}, err
		}
	}
	return updated(ctx, n), nil
}

// selectUpdated makes the SELECT of an UPDATE.
func (c *Catalog) selectUpdated(ctx *sql.Context, u *ast.Update) (*rowSelect, error) {
	if err := oneTableOnly(u.TableExprs, u.OrderBy, u.Limit, "UPDATE"); err != nil {
		return nil, err
	}
	if err := c.mayChange(ctx, u.TableExprs, u.With); err != nil {
		return nil, err
	}
	ref, err := c.updated(ctx, u)
	if err != nil {
		return nil, err
	}
	t, err := c.openTarget(ctx, ref, "UPDATE")
	if err != nil {
		return nil, err
	}
	set := &assignments{table: t.name, ignore: u.Ignore != ""}
	sel := &ast.Select{Comments: u.Comments, With: u.With, From: u.TableExprs, Where: u.Where, OrderBy: u.OrderBy, Limit: u.Limit, SelectExprs: t.address()}
	act, values, err := t.assign(ctx, set, u.Exprs, sel)
	return &rowSelect{t: t, sel: sel, action: act, values: values, ignore: set.ignore}, err
}

// updated is the answer to UPDATE: the rows that were changed, or with the client's CLIENT_FOUND_ROWS those that were found.
func updated(ctx *sql.Context, n changeCounts) types.OkResult {
	ctx.GetLastQueryInfo().FoundRows.Store(n.matched)
	ok := types.OkResult{RowsAffected: uint64(n.updated),
		Info: plan.UpdateInfo{Matched: int(n.matched), Updated: int(n.updated), Warnings: len(ctx.Session.Warnings())}}
	if ctx.Client().Capabilities&mysql.CapabilityClientFoundRows != 0 {
		ok.RowsAffected = uint64(n.matched)
	}
	return ok
}

// oneTableOnly refuses ORDER BY and LIMIT over several tables, as MySQL does.
func oneTableOnly(from ast.TableExprs, order ast.OrderBy, limit *ast.Limit, statement string) error {
	if len(from) == 1 {
		if _, ok := from[0].(*ast.AliasedTableExpr); ok {
			return nil
		}
	}
	switch {
	case len(order) > 0:
		return refuse(KindInvalid, "Incorrect usage of %s and ORDER BY: with several tables, choose the rows by WHERE", statement)
	case limit != nil:
		return refuse(KindInvalid, "Incorrect usage of %s and LIMIT: with several tables, choose the rows by WHERE", statement)
	}
	return nil
}

// updated finds the table that SET assigns to.
func (c *Catalog) updated(ctx *sql.Context, u *ast.Update) (tableRef, error) {
	refs := tableRefs(u.TableExprs, u.With)
	if len(refs) == 0 {
		return tableRef{}, plan.ErrUpdateForTableNotSupported.New(ast.String(u.TableExprs))
	}
	var found *tableRef
	for _, e := range u.Exprs {
		ref, err := c.refOf(ctx, refs, e.Name)
		if err != nil {
			return tableRef{}, err
		}
		if found != nil && found.expr != ref.expr {
			return tableRef{}, refuse(KindUnsupported, "UPDATE of %s and %s in one statement: it would be two Delta commits, of which one can fail; write an UPDATE for each table",
				found.name, ref.name)
		}
		found = &ref
	}
	return *found, nil
}

// refOf finds the table of an assigned column.
func (c *Catalog) refOf(ctx *sql.Context, refs []tableRef, name *ast.ColName) (tableRef, error) {
	var found []tableRef
	for _, r := range refs {
		if !name.Qualifier.IsEmpty() {
			if r.is(ctx, name.Qualifier) {
				return r, nil
			}
			continue
		}
		if len(refs) == 1 {
			return r, nil
		}
		t, err := c.lookup(ctx, r.name)
		if err == nil && t.snap.Schema().Index(name.Name.String()) >= 0 {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return tableRef{}, sql.ErrAmbiguousColumnName.New(name.Name.String(), strings.Join([]string{found[0].alias, found[1].alias}, ", "))
	case !name.Qualifier.IsEmpty() && len(refs) == 1 && c.isStruct(ctx, refs[0], name.Qualifier.Name.String()):
		column, field := sqlext.QuoteName(name.Qualifier.Name.String()), name.Name.String()
		return tableRef{}, refuse(KindUnsupported, "%s.%s is a field of a struct, which is assigned as a whole: SET %s = JSON_SET(%s, '$.%s', ...)", column, field, column, column, field)
	case !name.Qualifier.IsEmpty():
		return tableRef{}, sql.ErrTableNotFound.New(name.Qualifier.Name.String())
	default:
		return tableRef{}, sql.ErrColumnNotFound.New(name.Name.String())
	}
}

// isStruct tells whether a name is that of a struct column of a table.
func (c *Catalog) isStruct(ctx *sql.Context, ref tableRef, name string) bool {
	t, err := c.lookup(ctx, ref.name)
	if err != nil {
		return false // whoever opens the table says so
	}
	i := t.snap.Schema().Index(name)
	return i >= 0 && t.snap.Schema().Fields[i].Type.Kind == batch.Struct
}

// assign puts the values of SET behind the address in the SELECT. A column may be assigned more than once; the last one counts.
func (t *target) assign(ctx *sql.Context, set *assignments, exprs ast.AssignmentExprs, sel *ast.Select) (rowAction, []batch.Field, error) {
	schema := t.snap.Schema()
	act := t.updateAction()
	var values []batch.Field
	for _, e := range exprs {
		i := schema.Index(e.Name.Name.String())
		if i < 0 {
			return act, nil, sql.ErrTableColumnNotFound.New(t.name, e.Name.Name.String())
		}
		f, value := schema.Fields[i], e.Expr
		if err := mayAssign(f); err != nil {
			return act, nil, err
		}
		if _, isDefault := value.(*ast.Default); isDefault {
			if isGenerated(f) {
				continue // it is computed anyway
			}
			var err error
			if value, err = defaultOf(f); err != nil {
				return act, nil, err
			}
		}
		act.take(i, &values, f)
		sel.SelectExprs = append(sel.SelectExprs, &ast.AliasedExpr{
			Expr: set.expr(f, value, t.column(vector.FileColumn)), As: ast.NewColIdent(valueColumn(len(values) - 1)),
		})
	}
	return act, values, nil
}

// updateAction is an update that assigns nothing yet: columns stay, but for generated ones, which follow the others.
func (t *target) updateAction() rowAction {
	fields := t.snap.Schema().Fields
	act := rowAction{kind: updateRows, columns: make([]columnFrom, len(fields))}
	for i, f := range fields {
		if isGenerated(f) {
			act.columns[i].kind = recomputed
		}
	}
	return act
}

// mayAssign refuses columns whose values are the table's to give.
func mayAssign(f batch.Field) error {
	if isIdentity(f) {
		return refuse(KindInvalid, "[DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED] column %s is an identity column: its values are made by the table and stay as they are", f.Name)
	}
	return nil
}

// valueColumn is the name of an assigned value in the SELECT.
func valueColumn(i int) string { return "_lakesql_value_" + strconv.Itoa(i) }

// defaultOf is the value of DEFAULT.
func defaultOf(f batch.Field) (ast.Expr, error) {
	if text := f.MetadataText(delta.DefaultKey); text != "" {
		return sqlext.SparkExpression(text)
	}
	if !f.Nullable {
		return nil, sql.ErrInsertIntoNonNullableDefaultNullColumn.New(f.Name)
	}
	return &ast.NullVal{}, nil
}

// predicateText is a condition as Delta's history has it: a JSON list of texts.
func predicateText(where *ast.Where) string {
	if where == nil {
		return "[]"
	}
	return jsonList([]string{ast.String(where.Expr)})
}
