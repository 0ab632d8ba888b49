package catalog

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/delta/maintain"
	"lakesql/sqlext"
	"lakesql/stream"
)

// maintained opens a table that a statement of maintenance is about to change: outside of a transaction, for such a statement commits by itself.
func (c *Catalog) maintained(ctx *sql.Context, n sqlext.Name, statement string) (*table, error) {
	tx := currentTransaction(ctx)
	if tx.readOnly {
		return nil, sql.ErrReadOnlyTransaction.New()
	}
	if tx.hasWrites() {
		return nil, refuse(KindTransaction, "%s commits by itself, and this transaction has written: COMMIT or ROLLBACK first", statement)
	}
	t, err := c.lookup(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := checkPlace(t.handle.Store().URI()); err != nil {
		return nil, err
	}
	tx.forget(t.handle)
	return t, nil
}

var optimizeSchema = sql.Schema{
	{Name: "path", Type: textType}, {Name: "numFilesAdded", Type: types.Int64}, {Name: "numFilesRemoved", Type: types.Int64},
	{Name: "bytesAdded", Type: types.Int64}, {Name: "bytesRemoved", Type: types.Int64}, {Name: "partitionsOptimized", Type: types.Int64},
	{Name: "totalConsideredFiles", Type: types.Int64}, {Name: "totalFilesSkipped", Type: types.Int64},
}

// adminSchema is MySQL's answer to statements such as OPTIMIZE TABLE and ANALYZE TABLE.
var adminSchema = sql.Schema{{Name: "Table", Type: textType}, {Name: "Op", Type: textType}, {Name: "Msg_type", Type: textType}, {Name: "Msg_text", Type: textType}}

func (c *Catalog) optimize(s *sqlext.Optimize) action {
	schema := optimizeSchema
	if s.MySQL {
		schema = adminSchema
	}
	a := query("OPTIMIZE", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		var rows []sql.Row
		for _, name := range s.Tables {
			t, err := c.maintained(ctx, name, "OPTIMIZE")
			if err != nil {
				return nil, err
			}
			out, err := c.optimizeTable(ctx, t, s)
			if err != nil {
				return nil, err
			}
			if s.MySQL {
				rows = append(rows, sql.Row{qualifiedName(t.database, t.name), "optimize", "status", "OK"})
				continue
			}
			rows = append(rows, sql.Row{
				t.handle.Store().URI(), int64(out.FilesAdded), int64(out.FilesRemoved), out.BytesAdded, out.BytesRemoved,
				int64(out.Partitions), int64(out.FilesConsidered), int64(out.Skipped),
			})
		}
		return rows, nil
	})
	a.writes = true
	return a
}

func (c *Catalog) optimizeTable(ctx *sql.Context, t *table, s *sqlext.Optimize) (maintain.OptimizeResult, error) {
	opts := maintain.OptimizeOptions{ZOrderBy: s.ZOrderBy, Full: s.Full, Predicate: s.Where, Cache: c.dataFiles}
	if s.Where != "" {
		match, err := c.partitionFilter(ctx, t.snap, s.Where)
		if err != nil {
			return maintain.OptimizeResult{}, err
		}
		opts.Partition = match
	}
	out, err := maintain.Optimize(ctx, t.handle, opts)
	c.maintainSoon(t.handle)
	return out, err
}

// partitionFilter compiles a condition on the partition columns.
func (c *Catalog) partitionFilter(ctx *sql.Context, snap *delta.Snapshot, where string) (func(map[string]string) (bool, error), error) {
	schema := &batch.Schema{}
	for _, name := range snap.Metadata().PartitionColumns {
		schema.Fields = append(schema.Fields, snap.Schema().Fields[snap.Schema().Index(name)])
	}
	if err := onlyPartitionColumns(snap, schema, where); err != nil {
		return nil, err
	}
	eval, err := evaluator{c}.Compile(ctx, schema, []delta.Expression{{SQL: where, Type: batch.Type{Kind: batch.Bool}}})
	if err != nil {
		return nil, refuse(KindInvalid, "OPTIMIZE ... WHERE %s: %v", where, err)
	}
	return func(values map[string]string) (bool, error) {
		row := &batch.Batch{Schema: schema, Len: 1}
		for _, f := range schema.Fields {
			v, err := delta.ParsePartitionValue(values[f.Name], f.Type)
			if err != nil {
				return false, err
			}
			row.Cols = append(row.Cols, v)
		}
		out, err := eval.Eval(ctx, row)
		if err != nil {
			return false, err
		}
		return !out[0].IsNull(0) && out[0].Decode().Bools[0], nil
	}, nil
}

