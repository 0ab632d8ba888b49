package catalog

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/catalog/compile"
	"lakesql/sqlext"
	"lakesql/stream"
)

// showColumns are those of SHOW STREAMS.
var showColumns = []computedColumn[stream.Status]{
	{"DATABASE", textType, func(s stream.Status) any { return s.Definition.Database }},
	{"STREAM", textType, func(s stream.Status) any { return s.Definition.Name }},
	{"STATE", textType, func(s stream.Status) any { return string(s.State) }},
	{"REASON", textType, func(s stream.Status) any { return orNull(s.Reason) }},
	{"TARGET", textType, func(s stream.Status) any { return s.Definition.Target.String() }},
	{"LAST_BATCH_ID", number, func(s stream.Status) any { return countOrNull(s.LastBatchID) }},
	{"BACKLOG_FILES", number, func(s stream.Status) any { return s.BacklogFiles }},
	{"BACKLOG_ROWS", number, func(s stream.Status) any { return s.BacklogRows }},
	{"CHECKPOINT", textType, func(s stream.Status) any { return s.Definition.Checkpoint }},
}

func (c *Catalog) showStreams(s *sqlext.ShowStreams) action {
	schema := schemaOf("", showColumns, true)
	return query("SHOW STREAMS", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		list, err := c.streamsOf(ctx, s.Database)
		if err != nil {
			return nil, err
		}
		rows := rowsOf(showColumns, list)
		filter := s.Where
		if s.Like != nil {
			filter = "`Stream` LIKE " + s.Like.String()
		}
		if filter == "" {
			return rows, nil
		}
		return c.filterRows(ctx, schema, rows, filter)
	})
}

// streamsOf lists the streams of a database; "" is the current one, or all of them when there is none.
func (c *Catalog) streamsOf(ctx *sql.Context, database string) ([]stream.Status, error) {
	if database == "" && ctx.GetCurrentDatabase() == "" {
		return c.visibleStreams(ctx), nil
	}
	actual, err := c.databaseOf(ctx, database)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(c.visibleStreams(ctx), func(s stream.Status) bool {
		return !strings.EqualFold(s.Definition.Database, actual)
	}), nil
}

// filterRows evaluates a condition on rows, as SELECT * FROM them WHERE does.
func (c *Catalog) filterRows(ctx *sql.Context, schema sql.Schema, rows []sql.Row, filter string) ([]sql.Row, error) {
	current := ctx.GetCurrentDatabase()
	if _, err := c.engine.Analyzer.Catalog.Database(ctx, current); err != nil { // GMS looks at it for every function, though the rows are of none
		ctx.SetCurrentDatabase(sql.InformationSchemaDatabaseName)
		defer ctx.SetCurrentDatabase(current)
	}
	inner := ctx.WithContext(context.WithValue(ctx.Context, givenRowsKey{}, givenRows{schema, rows}))
	text := "SELECT * FROM " + givenRowsFunction + "() WHERE " + filter
	stmt, err := c.engine.Parser.ParseSimple(text)
	if err != nil {
		return nil, err
	}
	iter, err := c.execute(inner, stmt, text)
	if err != nil {
		return nil, err
	}
	return compile.Drain(inner, iter)
}

// namedOrAll finds the stream of a statement, or without a name those of the current database.
func (c *Catalog) namedOrAll(ctx *sql.Context, n *sqlext.Name) ([]stream.Status, error) {
	if n == nil {
		return c.streamsOf(ctx, "")
	}
	s, err := c.seen(ctx, *n)
	return []stream.Status{s}, err
}

