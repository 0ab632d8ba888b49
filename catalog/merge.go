package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/vector"
)

// mergeRun is one run of a MERGE:
//
//  1. the source is read once, and kept: its rows get numbers;
//  2. one SELECT joins the target with it and gives, for each pair, the row's address, the source's number, the number of the first clause that
//     holds, and its values. With NOT MATCHED BY SOURCE it is a LEFT JOIN; else files that cannot have one of the source's keys are not read.
//     Its rows are applied as those of UPDATE are;
//  3. the rows of the source that matched none are inserted, by a SELECT of the source alone.
//
// A value that is just a column of the source does not go through the SELECT: it is copied from batch to batch.
type mergeRun struct {
	c       *Catalog
	stmt    *sqlext.Merge
	t       *target
	source  *sourceRows
	values  []batch.Field // of the join's SELECT
	exprs   []ast.Expr    // of them
	actions []rowAction
	clauses []sqlext.MergeClause // of the actions
	inserts []rowAction
	newRows []batch.Field // values of the SELECT of new rows
	newExpr []ast.Expr
	fresh   []sqlext.MergeClause
}

// merge runs MERGE INTO.
func (c *Catalog) merge(ctx *sql.Context, stmt *sqlext.Merge) (types.OkResult, error) {
	m, source, err := c.openMerge(ctx, stmt)
	if err != nil {
		return types.OkResult{}, err
	}
	w, err := c.beginWrite(ctx, m.t.table)
	if err != nil {
		return types.OkResult{}, err
	}
	if err := m.readSource(ctx, source); err != nil {
		return types.OkResult{}, err
	}
	changes := newRowChanges(w, m.actions, m.values)
	changes.source, changes.twiceOK = m.source, m.onlyDeletes()
	err = m.run(ctx, changes)
	if err = errors.Join(err, changes.close()); err != nil {
		return types.OkResult{}, lost(ctx, err, w)
	}
	n := changes.counts
	if n.updated+n.deleted+n.inserted > 0 {
		if err := w.finish(ctx, changes.operation("MERGE", m.parameters())); err != nil {
			return types.OkResult{}, err
		}
	}
	return types.OkResult{RowsAffected: uint64(n.updated + n.deleted + n.inserted), Info: mergeInfo(n)}, nil
}

// openMerge finds the target and the source of a MERGE, and what its clauses do. It also returns the plan of the source.
func (c *Catalog) openMerge(ctx *sql.Context, stmt *sqlext.Merge) (*mergeRun, sql.Node, error) {
	if err := c.mayMerge(ctx, stmt); err != nil {
		return nil, nil, err
	}
	t, err := c.lookup(ctx, stmt.Target)
	if err != nil {
		return nil, nil, err
	}
	if err := t.checkWrite(ctx); err != nil {
		return nil, nil, err
	}
	if strings.EqualFold(stmt.TargetAlias, stmt.SourceAlias) {
		return nil, nil, refuse(KindInvalid, "MERGE: target and source are both called %s; give one an alias: USING ... AS s", stmt.SourceAlias)
	}
	m := &mergeRun{c: c, stmt: stmt, t: &target{table: t, alias: strings.ToLower(stmt.TargetAlias)}}
	source, err := m.planSource(ctx)
	if err != nil {
		return nil, nil, err
	}
	return m, source, m.plan()
}

// mergeInfo is what the client shows of a MERGE.
type mergeInfo changeCounts

func (n mergeInfo) String() string {
	return fmt.Sprintf("Rows inserted: %d  Updated: %d  Deleted: %d", n.inserted, n.updated, n.deleted)
}

// mayMerge checks the privileges that the clauses want of the target. ON reads it, and what matches tells of it.
func (c *Catalog) mayMerge(ctx *sql.Context, stmt *sqlext.Merge) error {
	wanted := []ast.AuthInformation{needs(ast.AuthType_SELECT, stmt.Target)}
	for _, clause := range stmt.Clauses {
		privilege := map[sqlext.MergeAction]string{
			sqlext.MergeUpdate: ast.AuthType_UPDATE, sqlext.MergeDelete: ast.AuthType_DELETE, sqlext.MergeInsert: ast.AuthType_INSERT,
		}[clause.Action]
		wanted = append(wanted, needs(privilege, stmt.Target))
	}
	return c.mayDo(ctx, wanted...)
}

