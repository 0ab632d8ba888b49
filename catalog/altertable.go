package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/sqlext"
)

// alterTable is ALTER TABLE: all of its parts are one commit. Where the parts ask something of the rows that are there, these are read.
func (c *Catalog) alterTable(s *sqlext.AlterTable) action {
	return command("ALTER TABLE", func(ctx *sql.Context) error {
		if err := currentTransaction(ctx).commit(ctx); err != nil {
			return err
		}
		_, err := untilWon(ctx, func(ctx *sql.Context) (struct{}, error) { return struct{}{}, c.tryAlterTable(ctx, s) }, isConflict)
		return err
	})
}

func (c *Catalog) tryAlterTable(ctx *sql.Context, s *sqlext.AlterTable) error {
	t, err := c.lookup(ctx, s.Name)
	if err != nil {
		return err
	}
	if err := t.checkWrite(ctx); err != nil {
		return err
	}
	a := &alteration{c: c, ctx: ctx, t: t, meta: t.snap.Metadata()}
	for _, change := range s.Changes {
		if err := a.apply(change); err != nil {
			return err
		}
	}
	if a.operation.Name == "" {
		return nil
	}
	if err := c.checkRules(ctx, a.meta); err != nil {
		return err
	}
	tx := t.handle.Begin(t.snap)
	tx.SetMetadata(a.meta)
	if a.clusterBy != nil {
		if err := tx.ClusterBy(a.meta, *a.clusterBy); err != nil {
			return invalid(err)
		}
	}
	for _, feature := range a.dropped {
		if err := tx.DropFeature(feature); err != nil {
			return invalid(err)
		}
	}
	if len(a.demands) > 0 {
		if err := c.checkDemands(ctx, t, tx.View(), a.demands); err != nil {
			return err
		}
	}
	if len(a.demands) > 0 || a.readsRows {
		tx.ReadWholeTable()
	}
	if _, err := tx.Commit(ctx, a.operation); err != nil {
		return err
	}
	currentTransaction(ctx).forget(t.handle)
	c.maintainSoon(t.handle)
	return nil
}

// alteration is an ALTER TABLE as far as its parts have been applied.
type alteration struct {
	c         *Catalog
	ctx       *sql.Context
	t         *table
	meta      *delta.Metadata
	clusterBy *[][]string
	dropped   []string // features
	demands   []demand
	readsRows bool            // it depends on the rows that are there, besides the demands
	operation delta.Operation // of the first part that changes something
}

// demand is what the rows that are there must meet.
type demand struct {
	what string // for messages
	expr string // Spark's SQL
	mend string // what to do about rows that do not meet it
}

// set takes the metadata after one change.
func (a *alteration) set(operation string, parameters map[string]string) func(meta *delta.Metadata, err error) error {
	return func(meta *delta.Metadata, err error) error {
		if err != nil {
			return invalid(err)
		}
		a.meta = meta
		if a.operation.Name == "" {
			a.operation = delta.Operation{Name: operation, Parameters: parameters}
		}
		return nil
	}
}

func (a *alteration) apply(change sqlext.TableChange) error {
	switch ch := change.(type) {
	case *sqlext.AddColumns:
		return a.addColumns(ch)
	case *sqlext.DropColumns:
		return a.dropColumns(ch)
	case *sqlext.RenameColumn:
		return a.set("RENAME COLUMN", map[string]string{"oldColumnPath": strings.Join(ch.Column, "."), "newColumnPath": strings.Join(renamedPath(ch), ".")})(
			a.meta.RenameColumn(ch.Column, ch.To))
	case *sqlext.ChangeColumn:
		return a.changeColumn(ch)
	case *sqlext.AddConstraint:
		return a.addConstraint(ch.Check)
	case *sqlext.DropConstraint:
		return a.dropConstraint(ch)
	case *sqlext.AddKey:
		return a.addKey(ch.Kind, ch.Text)
	case *sqlext.DropKey:
		return a.dropKey(ch)
	case *sqlext.SetProperties:
		return a.setProperties(ch)
	case *sqlext.UnsetProperties:
		return a.unsetProperties(ch)
	case *sqlext.SetComment:
		next := *a.meta
		next.Description = ch.Comment.Text
		return a.set("SET TBLPROPERTIES", map[string]string{"properties": textOf(map[string]string{"comment": ch.Comment.Text})})(&next, nil)
	case *sqlext.ClusterBy:
		return a.cluster(ch.Columns)
	case *sqlext.DropFeature:
		return a.dropFeature(ch)
	case *sqlext.NoChange:
		a.ctx.Warn(warningKeys, "%s says nothing to a Delta table", ch.What)
		return nil
	}
	return fmt.Errorf("ALTER TABLE has a part %T", change)
}

