package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/files"
	"lakesql/sqlext"
	"lakesql/store"
	"lakesql/stream"
	"lakesql/stream/source"
	"lakesql/stream/source/kafka"
)

// Sources returns the streaming sources of the SELECT in Spark's order.
func (s streamCompiler) Sources(ctx context.Context, d stream.Definition) ([]source.Spec, error) {
	rewritten, sources, err := sqlext.ParseStreamSelect(d.SelectSQL)
	if err != nil {
		return nil, err
	}
	stmt, err := s.c.engine.Parser.ParseSimple(rewritten)
	if err != nil {
		return nil, err
	}
	metadata, err := looksAtFileMetadata(stmt)
	if err != nil {
		return nil, err
	}
	columns := namedColumns(stmt)
	specs := make([]source.Spec, len(sources))
	for i, src := range sources {
		if specs[i], err = s.spec(ctx, d, src); err != nil {
			return nil, err
		}
		specs[i].Metadata = metadata && specs[i].Kind == "files"
		specs[i].Columns = columns
	}
	return specs, nil
}

// namedColumns are the columns that a SELECT names, in lower case; nil where it has a * too.
func namedColumns(stmt ast.SQLNode) []string {
	out, star := []string{}, false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // no visit gives an error
		switch n := n.(type) {
		case *ast.StarExpr:
			star = true
		case *ast.ColName:
			if n != nil {
				out = append(out, n.Name.Lowered())
			}
		}
		return !star, nil
	}, stmt)
	if star {
		return nil
	}
	return out
}

// spec says what a STREAM of the SELECT reads.
func (s streamCompiler) spec(ctx context.Context, d stream.Definition, src sqlext.StreamSource) (source.Spec, error) {
	options := optionMap(src.Options)
	switch src.Function {
	case "read_files":
		return s.filesSpec(src.Args, options)
	case "rate":
		if len(src.Args) > 0 {
			return source.Spec{}, refuse(KindInvalid, "STREAM rate takes named options: STREAM rate(rowsPerSecond => 10)")
		}
		return source.Spec{Kind: "rate", Options: options}, nil
	case "kafka":
		return kafkaSpec(src.Args, options)
	case "":
		return s.tableSpec(ctx, d, src.Table, src.Args, options)
	}
	return source.Spec{}, notYet("STREAM "+src.Function, "STREAM read_files('path', format => 'csv') is")
}

func kafkaSpec(args []sqlext.Value, options map[string]string) (source.Spec, error) {
	if len(args) > 1 {
		return source.Spec{}, refuse(KindInvalid, "STREAM kafka wants the brokers in one text, and named options: STREAM kafka('host1:9092,host2:9092', topic => 't')")
	}
	if len(args) == 1 {
		if options == nil {
			options = map[string]string{}
		}
		if have, twice := options[kafka.Brokers]; twice {
			return source.Spec{}, refuse(KindInvalid, "STREAM kafka is given the brokers twice: as its first argument, and as %s => '%s'", kafka.Brokers, have)
		}
		options[kafka.Brokers] = args[0].Text
	}
	return source.Spec{Kind: "kafka", Options: options}, nil
}

// isPathArgument says whether a named argument of read_files is a path. A definition keeps it as a URI, as it keeps the path that is read: another folder that a
// server is started in later changes nothing.
func isPathArgument(name string) bool {
	return name == "path" || slices.Contains(files.PathOptions, files.OptionKey(name))
}

func (s streamCompiler) filesSpec(args []sqlext.Value, options map[string]string) (source.Spec, error) {
	path := options["path"]
	delete(options, "path")
	if len(args) > 0 {
		path = args[0].Text
	}
	if path == "" || len(args) > 1 {
		return source.Spec{}, refuse(KindInvalid, "STREAM read_files wants one path and named options: STREAM read_files('./in', format => 'csv')")
	}
	for name, value := range options {
		if isPathArgument(name) {
			resolved, err := s.c.cfg.Fence.Resolve(value)
			if err != nil {
				return source.Spec{}, fmt.Errorf("option %s: %w", name, err)
			}
			options[name] = resolved
		}
	}
	uri, err := s.c.cfg.Fence.Resolve(path)
	if err != nil {
		return source.Spec{}, err
	}
	return source.Spec{Kind: "files", Path: uri, Options: options}, s.checkCleaned(uri, options)
}