// onlyDeletes tells whether it does not matter how often a row is matched: it is deleted, whatever the source's row says.
func (m *mergeRun) onlyDeletes() bool {
	n := 0
	for _, clause := range m.clauses {
		if clause.Match == sqlext.Matched {
			if n++; clause.Action != sqlext.MergeDelete || clause.Condition != "" {
				return false
			}
		}
	}
	return n == 1
}

// planSource plans the SELECT of the source.
func (m *mergeRun) planSource(ctx *sql.Context) (sql.Node, error) {
	stmt, err := m.c.engine.Parser.ParseSimple("SELECT * FROM " + m.stmt.Source + " AS " + sqlext.QuoteName(m.stmt.SourceAlias))
	if err != nil {
		return nil, err
	}
	ctx = m.t.with(ctx) // it may read the target, too
	node, err := m.c.analyze(ctx, stmt, m.stmt.Source)
	if err != nil {
		return nil, err
	}
	fields, err := compile.Fields(ctx, node)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		fields[i].Nullable = true
	}
	m.source = &sourceRows{schema: batch.NewSchema(fields...)}
	return node, nil
}

// readSource reads the source's rows.
func (m *mergeRun) readSource(ctx *sql.Context, source sql.Node) error {
	ctx = m.t.with(ctx)
	rows, err := m.c.openSelect(ctx, source, m.source.schema, false)
	if err != nil {
		return err
	}
	_, err = eachBatch(ctx, rows, func(b *batch.Batch) error { return m.source.add(batch.Concat(m.source.schema, b)) })
	m.source.known = true
	return errors.Join(err, rows.Close())
}

// plan finds out, for each clause, where the columns of its rows come from.
func (m *mergeRun) plan() error {
	for _, clause := range m.stmt.Clauses {
		if err := m.withoutSource(clause); err != nil {
			return err
		}
		if clause.Match == sqlext.NotMatched {
			a := rowAction{kind: insertRows, columns: make([]columnFrom, len(m.t.snap.Schema().Fields))}
			if err := m.assignments(clause, &a, &m.newRows, &m.newExpr); err != nil {
				return err
			}
			m.inserts, m.fresh = append(m.inserts, a), append(m.fresh, clause)
			continue
		}
		a := rowAction{kind: deleteRows}
		if clause.Action == sqlext.MergeUpdate {
			a = m.t.updateAction()
			if err := m.assignments(clause, &a, &m.values, &m.exprs); err != nil {
				return err
			}
		}
		m.actions, m.clauses = append(m.actions, a), append(m.clauses, clause)
	}
	return nil
}

// withoutSource refuses columns of the source in a clause that is for rows without one. Subqueries have their own names.
func (m *mergeRun) withoutSource(clause sqlext.MergeClause) error {
	if clause.Match != sqlext.NotMatchedBySource {
		return nil
	}
	texts := []string{clause.Condition}
	for _, s := range clause.Set {
		texts = append(texts, s.Value)
	}
	for _, text := range texts {
		if text == "" || text == "DEFAULT" {
			continue
		}
		e, err := expressionOf(text)
		if err != nil {
			return err
		}
		err = ast.Walk(func(n ast.SQLNode) (bool, error) {
			switch n := n.(type) {
			case *ast.Subquery:
				return false, nil
			case *ast.ColName:
				if m.isSource(n) && m.source.schema.Index(n.Name.String()) >= 0 {
					return false, refuse(KindInvalid, "MERGE: WHEN NOT MATCHED BY SOURCE is for rows that have no row of the source, "+
						"and %s is a column of the source; name columns of %s only", ast.String(n), m.stmt.TargetAlias)
				}
			}
			return true, nil
		}, e)
		if err != nil {
			return err
		}
	}
	return nil
}

