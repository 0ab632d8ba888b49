package catalog

import (
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/sqlext"
	"lakesql/stream"
)

// definition turns CREATE STREAM into what the catalog keeps: every name qualified, every path an absolute URI within the fence.
func (c *Catalog) definition(ctx *sql.Context, s *sqlext.CreateStream) (stream.Definition, error) {
	database, err := c.databaseOf(ctx, s.Name.Database)
	if err != nil {
		return stream.Definition{}, err
	}
	if err := checkName("stream", s.Name.Name); err != nil {
		return stream.Definition{}, err
	}
	client := ctx.Client()
	d := stream.Definition{
		Database: database, Name: s.Name.Name, Columns: s.Columns, PartitionedBy: s.PartitionedBy,
		Definer: client.User + "@" + client.Address, Paused: s.Disabled, SQL: s.SQL, Created: time.Now().UTC(),
		OnSchemaChange: schemaChanges[s.OnSchemaChange], Options: optionMap(s.Options),
	}
	if s.Comment != nil {
		d.Comment = s.Comment.Text
	}
	if d.Target, err = c.targetRef(ctx, s.Target); err != nil {
		return d, err
	}
	if err := c.mayWrite(ctx, d.Target); err != nil {
		return d, err
	}
	if d.Checkpoint, err = c.allowedPath(ctx, s.Checkpoint.Text); err != nil {
		return d, err
	}
	if err := c.checkCheckpointPlace(d.Checkpoint); err != nil {
		return d, err
	}
	if d.Trigger, err = triggerOf(s.Trigger); err != nil {
		return d, err
	}
	if d.OnError, err = c.onError(ctx, s.OnError); err != nil {
		return d, err
	}
	d.SelectSQL, err = sqlext.ResolveStreamPaths(s.Select, isPathArgument, c.allowedPaths(ctx))
	return d, err
}

var schemaChanges = map[sqlext.SchemaChange]stream.SchemaChange{
	sqlext.SchemaChangeDefault: stream.SchemaDefault, sqlext.SchemaChangeFail: stream.SchemaFail,
	sqlext.SchemaChangeAddColumns: stream.SchemaAddColumns, sqlext.SchemaChangeRescue: stream.SchemaRescue,
	sqlext.SchemaChangeIgnore: stream.SchemaIgnore,
}

func (c *Catalog) targetRef(ctx *sql.Context, n sqlext.Name) (stream.TargetRef, error) {
	if strings.EqualFold(n.Database, pathDatabaseName) {
		uri, err := c.allowedPath(ctx, n.Name)
		return stream.TargetRef{Path: uri}, err
	}
	database, err := c.databaseOf(ctx, n.Database)
	if err != nil {
		return stream.TargetRef{}, err
	}
	return stream.TargetRef{Database: database, Table: n.Name}, checkName("table", n.Name)
}

func triggerOf(t sqlext.Trigger) (stream.Trigger, error) {
	switch t.Kind {
	case sqlext.TriggerEvery:
		if t.Param != nil {
			return stream.Trigger{}, refuse(KindInvalid, "TRIGGER EVERY ?: the parameter has no value")
		}
		return stream.Trigger{Kind: stream.Every, Every: t.Every}, nil
	case sqlext.TriggerAvailableNow:
		return stream.Trigger{Kind: stream.AvailableNow}, nil
	case sqlext.TriggerOnce:
		return stream.Trigger{Kind: stream.Once}, nil
	default:
		return stream.Trigger{}, nil
	}
}

