package delta

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// nestedSchema has a struct, a list of structs and a map beside flat columns.
func nestedSchema() *batch.Schema {
	field := func(name string, t batch.Type) batch.Field { return batch.Field{Name: name, Type: t, Nullable: true} }
	return batch.NewSchema(field("id", kind(batch.Int32)), field("p", kind(batch.String)),
		field("s", batch.StructOf(field("a", kind(batch.Int16)), field("b", kind(batch.String)))),
		field("l", batch.ListOf(field("", batch.StructOf(field("x", kind(batch.Int8)))))),
		field("m", batch.MapOf(field("", kind(batch.Int32)), field("", batch.ListOf(field("", kind(batch.Float32)))))))
}

func newMeta(t testing.TB, schema *batch.Schema, partitionBy []string, config map[string]string) *Metadata {
	m, err := NewMetadata(schema, partitionBy, config)
	require.NoError(t, err)
	return m
}

func schemaOf(t testing.TB, m *Metadata) *batch.Schema {
	schema, err := parseTableSchema(m)
	require.NoError(t, err)
	return schema
}

// at finds a field by its path.
func at(t testing.TB, m *Metadata, path string) batch.Field {
	fields, f := schemaOf(t, m).Fields, batch.Field{}
	for _, name := range strings.Split(path, ".") {
		i := indexFold(fields, name)
		require.GreaterOrEqual(t, i, 0, path)
		f = fields[i]
		fields = f.Type.Fields()
	}
	return f
}

func TestAddColumns(t *testing.T) {
	m := newMeta(t, nestedSchema(), nil, map[string]string{"delta.columnMapping.mode": "name"})
	require.Equal(t, "8", m.Configuration[mappingMaxID])
	long := func(name string) batch.Field { return batch.Field{Name: name, Type: kind(batch.Int64), Nullable: true} }
	copied := long("copied")
	copied.Metadata = map[string]string{mappingID: "1", mappingPhysicalName: `"stolen"`, "comment": `"kept"`}
	out, err := m.AddColumns(NewColumn{Field: long("first"), At: Position{First: true}}, NewColumn{Field: copied, At: Position{After: "ID"}},
		NewColumn{Parent: []string{"S"}, Field: long("c"), At: Position{After: "a"}}, NewColumn{Parent: []string{"l", "element"}, Field: long("y")})
	require.NoError(t, err)
	require.Equal(t, "first long, id integer, copied long, p string, s struct<a:smallint,c:bigint,b:string>, l array<struct<x:tinyint,y:bigint>>, m map<int,array<float>>",
		schemaOf(t, out).String())
	require.Equal(t, "12", out.Configuration[mappingMaxID])
	require.Equal(t, at(t, m, "s.a").Metadata, at(t, out, "s.a").Metadata)
	require.Regexp(t, `^"col-`, at(t, out, "l.element.y").Metadata[mappingPhysicalName])
	require.Equal(t, `"kept"`, at(t, out, "copied").Metadata["comment"])
	require.NotEqual(t, `"stolen"`, at(t, out, "copied").Metadata[mappingPhysicalName])
	ids := map[string]bool{}
	require.NoError(t, eachStructField(schemaOf(t, out).Fields, func(path string, f batch.Field) error {
		require.False(t, ids[f.Metadata[mappingID]], path)
		ids[f.Metadata[mappingID]] = true
		return nil
	}))

	with := func(f batch.Field, key string) batch.Field { f.Metadata = map[string]string{key: "1"}; return f }
	for text, c := range map[string]NewColumn{
		"differ only by case":  {Field: long("ID")},
		"cannot be placed":     {Field: long("z"), At: Position{After: "nope"}},
		"NOT NULL":             {Field: batch.Field{Name: "z", Type: kind(batch.Int64)}},
		"a generated column":   {Field: with(long("z"), GenerationKey)},
		"an identity column":   {Field: with(long("z"), IdentityStart)},
		"a default":            {Field: with(long("z"), DefaultKey)},
		"not a struct":         {Parent: []string{"id"}, Field: long("z")},
		"there is no column q": {Parent: []string{"q"}, Field: long("z")},
		"l.element.element":    {Parent: []string{"l", "element"}, Field: batch.Field{Name: "element", Nullable: true, Type: batch.StructOf(long("a"), long("A"))}},
	} {
		_, err := m.AddColumns(c)
		require.ErrorContains(t, err, text)
	}
}