// assignments are those of a clause, with * spelled out.
func (m *mergeRun) assignments(clause sqlext.MergeClause, a *rowAction, values *[]batch.Field, exprs *[]ast.Expr) error {
	schema := m.t.snap.Schema()
	set := slices.Clone(clause.Set)
	for i, f := range schema.Fields {
		switch {
		case clause.Star && m.source.schema.Index(f.Name) >= 0:
			set = append(set, sqlext.MergeAssignment{Column: f.Name, Value: sqlext.QuoteName(m.stmt.SourceAlias) + "." + sqlext.QuoteName(f.Name)})
		case clause.Star && !isGenerated(f) && !isIdentity(f):
			return sql.ErrTableColumnNotFound.New(m.stmt.SourceAlias, f.Name)
		case i < len(clause.Values):
			set = append(set, sqlext.MergeAssignment{Column: f.Name, Value: clause.Values[i]})
		}
	}
	if n := len(clause.Values); n > 0 && n != len(schema.Fields) {
		return sql.ErrInsertIntoMismatchValueCount.New()
	}
	for _, s := range set {
		if s.Qualifier != "" && !strings.EqualFold(s.Qualifier, m.stmt.TargetAlias) {
			return refuse(KindInvalid, "MERGE: %s.%s is no column of the target, which is called %s", s.Qualifier, s.Column, m.stmt.TargetAlias)
		}
		i := schema.Index(s.Column)
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(m.t.name, s.Column)
		}
		if err := m.assign(s.Value, i, a, values, exprs); err != nil {
			return fmt.Errorf("MERGE: column %s: %w", s.Column, err)
		}
	}
	return nil
}

// assign gives a column its value.
func (m *mergeRun) assign(text string, column int, a *rowAction, values *[]batch.Field, exprs *[]ast.Expr) error {
	f := m.t.snap.Schema().Fields[column]
	if a.kind == updateRows {
		if err := mayAssign(f); err != nil {
			return err
		}
	}
	if text == "DEFAULT" {
		if a.kind == insertRows || isGenerated(f) {
			return nil // it is not given
		}
		value, err := defaultOf(f)
		if err != nil {
			return err
		}
		a.take(column, values, f)
		*exprs = append(*exprs, value)
		return nil
	}
	value, err := expressionOf(text)
	if err != nil {
		return err
	}
	if name, ok := value.(*ast.ColName); ok && m.isSource(name) {
		if at := m.source.schema.Index(name.Name.String()); at >= 0 && m.source.schema.Fields[at].Type == f.Type {
			a.columns[column] = columnFrom{fromSource, at}
			return nil
		}
	}
	a.take(column, values, f)
	*exprs = append(*exprs, value)
	return nil
}

// isSource tells whether a column is one of the source's.
func (m *mergeRun) isSource(name *ast.ColName) bool {
	if !name.Qualifier.IsEmpty() {
		return strings.EqualFold(name.Qualifier.Name.String(), m.stmt.SourceAlias)
	}
	return m.t.snap.Schema().Index(name.Name.String()) < 0
}

// expressionOf parses an expression that sqlext has looked at.
func expressionOf(text string) (ast.Expr, error) {
	stmt, err := ast.Parse("SELECT " + text)
	if err != nil {
		return nil, err
	}
	sel, ok := stmt.(*ast.Select)
	if !ok || len(sel.SelectExprs) != 1 {
		return nil, refuse(KindInvalid, "%s is no expression", text)
	}
	e, ok := sel.SelectExprs[0].(*ast.AliasedExpr)
	if !ok {
		return nil, refuse(KindInvalid, "%s is no expression", text)
	}
	return e.Expr, nil
}

// run applies the join, then inserts.
func (m *mergeRun) run(ctx *sql.Context, changes *rowChanges) error {
	if err := m.runJoin(ctx, changes); err != nil {
		return err
	}
	if err := m.insert(ctx, changes); err != nil {
		return err
	}
	return changes.finish(ctx)
}