func (c *Catalog) onError(ctx *sql.Context, e sqlext.OnError) (stream.OnError, error) {
	modes := map[sqlext.ErrorMode]stream.ErrorMode{
		sqlext.ErrorDefault: stream.Permissive, sqlext.ErrorPermissive: stream.Permissive, sqlext.ErrorFail: stream.Fail,
		sqlext.ErrorSkipRow: stream.SkipRow, sqlext.ErrorSkipFile: stream.SkipFile, sqlext.ErrorDeadLetter: stream.DeadLetter,
	}
	out := stream.OnError{Mode: modes[e.Mode]}
	if e.DeadLetter != nil {
		ref, err := c.targetRef(ctx, *e.DeadLetter)
		if err == nil {
			err = c.mayWrite(ctx, ref)
		}
		if err != nil {
			return out, err
		}
		out.DeadLetter = &ref
	}
	if e.Max != nil {
		n, err := strconv.ParseInt(e.Max.Text, 10, 64)
		if err != nil || n < 1 {
			return out, refuse(KindInvalid, "ON ERROR ... MAX %s ROWS: give a number of rows from 1 on", e.Max)
		}
		out.Max = n
	}
	return out, nil
}

func optionMap(options []sqlext.Option) map[string]string {
	if len(options) == 0 {
		return nil
	}
	out := make(map[string]string, len(options))
	for _, o := range options {
		out[o.Key] = o.Value.Text
	}
	return out
}

func (c *Catalog) createStream(s *sqlext.CreateStream) action {
	return command("CREATE STREAM", func(ctx *sql.Context) error {
		d, err := c.definition(ctx, s)
		if err != nil {
			return err
		}
		if err := c.mayReplace(ctx, d); err != nil {
			return err
		}
		created, err := c.streams.Create(ctx, d, stream.CreateOptions{IfNotExists: s.IfNotExists, OrReplace: s.OrReplace})
		if err == nil && !created {
			ctx.Warn(noteExists, "stream %s exists", d.FullName())
		}
		return err
	})
}

// noteExists is MySQL's ER_TABLE_EXISTS_ERROR, which it notes for IF NOT EXISTS.
const noteExists = 1050

func (c *Catalog) dropStream(s *sqlext.DropStream) action {
	return command("DROP STREAM", func(ctx *sql.Context) error {
		database, err := c.managed(ctx, s.Name)
		if err == nil {
			err = c.streams.Drop(ctx, database, s.Name.Name, s.PurgeCheckpoint)
		}
		if s.IfExists && stream.KindOf(err) == stream.KindNotFound {
			ctx.Warn(noteUnknown, "%s", err)
			return nil
		}
		return err
	})
}

// noteUnknown is MySQL's ER_BAD_TABLE_ERROR, which it notes for IF EXISTS.
const noteUnknown = 1051

func (c *Catalog) alterStream(s *sqlext.AlterStream) action {
	switch s.Action {
	case sqlext.AlterReset:
		return c.resetStream(s)
	case sqlext.AlterRetryAll, sqlext.AlterRetryFile:
		return c.retryStream(s)
	}
	return command("ALTER STREAM", func(ctx *sql.Context) error {
		database, err := c.managed(ctx, s.Name)
		if err != nil {
			return err
		}
		return c.alter(ctx, database, s)
	})
}

func (c *Catalog) alter(ctx *sql.Context, database string, s *sqlext.AlterStream) error {
	name := s.Name.Name
	switch s.Action {
	case sqlext.AlterStop:
		return c.streams.StopStream(ctx, database, name)
	case sqlext.AlterStart:
		return c.streams.StartStream(ctx, database, name)
	case sqlext.AlterSetOptions:
		return c.streams.SetOptions(ctx, database, name, optionMap(s.Options))
	case sqlext.AlterSetTrigger:
		t, err := triggerOf(s.Trigger)
		if err != nil {
			return err
		}
		return c.streams.SetTrigger(ctx, database, name, t)
	case sqlext.AlterRename:
		return c.renameStream(ctx, database, name, s.NewName)
	case sqlext.AlterSkipFile:
		uri, err := c.allowedPath(ctx, s.File.Text)
		if err != nil {
			return err
		}
		return c.streams.SkipFile(ctx, database, name, uri)
	default: // AlterSelect
		return c.replaceSelect(ctx, database, name, s.Select)
	}
}