func TestDropAndRenameColumns(t *testing.T) {
	plain := newMeta(t, nestedSchema(), []string{"p"}, map[string]string{"delta.dataSkippingStatsColumns": "id, s.a, s.b, l"})
	_, err := plain.DropColumn([]string{"id"})
	require.ErrorContains(t, err, "'delta.columnMapping.mode' = 'name'")
	_, err = plain.RenameColumn([]string{"id"}, "x")
	require.ErrorContains(t, err, "DELTA_UNSUPPORTED_RENAME_COLUMN")

	m, err := plain.SetProperties(map[string]string{"delta.columnMapping.mode": "name"})
	require.NoError(t, err)
	require.Equal(t, "8", m.Configuration[mappingMaxID])
	require.Equal(t, `"id"`, at(t, m, "id").Metadata[mappingPhysicalName], "the files have this name")
	require.Equal(t, `"x"`, at(t, m, "l.element.x").Metadata[mappingPhysicalName])

	out, err := m.RenameColumn([]string{"P"}, "q")
	require.NoError(t, err)
	require.Equal(t, []string{"q"}, out.PartitionColumns)
	require.Equal(t, []string{"p"}, m.PartitionColumns)
	require.Equal(t, []partitionKey{{"q", "p"}}, out.partitionKeys())
	out, err = out.RenameColumn([]string{"s"}, "t")
	require.NoError(t, err)
	out, err = out.RenameColumn([]string{"t", "a"}, "with blank")
	require.NoError(t, err)
	require.Equal(t, "id,t.`with blank`,t.b,l", out.Configuration["delta.dataSkippingStatsColumns"])
	require.Equal(t, `"a"`, at(t, out, "t.with blank").Metadata[mappingPhysicalName])
	out, err = out.DropColumn([]string{"t", "b"})
	require.NoError(t, err)
	require.Equal(t, "id,t.`with blank`,l", out.Configuration["delta.dataSkippingStatsColumns"])
	again, err := out.AddColumns(NewColumn{Parent: []string{"t"}, Field: batch.Field{Name: "b", Type: kind(batch.Int64), Nullable: true}})
	require.NoError(t, err)
	require.Equal(t, "9", at(t, again, "t.b").Metadata[mappingID], "another column, not the dropped one")

	_, err = out.DropColumn([]string{"t", "with blank"})
	require.ErrorContains(t, err, "nothing would be left")
	_, err = out.DropColumn([]string{"q"})
	require.ErrorContains(t, err, "partitioned by it")
	_, err = out.RenameColumn([]string{"id"}, "M")
	require.ErrorContains(t, err, "differ only by case")
	_, err = out.DropColumn([]string{"l", "element"})
	require.ErrorContains(t, err, "not a struct")

	checked, err := m.AddConstraint("Positive", "`id` > 0 and p <> 's'")
	require.NoError(t, err)
	_, err = checked.DropColumn([]string{"id"})
	require.ErrorContains(t, err, "constraint positive")
	_, err = checked.DropColumn([]string{"s"})
	require.NoError(t, err, "a string is no name")
}

func TestMentions(t *testing.T) {
	for sql, want := range map[string]bool{
		"a > 0": true, "b.A": true, "`a`": true, "'a'": false, "ab + _a": false, `"a"`: true, "'it''s a' = b": false, `'\'a' = b`: false,
		"f(x,a)": true, "": false, "'a": false, "`A": true, "1a": false,
	} {
		require.Equal(t, want, mentions(sql, "a"), sql)
	}
}