// runJoin changes the rows of the target.
func (m *mergeRun) runJoin(ctx *sql.Context, changes *rowChanges) error {
	sel, err := m.join()
	if err != nil {
		return err
	}
	node, inner, err := m.analyze(ctx, sel, nil)
	if err != nil {
		return err
	}
	changes.ordered = inAddressOrder(node)
	if m.t.elsewhere {
		changes.w.reads.whole = true
	} else {
		changes.w.reads.recheck = m.recheck(ctx)
	}
	rows, err := m.c.openSelect(inner, node, changes.schema(), false)
	if err != nil {
		return err
	}
	return errors.Join(changes.run(ctx, rows), rows.Close())
}

// analyze plans a SELECT over the source, whose rows may be other ones than all, and the target.
func (m *mergeRun) analyze(ctx *sql.Context, sel *ast.Select, rows []*batch.Batch) (sql.Node, *sql.Context, error) {
	if rows == nil {
		rows = m.numberedRows(nil)
	}
	schema := batch.NewSchema(append(slices.Clone(m.source.schema.Fields), mergeFields[0])...)
	input := &streamInput{schema: schema, op: vector.NewBatches(schema), replay: true, kept: rows, opened: true}
	inner := m.t.with(ctx)
	inner = inner.WithContext(context.WithValue(inner.Context, streamInputsKey{}, []*streamInput{input}))
	node, err := m.c.analyze(inner, sel, m.stmt.SQL)
	return node, inner, err
}

// numberedRows are the source's rows with their numbers, all or those that are wanted.
func (m *mergeRun) numberedRows(wanted func(number int64) bool) []*batch.Batch {
	fields := append(slices.Clone(m.source.schema.Fields), mergeFields[0])
	out := make([]*batch.Batch, 0, len(m.source.batches))
	for i, b := range m.source.batches {
		numbers := batch.NewVector(mergeFields[0].Type, b.Len)
		var sel []int32
		for row := range b.Len {
			number := m.source.starts[i] + int64(row)
			numbers.AppendInt64(number)
			if wanted != nil && wanted(number) {
				sel = append(sel, int32(row))
			}
		}
		if wanted != nil && len(sel) == 0 {
			continue
		}
		out = append(out, &batch.Batch{Schema: batch.NewSchema(fields...), Cols: append(slices.Clone(b.Cols), numbers), Len: b.Len, Sel: sel})
	}
	return out
}

// sourceTable is the source in FROM.
func (m *mergeRun) sourceTable() ast.TableExpr {
	return &ast.TableFuncExpr{Name: sqlext.SourceFunction, Alias: ast.NewTableIdent(m.stmt.SourceAlias),
		Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewIntVal([]byte("0"))}}}
}

func (m *mergeRun) sourceColumn(name string) *ast.ColName {
	return &ast.ColName{Qualifier: ast.TableName{Name: ast.NewTableIdent(m.stmt.SourceAlias)}, Name: ast.NewColIdent(name)}
}

// leftJoin tells whether rows of the target that match none of the source's may change, too.
func (m *mergeRun) leftJoin() bool {
	return slices.ContainsFunc(m.clauses, func(c sqlext.MergeClause) bool { return c.Match == sqlext.NotMatchedBySource })
}

// join is the SELECT of the rows of the target that may change.
func (m *mergeRun) join() (*ast.Select, error) {
	on, err := expressionOf(m.stmt.On)
	if err != nil {
		return nil, err
	}
	table := &ast.AliasedTableExpr{
		Expr: ast.TableName{Name: ast.NewTableIdent(m.stmt.Target.Name), DbQualifier: ast.NewTableIdent(m.stmt.Target.Database)},
		Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE},
	}
	m.t.mark(table)
	kind := ast.JoinStr
	if m.leftJoin() {
		kind = ast.LeftJoinStr
	}
	number := m.sourceColumn(sourceNumber)
	action, err := m.action(m.clauses, number)
	if err != nil {
		return nil, err
	}
	values, err := m.chosen(m.clauses, m.actions, m.values, m.exprs, number, m.t.column(vector.FileColumn))
	if err != nil {
		return nil, err
	}
	hint := fmt.Sprintf("/*+ JOIN_ORDER(%s,%s) */", m.t.alias, m.stmt.SourceAlias)
	sel := &ast.Select{Comments: ast.Comments{[]byte(hint)}, SelectExprs: m.t.address(), From: ast.TableExprs{
		&ast.JoinTableExpr{LeftExpr: table, Join: kind, RightExpr: m.sourceTable(), Condition: ast.JoinCondition{On: on}},
	}}
	for _, e := range append([]ast.Expr{number, action}, values...) {
		sel.SelectExprs = append(sel.SelectExprs, &ast.AliasedExpr{Expr: e, As: ast.NewColIdent(valueColumn(len(sel.SelectExprs)))})
	}
	if m.source.known && !m.leftJoin() {
		for _, key := range m.keys(on) {
			if e := m.source.keyCondition(key); e != nil {
				sel.AddWhere(e)
			}
		}
	}
	return sel, nil
}

