package delta

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lakesql/batch"
)

// The methods here and in evolve_table.go return metadata after one change of the table's columns or properties. What the change asks of the
// rows that are there, such as a constraint that they must meet, is checked by the caller. A path leads to a nested field: names of columns and fields, and
// "element", "key" and "value" where an array or a map is passed; names are compared without regard to case.

// Position is where a column stands among those beside it: the zero Position is the end.
type Position struct {
	First bool
	After string // the name of a column
}

// NewColumn is a column to be added, or a field of a struct.
type NewColumn struct {
	Parent []string // the path of the struct; nil: it is a column of the table
	Field  batch.Field
	At     Position
}

// AddColumns adds columns, which are null in the rows that are there.
func (m *Metadata) AddColumns(columns ...NewColumn) (*Metadata, error) {
	return m.changeColumns(func(fields []batch.Field) ([]batch.Field, error) {
		for _, c := range columns {
			name := strings.Join(append(slices.Clone(c.Parent), c.Field.Name), ".")
			if err := checkAdded(name, c.Field); err != nil {
				return nil, err
			}
			field := fresh(c.Field)
			insert := func(siblings []batch.Field) ([]batch.Field, error) { return insertField(siblings, field, c.At) }
			var err error
			if len(c.Parent) == 0 {
				fields, err = insert(fields)
			} else {
				fields, err = editField(fields, c.Parent, func(f batch.Field) (batch.Field, error) {
					if f.Type.Kind != batch.Struct {
						return f, fmt.Errorf("column %s cannot be added: %s is %s, not a struct", name, strings.Join(c.Parent, "."), f.Type)
					}
					inner, err := insert(f.Type.Fields())
					f.Type = batch.StructOf(inner...)
					return f, err
				})
			}
			if err != nil {
				return nil, err
			}
		}
		return fields, nil
	})
}

// checkAdded refuses what would have to be true of rows that are there already.
func checkAdded(name string, f batch.Field) error {
	for key, what := range map[string]string{GenerationKey: "a generated column", IdentityStart: "an identity column",
		DefaultKey: "[WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED] a column with a default"} {
		if f.Metadata[key] != "" {
			return fmt.Errorf("%s cannot be added to a table: rows that are there would have no value. Add %s without it; a default can be set afterwards, for new rows", what, name)
		}
	}
	if !f.Nullable {
		return fmt.Errorf("column %s cannot be added as NOT NULL: rows that are there have no value for it", name)
	}
	return nil
}

// fresh returns a field without what belongs to the files of another table: ids, physical names, former types, marks.
func fresh(f batch.Field) batch.Field {
	return mapFields([]batch.Field{f}, func(f batch.Field) batch.Field {
		f.Metadata = maps.Clone(f.Metadata)
		for _, key := range []string{mappingID, mappingPhysicalName, mappingNestedIDs, typeChangesKey, identityMark} {
			delete(f.Metadata, key)
		}
		return f
	})[0]
}

func insertField(siblings []batch.Field, f batch.Field, at Position) ([]batch.Field, error) {
	i := len(siblings)
	switch {
	case at.First:
		i = 0
	case at.After != "":
		before := indexFold(siblings, at.After)
		if before < 0 {
			return nil, fmt.Errorf("column %s cannot be placed after %s, which is not there; there are %s", f.Name, at.After, fieldNames(siblings))
		}
		i = before + 1
	}
	return slices.Insert(slices.Clone(siblings), i, f), nil
}

// DropColumn takes a column out of the schema; its values stay in the files, where nothing finds them. It needs column mapping.
func (m *Metadata) DropColumn(path []string) (*Metadata, error) {
	if err := m.needMapping("DROP COLUMN", path); err != nil {
		return nil, err
	}
	if len(path) == 1 && slices.ContainsFunc(m.PartitionColumns, func(p string) bool { return strings.EqualFold(p, path[0]) }) {
		return nil, fmt.Errorf("column %s cannot be dropped: the table is partitioned by it", path[0])
	}
	out, err := m.changeSiblings(path, func(siblings []batch.Field, i int) ([]batch.Field, error) {
		if len(siblings) == 1 {
			return nil, fmt.Errorf("column %s cannot be dropped: nothing would be left beside it", strings.Join(path, "."))
		}
		return slices.Delete(siblings, i, i+1), nil
	})
	if err != nil {
		return nil, err
	}
	return out.withStatsColumns(func(name []string) []string {
		if len(name) >= len(path) && equalFoldAll(name[:len(path)], path) {
			return nil
		}
		return name
	}), nil
}