func renamedPath(ch *sqlext.RenameColumn) []string {
	out := slices.Clone(ch.Column)
	out[len(out)-1] = ch.To
	return out
}

func (a *alteration) schema() (*batch.Schema, error) { return delta.ParseSchema(a.meta.SchemaString) }

// find returns the column or field at a path.
func (a *alteration) find(path []string) (batch.Field, bool, error) {
	schema, err := a.schema()
	if err != nil {
		return batch.Field{}, false, err
	}
	fields := schema.Fields
	var f batch.Field
	for _, name := range path {
		at := slices.IndexFunc(fields, func(f batch.Field) bool { return strings.EqualFold(f.Name, name) })
		if at < 0 {
			return f, false, nil
		}
		f, fields = fields[at], fields[at].Type.Fields()
	}
	return f, true, nil
}

// addColumns adds columns. In a table with rows they are NULL there; only one without can demand more of a new column.
func (a *alteration) addColumns(ch *sqlext.AddColumns) error {
	for _, c := range ch.Columns {
		_, exists, err := a.find(c.Path)
		if err != nil {
			return err
		}
		if exists && ch.IfNotExists {
			continue
		}
		if exists {
			return sql.ErrColumnExists.New(strings.Join(c.Path, "."))
		}
		if err := a.addColumn(c); err != nil {
			return err
		}
	}
	return nil
}

func (a *alteration) addColumn(c sqlext.ColumnDef) error {
	f, err := fieldOf(c)
	if err != nil {
		return err
	}
	empty := a.t.snap.NumFiles() == 0
	if c.Generated != "" || c.Identity != nil || c.Default != "" && !empty {
		constraints := make(map[string]string)
		if err := addRules(a.ctx, &f, c, a.t.name, constraints); err != nil {
			return err
		}
	}
	f.Nullable = true
	added := delta.NewColumn{Parent: c.Path[:len(c.Path)-1], Field: f, At: positionOf(c.Position)}
	describe := map[string]string{"columns": textOf([]any{map[string]any{"column": columnText(c.Path, f)}})}
	if err := a.set("ADD COLUMNS", describe)(a.meta.AddColumns(added)); err != nil {
		return err
	}
	if c.Null == sqlext.NotNull {
		if err := a.setNullable(c.Path, false); err != nil {
			return err
		}
		a.demands[len(a.demands)-1].mend = "add it without NOT NULL, UPDATE it, and then ALTER COLUMN " + sqlext.QuotePath(c.Path) + " SET NOT NULL"
	}
	if c.Default != "" {
		if err := a.set("CHANGE COLUMN", nil)(a.meta.SetDefault(c.Path, c.Default)); err != nil {
			return err
		}
	}
	for _, check := range c.Checks {
		if err := a.addConstraint(check); err != nil {
			return err
		}
	}
	if c.Key != "" {
		return a.addKey(c.Key, strings.Join(c.Path, "."))
	}
	return nil
}

func positionOf(p *sqlext.Position) delta.Position {
	if p == nil {
		return delta.Position{}
	}
	return delta.Position{First: p.First, After: p.After}
}

// columnText is a column as operationParameters have it.
func columnText(path []string, f batch.Field) map[string]any {
	return map[string]any{"name": strings.Join(path, "."), "type": f.Type.String(), "nullable": f.Nullable, "metadata": map[string]any{}}
}

func (a *alteration) dropColumns(ch *sqlext.DropColumns) error {
	parameters := map[string]string{"columns": textOf(pathTexts(ch.Columns))}
	for _, path := range ch.Columns {
		_, exists, err := a.find(path)
		if err != nil {
			return err
		}
		if !exists && ch.IfExists {
			continue
		}
		if !exists {
			return sql.ErrCantDropFieldOrKey.New(strings.Join(path, "."))
		}
		if err := a.set("DROP COLUMNS", parameters)(a.meta.DropColumn(path)); err != nil {
			return err
		}
	}
	return nil
}