// conditions are what must hold for each clause. number is a column that is null in rows without a source; nil: there are none.
func conditions(clauses []sqlext.MergeClause, number *ast.ColName) ([]ast.Expr, error) {
	out := make([]ast.Expr, len(clauses))
	for i, clause := range clauses {
		var e ast.Expr = ast.BoolVal(true)
		if clause.Condition != "" {
			var err error
			if e, err = expressionOf(clause.Condition); err != nil {
				return nil, err
			}
			e = &ast.ParenExpr{Expr: e}
		}
		switch {
		case number == nil:
		case clause.Match == sqlext.Matched:
			e = &ast.AndExpr{Left: &ast.IsExpr{Operator: ast.IsNotNullStr, Expr: number}, Right: e}
		default:
			e = &ast.AndExpr{Left: &ast.IsExpr{Operator: ast.IsNullStr, Expr: number}, Right: e}
		}
		out[i] = e
	}
	return out, nil
}

// action is the number of the first clause that holds; null: none does.
func (m *mergeRun) action(clauses []sqlext.MergeClause, number *ast.ColName) (ast.Expr, error) {
	all, err := conditions(clauses, number)
	if err != nil || len(all) == 0 {
		return &ast.NullVal{}, err
	}
	out := &ast.CaseExpr{}
	for i, e := range all {
		out.Whens = append(out.Whens, &ast.When{Cond: e, Val: ast.NewIntVal(fmt.Appendf(nil, "%d", i))})
	}
	return out, nil
}

// chosen are the values, each computed only for rows of its clause. address is a column of the table whose columns an assignment could
// see; MERGE's see them as they were.
func (m *mergeRun) chosen(clauses []sqlext.MergeClause, actions []rowAction, fields []batch.Field, exprs []ast.Expr, number, address *ast.ColName) ([]ast.Expr, error) {
	out := make([]ast.Expr, len(fields))
	for a, act := range actions {
		for _, from := range act.columns {
			if from.kind != fromValue {
				continue
			}
			all, err := conditions(clauses[:a+1], number)
			if err != nil {
				return nil, err
			}
			one := &ast.CaseExpr{}
			for _, e := range all[:a] {
				one.Whens = append(one.Whens, &ast.When{Cond: e, Val: &ast.NullVal{}})
			}
			value := (&assignments{table: m.t.name}).expr(fields[from.at], exprs[from.at], address)
			one.Whens = append(one.Whens, &ast.When{Cond: all[a], Val: value})
			out[from.at] = one
		}
	}
	return out, nil
}

// recheck tells whether the statement would match, or change, a row of files that another commit has added meanwhile.
func (m *mergeRun) recheck(ctx *sql.Context) delta.Recheck {
	return func(inner context.Context, added []delta.File) (bool, error) {
		again := *m
		again.t = &target{table: m.t.table, alias: m.t.alias, files: numbered(added)}
		sel, err := again.join()
		if err != nil {
			return false, err
		}
		node, planned, err := again.analyze(ctx.WithContext(inner), sel, nil)
		if err != nil {
			return false, err
		}
		changes := &rowChanges{source: m.source, values: m.values}
		rows, err := m.c.openSelect(planned, node, changes.schema(), false)
		if err != nil {
			return false, err
		}
		found := false
		for !found {
			b, err := rows.Next(inner)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return false, errors.Join(err, rows.Close())
			}
			for i := range b.Rows() {
				row := b.Row(i)
				found = found || !b.Cols[2].IsNull(row) || !b.Cols[3].IsNull(row)
			}
		}
		return found, rows.Close()
	}
}

