package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/sqlext"
)

// fieldOf is the Delta column of a definition: its name, type, comment, and whether it takes NULL. Expressions are the caller's.
func fieldOf(c sqlext.ColumnDef) (batch.Field, error) {
	f, err := typedField(c.Name(), c.Type)
	if err != nil {
		return f, err
	}
	f.Nullable = c.Null != sqlext.NotNull
	if c.Comment != nil {
		setText(&f, "comment", c.Comment.Text)
	}
	return f, nil
}

// typedField is a nullable column of a type. A type of MySQL's is read by vitess, as in a CREATE TABLE.
func typedField(name string, t sqlext.Type) (batch.Field, error) {
	if t.IsDelta() {
		typ, err := batch.ParseType(t.Text)
		if err != nil {
			err = refuse(KindInvalid, "column %s: %v", name, err)
		}
		return batch.Field{Name: name, Type: typ, Nullable: true}, err
	}
	parsed, err := ast.Parse("CREATE TABLE t (c " + t.Text + ")")
	if err != nil {
		return batch.Field{}, fmt.Errorf("column %s: type %s: %w", name, t.Text, err)
	}
	ddl, ok := parsed.(*ast.DDL)
	if !ok || ddl.TableSpec == nil || len(ddl.TableSpec.Columns) != 1 {
		return batch.Field{}, refuse(KindInvalid, "column %s: %s is no type", name, t.Text)
	}
	written := &ddl.TableSpec.Columns[0].Type
	if err := columnSize(name, written); err != nil {
		return batch.Field{}, err
	}
	typ, err := types.ColumnTypeToType(written)
	if types.ErrLengthTooLarge.Is(err) {
		return batch.Field{}, mysql.NewSQLError(1074, "42000", "Column length too big for column '%s' (max = %d); use BLOB or TEXT instead", name, maxVarchar)
	}
	if err != nil {
		return batch.Field{}, err
	}
	return mysqltype.Field(&sql.Column{Name: name, Type: typ, Nullable: true})
}

// maxVarchar is the length of the longest VARCHAR, in characters of four bytes.
const maxVarchar = 65535 / 4

// setText sets a text in a column's metadata, which holds raw JSON.
func setText(f *batch.Field, key, text string) {
	raw, _ := json.Marshal(text) // a string always marshals
	setRaw(f, key, string(raw))
}

func setRaw(f *batch.Field, key, raw string) {
	if f.Metadata == nil {
		f.Metadata = make(map[string]string)
	}
	f.Metadata[key] = raw
}

// columnNamed finds the definition of a column, in any case.
func columnNamed(columns []sqlext.ColumnDef, name string) (sqlext.ColumnDef, bool) {
	for _, c := range columns {
		if strings.EqualFold(c.Name(), name) {
			return c, true
		}
	}
	return sqlext.ColumnDef{}, false
}
