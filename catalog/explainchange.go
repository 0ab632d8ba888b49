package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/vector"
)

// explanation is what EXPLAIN shows of a statement that changes rows. The statement is planned, and nothing of it is run.
type explanation struct {
	title string
	parts []string // each the text of a node, with what is below it
}

// text is the explanation as a tree.
func (e *explanation) text() string {
	p := sql.NewTreePrinter()
	_ = p.WriteNode("%s", e.title)
	_ = p.WriteChildren(e.parts...)
	return p.String()
}

// lines are the rows of the answer.
func (e *explanation) lines() []sql.Row {
	var out []sql.Row
	for line := range strings.SplitSeq(e.text(), "\n") {
		if strings.TrimSpace(line) != "" {
			out = append(out, sql.Row{strings.TrimRight(line, "\r")})
		}
	}
	return out
}

// add shows a line.
func (e *explanation) add(format string, args ...any) {
	e.parts = append(e.parts, fmt.Sprintf(format, args...))
}

// addPlan shows how a plan is executed.
func (e *explanation) addPlan(ctx *sql.Context, node sql.Node) error {
	text, err := compile.Explain(ctx, node)
	e.parts = append(e.parts, text)
	return err
}

// explainAction is EXPLAIN of a statement that explain plans.
func explainAction(explain func(ctx *sql.Context) (*explanation, error)) action {
	return query("EXPLAIN", sql.Schema{{Name: "plan", Type: textType}}, func(ctx *sql.Context) ([]sql.Row, error) {
		e, err := explain(ctx)
		if err != nil {
			return nil, err
		}
		return e.lines(), nil
	})
}

// explainStatement is the node of EXPLAIN of a statement of MySQL's grammar that changes rows; nil: it is none.
func (p *parser) explainStatement(s *ast.Explain, text string) ast.Statement {
	if s.Analyze {
		return nil // GMS refuses to run it
	}
	var explain func(ctx *sql.Context, stmt ast.Statement) (*explanation, error)
	switch change := s.Statement.(type) {
	case *ast.Update:
		if systemTables(change.TableExprs) {
			return nil
		}
		explain = p.c.explainUpdate
	case *ast.Delete:
		if systemTables(change.TableExprs) {
			return nil
		}
		explain = p.c.explainDelete
	case *ast.Insert:
		if systemTable(change.Table) || change.Action == ast.ReplaceStr || len(change.OnDup) > 0 {
			return nil
		}
		explain = func(ctx *sql.Context, stmt ast.Statement) (*explanation, error) {
			return p.c.explainInsert(ctx, stmt.(*ast.Insert), text)
		}
	default:
		return nil
	}
	a := explainAction(func(ctx *sql.Context) (*explanation, error) {
		again, _, _, err := p.mysql.ParseWithOptions(ctx, text, ';', false, sql.LoadSqlMode(ctx).ParserOptions()) // planning changes it
		if err != nil {
			return nil, err
		}
		return explain(ctx, again.(*ast.Explain).Statement)
	})
	return ast.InjectedStatement{
		Statement: &statement{action: a, text: text, parse: p.parseChange}, Auth: bySelect, Children: parameters(sqlext.Params(text)),
	}
}

// explainOwn is EXPLAIN of a statement of ours that changes rows.
func (c *Catalog) explainOwn(stmt sqlext.Statement) action {
	return explainAction(func(ctx *sql.Context) (*explanation, error) {
		switch s := stmt.(type) {
		case *sqlext.Merge:
			return c.explainMerge(ctx, s)
		case *sqlext.InsertOverwrite:
			return c.explainOverwrite(ctx, s)
		default:
			return nil, fmt.Errorf("EXPLAIN of %T", s)
		}
	})
}

func (c *Catalog) explainUpdate(ctx *sql.Context, stmt ast.Statement) (*explanation, error) {
	rows, err := c.selectUpdated(ctx, stmt.(*ast.Update))
	if err != nil {
		return nil, err
	}
	return c.explainRows(ctx, "Update", rows)
}

func (c *Catalog) explainDelete(ctx *sql.Context, stmt ast.Statement) (*explanation, error) {
	rows, err := c.selectDeleted(ctx, stmt.(*ast.Delete))
	if err != nil {
		return nil, err
	}
	return c.explainRows(ctx, "Delete from", rows)
}

func (c *Catalog) explainRows(ctx *sql.Context, verb string, rows *rowSelect) (*explanation, error) {
	ctx = rows.t.with(ctx)
	node, err := c.analyze(ctx, rows.sel, ast.String(rows.sel))
	if err != nil {
		return nil, err
	}
	e := &explanation{title: rows.t.titled(verb)}
	if err := rows.t.explainFiles(ctx, e, node, rows.action.kind == deleteRows); err != nil {
		return nil, err
	}
	return e, e.addPlan(ctx, node)
}