func TestChangeType(t *testing.T) {
	m := newMeta(t, nestedSchema(), []string{"p"}, map[string]string{"delta.columnMapping.mode": "name"})
	_, err := m.ChangeType([]string{"id"}, kind(batch.Int64))
	require.ErrorContains(t, err, "'delta.enableTypeWidening' = 'true'")
	m, err = m.SetProperties(map[string]string{"delta.enableTypeWidening": "true"})
	require.NoError(t, err)
	out := m
	for _, c := range []struct {
		path string
		to   batch.Type
	}{{"id", kind(batch.Int64)}, {"s.a", kind(batch.Int32)}, {"s.a", kind(batch.Float64)}, {"l.element.x", kind(batch.Int16)}, {"m.key", kind(batch.Int64)}, {"m.value.element", kind(batch.Float64)}} {
		out, err = out.ChangeType(strings.Split(c.path, "."), c.to)
		require.NoError(t, err)
		require.Equal(t, c.to, at(t, out, c.path).Type)
	}
	for path, want := range map[string]string{
		"id":          `[{"fromType":"integer","toType":"long"}]`,
		"s.a":         `[{"fromType":"short","toType":"integer"},{"fromType":"integer","toType":"double"}]`,
		"l.element.x": `[{"fromType":"byte","toType":"short"}]`,
		"m":           `[{"fromType":"integer","toType":"long","fieldPath":"key"},{"fromType":"float","toType":"double","fieldPath":"value.element"}]`,
	} {
		require.Equal(t, want, at(t, out, path).Metadata[typeChangesKey], path)
	}
	same, err := out.ChangeType([]string{"id"}, kind(batch.Int64))
	require.NoError(t, err)
	require.Equal(t, out.SchemaString, same.SchemaString)
	_, err = out.ChangeType([]string{"id"}, kind(batch.Int32))
	require.ErrorContains(t, err, "only wider types")
	_, err = out.ChangeType([]string{"p"}, kind(batch.Int32))
	require.ErrorContains(t, err, "only wider types")
}

func TestWidens(t *testing.T) {
	names := func(list string) (out []batch.Type) {
		for _, name := range strings.Fields(list) {
			parsed, err := batch.ParseType(name)
			require.NoError(t, err)
			out = append(out, parsed)
		}
		return out
	}
	all := names("boolean byte short integer long float double date timestamp timestamp_ntz string binary decimal(5,2) decimal(7,4) decimal(6,4) decimal(7,2) " +
		"decimal(10,0) decimal(12,2) decimal(12,3) decimal(20,0) decimal(38,18) decimal(38,19)")
	want := map[string]string{
		"byte":          "short integer long double decimal(10,0) decimal(12,2) decimal(20,0) decimal(38,18) decimal(38,19)",
		"short":         "integer long double decimal(10,0) decimal(12,2) decimal(20,0) decimal(38,18) decimal(38,19)",
		"integer":       "long double decimal(10,0) decimal(12,2) decimal(20,0) decimal(38,18) decimal(38,19)",
		"long":          "decimal(20,0) decimal(38,18)",
		"float":         "double",
		"date":          "timestamp_ntz",
		"decimal(5,2)":  "decimal(7,4) decimal(7,2) decimal(12,2) decimal(12,3) decimal(38,18) decimal(38,19)",
		"decimal(7,4)":  "decimal(38,18) decimal(38,19)",
		"decimal(6,4)":  "decimal(7,4) decimal(38,18) decimal(38,19)",
		"decimal(7,2)":  "decimal(12,2) decimal(12,3) decimal(38,18) decimal(38,19)",
		"decimal(10,0)": "decimal(12,2) decimal(20,0) decimal(38,18) decimal(38,19)",
		"decimal(12,2)": "decimal(38,18) decimal(38,19)",
		"decimal(12,3)": "decimal(38,18) decimal(38,19)",
		"decimal(20,0)": "decimal(38,18)",
	}
	for _, from := range all {
		var got []string
		for _, to := range all {
			if batch.Widens(from, to) {
				got = append(got, to.String())
			}
		}
		require.Equal(t, want[from.String()], strings.Join(got, " "), from)
	}
}