// onlyPartitionColumns refuses a condition that names another column.
func onlyPartitionColumns(snap *delta.Snapshot, partitions *batch.Schema, where string) error {
	parsed, err := sqlext.SparkExpression(where)
	if err != nil {
		return err
	}
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		column, ok := n.(*ast.ColName)
		if !ok || partitions.Index(column.Name.String()) >= 0 {
			return true, nil
		}
		name := column.Name.String()
		switch {
		case snap.Schema().Index(name) < 0:
			return false, sql.ErrColumnNotFound.New(name)
		case len(partitions.Fields) == 0:
			return false, refuse(KindInvalid, "OPTIMIZE ... WHERE %s: the table has no partition columns, by which WHERE chooses files; leave it out, or CLUSTER BY (%s) and OPTIMIZE FULL", where, name)
		}
		return false, refuse(KindInvalid, "OPTIMIZE ... WHERE %s: %s is no partition column, and those are what WHERE may name: %s", where, name, strings.Join(partitions.Names(), ", "))
	}, parsed)
}

var vacuumSchema = sql.Schema{{Name: "path", Type: textType}}

// vacuumNeedsQuiet is the retention below which a file that a running stream has written and not committed yet might be taken for a left-over.
const vacuumNeedsQuiet = time.Hour

func (c *Catalog) vacuum(s *sqlext.Vacuum) action {
	a := query("VACUUM", vacuumSchema, func(ctx *sql.Context) ([]sql.Row, error) {
		t, err := c.maintained(ctx, s.Table, "VACUUM")
		if err != nil {
			return nil, err
		}
		opts := maintain.VacuumOptions{Retention: -1, Lite: s.Lite, DryRun: s.DryRun}
		if s.Retain != nil {
			hours, err := strconv.ParseFloat(s.Retain.Text, 64)
			if err != nil || hours < 0 || hours > float64(1<<62/time.Hour) {
				return nil, refuse(KindInvalid, "RETAIN %s HOURS: give a number of hours from 0 on", s.Retain)
			}
			opts.Retention = time.Duration(hours * float64(time.Hour))
		}
		if err := c.checkVacuum(t, opts); err != nil {
			return nil, err
		}
		out, err := maintain.Vacuum(ctx, t.handle, opts)
		if err != nil {
			return nil, err
		}
		if !s.DryRun {
			return []sql.Row{{t.handle.Store().URI()}}, nil
		}
		rows := make([]sql.Row, len(out.Files))
		for i, key := range out.Files {
			rows[i] = sql.Row{t.handle.Store().URI() + "/" + key}
		}
		return rows, nil
	})
	a.writes = true
	return a
}

// checkVacuum keeps the files that a stream has written and not committed yet.
func (c *Catalog) checkVacuum(t *table, opts maintain.VacuumOptions) error {
	retention := opts.Retention
	if retention < 0 {
		retention = t.snap.Retention()
	}
	if opts.DryRun || retention >= vacuumNeedsQuiet {
		return nil
	}
	if s, ok := c.streamInto(t); ok {
		return refuse(KindInvalid, "VACUUM with a retention of %v could delete files that stream %s has just written and not committed: STOP STREAM %s first, or RETAIN 1 HOURS",
			retention, s.Definition.FullName(), s.Definition.FullName())
	}
	return nil
}

// streamInto finds a running stream that writes to the table.
func (c *Catalog) streamInto(t *table) (stream.Status, bool) {
	for _, s := range c.streams.List() {
		switch s.State {
		case stream.Paused, stream.Failed, stream.Finished:
			continue
		}
		target := s.Definition.Target
		if target.Path == t.handle.Store().URI() || strings.EqualFold(target.Database, t.database) && strings.EqualFold(target.Table, t.name) {
			return s, true
		}
	}
	return stream.Status{}, false
}

