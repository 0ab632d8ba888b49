package catalog

import (
	"iter"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/vector"
)

// delete runs DELETE as SELECT address FROM ... WHERE ... . Files whose rows are decided by partition values and statistics are not read:
// those that go as a whole only leave the log.
func (c *Catalog) delete(ctx *sql.Context, d *ast.Delete) (types.OkResult, error) {
	rows, err := c.selectDeleted(ctx, d)
	if err != nil {
		return types.OkResult{}, err
	}
	w, err := c.beginWrite(ctx, rows.t.table)
	if err != nil {
		return types.OkResult{}, err
	}
	changes := newRowChanges(w, []rowAction{rows.action}, nil)
	changes.wholeFiles = true
	if err := c.applySelect(ctx, rows, changes); err != nil {
		return types.OkResult{}, lost(ctx, err, w)
	}
	n := changes.counts
	if n.deleted > 0 {
		if err := w.finish(ctx, changes.operation("DELETE", map[string]string{"predicate": predicateText(d.Where)})); err != nil {
			return types.OkResult{}, err
		}
	}
	return types.OkResult{RowsAffected: uint64(n.deleted)}, nil
}

// selectDeleted makes the SELECT of a DELETE.
func (c *Catalog) selectDeleted(ctx *sql.Context, d *ast.Delete) (*rowSelect, error) {
	if len(d.Partitions) > 0 {
		return nil, refuse(KindUnsupported, "DELETE FROM t PARTITION (...) is MySQL's own partitions; choose the rows by WHERE on the partition columns")
	}
	if err := oneTableOnly(d.TableExprs, d.OrderBy, d.Limit, "DELETE"); err != nil {
		return nil, err
	}
	if err := c.mayChange(ctx, d.TableExprs, d.With); err != nil {
		return nil, err
	}
	ref, err := deletedFrom(ctx, d)
	if err != nil {
		return nil, err
	}
	t, err := c.openTarget(ctx, ref, "DELETE")
	if err != nil {
		return nil, err
	}
	sel := &ast.Select{Comments: d.Comments, With: d.With, From: d.TableExprs, Where: d.Where, OrderBy: d.OrderBy, Limit: d.Limit, SelectExprs: t.address()}
	return &rowSelect{t: t, sel: sel, action: rowAction{kind: deleteRows}}, nil
}

// deletedFrom finds the table that DELETE names: the only one of FROM, or the one in front of it.
func deletedFrom(ctx *sql.Context, d *ast.Delete) (tableRef, error) {
	refs := tableRefs(d.TableExprs, d.With)
	if len(d.Targets) == 0 {
		if len(refs) != 1 {
			return tableRef{}, sql.ErrTableNotFound.New(ast.String(d.TableExprs))
		}
		return refs[0], nil
	}
	if len(d.Targets) > 1 {
		return tableRef{}, refuse(KindUnsupported, "DELETE from %s and %s in one statement: it would be two Delta commits, of which one can fail; write a DELETE for each table",
			d.Targets[0].Name, d.Targets[1].Name)
	}
	for _, r := range refs {
		if r.is(ctx, d.Targets[0]) {
			return r, nil
		}
	}
	return tableRef{}, sql.ErrTableNotFound.New(d.Targets[0].Name.String())
}

// truncate runs TRUNCATE: all files leave the log. It answers as MySQL does, without a number of rows.
func (c *Catalog) truncate(ctx *sql.Context, ref tableRef) (types.OkResult, error) {
	t, err := c.openTarget(ctx, ref, "TRUNCATE")
	if err != nil {
		return types.OkResult{}, err
	}
	w, err := c.beginWrite(ctx, t.table)
	if err != nil {
		return types.OkResult{}, err
	}
	w.removes = slices.Collect(t.snap.Files())
	w.untold.removes = w.removes
	w.reads.whole = true
	if len(w.removes) == 0 {
		return types.OkResult{}, nil
	}
	changes := newRowChanges(w, nil, nil)
	changes.counts.removedFiles = int64(len(w.removes))
	return types.OkResult{}, w.finish(ctx, changes.operation("TRUNCATE", nil))
}

// decide looks at each file of the target without reading it. What goes as a whole is removed, and only the others are left to be read. It
// does nothing where the plan does not tell which rows it wants.
func (r *rowChanges) decide(ctx *sql.Context, t *target, node sql.Node) error {
	source, condition, ok := compile.Condition(ctx, node)
	if !ok || !t.isScannedBy(source) {
		return nil
	}
	type numberedFile struct {
		number int64
		file   delta.File
	}
	var left []numberedFile
	err := t.match(source, condition, func(n int64, f delta.File, coverage vector.Coverage) {
		live, known := f.NumLiveRecords()
		switch {
		case coverage == vector.AllRows && known:
			r.remove(f, true)
			r.counts.matched += live
			r.counts.deleted += live
		case coverage != vector.NoRows:
			left = append(left, numberedFile{n, f})
		}
	})
	t.files = iter.Seq2[int64, delta.File](func(yield func(int64, delta.File) bool) {
		for _, f := range left {
			if !yield(f.number, f.file) {
				return
			}
		}
	})
	return err
}

// isScannedBy tells whether a source is the target.
func (t *target) isScannedBy(source compile.Source) bool {
	scanned, ok := source.(*table)
	return ok && scanned.target == t
}

// match tells for each file of the target how many of its rows can satisfy a condition over the columns of its scan.
func (t *target) match(scan compile.Source, condition vector.Expr, visit func(n int64, f delta.File, coverage vector.Coverage)) error {
	names := make([]string, 0, len(scan.Columns()))
	for _, f := range scan.Columns() {
		names = append(names, f.Name)
	}
	filter, err := vector.NewFileFilter(t.snap, names, condition)
	if err != nil {
		return err
	}
	for n, f := range vector.Numbered(t.snap) {
		coverage, err := filter.Match(f)
		if err != nil {
			return err
		}
		visit(n, f, coverage)
	}
	return nil
}