func TestOtherChangesOfColumns(t *testing.T) {
	m := newMeta(t, nestedSchema(), nil, nil)
	path := func(p string) []string { return strings.Split(p, ".") }
	out, err := m.SetNullable(path("s.a"), false)
	require.NoError(t, err)
	require.False(t, at(t, out, "s.a").Nullable)
	out, err = out.SetComment(path("l.element.x"), `a "b"`)
	require.NoError(t, err)
	require.Equal(t, `"a \"b\""`, at(t, out, "l.element.x").Metadata["comment"])
	out, err = out.SetComment(path("l.element.x"), "")
	require.NoError(t, err)
	require.Empty(t, at(t, out, "l.element.x").Metadata)
	out, err = out.SetDefault(path("id"), "1 + 1")
	require.NoError(t, err)
	require.Equal(t, `"1 + 1"`, at(t, out, "id").Metadata[DefaultKey])
	require.Equal(t, []string{"allowColumnDefaults"}, neededFeatures(out, schemaOf(t, out)))
	out, err = out.MoveColumn(path("m"), Position{First: true})
	require.NoError(t, err)
	out, err = out.MoveColumn(path("s.a"), Position{After: "b"})
	require.NoError(t, err)
	require.Equal(t, "m map<int,array<float>>, id integer, p string, s struct<b:string,a:smallint not null>, l array<struct<x:tinyint>>", schemaOf(t, out).String())
	require.Equal(t, nestedSchema().String(), schemaOf(t, m).String())
	_, err = m.SetDefault(path("s.a"), "1")
	require.ErrorContains(t, err, "nested")
}

func TestPropertiesAndConstraints(t *testing.T) {
	m := newMeta(t, nestedSchema(), nil, map[string]string{"mine": "1", "delta.constraints.c1": "id > 0"})
	_, err := m.AddConstraint("C1", "true")
	require.ErrorContains(t, err, "DELTA_CONSTRAINT_ALREADY_EXISTS")
	out, err := m.AddConstraint("C2", "id < 9")
	require.NoError(t, err)
	out, err = out.DropConstraint("c1")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"mine": "1", "delta.constraints.c2": "id < 9"}, out.Configuration)
	_, err = out.DropConstraint("c1")
	require.ErrorContains(t, err, "DELTA_CONSTRAINT_DOES_NOT_EXIST")
	out, err = out.UnsetProperties("mine", "not.there")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"delta.constraints.c2": "id < 9"}, out.Configuration)

	tracked, err := m.SetProperties(map[string]string{"delta.enableRowTracking": "true"})
	require.NoError(t, err)
	require.Regexp(t, "^_row-id-col-", tracked.Configuration[rowIDColumnProperty])
	again, err := tracked.SetProperties(map[string]string{"delta.enableRowTracking": "true"})
	require.NoError(t, err)
	require.Equal(t, tracked.Configuration, again.Configuration)

	for property, text := range map[string]string{
		"delta.constraints.x=1":                               "ADD CONSTRAINT",
		"delta.columnMapping.mode=id":                         "from none to id",
		"delta.columnMapping.mode=x":                          "none or name or id",
		"delta.columnMapping.maxColumnId=7":                   "kept by the table itself",
		"delta.enableIcebergCompatV2=true":                    "delta.enableIcebergCompatV2",
		"delta.universalFormat.enabledFormats=iceberg":        "delta.universalFormat.enabledFormats",
		"delta.feature.catalogManaged=supported":              "catalogManaged",
		"delta.feature.deletionVectors=on":                    "supported",
		"delta.minReaderVersion=4":                            "from 1 to 3",
		"delta.minWriterVersion=0":                            "from 1 to 7",
		"delta.targetFileSize=many":                           "a size",
		"delta.dataSkippingStatsColumns=a,":                   "list of column names",
		"delta.typo=1":                                        "DELTA_UNKNOWN_CONFIGURATION",
		"delta.parquet.compression.codec=lzo":                 "lzo",
		"delta.inCommitTimestampEnablementVersion=1":          "kept by the table itself",
		"delta.requireCheckpointProtectionBeforeVersion=1":    "kept by the table itself",
		"delta.rowTracking.materializedRowIdColumnName=theid": "kept by the table itself",
	} {
		key, value, _ := strings.Cut(property, "=")
		_, err := m.SetProperties(map[string]string{key: value})
		require.ErrorContains(t, err, text, property)
	}
	for _, property := range []string{"delta.enableIcebergCompatV2=false", "delta.targetFileSize=32mb", "delta.feature.DeletionVectors=supported", "DELTAISH=1",
		"delta.minReaderVersion=3", "delta.columnMapping.mode=none"} {
		key, value, _ := strings.Cut(property, "=")
		_, err := m.SetProperties(map[string]string{key: value})
		require.NoError(t, err, property)
	}
	mapped, err := m.SetProperties(map[string]string{"delta.columnMapping.mode": "name"})
	require.NoError(t, err)
	for _, mode := range []string{"none", "id"} {
		_, err = mapped.SetProperties(map[string]string{"delta.columnMapping.mode": mode})
		require.ErrorContains(t, err, "from name to "+mode)
	}
	_, err = mapped.UnsetProperties("delta.columnMapping.mode")
	require.ErrorContains(t, err, "from name to none")

	replaced, err := mapped.Replace(batch.NewSchema(at(t, mapped, "id"), at(t, mapped, "p")), []string{"p"}, map[string]string{"delta.columnMapping.mode": "id"})
	require.NoError(t, err)
	require.Equal(t, m.ID, replaced.ID)
	require.Equal(t, "9", at(t, replaced, "id").Metadata[mappingID])
	require.Equal(t, "10", replaced.Configuration[mappingMaxID])
	unmapped, err := replaced.Replace(batch.NewSchema(at(t, mapped, "id")), nil, nil)
	require.NoError(t, err)
	require.Empty(t, unmapped.Mapping())
	mappedAgain, err := unmapped.Replace(batch.NewSchema(at(t, mapped, "id")), nil, map[string]string{"delta.columnMapping.mode": "id"})
	require.NoError(t, err)
	require.Equal(t, "11", at(t, mappedAgain, "id").Metadata[mappingID], "also when it was not mapped in between")
}