// titled is a statement on a table.
func (t *table) titled(verb string) string {
	return fmt.Sprintf("%s %s.%s version %d", verb, t.database, t.name, t.snap.Version())
}

// explainFiles shows which files of the target are read, and how those with changed rows are changed. deletes: all rows that the plan gives
// are deleted.
func (t *target) explainFiles(ctx *sql.Context, e *explanation, node sql.Node, deletes bool) error {
	scan, condition, ok := compile.Reads(ctx, node, t.isScannedBy)
	if !ok {
		return fmt.Errorf("the plan does not read %s.%s", t.database, t.name)
	}
	_, _, whole := compile.Condition(ctx, node)
	var gone, vectors, rewritten int
	var bytes int64
	begun := t.handle.Begin(t.snap)
	err := t.match(scan, condition, func(_ int64, f delta.File, coverage vector.Coverage) {
		_, known := f.NumLiveRecords()
		switch {
		case coverage == vector.NoRows:
			return
		case coverage == vector.AllRows && deletes && whole && known:
			gone++
			return
		case begun.CanDeleteRows(f):
			vectors++
		default:
			rewritten++
		}
		bytes += f.Size
	})
	if gone > 0 {
		e.add("Remove %d of %d files, without reading them", gone, t.snap.NumFiles())
	}
	e.add("Read %d of %d files (%d bytes)", vectors+rewritten, t.snap.NumFiles(), bytes)
	if vectors > 0 {
		e.add("Change rows of %d of these by deletion vectors", vectors)
	}
	if rewritten > 0 {
		e.add("Write %d of these anew where rows change (copy-on-write)", rewritten)
	}
	return err
}

func (c *Catalog) explainMerge(ctx *sql.Context, stmt *sqlext.Merge) (*explanation, error) {
	m, source, err := c.openMerge(ctx, stmt)
	if err != nil {
		return nil, err
	}
	sel, err := m.join()
	if err != nil {
		return nil, err
	}
	node, inner, err := m.analyze(ctx, sel, nil)
	if err != nil {
		return nil, err
	}
	e := &explanation{title: m.t.titled("Merge into")}
	if err := m.t.explainFiles(inner, e, node, false); err != nil {
		return nil, err
	}
	on, err := expressionOf(stmt.On)
	if err != nil {
		return nil, err
	}
	for _, key := range m.keys(on) {
		if !m.leftJoin() {
			e.add("Of these, only files whose %s can be one of %s.%s, once the source is read", ast.String(key.target), stmt.SourceAlias, m.source.schema.Fields[key.source].Name)
		}
	}
	if err := e.addPlan(inner, node); err != nil {
		return nil, err
	}
	of := &explanation{title: "Source, read once"}
	if err := of.addPlan(m.t.with(ctx), source); err != nil {
		return nil, err
	}
	e.parts = append(e.parts, of.text())
	return e, nil
}

func (c *Catalog) explainInsert(ctx *sql.Context, insert *ast.Insert, text string) (*explanation, error) {
	t, err := c.lookup(ctx, sqlext.Name{Database: insert.Table.DbQualifier.String(), Name: insert.Table.Name.String()})
	if err != nil {
		return nil, err
	}
	if err := t.checkWrite(ctx); err != nil {
		return nil, err
	}
	e := &explanation{title: t.titled("Insert into")}
	return e, c.addInserted(ctx, e, insert, text)
}

// addInserted shows the plan of the rows of an INSERT.
func (c *Catalog) addInserted(ctx *sql.Context, e *explanation, insert *ast.Insert, text string) error {
	node, err := c.analyze(ctx, insert, text)
	if err != nil {
		return err
	}
	var source sql.Node
	transform.Inspect(node, func(n sql.Node) bool {
		if insert, ok := n.(*plan.InsertInto); ok {
			source = insert.Source
		}
		return source == nil
	})
	if source == nil {
		return fmt.Errorf("INSERT is planned as %T", node)
	}
	return e.addPlan(ctx, source)
}

func (c *Catalog) explainOverwrite(ctx *sql.Context, s *sqlext.InsertOverwrite) (*explanation, error) {
	t, over, insert, err := c.openOverwrite(ctx, s)
	if err != nil {
		return nil, err
	}
	e := &explanation{title: t.titled("Overwrite")}
	if over.dynamic {
		e.add("Remove the files of the partitions that rows are written to, without reading them")
	} else {
		gone, err := over.replaced(t, nil)
		if err != nil {
			return nil, err
		}
		e.add("Remove %d of %d files, without reading them", len(gone), t.snap.NumFiles())
	}
	return e, c.addInserted(ctx, e, insert, s.Insert)
}