// RenameColumn gives a column another name; files keep calling it as before. It needs column mapping.
func (m *Metadata) RenameColumn(path []string, to string) (*Metadata, error) {
	if err := m.needMapping("RENAME COLUMN", path); err != nil {
		return nil, err
	}
	out, err := m.changeSiblings(path, func(siblings []batch.Field, i int) ([]batch.Field, error) {
		siblings[i].Name = to
		return siblings, nil
	})
	if err != nil {
		return nil, err
	}
	if len(path) == 1 {
		for i, p := range out.PartitionColumns {
			if strings.EqualFold(p, path[0]) {
				out.PartitionColumns = slices.Clone(out.PartitionColumns)
				out.PartitionColumns[i] = to
			}
		}
	}
	return out.withStatsColumns(func(name []string) []string {
		if len(name) >= len(path) && equalFoldAll(name[:len(path)], path) {
			name = slices.Clone(name)
			name[len(path)-1] = to
		}
		return name
	}), nil
}

// needMapping refuses changes that need names of their own in files, and those of columns that an expression refers to.
func (m *Metadata) needMapping(op string, path []string) error {
	if m.Mapping() == "" {
		return fmt.Errorf("[DELTA_UNSUPPORTED_%s] %s needs column mapping, because files call columns by their names: "+
			"ALTER TABLE ... SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name') switches it on", strings.ReplaceAll(op, " ", "_"), op)
	}
	return m.checkUnused(op, path)
}

// checkUnused refuses to change a column that a constraint, a generated column or an invariant may refer to.
func (m *Metadata) checkUnused(op string, path []string) error {
	schema, err := ParseSchema(m.SchemaString)
	if err != nil {
		return err
	}
	name := path[len(path)-1]
	for _, k := range sortedKeys(m.Configuration) {
		if c, ok := strings.CutPrefix(k, ConstraintPrefix); ok && mentions(m.Configuration[k], name) {
			return fmt.Errorf("[DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE] %s of %s is refused: constraint %s (%s) refers to it; drop that first",
				op, strings.Join(path, "."), c, m.Configuration[k])
		}
	}
	return eachStructField(schema.Fields, func(at string, f batch.Field) error {
		if mentions(f.MetadataText(GenerationKey), name) {
			return fmt.Errorf("[DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE] %s of %s is refused: generated column %s (%s) refers to it",
				op, strings.Join(path, "."), at, f.MetadataText(GenerationKey))
		}
		expr, err := invariantOf(at, f)
		if err == nil && mentions(expr, name) {
			err = fmt.Errorf("%s of %s is refused: the invariant of column %s (%s) refers to it", op, strings.Join(path, "."), at, expr)
		}
		return err
	})
}

// ChangeType widens a column, as the feature typeWidening allows it: files keep the narrower type and are read as the wider one.
func (m *Metadata) ChangeType(path []string, to batch.Type) (*Metadata, error) {
	var from batch.Type
	out, err := m.changeColumn(path, func(f batch.Field) (batch.Field, error) {
		from, f.Type = f.Type, to
		if from == to {
			return f, nil
		}
		if !m.on(typeWideningProperty) {
			return f, fmt.Errorf("[DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP] column %s is %s: to make it %s, ALTER TABLE ... SET TBLPROPERTIES ('%s' = 'true') first",
				strings.Join(path, "."), from, to, typeWideningProperty)
		}
		if !batch.Widens(from, to) {
			return f, fmt.Errorf("[DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP] column %s cannot be changed from %s to %s: only wider types are possible, "+
				"such as INT to BIGINT, FLOAT to DOUBLE, DECIMAL with more digits on both sides, DATE to TIMESTAMP_NTZ", strings.Join(path, "."), from, to)
		}
		return f, nil
	})
	if err != nil || from == to {
		return m, err
	}
	if err := m.checkUnused("a change of type", path); err != nil {
		return nil, err
	}
	named, below := splitPath(m, path)
	return out.changeColumn(named, func(f batch.Field) (batch.Field, error) {
		changes, err := typeChangesOf(f)
		if err != nil {
			return f, err
		}
		changes = append(changes, typeChange{FromType: from.String(), ToType: to.String(), FieldPath: strings.Join(below, ".")})
		f = withMetadata(f, typeChangesKey, string(mustJSON(changes)))
		delete(f.Metadata, CharVarcharKey)
		return f, nil
	})
}

// splitPath cuts a path behind the last field of a struct in it: what follows leads through arrays and maps, whose parts have no metadata.
func splitPath(m *Metadata, path []string) (named, below []string) {
	schema, err := ParseSchema(m.SchemaString)
	if err != nil { // the caller has parsed it
		return path, nil
	}
	t, end := batch.StructOf(schema.Fields...), 0
	for i, name := range path {
		if t.Kind == batch.Struct {
			end = i + 1
		}
		at := indexFold(t.Fields(), name)
		if at < 0 {
			break
		}
		t = t.Fields()[at].Type
	}
	return path[:end], path[end:]
}

// SetNullable sets or drops NOT NULL. Before it is set, the caller has seen that no row breaks it.
func (m *Metadata) SetNullable(path []string, nullable bool) (*Metadata, error) {
	return m.changeColumn(path, func(f batch.Field) (batch.Field, error) {
		f.Nullable = nullable
		return f, nil
	})
}