func TestClustering(t *testing.T) {
	m := newMeta(t, nestedSchema(), nil, map[string]string{"delta.columnMapping.mode": "name"})
	table := NewTable(memoryStore(t))
	x := table.Begin(nil)
	x.SetMetadata(m)
	require.NoError(t, x.ClusterBy(m, [][]string{{"ID"}, {"s", "a"}}))
	done, err := x.Commit(ctx, Operation{Name: "CREATE TABLE"})
	require.NoError(t, err)
	require.Equal(t, &Protocol{MinReader: 2, MinWriter: 7, WriterFeatures: []string{"appendOnly", "invariants", "clustering", "columnMapping", "domainMetadata"}}, done.Snapshot.Protocol())
	columns, err := done.Snapshot.ClusteringColumns()
	require.NoError(t, err)
	require.Equal(t, [][]string{{"id"}, {"s", "a"}}, columns)

	next, err := done.Snapshot.Metadata().RenameColumn([]string{"s"}, "t")
	require.NoError(t, err)
	x = table.Begin(done.Snapshot)
	x.SetMetadata(next)
	done, err = x.Commit(ctx, Operation{Name: "RENAME COLUMN"})
	require.NoError(t, err)
	columns, err = done.Snapshot.ClusteringColumns()
	require.NoError(t, err)
	require.Equal(t, [][]string{{"id"}, {"t", "a"}}, columns)
	next, err = done.Snapshot.Metadata().DropColumn([]string{"t", "a"})
	require.NoError(t, err)
	appendFiles(t, table, "a")
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	x = table.Begin(s)
	x.SetMetadata(next)
	_, err = x.Commit(ctx, Operation{Name: "DROP COLUMNS"})
	require.ErrorContains(t, err, "clustered by")

	for text, path := range map[string][]string{"there is no column z": {"z"}, "array": {"l"}, "struct": {"s"}} {
		require.ErrorContains(t, table.Begin(s).ClusterBy(m, [][]string{path}), text)
	}
	few := m.withProperty("delta.dataSkippingNumIndexedCols", "1")
	require.ErrorContains(t, table.Begin(s).ClusterBy(few, [][]string{{"p"}}), "MISSING_STATS")
}