// checkCleaned refuses cleanSource with a path, or with a folder that files go to, that shares files with the lake or with the server's own folder.
func (s streamCompiler) checkCleaned(uri string, options map[string]string) error {
	places := []string{uri}
	cleans := false
	for name, value := range options {
		switch files.OptionKey(name) {
		case "cleansource":
			cleans = !strings.EqualFold(value, "off")
		case "sourcearchivedir":
			places = append(places, value)
		}
	}
	if !cleans {
		return nil
	}
	own := []string{s.c.root.URI()}
	if s.c.cfg.DataDir != "" {
		own = append(own, store.FileURI(s.c.cfg.DataDir))
	}
	for _, place := range places {
		folder, err := s.realFolder(place)
		if err != nil {
			return err
		}
		for _, uri := range own {
			kept, err := s.realFolder(uri)
			if err != nil {
				return err
			}
			if strings.HasPrefix(folder, kept) || strings.HasPrefix(kept, folder) {
				return refuse(KindInvalid, "option cleanSource: %s and %s, which has files of the server's own, lie in one another. Give the files a folder of their own", place, uri)
			}
		}
	}
	return nil
}

// realFolder is the path of the folder of a URI, above its first pattern, with links followed and a slash at its end.
func (s streamCompiler) realFolder(uri string) (string, error) {
	real, err := s.c.cfg.Fence.Follow(uri)
	if err != nil {
		return "", err
	}
	folder, err := store.ParseFileURI(real)
	if at := strings.IndexAny(folder, "*?[{"); at >= 0 {
		folder = folder[:strings.LastIndex(folder[:at], "/")]
	}
	return strings.TrimRight(folder, "/") + "/", err
}

// tableSpec is a table that the definer may read. One that is not there yet is waited for where it is named by its path, or a stream writes it.
func (s streamCompiler) tableSpec(ctx context.Context, d stream.Definition, name sqlext.Name, args []sqlext.Value, options map[string]string) (source.Spec, error) {
	if len(args) > 0 {
		return source.Spec{}, refuse(KindInvalid, "STREAM(%s, ...) takes named options: STREAM(%s, startingVersion => 3)", name, name)
	}
	sqlCtx := s.c.background(ctx, d.Database, d.Definer)
	if err := s.c.checkTable(sqlCtx, ast.AuthType_SELECT, name); err != nil {
		return source.Spec{}, err
	}
	ref, err := s.c.targetRef(sqlCtx, name)
	if err != nil {
		return source.Spec{}, err
	}
	if ref.Path == "" && s.c.isView(sqlCtx, name) {
		return source.Spec{}, refuse(KindInvalid, "%s is a view: STREAM reads a table; name the table that the view reads, and write the view's SELECT around it", ref)
	}
	table, err := targets(s).Open(ctx, ref)
	if err != nil {
		return source.Spec{}, err
	}
	if !table.Exists && ref.Path == "" {
		written, err := s.c.isWritten(ctx, ref)
		if err != nil {
			return source.Spec{}, err
		}
		if !written {
			return source.Spec{}, sql.ErrTableNotFound.New(name.Name)
		}
	}
	return source.Spec{Kind: "delta", Path: table.Table.Store().URI(), Table: true, Options: options}, nil
}

// isWritten says whether a table is the target of a stream.
func (c *Catalog) isWritten(ctx context.Context, ref stream.TargetRef) (bool, error) {
	state, err := c.ledger.read(ctx)
	if err != nil {
		return false, err
	}
	for _, e := range state.list(streamEntry, "") {
		var d stream.Definition
		if err := e.decode(&d); err != nil {
			return false, err
		}
		if strings.EqualFold(d.Target.String(), ref.String()) {
			return true, nil
		}
	}
	return false, nil
}
