package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/files"
	"lakesql/sqlext"
	"lakesql/store"
	"lakesql/stream"
)

// copySchema is Databricks' answer to COPY INTO.
var copySchema = sql.Schema{
	{Name: "num_affected_rows", Type: types.Int64}, {Name: "num_inserted_rows", Type: types.Int64}, {Name: "num_skipped_corrupt_files", Type: types.Int64},
}

// warningWaiting is MySQL's ER_UNKNOWN_ERROR, of warnings that have no number of their own.
const warningWaiting = 1105

func (c *Catalog) copyInto(s *sqlext.CopyInto) action {
	a := query("COPY INTO", copySchema, func(ctx *sql.Context) ([]sql.Row, error) {
		if ctx.GetIgnoreAutoCommit() {
			return nil, refuse(KindTransaction, "COPY INTO commits by itself, and cannot be part of a transaction: COMMIT or ROLLBACK first")
		}
		t, err := c.maintained(ctx, s.Table, "COPY INTO")
		if err != nil {
			return nil, err
		}
		run, err := c.copyOf(ctx, s)
		if err != nil {
			return nil, err
		}
		done, err := c.streams.Copy(ctx, run)
		if err != nil {
			return nil, copyError(s, err)
		}
		for i, e := range done.Errors {
			if i == maxRowWarnings {
				break
			}
			ctx.Warn(warningRow, "%s line %d: %s", e.File, e.Line, e.Message)
		}
		if done.Waiting > 0 {
			ctx.Warn(warningWaiting, "%d files were still being written, and are left to the next COPY INTO", done.Waiting)
		}
		if done.Version >= 0 {
			c.maintainSoon(t.handle)
		}
		return []sql.Row{{done.Rows, done.Rows, int64(0)}}, nil // a file that cannot be read is an error: none is skipped
	})
	a.writes = true
	return a
}

// copyOf is what the statement says, its SELECT as that of a stream.
func (c *Catalog) copyOf(ctx *sql.Context, s *sqlext.CopyInto) (stream.Copy, error) {
	out := stream.Copy{AsTable: s.Select[0] == ""}
	client := ctx.Client()
	d := stream.Definition{Columns: s.Columns, Definer: client.User + "@" + client.Address, OnSchemaChange: stream.SchemaFail, OnError: stream.OnError{Mode: stream.Fail}}
	var err error
	if d.Database, err = c.databaseOf(ctx, ""); err != nil {
		return out, err
	}
	if d.Target, err = c.targetRef(ctx, s.Table); err != nil {
		return out, err
	}
	merge := false
	for _, o := range s.CopyOptions {
		switch strings.ToLower(o.Key) {
		case "force":
			out.Force, err = copyFlag(o)
		case "mergeschema":
			merge, err = copyFlag(o)
		default:
			err = refuse(KindInvalid, "COPY_OPTIONS has no option %s: it takes 'force' = 'true', which loads files again, and 'mergeSchema' = 'true', "+
				"which adds the columns that the table lacks; how files are read goes into FORMAT_OPTIONS", o.Key)
		}
		if err != nil {
			return out, err
		}
	}
	if merge {
		d.OnSchemaChange = stream.SchemaAddColumns
	}
	options, mode, err := copyFormat(s)
	if err != nil {
		return out, err
	}
	switch strings.ToUpper(mode) { // for what the SELECT computes, too
	case "PERMISSIVE":
		d.OnError.Mode = stream.Permissive
	case "DROPMALFORMED":
		d.OnError.Mode = stream.SkipRow
	}
	path, err := c.copyPath(ctx, s)
	if err != nil {
		return out, err
	}
	d.SelectSQL = copySelect(s, path, options)
	out.Definition = d
	return out, nil
}