func (c *Catalog) renameStream(ctx *sql.Context, database, name string, to sqlext.Name) error {
	if to.Database != "" && !strings.EqualFold(to.Database, database) {
		return refuse(KindInvalid, "stream %s.%s: a stream stays in its database; give the new name alone", database, name)
	}
	if err := checkName("stream", to.Name); err != nil {
		return err
	}
	return c.streams.Rename(ctx, database, name, to.Name)
}

func (c *Catalog) replaceSelect(ctx *sql.Context, database, name, text string) error {
	st, err := c.streams.Status(database, name)
	if err != nil {
		return err
	}
	d := st.Definition
	if d.SelectSQL, err = sqlext.ResolveStreamPaths(text, isPathArgument, c.allowedPaths(ctx)); err != nil {
		return err
	}
	_, err = c.streams.Create(ctx, d, stream.CreateOptions{OrReplace: true})
	return err
}

// retryStream answers with how many files are taken once more.
func (c *Catalog) retryStream(s *sqlext.AlterStream) action {
	schema := sql.Schema{{Name: "Stream", Type: types.LongText}, {Name: "Files_To_Read", Type: types.Int64}}
	a := query("ALTER STREAM", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		database, err := c.managed(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		uri := ""
		if s.Action == sqlext.AlterRetryFile {
			if uri, err = c.allowedPath(ctx, s.File.Text); err != nil {
				return nil, err
			}
		}
		n, err := c.streams.Retry(ctx, database, s.Name.Name, uri)
		if err != nil {
			return nil, err
		}
		return []sql.Row{{qualifiedName(database, s.Name.Name), int64(n)}}, nil
	})
	a.writes = true
	return a
}

// resetStream answers with what will be read again.
func (c *Catalog) resetStream(s *sqlext.AlterStream) action {
	schema := sql.Schema{
		{Name: "Stream", Type: types.LongText}, {Name: "Old_Id", Type: types.LongText}, {Name: "New_Id", Type: types.LongText},
		{Name: "Files_To_Read_Again", Type: types.Int64}, {Name: "Bytes_To_Read_Again", Type: types.Int64}, {Name: "Rows_To_Read_Again", Type: types.Int64},
	}
	a := query("ALTER STREAM", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		begin, err := beginOf(s)
		if err != nil {
			return nil, err
		}
		database, err := c.managed(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		r, err := c.streams.Reset(ctx, database, s.Name.Name, begin)
		if err != nil {
			return nil, err
		}
		return []sql.Row{{qualifiedName(database, s.Name.Name), r.OldID, r.NewID, r.Files, r.Bytes, r.Rows}}, nil
	})
	a.writes = true
	return a
}

// beginOf is where RESET lets the sources begin.
func beginOf(s *sqlext.AlterStream) (stream.Begin, error) {
	switch s.Reset {
	case sqlext.ResetBeginning:
		return stream.Begin{At: stream.BeginBeginning}, nil
	case sqlext.ResetLatest:
		return stream.Begin{At: stream.BeginLatest}, nil
	case sqlext.ResetVersion:
		n, err := strconv.ParseInt(s.Value.Text, 10, 64)
		if err != nil || n < 0 {
			return stream.Begin{}, refuse(KindInvalid, "RESET TO VERSION %s: give a version from 0 on", s.Value)
		}
		return stream.Begin{At: stream.BeginVersion, Version: n}, nil
	case sqlext.ResetTimestamp:
		us, err := batch.ParseTimestamp([]byte(s.Value.Text), time.UTC)
		if err != nil {
			return stream.Begin{}, refuse(KindInvalid, "RESET TO TIMESTAMP %s: %v", s.Value, err)
		}
		return stream.Begin{At: stream.BeginTimestamp, Time: time.UnixMicro(us).UTC()}, nil
	}
	return stream.Begin{}, nil
}

func qualifiedName(database, name string) string { return database + "." + name }
