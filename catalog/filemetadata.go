package catalog

import (
	"slices"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/files"
	"lakesql/sqlext"
)

// fileMetadata is Spark's hidden column of what reads files.
const fileMetadata = "_metadata"

// metadataArgument is what read_files is called with where a statement looks at the hidden column.
const metadataArgument = fileMetadata + "=>"

// findFileMetadata turns _metadata.file_path and the like, in a statement that reads files, into the columns that files.WithMetadata adds, and asks
// read_files for them; not where a table has that name.
func findFileMetadata(stmt ast.SQLNode) error {
	var columns []*ast.ColName
	var readers []*ast.TableFuncExpr
	var whole []*ast.ColName
	var starred []*ast.Select
	isSource, isTable := false, false
	err := ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.ColName:
			if n != nil && strings.EqualFold(n.Qualifier.Name.String(), fileMetadata) {
				columns = append(columns, n)
			} else if n != nil && n.Name.EqualString(fileMetadata) {
				whole = append(whole, n)
			}
		case *ast.Select:
			if slices.ContainsFunc(n.SelectExprs, isFactStar) {
				starred = append(starred, n)
			}
		case *ast.AliasedTableExpr:
			name, ok := n.Expr.(ast.TableName)
			isTable = isTable || strings.EqualFold(n.As.String(), fileMetadata) || ok && strings.EqualFold(name.Name.String(), fileMetadata)
		case *ast.TableFuncExpr:
			isSource = isSource || strings.EqualFold(n.Name, sqlext.SourceFunction)
			isTable = isTable || strings.EqualFold(n.Alias.String(), fileMetadata)
			if strings.EqualFold(n.Name, "read_files") {
				readers = append(readers, n)
			}
		}
		return true, nil
	}, stmt)
	if err != nil || len(columns)+len(whole)+len(starred) == 0 || len(readers) == 0 && !isSource || isTable {
		return err
	}
	for _, s := range starred {
		columns = append(columns, expandFacts(s)...)
	}
	if err := nameFacts(stmt); err != nil {
		return err
	}
	for _, column := range whole {
		column.Name = ast.NewColIdent(files.MetadataPrefix)
	}
	for _, column := range columns {
		fact := column.Name.String()
		name := files.MetadataColumn(fact)
		if name == "" {
			return refuse(KindInvalid, "there is no _metadata.%s; there are %s", fact, strings.Join(files.MetadataFacts(), ", "))
		}
		column.Name = ast.NewColIdent(name)
		column.Qualifier = ast.TableName{Name: column.Qualifier.DbQualifier}
	}
	for _, r := range readers {
		for _, value := range []ast.Expr{ast.NewStrVal([]byte(metadataArgument)), ast.NewStrVal([]byte("true"))} {
			r.Exprs = append(r.Exprs, &ast.AliasedExpr{Expr: value})
		}
	}
	return nil
}

// withoutFacts is the error of a SELECT that looks at the hidden column of what has none.
func withoutFacts(err error) error {
	if err == nil || !strings.Contains(err.Error(), files.MetadataPrefix) {
		return err
	}
	return refuse(KindInvalid, "_metadata is a column of files, of STREAM read_files(...) and read_files(...), and what the SELECT takes it from is none: leave it out")
}

// isFactStar tells _metadata.* from what else stands in a SELECT.
func isFactStar(e ast.SelectExpr) bool {
	star, ok := e.(*ast.StarExpr)
	return ok && strings.EqualFold(star.TableName.Name.String(), fileMetadata)
}

// expandFacts puts a column for each fact in the place of _metadata.*, and returns them.
func expandFacts(s *ast.Select) (columns []*ast.ColName) {
	var out ast.SelectExprs
	for _, e := range s.SelectExprs {
		if !isFactStar(e) {
			out = append(out, e)
			continue
		}
		for _, fact := range files.MetadataFacts() {
			column := &ast.ColName{Name: ast.NewColIdent(fact), Qualifier: e.(*ast.StarExpr).TableName}
			columns = append(columns, column)
			out = append(out, &ast.AliasedExpr{Expr: column})
		}
	}
	s.SelectExprs = out
	return columns
}

// nameFacts lets a column of a SELECT that is a fact go by its name, as in Spark.
func nameFacts(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if e, ok := n.(*ast.AliasedExpr); ok && e.As.IsEmpty() {
			column, ok := e.Expr.(*ast.ColName)
			if ok && (strings.EqualFold(column.Qualifier.Name.String(), fileMetadata) || column.Name.EqualString(fileMetadata)) {
				e.As = column.Name
			}
		}
		return true, nil
	}, stmt)
}

// looksAtFileMetadata tells whether findFileMetadata has found something.
func looksAtFileMetadata(stmt ast.SQLNode) (bool, error) {
	found := false
	err := ast.Walk(func(n ast.SQLNode) (bool, error) {
		if column, ok := n.(*ast.ColName); ok && column != nil && files.IsMetadataColumn(column.Name.String()) {
			found = true
		}
		return !found, nil
	}, stmt)
	return found, err
}