func (c *Catalog) showStreamStatus(s *sqlext.ShowStreamStatus) action {
	return query("SHOW STREAM STATUS", schemaOf("", statusColumns, true), func(ctx *sql.Context) ([]sql.Row, error) {
		list, err := c.namedOrAll(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		return rowsOf(statusColumns, list), nil
	})
}

func (c *Catalog) showStreamProgress(s *sqlext.ShowStreamProgress) action {
	return showOf("SHOW STREAM PROGRESS", progressColumns, c, &s.Name, s.Limit, c.progressRows)
}

func (c *Catalog) showStreamFiles(s *sqlext.ShowStreamFiles) action {
	return showOf("SHOW STREAM FILES", fileColumns, c, &s.Name, s.Limit, c.fileRows)
}

func (c *Catalog) showStreamErrors(s *sqlext.ShowStreamErrors) action {
	return showOf("SHOW STREAM ERRORS", errorColumns, c, s.Name, s.Limit, c.errorRows)
}

// showOf is a SHOW STREAM statement about what one stream has; without a name about all streams of the current database.
func showOf[T any](name string, columns []computedColumn[T], c *Catalog, of *sqlext.Name, limit *sqlext.Value,
	list func(context.Context, stream.Status, int) ([]T, error),
) action {
	return query(name, schemaOf("", columns, true), func(ctx *sql.Context) ([]sql.Row, error) {
		n, err := limitOf(limit)
		if err != nil {
			return nil, err
		}
		streams, err := c.namedOrAll(ctx, of)
		if err != nil {
			return nil, err
		}
		var rows []sql.Row
		for _, s := range streams {
			items, err := list(ctx, s, n)
			if err != nil && of == nil {
				err = oneOfMany(ctx, err)
			}
			if err != nil {
				return nil, err
			}
			rows = append(rows, rowsOf(columns, items)...)
		}
		return rows, nil
	})
}

// oneOfMany makes the error of one stream, in a list of many, a warning: it must not hide the others' rows.
func oneOfMany(ctx *sql.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	ctx.Session.Warn(&sql.Warning{Level: "Warning", Code: warningStreamLeftOut, Message: err.Error()})
	return nil
}

// warningStreamLeftOut is MySQL's ER_UNKNOWN_ERROR: the text says what is wrong.
const warningStreamLeftOut = 1105

// limitOf reads LIMIT n; 0: there is none.
func limitOf(v *sqlext.Value) (int, error) {
	if v == nil {
		return 0, nil
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil || n < 1 {
		return 0, refuse(KindInvalid, "LIMIT %s: give a number from 1 on", v)
	}
	return n, nil
}

func (c *Catalog) showCreateStream(s *sqlext.ShowCreateStream) action {
	schema := sql.Schema{{Name: "Stream", Type: textType}, {Name: "Create Stream", Type: textType}}
	return query("SHOW CREATE STREAM", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		st, err := c.seen(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		if s.Spark {
			h, err := c.streams.Handover(ctx, st.Definition.Database, st.Definition.Name)
			if err != nil {
				return nil, err
			}
			program, err := c.sparkProgram(ctx, h)
			return []sql.Row{{st.Definition.Name, program}}, err
		}
		return []sql.Row{{st.Definition.Name, createText(st.Definition)}}, nil
	})
}

func (c *Catalog) describeStream(s *sqlext.DescribeStream) action {
	schema := sql.Schema{{Name: "Field", Type: textType}, {Name: "Type", Type: textType}, {Name: "Action", Type: textType}}
	return query("DESCRIBE STREAM", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		st, err := c.seen(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		e, err := c.streams.Explain(ctx, st.Definition)
		if err != nil {
			return nil, err
		}
		if len(e.Schema) == 0 {
			return c.targetColumns(ctx, st.Definition.Target)
		}
		var rows []sql.Row
		for _, col := range e.Schema {
			rows = append(rows, sql.Row{col.Name, col.Type, col.Action})
		}
		return rows, nil
	})
}

// targetColumns are the columns of a stream's table, where no source file is there to infer the stream's own from.
func (c *Catalog) targetColumns(ctx *sql.Context, ref stream.TargetRef) ([]sql.Row, error) {
	target, err := targets{c}.Open(ctx, ref)
	if err != nil || !target.Exists {
		return nil, err
	}
	snap, err := target.Table.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, f := range snap.Schema().Fields {
		rows = append(rows, sql.Row{f.Name, f.Type.String(), "write"})
	}
	return rows, nil
}

func (c *Catalog) explainStream(s *sqlext.CreateStream) action {
	schema := sql.Schema{{Name: "plan", Type: textType}}
	return query("EXPLAIN CREATE STREAM", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		d, err := c.definition(ctx, s)
		if err != nil {
			return nil, err
		}
		e, err := c.streams.Explain(ctx, d)
		if err != nil {
			return nil, err
		}
		var rows []sql.Row
		for _, line := range explanationLines(d, e) {
			rows = append(rows, sql.Row{line})
		}
		return rows, nil
	})
}

func explanationLines(d stream.Definition, e stream.Explanation) []string {
	lines := []string{"Stream " + d.FullName(), "Trigger: " + d.Trigger.String()}
	for _, s := range e.Sources {
		lines = append(lines, "Source: "+s)
	}
	lines = append(lines, fmt.Sprintf("Backlog: %d files, %d bytes, %d rows", e.BacklogFiles, e.BacklogBytes, e.BacklogRows))
	lines = append(lines, "Target: "+d.Target.String()+": "+e.TargetAction, "Checkpoint: "+d.Checkpoint+": "+e.Checkpoint)
	if len(e.Schema) == 0 {
		lines = append(lines, "Columns: not known before the first file")
	}
	for _, col := range e.Schema {
		lines = append(lines, fmt.Sprintf("Column: %s %s: %s", col.Name, col.Type, col.Action))
	}
	if plan := strings.TrimSpace(e.Plan); plan != "" {
		lines = append(lines, "Plan:")
		for line := range strings.SplitSeq(plan, "\n") {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

func (c *Catalog) waitForStream(s *sqlext.WaitForStream) action {
	a := command("WAIT FOR STREAM", func(ctx *sql.Context) error {
		waited, err := c.seen(ctx, s.Name)
		if err != nil {
			return err
		}
		var until stream.Until
		if s.Batch != nil {
			n, err := strconv.ParseInt(s.Batch.Text, 10, 64)
			if err != nil || n < 0 {
				return refuse(KindInvalid, "WAIT FOR STREAM ... UNTIL BATCH %s: give a batch id from 0 on", s.Batch)
			}
			until.Batch = &n
		}
		timeout, err := timeoutOf(s.Timeout)
		if err != nil {
			return err
		}
		return c.streams.WaitFor(ctx, waited.Definition.Database, s.Name.Name, until, timeout)
	})
	a.writes = false
	return a
}

func timeoutOf(v *sqlext.Value) (time.Duration, error) {
	if v == nil {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || seconds <= 0 {
		return 0, refuse(KindInvalid, "TIMEOUT %s: give seconds, more than 0", v)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
