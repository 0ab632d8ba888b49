package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/sqlext"
)

// overwrite is what an INSERT OVERWRITE takes out of its table.
type overwrite struct {
	fixed   map[int]*batch.Vector // one row each, by column: PARTITION (p = 'x') replaces the partitions that have it
	dynamic bool                  // PARTITION (p) replaces the partitions that rows are written to
	done    bool                  // it has been written: GMS closes another inserter, without rows, beside one that takes batches
}

// overwriteKey is the context's key of the *overwrite of the INSERT that is being executed.
type overwriteKey struct{}

// insertOverwrite runs INSERT OVERWRITE as an INSERT whose commit also removes files.
func (c *Catalog) insertOverwrite(ctx *sql.Context, s *sqlext.InsertOverwrite) (types.OkResult, error) {
	_, over, insert, err := c.openOverwrite(ctx, s)
	if err != nil {
		return types.OkResult{}, err
	}
	ctx = ctx.WithContext(context.WithValue(ctx.Context, overwriteKey{}, over))
	iter, err := c.execute(ctx, insert, s.Insert)
	if err != nil {
		return types.OkResult{}, err
	}
	var n uint64
	err = compile.Each(ctx, iter, func(row sql.Row) error {
		if len(row) > 0 {
			if ok, is := row[0].(types.OkResult); is {
				n += ok.RowsAffected
				return nil
			}
		}
		n++
		return nil
	})
	return types.OkResult{RowsAffected: n}, err
}

// openOverwrite finds the table of an INSERT OVERWRITE, what goes, and the INSERT of what comes.
func (c *Catalog) openOverwrite(ctx *sql.Context, s *sqlext.InsertOverwrite) (*table, *overwrite, *ast.Insert, error) {
	t, err := c.lookup(ctx, s.Table)
	if err != nil {
		return nil, nil, nil, err
	}
	stmt, err := c.engine.Parser.ParseSimple(s.Insert)
	if err != nil {
		return nil, nil, nil, err
	}
	insert, ok := stmt.(*ast.Insert)
	if !ok {
		return nil, nil, nil, refuse(KindInvalid, "INSERT OVERWRITE: write INSERT OVERWRITE %s SELECT ... or VALUES ...", s.Table)
	}
	over, err := t.overwriteOf(ctx, s.Partition)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(over.fixed) > 0 && len(insert.Columns) == 0 {
		for i, f := range t.snap.Schema().Fields {
			if over.fixed[i] == nil {
				insert.Columns = append(insert.Columns, ast.NewColIdent(f.Name))
			}
		}
	}
	return t, over, insert, nil
}

// overwriteOf reads PARTITION (...).
func (t *table) overwriteOf(ctx *sql.Context, partition []sqlext.Partition) (*overwrite, error) {
	out := &overwrite{fixed: make(map[int]*batch.Vector)}
	partitions := t.snap.Metadata().PartitionColumns
	for _, p := range partition {
		at := slices.IndexFunc(partitions, func(name string) bool { return strings.EqualFold(name, p.Column) })
		if at < 0 {
			return nil, refuse(KindInvalid, "INSERT OVERWRITE: %s is no partition column of %s; they are (%s)", p.Column, t.name, strings.Join(partitions, ", "))
		}
		if p.Value == nil {
			out.dynamic = true
			continue
		}
		column := t.snap.Schema().Index(p.Column)
		f := t.snap.Schema().Fields[column]
		var text any = p.Value.Text
		if p.Value.Kind == sqlext.WordValue && strings.EqualFold(p.Value.Text, "NULL") {
			text = nil
		}
		value, err := mysqltype.ToBatch(ctx, f, text)
		if err != nil {
			return nil, err
		}
		out.fixed[column] = batch.NewVector(f.Type, 1)
		if err := out.fixed[column].AppendValue(value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fix puts the values of PARTITION (p = 'x') into the columns of new rows.
func (o *overwrite) fix(b *batch.Batch) *batch.Batch {
	if len(o.fixed) == 0 {
		return b
	}
	out := &batch.Batch{Schema: b.Schema, Cols: slices.Clone(b.Cols), Len: b.Len, Sel: b.Sel}
	for column, v := range o.fixed {
		out.Cols[column] = v.Gather(make([]int32, b.Len)) // row 0, as often as there are rows
	}
	return out
}

// replaced are the files that go for the new ones.
func (o *overwrite) replaced(t *table, adds []delta.AddFile) ([]delta.File, error) {
	written := make(map[string]bool)
	for _, a := range adds {
		key, err := o.partition(t, a.PartitionValues)
		if err != nil {
			return nil, err
		}
		written[strings.Join(key, "\x00")] = true
	}
	var out []delta.File
	for f := range t.snap.Files() {
		key, err := o.partition(t, f.PartitionValues)
		if err != nil {
			return nil, err
		}
		goes := !o.dynamic || written[strings.Join(key, "\x00")]
		for i, name := range t.snap.Metadata().PartitionColumns {
			if v := o.fixed[t.snap.Schema().Index(name)]; v != nil && key[i] != nullOrText(v) {
				goes = false
			}
		}
		if goes {
			out = append(out, f)
		}
	}
	return out, nil
}

// partition are the values of the partition columns, in one spelling.
func (o *overwrite) partition(t *table, values map[string]string) ([]string, error) {
	if len(o.fixed) == 0 && !o.dynamic {
		return nil, nil
	}
	columns := t.snap.Metadata().PartitionColumns
	out := make([]string, len(columns))
	for i, name := range columns {
		v, err := delta.ParsePartitionValue(values[name], t.snap.Schema().Fields[t.snap.Schema().Index(name)].Type)
		if err != nil {
			return nil, err
		}
		out[i] = nullOrText(v)
	}
	return out, nil
}

func nullOrText(v *batch.Vector) string {
	if v.IsNull(0) {
		return "null"
	}
	return "=" + v.Format(0)
}