// changeColumn changes what was said of a column, and leaves what was not.
func (a *alteration) changeColumn(ch *sqlext.ChangeColumn) error {
	c := ch.Column
	have, exists, err := a.find(c.Path)
	if err != nil {
		return err
	}
	if !exists {
		return sql.ErrTableColumnNotFound.New(a.t.name, strings.Join(c.Path, "."))
	}
	if c.Generated != "" || c.Identity != nil && !isIdentity(have) {
		return refuse(KindInvalid, "column %s cannot become a generated or identity column: the values of the rows that are there are others", strings.Join(c.Path, "."))
	}
	set := a.set("CHANGE COLUMN", map[string]string{"column": textOf(columnText(c.Path, have))})
	if c.Type.Name != "" {
		if err := a.changeType(c, have, set); err != nil {
			return err
		}
	}
	if c.Comment != nil {
		if err := set(a.meta.SetComment(c.Path, c.Comment.Text)); err != nil {
			return err
		}
	}
	if c.Default != "" || ch.DropDefault {
		if err := set(a.meta.SetDefault(c.Path, c.Default)); err != nil {
			return err
		}
	}
	if c.Null != sqlext.NullUnsaid && have.Nullable != (c.Null == sqlext.Null) {
		if err := a.setNullable(c.Path, c.Null == sqlext.Null); err != nil {
			return err
		}
	}
	if ch.SyncIdentity {
		if err := a.syncIdentity(have, set); err != nil {
			return err
		}
	}
	if c.Position != nil {
		if err := set(a.meta.MoveColumn(c.Path, positionOf(c.Position))); err != nil {
			return err
		}
	}
	for _, check := range c.Checks {
		if err := a.addConstraint(check); err != nil {
			return err
		}
	}
	return nil
}

// changeType widens a column, or changes how MySQL sees one whose Delta type stays: the length of a VARCHAR, JSON.
func (a *alteration) changeType(c sqlext.ColumnDef, have batch.Field, set func(*delta.Metadata, error) error) error {
	want, err := typedField(have.Name, c.Type)
	if err != nil {
		return err
	}
	if isIdentity(have) && (want.Type.Kind == batch.Int32 || want.Type.Kind == batch.Int16 || want.Type.Kind == batch.Int8) {
		return nil // what AUTO_INCREMENT made BIGINT
	}
	if !want.Type.Alike(have.Type) {
		return set(a.meta.ChangeType(c.Path, want.Type))
	}
	redeclared, ok := mysqltype.Redeclare(have, want)
	if !ok {
		return refuse(KindInvalid, "[DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP] column %s is %s: it can become longer, or STRING, not %s",
			have.Name, mysqltype.OfField(have), c.Type.Text)
	}
	if maps.Equal(redeclared.Metadata, have.Metadata) {
		return nil
	}
	if len(c.Path) > 1 {
		return refuse(KindUnsupported, "field %s: the length of a nested VARCHAR is not kept", strings.Join(c.Path, "."))
	}
	schema, err := a.schema()
	if err != nil {
		return err
	}
	fields := slices.Clone(schema.Fields)
	fields[schema.Index(have.Name)] = redeclared
	next := *a.meta
	next.SchemaString = delta.FormatSchema(&batch.Schema{Fields: fields})
	return set(&next, nil)
}

// setNullable sets or drops NOT NULL.
func (a *alteration) setNullable(path []string, nullable bool) error {
	if !nullable {
		a.demands = append(a.demands, demand{what: "NOT NULL of column " + strings.Join(path, "."), expr: notNullExpr(path), mend: "change them first"})
	}
	return a.set("CHANGE COLUMN", nil)(a.meta.SetNullable(path, nullable))
}

// notNullExpr is true where a field is not NULL, or what it lies in is.
func notNullExpr(path []string) string {
	expr := sqlext.QuotePath(path) + " IS NOT NULL"
	if len(path) > 1 {
		expr = sqlext.QuotePath(path[:len(path)-1]) + " IS NULL OR " + expr
	}
	return expr
}

func (a *alteration) addConstraint(check sqlext.Check) error {
	constraints := make(map[string]string)
	for k, v := range a.meta.Configuration {
		if name, ok := strings.CutPrefix(k, delta.ConstraintPrefix); ok {
			constraints[name] = v
		}
	}
	before := maps.Clone(constraints)
	if err := addCheck(constraints, a.t.name, check); err != nil {
		return err
	}
	for name, expr := range constraints {
		if _, old := before[name]; old {
			continue
		}
		a.demands = append(a.demands, demand{what: fmt.Sprintf("constraint %s (%s)", name, expr), expr: expr, mend: "change them first"})
		if err := a.set("ADD CONSTRAINT", map[string]string{"name": name, "expr": expr})(a.meta.AddConstraint(name, expr)); err != nil {
			return err
		}
	}
	return nil
}

