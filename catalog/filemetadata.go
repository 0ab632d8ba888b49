package catalog

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// fileMetadata is Spark's hidden column of what reads files.
const fileMetadata = "_metadata"

// refuseFileMetadata refuses _metadata.file_path and the like in a statement that reads files, unless a table has that name.
func refuseFileMetadata(stmt ast.SQLNode) error {
	var field string
	var readsFiles, isTable bool
	err := ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.ColName:
			if n != nil && strings.EqualFold(n.Qualifier.Name.String(), fileMetadata) {
				field = fileMetadata + "." + n.Name.String()
			}
		case *ast.AliasedTableExpr:
			name, ok := n.Expr.(ast.TableName)
			isTable = isTable || strings.EqualFold(n.As.String(), fileMetadata) || ok && strings.EqualFold(name.Name.String(), fileMetadata)
		case *ast.TableFuncExpr:
			readsFiles = readsFiles || strings.EqualFold(n.Name, "read_files") || strings.EqualFold(n.Name, sqlext.SourceFunction)
			isTable = isTable || strings.EqualFold(n.Alias.String(), fileMetadata)
		}
		return true, nil
	}, stmt)
	if err != nil || field == "" || !readsFiles || isTable {
		return err
	}
	return notYet(field+" of read_files", "SHOW STREAM FILES FOR s lists the files that a stream has read")
}