// SetComment sets a column's comment; "" drops it.
func (m *Metadata) SetComment(path []string, comment string) (*Metadata, error) {
	return m.changeColumn(path, func(f batch.Field) (batch.Field, error) { return withText(f, "comment", comment), nil })
}

// SetDefault sets the default of a column for rows that are written from now on; "" drops it.
func (m *Metadata) SetDefault(path []string, expr string) (*Metadata, error) {
	return m.changeColumn(path, func(f batch.Field) (batch.Field, error) {
		if f.Metadata[GenerationKey] != "" || f.Metadata[IdentityStart] != "" {
			return f, fmt.Errorf("column %s makes its values by itself: it can have no default", f.Name)
		}
		if len(path) > 1 {
			return f, fmt.Errorf("column %s is nested: only columns of the table can have a default", strings.Join(path, "."))
		}
		return withText(f, DefaultKey, expr), nil
	})
}

// MoveColumn puts a column to another place among those beside it.
func (m *Metadata) MoveColumn(path []string, at Position) (*Metadata, error) {
	return m.changeSiblings(path, func(siblings []batch.Field, i int) ([]batch.Field, error) {
		f := siblings[i]
		return insertField(slices.Delete(siblings, i, i+1), f, at)
	})
}

// withText sets a key of a field's metadata to a string; "" removes it.
func withText(f batch.Field, key, text string) batch.Field {
	if text == "" {
		f.Metadata = maps.Clone(f.Metadata)
		delete(f.Metadata, key)
		return f
	}
	return withMetadata(f, key, string(mustJSON(text)))
}

func withMetadata(f batch.Field, key, raw string) batch.Field {
	f.Metadata = maps.Clone(f.Metadata)
	if f.Metadata == nil {
		f.Metadata = make(map[string]string, 1)
	}
	f.Metadata[key] = raw
	return f
}

// changeColumns returns the metadata with other columns.
func (m *Metadata) changeColumns(change func(fields []batch.Field) ([]batch.Field, error)) (*Metadata, error) {
	schema, err := ParseSchema(m.SchemaString)
	if err != nil {
		return nil, err
	}
	fields, err := change(schema.Fields)
	if err != nil {
		return nil, err
	}
	if err := (schemaCheck{anyName: m.Mapping() != ""}).fields("", fields); err != nil {
		return nil, err
	}
	next := *m
	return next.withSchema(batch.NewSchema(fields...), 0, newPhysicalName), nil
}

// changeColumn changes one column or field.
func (m *Metadata) changeColumn(path []string, change func(batch.Field) (batch.Field, error)) (*Metadata, error) {
	return m.changeColumns(func(fields []batch.Field) ([]batch.Field, error) { return editField(fields, path, change) })
}

// changeSiblings changes the fields beside one, which is at i among them. They are the caller's own.
func (m *Metadata) changeSiblings(path []string, change func(siblings []batch.Field, i int) ([]batch.Field, error)) (*Metadata, error) {
	at := func(siblings []batch.Field) ([]batch.Field, error) {
		i := indexFold(siblings, path[len(path)-1])
		if i < 0 {
			return nil, noColumn(path[len(path)-1], siblings)
		}
		return change(slices.Clone(siblings), i)
	}
	if len(path) == 1 {
		return m.changeColumns(at)
	}
	return m.changeColumn(path[:len(path)-1], func(f batch.Field) (batch.Field, error) {
		if f.Type.Kind != batch.Struct {
			return f, fmt.Errorf("%s is %s, not a struct whose fields could be changed", strings.Join(path[:len(path)-1], "."), f.Type)
		}
		inner, err := at(f.Type.Fields())
		f.Type = batch.StructOf(inner...)
		return f, err
	})
}

// editField returns the fields with the one at the path changed.
func editField(fields []batch.Field, path []string, change func(batch.Field) (batch.Field, error)) ([]batch.Field, error) {
	i := indexFold(fields, path[0])
	if i < 0 {
		return nil, noColumn(path[0], fields)
	}
	out := slices.Clone(fields)
	if len(path) == 1 {
		f, err := change(out[i])
		out[i] = f
		return out, err
	}
	inner, err := editField(out[i].Type.Fields(), path[1:], change)
	if err != nil {
		return nil, err
	}
	switch out[i].Type.Kind {
	case batch.Struct:
		out[i].Type = batch.StructOf(inner...)
	case batch.List:
		out[i].Type = batch.ListOf(inner[0])
	case batch.Map:
		out[i].Type = batch.MapOf(inner[0], inner[1])
	default:
		return nil, fmt.Errorf("column %s is %s and has no field %s", path[0], out[i].Type, path[1])
	}
	return out, nil
}

func indexFold(fields []batch.Field, name string) int {
	return slices.IndexFunc(fields, func(f batch.Field) bool { return strings.EqualFold(f.Name, name) })
}

func noColumn(name string, fields []batch.Field) error {
	return fmt.Errorf("there is no column %s; there are %s", name, fieldNames(fields))
}

func fieldNames(fields []batch.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = strconv.Quote(f.Name)
	}
	return strings.Join(names, ", ")
}
