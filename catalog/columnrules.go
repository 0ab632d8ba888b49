package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/sqlext"
)

// warningIdentityType is MySQL's ER_UNKNOWN_ERROR, for a type that is not the one that was typed.
const warningIdentityType = 1105

// metadataOf is the metadata of a table that is created, or replaced when it has been read.
func (c *Catalog) metadataOf(ctx *sql.Context, t newTable, read *delta.Snapshot) (*delta.Metadata, error) {
	schema := &batch.Schema{Fields: slices.Clone(t.schema.Fields)}
	constraints := make(map[string]string)
	for i := range schema.Fields {
		f := &schema.Fields[i]
		f.Metadata = maps.Clone(f.Metadata)
		if def, ok := columnNamed(t.clauses.Columns, f.Name); ok {
			if err := addRules(ctx, f, def, t.name, constraints); err != nil {
				return nil, err
			}
		}
	}
	for _, check := range t.clauses.Checks {
		if err := addCheck(constraints, t.name, check); err != nil {
			return nil, err
		}
	}
	partitions, err := actualNames(schema, t.clauses.PartitionedBy)
	if err != nil {
		return nil, err
	}
	newMetadata := delta.NewMetadata
	if read != nil {
		newMetadata = read.Metadata().Replace
	}
	meta, err := newMetadata(schema, partitions, t.clauses.Properties)
	if err != nil {
		return nil, invalid(err)
	}
	for name, expr := range constraints {
		if meta, err = meta.AddConstraint(name, expr); err != nil {
			return nil, invalid(err)
		}
	}
	meta.Description = t.comment
	if t.clauses.Comment != "" {
		meta.Description = t.clauses.Comment
	}
	return meta, c.checkRules(ctx, meta)
}

// actualNames are the columns' names as the schema spells them.
func actualNames(schema *batch.Schema, names []string) ([]string, error) {
	out := slices.Clone(names)
	for i, name := range out {
		at := schema.Index(name)
		if at < 0 {
			return nil, refuse(KindInvalid, "PARTITIONED BY (%s): column %s is not one of (%s)", strings.Join(names, ", "), name, schema)
		}
		out[i] = schema.Fields[at].Name
	}
	return out, nil
}

// addRules sets what a column does by itself: DEFAULT, GENERATED, IDENTITY; its CHECKs are the table's.
func addRules(ctx *sql.Context, f *batch.Field, def sqlext.ColumnDef, table string, constraints map[string]string) error {
	n := 0
	for _, has := range []bool{def.Default != "", def.Generated != "", def.Identity != nil} {
		if has {
			n++
		}
	}
	if n > 1 {
		return refuse(KindInvalid, "column %s: only one of DEFAULT, GENERATED ALWAYS AS and IDENTITY gives its values", f.Name)
	}
	if def.Default != "" {
		setText(f, delta.DefaultKey, def.Default)
	}
	if def.Generated != "" {
		setText(f, delta.GenerationKey, def.Generated)
	}
	if id := def.Identity; id != nil {
		if f.Type.Kind != batch.Int64 {
			if k := f.Type.Kind; k != batch.Int8 && k != batch.Int16 && k != batch.Int32 {
				return refuse(KindInvalid, "[DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE] column %s: an identity column is BIGINT, not %s", f.Name, f.Type)
			}
			ctx.Warn(warningIdentityType, "column %s is BIGINT: the protocol of Delta has identity columns of that type only", f.Name)
			f.Type = batch.Type{Kind: batch.Int64}
		}
		metadata, err := delta.NewIdentity(id.Start, id.Step, !id.Always)
		if err != nil {
			return fmt.Errorf("column %s: %w", f.Name, invalid(err))
		}
		for key, raw := range metadata {
			setRaw(f, key, raw)
		}
	}
	for _, check := range def.Checks {
		if err := addCheck(constraints, table, check); err != nil {
			return err
		}
	}
	return nil
}

// addCheck sets a constraint. One without a name is named as MySQL does.
func addCheck(constraints map[string]string, table string, check sqlext.Check) error {
	name := strings.ToLower(check.Name)
	for i := 1; name == ""; i++ {
		if candidate := fmt.Sprintf("%s_chk_%d", strings.ToLower(table), i); constraints[candidate] == "" {
			name = candidate
		}
	}
	if constraints[name] != "" {
		return refuse(KindInvalid, "[DELTA_CONSTRAINT_ALREADY_EXISTS] there is a constraint %s already: give this one another name", name)
	}
	constraints[name] = check.Expr
	return nil
}

// changing are the functions whose values are other ones tomorrow, or elsewhere.
var changing = []string{"now", "current_date", "curdate", "uuid", "current_user"}

// checkRules compiles all expressions of a table, so that none is kept that nobody could evaluate.
func (c *Catalog) checkRules(ctx context.Context, meta *delta.Metadata) error {
	schema, err := delta.ParseSchema(meta.SchemaString)
	if err != nil {
		return err
	}
	for _, f := range schema.Fields {
		if text := f.MetadataText(delta.DefaultKey); text != "" {
			if err := c.checkDefault(ctx, text, f.Type); err != nil {
				return fmt.Errorf("DEFAULT of column %s: %w", f.Name, err)
			}
		}
		if text := f.MetadataText(delta.GenerationKey); text != "" {
			if err := c.checkExpression(ctx, withoutGenerated(schema), text, f.Type, changing); err != nil {
				return fmt.Errorf("generated column %s: %w", f.Name, err)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(meta.Configuration)) {
		name, ok := strings.CutPrefix(key, delta.ConstraintPrefix)
		if !ok {
			continue
		}
		if err := c.checkExpression(ctx, schema, meta.Configuration[key], batch.Type{Kind: batch.Bool}, changing); err != nil {
			return fmt.Errorf("constraint %s: %w", name, err)
		}
	}
	return nil
}

// checkDefault computes a default, which reads no column.
func (c *Catalog) checkDefault(ctx context.Context, text string, t batch.Type) error {
	e, err := (evaluator{c}).Compile(ctx, &batch.Schema{}, []delta.Expression{{SQL: text, Type: t}})
	if err != nil {
		return err
	}
	if _, err = e.Eval(ctx, &batch.Batch{Schema: &batch.Schema{}, Len: 1}); err != nil {
		return refuse(KindInvalid, "%v", err)
	}
	return nil
}

func (c *Catalog) checkExpression(ctx context.Context, schema *batch.Schema, text string, t batch.Type, forbidden []string) error {
	if _, err := (evaluator{c}).Compile(ctx, schema, []delta.Expression{{SQL: text, Type: t}}); err != nil {
		return err
	}
	e, err := sqlext.SparkExpression(text)
	if err != nil {
		return err
	}
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if f, ok := n.(*ast.FuncExpr); ok && slices.Contains(forbidden, f.Name.Lowered()) {
			return false, refuse(KindInvalid, "the expression %s has the function %s, whose values change: every writer must compute the same", text, f.Name)
		}
		return true, nil
	}, e)
}

// withoutGenerated are the columns that a generation expression may read.
func withoutGenerated(schema *batch.Schema) *batch.Schema {
	out := &batch.Schema{}
	for _, f := range schema.Fields {
		if f.MetadataText(delta.GenerationKey) == "" {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}