var restoreSchema = sql.Schema{
	{Name: "table_size_after_restore", Type: types.Int64}, {Name: "num_of_files_after_restore", Type: types.Int64},
	{Name: "num_removed_files", Type: types.Int64}, {Name: "num_restored_files", Type: types.Int64},
	{Name: "removed_files_size", Type: types.Int64}, {Name: "restored_files_size", Type: types.Int64},
}

// warningRestored is MySQL's ER_UNKNOWN_ERROR, of warnings that have no number of their own.
const warningRestored = 1105

func (c *Catalog) restore(s *sqlext.Restore) action {
	a := query("RESTORE", restoreSchema, func(ctx *sql.Context) ([]sql.Row, error) {
		t, err := c.maintained(ctx, s.Table, "RESTORE")
		if err != nil {
			return nil, err
		}
		target, err := restoreTarget(ctx, t, s)
		if err != nil {
			return nil, err
		}
		out, err := maintain.Restore(ctx, t.handle, target)
		if err != nil {
			return nil, err
		}
		if st, ok := c.streamInto(t); ok && out.Committed >= 0 {
			ctx.Warn(warningRestored, "stream %s writes to this table: rows that it wrote after version %d are gone and do not come again by themselves; ALTER STREAM %s RESET reads its sources again",
				st.Definition.FullName(), out.Version, st.Definition.FullName())
		}
		if _, ok := t.snap.Txn(stream.CopyAppID); ok && out.Committed >= 0 {
			ctx.Warn(warningRestored, "files that COPY INTO loaded after version %d count as loaded: COPY_OPTIONS ('force' = 'true') loads them again, by name with FILES", out.Version)
		}
		c.maintainSoon(t.handle)
		return []sql.Row{{
			out.SizeAfter, int64(out.FilesAfter), int64(out.FilesRemoved), int64(out.FilesRestored), out.BytesRemoved, out.BytesRestored,
		}}, nil
	})
	a.writes = true
	return a
}

func restoreTarget(ctx *sql.Context, t *table, s *sqlext.Restore) (maintain.RestoreTarget, error) {
	if s.Version != nil {
		n, err := strconv.ParseInt(s.Version.Text, 10, 64)
		if err != nil || n < 0 {
			return maintain.RestoreTarget{}, refuse(KindInvalid, "RESTORE ... TO VERSION AS OF %s: a version is a number from 0 on", s.Version)
		}
		return maintain.RestoreTarget{Version: n}, nil
	}
	version, err := versionAtText(ctx, t.handle, s.Timestamp.Text)
	return maintain.RestoreTarget{Version: version, Timestamp: s.Timestamp.Text}, err
}

var convertSchema = sql.Schema{{Name: "path", Type: textType}, {Name: "numFiles", Type: types.Int64}, {Name: "sizeInBytes", Type: types.Int64}, {Name: "version", Type: types.Int64}}

func (c *Catalog) convertToDelta(s *sqlext.ConvertToDelta) action {
	a := query("CONVERT TO DELTA", convertSchema, func(ctx *sql.Context) ([]sql.Row, error) {
		if currentTransaction(ctx).readOnly {
			return nil, sql.ErrReadOnlyTransaction.New()
		}
		uri, err := c.allowedPath(ctx, s.Path)
		if err != nil {
			return nil, err
		}
		if err := c.checkTablePlace(ctx, uri); err != nil {
			return nil, err
		}
		opts := maintain.ConvertOptions{NoStatistics: s.NoStatistics}
		for _, column := range s.PartitionedBy {
			f, err := fieldOf(column)
			if err != nil {
				return nil, err
			}
			opts.PartitionBy = append(opts.PartitionBy, f)
		}
		return c.convert(ctx, uri, opts)
	})
	a.writes = true
	return a
}

func (c *Catalog) convert(ctx context.Context, uri string, opts maintain.ConvertOptions) ([]sql.Row, error) {
	table, err := c.tableAt(uri)
	if err != nil {
		return nil, err
	}
	out, err := maintain.Convert(ctx, table, opts)
	if err != nil {
		return nil, err
	}
	return []sql.Row{{uri, int64(out.Files), out.Bytes, countOrNull(out.Version)}}, nil
}
