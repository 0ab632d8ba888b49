package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/stream/source"
	"lakesql/vector"
)

// boundPlan is the SELECT over sources of certain schemas, fitted to a target of certain metadata.
type boundPlan struct {
	inputs []*batch.Schema
	plan   Plan
	output []batch.Field // the plan's columns with the names of INTO t (...)
	fitted *fitting      // nil until a snapshot was at hand
}

// fitting maps the SELECT's columns to those of one version of the target's metadata.
type fitting struct {
	version     string // SchemaString and partition columns of the metadata that it was made for; "" for a new table
	metadata    *delta.Metadata
	creates     bool               // the batch's commit creates the table
	setMetadata bool               // the batch's commit carries metadata: the table is new, or gets columns
	texts       map[int]batch.Type // the SELECT's columns whose texts are read as values of the target's types
	exprs       []vector.Expr      // of the columns that the SELECT gives
	columns     []int              // for each of exprs the target's column
	fields      []batch.Field      // of the target
	actions     []ColumnPlan
}

// give says that a column of the target is given by an expression.
func (f *fitting) give(column int, expr vector.Expr) {
	f.columns, f.exprs = append(f.columns, column), append(f.exprs, expr)
}

// given are the columns that the SELECT gives.
func (f *fitting) given() []batch.Field {
	out := make([]batch.Field, len(f.columns))
	for i, c := range f.columns {
		out[i] = f.fields[c]
	}
	return out
}

// whole is a batch of the given columns as one of all the target's; the writer fills in those that are nil.
func (f *fitting) whole(b *batch.Batch) *batch.Batch {
	out := &batch.Batch{Schema: batch.NewSchema(f.fields...), Cols: make([]*batch.Vector, len(f.fields)), Len: b.Len, Sel: b.Sel}
	for i, c := range f.columns {
		out.Cols[c] = b.Cols[i]
	}
	return out
}

// compile plans the SELECT over sources of these schemas.
func compile(ctx context.Context, m *Manager, d *Definition, inputs []*batch.Schema) (*boundPlan, error) {
	plan, err := m.cfg.Compiler.Compile(ctx, *d, inputs)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &Error{Kind: KindInvalid, Stream: d.FullName(), Err: err,
			Message: fmt.Sprintf("%s: its SELECT does not fit its sources: %v", d.subject(), err)}
	}
	fields := slices.Clone(plan.Schema().Fields)
	if len(d.Columns) > 0 && len(d.Columns) != len(fields) {
		return nil, &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
			"%s: %d columns are named behind INTO %s, and the SELECT gives %d (%s)", d.subject(), len(d.Columns), d.Target, len(fields), names(fields))}
	}
	for i := range fields {
		if len(d.Columns) > 0 {
			fields[i].Name = d.Columns[i]
		}
		fields[i].Nullable = true // as Spark's streaming sources are
		fields[i].Metadata = nil
	}
	if err := checkNames(d, fields); err != nil {
		return nil, err
	}
	return &boundPlan{inputs: inputs, plan: plan, output: fields}, nil
}

func checkNames(d *Definition, fields []batch.Field) error {
	seen := map[string]bool{}
	for _, f := range fields {
		key := strings.ToLower(f.Name)
		if seen[key] {
			return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
				"%s: the SELECT has two columns named %s; give one of them another name with AS", d.subject(), f.Name)}
		}
		seen[key] = true
	}
	return nil
}

func names(fields []batch.Field) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return strings.Join(out, ", ")
}

// fits reports whether the plan was compiled for inputs of these schemas.
func (p *boundPlan) fits(inputs []*batch.Schema) bool {
	return p != nil && slices.EqualFunc(p.inputs, inputs, func(a, b *batch.Schema) bool { return a.Equal(b) })
}