func (a *alteration) dropConstraint(ch *sqlext.DropConstraint) error {
	expr, exists := a.meta.Configuration[delta.ConstraintPrefix+strings.ToLower(ch.Name)]
	if !exists && ch.IfExists {
		return nil
	}
	return a.set("DROP CONSTRAINT", map[string]string{"name": ch.Name, "expr": expr})(a.meta.DropConstraint(ch.Name))
}

// addKey keeps a key as information. NOT NULL, which a primary key implies, is enforced.
func (a *alteration) addKey(kind, text string) error {
	property := ""
	for p, name := range keyNames {
		if name == kind {
			property = p
		}
	}
	if old := a.meta.Configuration[property]; old != "" {
		if kind == "PRIMARY KEY" {
			return sql.ErrMultiplePrimaryKeysDefined.New()
		}
		text = old + "; " + text
	}
	a.ctx.Warn(warningKeys, "%s is kept as information: NOT NULL is enforced, uniqueness and references are not", kind)
	if kind == "PRIMARY KEY" {
		for _, name := range strings.Split(text, ", ") {
			f, exists, err := a.find([]string{name})
			if err != nil {
				return err
			}
			if !exists {
				return sql.ErrKeyColumnDoesNotExist.New(name)
			}
			if f.Nullable {
				if err := a.setNullable([]string{name}, false); err != nil {
					return err
				}
			}
		}
	}
	return a.set("SET TBLPROPERTIES", map[string]string{"properties": textOf(map[string]string{property: text})})(a.meta.SetProperties(map[string]string{property: text}))
}

func (a *alteration) dropKey(ch *sqlext.DropKey) error {
	property := primaryKeyProperty
	if ch.Kind == "FOREIGN KEY" {
		property = foreignKeysProperty
	}
	if a.meta.Configuration[property] == "" {
		return sql.ErrCantDropFieldOrKey.New(ch.Kind + " " + ch.Name)
	}
	return a.set("UNSET TBLPROPERTIES", map[string]string{"properties": textOf([]string{property}), "ifExists": "true"})(a.meta.UnsetProperties(property))
}

func (a *alteration) setProperties(ch *sqlext.SetProperties) error {
	properties := make(map[string]string)
	if err := setProperties(properties, ch.Properties); err != nil {
		return err
	}
	parameters := map[string]string{"properties": textOf(properties)}
	next := *a.meta
	if comment, ok := properties["comment"]; ok { // as Spark's
		delete(properties, "comment")
		next.Description = comment
	}
	return a.set("SET TBLPROPERTIES", parameters)(next.SetProperties(properties))
}

func (a *alteration) unsetProperties(ch *sqlext.UnsetProperties) error {
	for _, k := range ch.Keys {
		if _, ok := a.meta.Configuration[k]; !ok && !ch.IfExists {
			return refuse(KindInvalid, "[DELTA_UNSET_NON_EXISTENT_PROPERTY] table %s.%s has no property %s; UNSET TBLPROPERTIES IF EXISTS passes over it", a.t.database, a.t.name, k)
		}
	}
	parameters := map[string]string{"properties": textOf(ch.Keys), "ifExists": fmt.Sprint(ch.IfExists)}
	return a.set("UNSET TBLPROPERTIES", parameters)(a.meta.UnsetProperties(ch.Keys...))
}

func (a *alteration) cluster(columns [][]string) error {
	old, err := a.t.snap.ClusteringColumns()
	if err != nil {
		return err
	}
	if len(columns) == 0 && len(old) == 0 {
		return nil
	}
	a.clusterBy = &columns
	parameters := map[string]string{"oldClusteringColumns": strings.Join(pathTexts(old), ","), "newClusteringColumns": strings.Join(pathTexts(columns), ",")}
	return a.set("CLUSTER BY", parameters)(a.meta, nil)
}

// dropFeature takes a feature of writers out of the table. What is not built is refused before the table is looked at.
func (a *alteration) dropFeature(ch *sqlext.DropFeature) error {
	if ch.TruncateHistory || !delta.CanDropFeature(ch.Feature) {
		return notYet("DROP FEATURE "+ch.Feature+", where older versions or files of the table depend on the feature,", "CREATE TABLE ... AS SELECT makes a copy without it")
	}
	a.dropped = append(a.dropped, ch.Feature)
	return a.set("DROP FEATURE", map[string]string{"featureName": ch.Feature, "truncateHistory": "false"})(a.meta, nil)
}