// insert adds the rows of the source that match none of the target.
func (m *mergeRun) insert(ctx *sql.Context, changes *rowChanges) error {
	if len(m.fresh) == 0 {
		return nil
	}
	left := m.numberedRows(func(number int64) bool { return !changes.used.Contains(number) })
	if len(left) == 0 {
		return nil
	}
	number := m.sourceColumn(sourceNumber)
	action, err := m.action(m.fresh, nil)
	if err != nil {
		return err
	}
	values, err := m.chosen(m.fresh, m.inserts, m.newRows, m.newExpr, nil, number)
	if err != nil {
		return err
	}
	sel := &ast.Select{From: ast.TableExprs{m.sourceTable()}}
	for _, e := range append([]ast.Expr{number, action}, values...) {
		sel.SelectExprs = append(sel.SelectExprs, &ast.AliasedExpr{Expr: e, As: ast.NewColIdent(valueColumn(len(sel.SelectExprs)))})
	}
	node, inner, err := m.analyze(ctx, sel, left)
	if err != nil {
		return err
	}
	rows, err := m.c.openSelect(inner, node, batch.NewSchema(append(slices.Clone(mergeFields), m.newRows...)...), false)
	if err != nil {
		return err
	}
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows.Close()
		}
		if err == nil {
			err = m.insertBatch(ctx, changes, b)
		}
		if err != nil {
			return errors.Join(err, rows.Close())
		}
	}
}

// insertBatch adds the rows of each clause: together they have the same columns given.
func (m *mergeRun) insertBatch(ctx *sql.Context, changes *rowChanges, b *batch.Batch) error {
	numbers, actions := b.Cols[0].Decode(), b.Cols[1].Decode()
	for a, act := range m.inserts {
		var picked []int32
		for i := range b.Rows() {
			if row := b.Row(i); !actions.IsNull(row) && actions.I64[row] == int64(a) {
				picked = append(picked, int32(row))
			}
		}
		if len(picked) == 0 {
			continue
		}
		out := &batch.Batch{Schema: m.t.snap.Schema(), Cols: make([]*batch.Vector, len(act.columns)), Len: len(picked)}
		for c, from := range act.columns {
			switch from.kind {
			case fromValue:
				out.Cols[c] = b.Cols[len(mergeFields)+from.at].Gather(picked)
			case fromSource:
				v := batch.NewVector(m.t.snap.Schema().Fields[c].Type, len(picked))
				for _, row := range picked {
					m.source.appendTo(v, from.at, numbers.I64[row])
				}
				out.Cols[c] = v
			}
		}
		if err := changes.out.insert(ctx, out); err != nil {
			return err
		}
		changes.counts.inserted += int64(len(picked))
	}
	return nil
}

// parameters are MERGE's in Delta's history.
func (m *mergeRun) parameters() map[string]string {
	type clause struct {
		Predicate string `json:"predicate,omitempty"`
		Action    string `json:"actionType"`
	}
	lists := map[sqlext.MergeMatch][]clause{sqlext.Matched: {}, sqlext.NotMatched: {}, sqlext.NotMatchedBySource: {}}
	for _, c := range m.stmt.Clauses {
		lists[c.Match] = append(lists[c.Match], clause{c.Condition, []string{"update", "delete", "insert"}[c.Action]})
	}
	text := func(match sqlext.MergeMatch) string {
		out, _ := json.Marshal(lists[match]) // texts always marshal
		return string(out)
	}
	return map[string]string{
		"predicate": jsonList([]string{m.stmt.On}), "matchedPredicates": text(sqlext.Matched),
		"notMatchedPredicates": text(sqlext.NotMatched), "notMatchedBySourcePredicates": text(sqlext.NotMatchedBySource),
	}
}