// fit maps the plan's columns to the target's; snap is nil where the batch will create the table.
func (p *boundPlan) fit(d *Definition, inferred bool, snap *delta.Snapshot) (*fitting, error) {
	if snap == nil {
		return p.fitNew(d)
	}
	meta := snap.Metadata()
	version := meta.ID + meta.SchemaString + strings.Join(meta.PartitionColumns, ",")
	if p.fitted != nil && p.fitted.version == version {
		return p.fitted, nil
	}
	if len(d.PartitionedBy) > 0 && !slices.EqualFunc(d.PartitionedBy, meta.PartitionColumns, strings.EqualFold) {
		return nil, schemaError(d, "PARTITIONED BY (%s) differs from the table's partition columns (%s)",
			strings.Join(d.PartitionedBy, ", "), strings.Join(meta.PartitionColumns, ", "))
	}
	f, err := fitExisting(d, p.output, inferred, snap)
	if err != nil {
		return nil, err
	}
	f.version = version
	p.fitted = f
	return f, nil
}

func (p *boundPlan) fitNew(d *Definition) (*fitting, error) {
	f := &fitting{creates: true, setMetadata: true, fields: p.output}
	schema := batch.NewSchema(p.output...)
	var partitions []string // as the SELECT spells them
	for _, c := range d.PartitionedBy {
		at := schema.Index(c)
		if at < 0 {
			return nil, schemaError(d, "PARTITIONED BY names column %s, and the SELECT gives %s", c, names(p.output))
		}
		partitions = append(partitions, p.output[at].Name)
	}
	var err error
	if f.metadata, err = delta.NewMetadata(schema, partitions, nil); err != nil {
		return nil, schemaError(d, "the table cannot be created: %v", err)
	}
	for i, field := range p.output {
		f.give(i, vector.NewColumn(i, field))
		f.actions = append(f.actions, ColumnPlan{Name: field.Name, Type: field.Type.String(), Action: "create"})
	}
	return f, nil
}

// fitExisting binds by name: columns that the SELECT lacks get their defaults, generated values or NULL, those that the table lacks are
// added, ignored or refused.
func fitExisting(d *Definition, output []batch.Field, inferred bool, snap *delta.Snapshot) (*fitting, error) {
	table := snap.Schema()
	f := &fitting{metadata: snap.Metadata(), fields: slices.Clone(table.Fields), texts: map[int]batch.Type{}}
	for i, field := range output {
		at := table.Index(field.Name)
		if at < 0 {
			action, err := newColumn(d, field, inferred, output, table)
			if err != nil {
				return nil, err
			}
			f.actions = append(f.actions, ColumnPlan{Name: field.Name, Type: field.Type.String(), Action: action})
			if action == actionAdd {
				f.give(len(f.fields), vector.NewColumn(i, field))
				f.fields = append(f.fields, field)
				f.setMetadata = true
			}
			continue
		}
		want := table.Fields[at]
		if field.Type.Kind == batch.String && want.Type.Fields() != nil {
			f.texts[i] = want.Type
			f.give(at, vector.NewColumn(i, want))
			f.actions = append(f.actions, ColumnPlan{Name: want.Name, Type: field.Type.String(), Action: "read as JSON of " + want.Type.String()})
			continue
		}
		expr, err := castTo(vector.NewColumn(i, field), want.Type)
		if err != nil && d.copying && hasText(field.Type) && hasText(want.Type) {
			f.texts[i] = want.Type
			f.give(at, vector.NewColumn(i, want))
			continue
		}
		if err != nil {
			return nil, schemaError(d, "column %s is %s in the SELECT and %s in the table, and that does not fit without loss. The SELECT gives (%s); table %s has (%s). "+
				"Cast it in the SELECT %s, or write into another table", field.Name, field.Type, want.Type, describe(output), d.Target, describe(table.Fields), d.otherSelect())
		}
		f.give(at, expr)
		action := "write"
		if field.Type != want.Type {
			action = "cast to " + want.Type.String()
		}
		f.actions = append(f.actions, ColumnPlan{Name: want.Name, Type: field.Type.String(), Action: action})
	}
	if f.setMetadata {
		var added []delta.NewColumn
		for _, field := range f.fields[len(table.Fields):] {
			added = append(added, delta.NewColumn{Field: field})
		}
		var err error
		if f.metadata, err = f.metadata.AddColumns(added...); err != nil {
			return nil, schemaError(d, "the table cannot have the columns of the SELECT: %v", err)
		}
	}
	return f, nil
}

