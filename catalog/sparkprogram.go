package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lakesql/batch"
	"lakesql/sqlext"
	"lakesql/store"
	"lakesql/stream"
)

// sparkProgram is the PySpark program that continues a stream by its checkpoint. What Spark would do in another way is refused by name.
func (c *Catalog) sparkProgram(ctx context.Context, h *stream.Handover) (string, error) {
	p := &sparkProgram{c: c, ctx: ctx, h: h}
	p.clauses()
	p.head()
	for i := range h.Sources {
		p.source(i)
	}
	p.query()
	p.sink()
	return p.out.String(), p.err
}

// sparkProgram is a program that is being written. Its first error sticks.
type sparkProgram struct {
	c   *Catalog
	ctx context.Context
	h   *stream.Handover
	out strings.Builder
	err error
}

func (p *sparkProgram) line(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

func (p *sparkProgram) refuse(format string, args ...any) {
	if p.err == nil {
		p.err = refuse(KindUnsupported, "stream %s cannot be written as a program of Spark: %s", p.h.Definition.FullName(), fmt.Sprintf(format, args...))
	}
}

// py is a text as Python writes it.
func py(text string) string { return strconv.Quote(text) }

// path is a URI as Spark takes it, which has nothing percent-encoded.
func (p *sparkProgram) path(uri string) string {
	plain, err := store.ParseFileURI(uri)
	if err != nil && p.err == nil {
		p.err = err
	}
	return "file://" + plain
}

// clauses refuses those that Spark has nothing for.
func (p *sparkProgram) clauses() {
	d := p.h.Definition
	switch {
	case d.OnError.Mode == stream.DeadLetter, d.OnError.Mode == stream.SkipFile:
		p.refuse("Spark has nothing like ON ERROR %s", d.OnError.Mode)
	case d.OnError.Max > 0:
		p.refuse("Spark has nothing like ON ERROR ... MAX %d ROWS", d.OnError.Max)
	case d.OnSchemaChange == stream.SchemaRescue:
		p.refuse("open-source Spark has nothing like ON SCHEMA CHANGE RESCUE")
	}
}

func (p *sparkProgram) head() {
	d := p.h.Definition
	p.line("# Continues stream %s of lakesql by its checkpoint, each row once. One of the two may run at a time: ALTER STREAM %s PAUSE comes first,", d.FullName(), d.FullName())
	p.line("# and ALTER STREAM %s RESUME takes the stream back. Needs Spark 3.5 or later with delta-spark.", d.FullName())
	if slices.ContainsFunc(p.h.Sources, func(s stream.HandoverSource) bool { return s.Spec.Kind == "kafka" }) {
		p.line("# And the package spark-sql-kafka-0-10.")
	}
	if d.OnSchemaChange == stream.SchemaDefault || d.OnSchemaChange == stream.SchemaAddColumns {
		p.line("# Spark takes up no columns that are new: hand the stream back for them.")
	}
	if p.secrets() {
		p.line("import os")
		p.line("")
	}
	p.line("from pyspark.sql import SparkSession")
	p.line("")
	p.line("spark = (")
	p.line("    SparkSession.builder.appName(%s)", py(d.FullName()))
	p.line(`    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")`)
	p.line(`    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")`)
	p.line("    .getOrCreate()")
	p.line(")")
	for _, conf := range [][2]string{
		{"spark.sql.session.timeZone", "UTC"},
		{"spark.sql.ansi.enabled", "true"}, // a value that does not fit is an error, as here, and not another value
		{"spark.sql.decimalOperations.allowPrecisionLoss", "false"},
		{"spark.sql.csv.parser.columnPruning.enabled", "false"}, // a row is malformed also by columns that the SELECT leaves out
	} {
		p.line("spark.conf.set(%s, %s)", py(conf[0]), py(conf[1]))
	}
}

func (p *sparkProgram) secrets() bool {
	return slices.ContainsFunc(p.h.Sources, func(s stream.HandoverSource) bool {
		return s.Spec.Kind == "kafka" && slices.ContainsFunc(slices.Collect(maps.Values(s.Spec.Options)), func(v string) bool { return strings.HasPrefix(v, "env:") })
	})
}

// sourceView is the name of the view of a source.
func sourceView(i int) string { return "source_" + strconv.Itoa(i) }

// source writes one source, and the view of the columns that the SELECT sees.
func (p *sparkProgram) source(i int) {
	s := &p.h.Sources[i]
	reader := p.reader(s)
	p.line("")
	p.line("%s = (", sourceView(i))
	p.line("    spark.readStream.format(%s)", py(reader.format))
	if reader.schema != "" {
		p.line("    .schema(%s)", py(reader.schema))
	}
	for _, o := range reader.options {
		p.line("    .option(%s, %s)", py(o.name), o.value)
	}
	p.line("    .load(%s)", reader.path)
	p.line(")")
	if s.Spec.Kind == "files" {
		p.line("%s.selectExpr(%s).createOrReplaceTempView(%s)", sourceView(i), p.seen(s), py(sourceView(i)))
		return
	}
	p.line("%s.createOrReplaceTempView(%s)", sourceView(i), py(sourceView(i)))
}

// seen are the columns that the SELECT sees: NULL where no file has one.
func (p *sparkProgram) seen(s *stream.HandoverSource) string {
	stored := batch.NewSchema(s.Stored...)
	var columns []string
	for _, f := range s.Schema.Fields {
		column := sqlext.SparkName(f.Name)
		if stored.Index(f.Name) < 0 {
			column = "CAST(NULL AS " + f.Type.String() + ") AS " + column
		}
		columns = append(columns, py(column))
	}
	if s.Spec.Metadata {
		columns = append(columns, py("_metadata"))
	}
	return strings.Join(columns, ", ")
}

// query writes the SELECT, and around it the columns of the table in its types.
func (p *sparkProgram) query() {
	if p.err != nil {
		return
	}
	types := map[string]string{}
	for _, s := range p.h.Sources {
		for name, typ := range sparkTypes(s.Schema) {
			if have, ok := types[name]; ok && have != typ {
				typ = ""
			}
			types[name] = typ
		}
	}
	text, err := sqlext.SparkSelect(p.h.Definition.SelectSQL, sqlext.SparkNames{
		Source: func(i int) string { return sqlext.SparkName(sourceView(i)) },
		Table:  p.table, Types: types, Cast: p.cast,
	})
	if err != nil {
		p.err = err
		return
	}
	if slices.ContainsFunc(p.h.Sources, func(s stream.HandoverSource) bool { return s.Spec.Metadata }) && sqlext.HasStar(p.h.Definition.SelectSQL) {
		p.refuse("its SELECT has * beside _metadata: name the columns")
	}
	var columns []string
	for _, c := range p.h.Columns {
		columns = append(columns, fmt.Sprintf("CAST(%s AS %s) AS %s", sqlext.SparkName(c.From), c.Type, sqlext.SparkName(c.Name)))
	}
	p.line("")
	p.line("rows = spark.sql(%s)", py("SELECT "+strings.Join(columns, ", ")+" FROM ("+text+")"))
}

// cast is the cast that does with a value that does not convert what ON ERROR says.
func (p *sparkProgram) cast(from string) (string, error) {
	switch mode := p.h.Definition.OnError.Mode; {
	case mode == stream.Fail:
		return "CAST", nil
	case mode == stream.SkipRow && from == "string":
		return "", refuse(KindUnsupported, "stream %s cannot be written as a program of Spark: ON ERROR SKIP ROW leaves out rows whose CAST fails, and Spark keeps them", p.h.Definition.FullName())
	}
	return "TRY_CAST", nil
}

// table is a table that the SELECT joins, by its path.
func (p *sparkProgram) table(n sqlext.Name) (name string, types map[string]string, err error) {
	d := p.h.Definition
	ctx := p.c.background(p.ctx, d.Database, d.Definer)
	ref, err := p.c.targetRef(ctx, n)
	if err != nil {
		return "", nil, err
	}
	if ref.Path == "" && p.c.isView(ctx, n) {
		return "", nil, refuse(KindUnsupported, "stream %s cannot be written as a program of Spark: %s is a view", d.FullName(), ref)
	}
	t, err := targets{p.c}.Open(p.ctx, ref)
	if err != nil {
		return "", nil, err
	}
	snap, err := t.Table.Snapshot(p.ctx)
	if err != nil {
		return "", nil, err
	}
	return "delta." + sqlext.SparkName(p.path(t.Table.Store().URI())), sparkTypes(snap.Schema()), nil
}

// sparkTypes are the types of columns, by their names in lower case.
func sparkTypes(schema *batch.Schema) map[string]string {
	out := map[string]string{}
	for _, f := range schema.Fields {
		out[strings.ToLower(f.Name)] = f.Type.String()
	}
	return out
}

func (p *sparkProgram) sink() {
	d := p.h.Definition
	p.line("")
	p.line("query = (")
	p.line(`    rows.writeStream.format("delta")`)
	p.line(`    .outputMode("append")`)
	p.line("    .queryName(%s)", py(d.FullName()))
	p.line(`    .option("checkpointLocation", %s)`, py(p.path(d.Checkpoint)))
	if p.h.AddsColumns && p.h.Exists {
		p.line(`    .option("mergeSchema", "true")`)
	}
	if !p.h.Exists && len(d.PartitionedBy) > 0 {
		var names []string
		for _, name := range d.PartitionedBy {
			names = append(names, py(name))
		}
		p.line("    .partitionBy(%s)", strings.Join(names, ", "))
	}
	switch d.Trigger.Kind {
	case stream.Every:
		p.line(`    .trigger(processingTime="%d milliseconds")`, d.Trigger.Every.Milliseconds())
	case stream.AvailableNow:
		p.line("    .trigger(availableNow=True)")
	case stream.Once:
		p.line("    .trigger(once=True)")
	}
	p.line("    .start(%s)", py(p.path(p.h.Target)))
	p.line(")")
	p.line("query.awaitTermination()")
}