func copyFlag(o sqlext.Option) (bool, error) {
	switch strings.ToLower(o.Value.Text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, refuse(KindInvalid, "COPY_OPTIONS: '%s' = '%s': give 'true' or 'false'", o.Key, o.Value.Text)
}

// copyFormat are FORMAT_OPTIONS as options of read_files, and the option mode among them.
func copyFormat(s *sqlext.CopyInto) (out []sqlext.Option, mode string, err error) {
	for _, o := range s.FormatOptions {
		switch key := files.OptionKey(o.Key); {
		case key == "format", key == "path":
			return nil, "", refuse(KindInvalid, "FORMAT_OPTIONS: COPY INTO t FROM 'path' FILEFORMAT = %s says what %s is: leave it out", strings.ToUpper(s.Format), o.Key)
		case files.IsStreamOption(key):
			return nil, "", refuse(KindInvalid, "FORMAT_OPTIONS: %s is an option of streams: COPY INTO loads all new files in one commit, so leave it out", o.Key)
		case key == "mergeschema":
			if !strings.EqualFold(o.Value.Text, "true") {
				return nil, "", notYet("FORMAT_OPTIONS ('mergeSchema' = '"+o.Value.Text+"')", "the columns are those of all files, as 'true' says")
			}
			continue
		case key == "mode":
			mode = o.Value.Text
		}
		out = append(out, o)
	}
	return out, mode, nil
}

// copyPath is the pattern of the files: of the folder, with FILES or PATTERN below it, links of the folder followed, so that a file is known
// again by whatever name the folder has.
func (c *Catalog) copyPath(ctx *sql.Context, s *sqlext.CopyInto) (string, error) {
	folder, err := c.allowedPath(ctx, s.Path.Text)
	if err != nil {
		return "", err
	}
	if folder, err = c.cfg.Fence.Follow(folder); err != nil {
		return "", err
	}
	dir, err := store.ParseFileURI(folder)
	if err != nil {
		return "", err
	}
	switch {
	case len(s.Files) > 0 && s.Pattern != nil:
		return "", refuse(KindInvalid, "COPY INTO takes FILES or PATTERN, not both")
	case s.Pattern != nil:
		return c.cfg.Fence.Resolve(dir + "/" + s.Pattern.Text)
	case len(s.Files) == 0:
		return folder, nil
	}
	st, err := c.cfg.Open(folder)
	if err != nil {
		return "", err
	}
	names := make([]string, len(s.Files))
	for i, name := range s.Files {
		_, err := st.Stat(ctx, name)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return "", &stream.Error{Kind: stream.KindNoSource, Message: fmt.Sprintf("[PATH_NOT_FOUND] COPY INTO %s: FILES: there is no file %s in %s", s.Table, name, folder)}
		case errors.Is(err, fs.ErrInvalid):
			return "", refuse(KindInvalid, "COPY INTO %s: FILES: '%s' is no path of a file below %s: write it as 'name.csv' or 'folder/name.csv'", s.Table, name, folder)
		case err != nil:
			return "", err
		}
		names[i] = globLiteral.Replace(name)
	}
	return c.cfg.Fence.Resolve(globLiteral.Replace(dir) + "/{" + strings.Join(names, ",") + "}")
}

// globLiteral turns a name or a path into the glob that matches only it.
var globLiteral = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, "}", `\}`, ",", `\,`)

// copySelect is the statement's SELECT as one of a stream.
func copySelect(s *sqlext.CopyInto, path string, options []sqlext.Option) string {
	var b strings.Builder
	b.WriteString(s.Select[0])
	if s.Select[0] == "" {
		b.WriteString("SELECT * FROM")
	}
	b.WriteString(" STREAM read_files(" + sqlext.QuoteString(path) + ", format => " + sqlext.QuoteString(strings.ToLower(s.Format)))
	for _, o := range options {
		b.WriteString(", " + sqlext.QuoteString(o.Key) + " => " + sqlext.QuoteString(o.Value.Text))
	}
	b.WriteString(") " + s.Select[1])
	return b.String()
}

// copyError says of a SELECT that is none for a stream what it is not for COPY INTO.
func copyError(s *sqlext.CopyInto, err error) error {
	var refused *sqlext.RefusedError
	if errors.As(err, &refused) {
		return refuse(KindUnsupported, "the SELECT of COPY INTO %s chooses, computes and filters the rows of the files, and this one does more (%s). "+
			"INSERT INTO %s SELECT ... FROM read_files('path', format => '%s') takes any SELECT", s.Table, refused.Message, s.Table, strings.ToLower(s.Format))
	}
	return err
}