const (
	actionAdd    = "add to the table"
	actionIgnore = "ignored: the table does not have it"
)

// newColumn says what becomes of a column that the table does not have.
func newColumn(d *Definition, field batch.Field, inferred bool, output []batch.Field, table *batch.Schema) (string, error) {
	change := d.OnSchemaChange
	if merge, err := parseOptions(d.Options); err == nil && merge.mergeSchema && change == SchemaDefault {
		change = SchemaAddColumns
	}
	switch {
	case change == SchemaAddColumns, change == SchemaRescue, change == SchemaDefault && inferred: // under RESCUE columns come with the first look only
		return actionAdd, nil
	case change == SchemaFail:
		way := "create the stream with ON SCHEMA CHANGE ADD COLUMNS"
		if d.copying {
			way = "type COPY_OPTIONS ('mergeSchema' = 'true'), which does. Files whose first line is no header need names: COPY INTO t (a, b) FROM ..., " +
				"and others FORMAT_OPTIONS ('header' = 'true')"
		}
		return "", schemaError(d, "[DELTA_METADATA_MISMATCH] the SELECT gives column %s, which table %s does not have. The SELECT gives (%s); the table has (%s). "+
			"Add the column to the table, or %s", field.Name, d.Target, describe(output), describe(table.Fields), way)
	default:
		return actionIgnore, nil
	}
}

func schemaError(d *Definition, format string, args ...any) error {
	return &Error{Kind: KindSchema, Stream: d.FullName(), Message: d.subject() + ": " + fmt.Sprintf(format, args...)}
}

// describe lists columns with their types, as errors show them.
func describe(fields []batch.Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = f.Name + " " + f.Type.String()
	}
	return strings.Join(parts, ", ")
}

// hasText says of a type whether files have texts for its values, which another type may read.
func hasText(t batch.Type) bool {
	return t.Fields() == nil && t.Kind != batch.Binary && t.Kind != batch.Void
}

var errLossy = errors.New("the cast may lose values")

// castTo converts to the table's type where every value fits.
func castTo(expr vector.Expr, to batch.Type) (vector.Expr, error) {
	if !expr.Type().Alike(to) && !lossless(expr.Type(), to) {
		return nil, errLossy
	}
	return vector.NewCast(expr, to)
}

// digitsOf is the number of decimal digits that an integer kind may have; 0 for others.
var digitsOf = map[batch.Kind]uint8{batch.Int8: 3, batch.Int16: 5, batch.Int32: 10, batch.Int64: 19}

// lossless reports whether each value of from is also one of to.
func lossless(from, to batch.Type) bool {
	whole := digitsOf[from.Kind]
	switch to.Kind {
	case batch.Int16, batch.Int32, batch.Int64:
		return whole > 0 && whole < digitsOf[to.Kind]
	case batch.Float64:
		return from.Kind == batch.Float32 || whole > 0 && from.Kind != batch.Int64
	case batch.Float32:
		return from.Kind == batch.Int8 || from.Kind == batch.Int16
	case batch.Decimal:
		if from.Kind == batch.Decimal {
			return from.Scale <= to.Scale && from.Precision-from.Scale <= to.Precision-to.Scale
		}
		return whole > 0 && whole <= to.Precision-to.Scale
	}
	return false
}

// anyInferred reports whether the schema of one source at least is inferred.
func anyInferred(sources []source.Source) bool {
	return slices.ContainsFunc(sources, source.Source.Inferred)
}
