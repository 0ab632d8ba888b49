package catalog

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/sqlext"
)

// description is what metadata says of a table, kept until the table's metadata changes: a query over the columns of all tables asks every
// table for it.
type description struct {
	of      *delta.Metadata
	columns []sql.Row // the rows of information_schema.COLUMNS
	naming  columnNaming
}

// columnNaming is what the rows of COLUMNS say that is not the table's own: it is told by these.
type columnNaming struct{ database, name, privileges string }

// descriptions are those of the tables of the lake.
type descriptions struct {
	mu      sync.Mutex
	byTable map[*delta.Table]description
}

// columns are the rows of a table in information_schema.COLUMNS.
func (d *descriptions) columns(ctx *sql.Context, schema sql.Schema, t *table, naming columnNaming) ([]sql.Row, error) {
	d.mu.Lock()
	known, ok := d.byTable[t.handle]
	d.mu.Unlock()
	if ok && known.of == t.snap.Metadata() && known.naming == naming {
		return known.columns, nil
	}
	rows, err := columnRows(ctx, schema, naming, sqlSchema(t.snap.Schema(), t.database, t.name), t.snap.Schema().Fields, keysOf(t.snap.Metadata()))
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byTable == nil {
		d.byTable = make(map[*delta.Table]description)
	}
	d.byTable[t.handle] = description{of: t.snap.Metadata(), columns: rows, naming: naming}
	return rows, nil
}

func (d *descriptions) forget(t *delta.Table) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byTable, t)
}

// columnRows are the rows of COLUMNS for columns; fields are those of a table of the lake, or nil.
func columnRows(ctx *sql.Context, schema sql.Schema, naming columnNaming, columns sql.Schema, fields []batch.Field, keys []tableKey) ([]sql.Row, error) {
	rows := make([]sql.Row, 0, len(columns))
	for i, c := range columns {
		var field batch.Field
		if fields != nil {
			field = fields[i]
		}
		value, extra := shownDefault(c, field)
		t := typeFacts(ctx, c.Type)
		row, err := rowFor(ctx, schema, "def", naming.database, naming.name, c.Name, i+1, value, yesNo(c.Nullable), t.name, t.characters, t.bytes, t.precision, t.scale, t.fraction,
			t.charset, t.collation, t.text, columnKey(keys, c), extra, naming.privileges, c.Comment, field.MetadataText(delta.GenerationKey), nil)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// rowFor is a row whose values are given by position, as their columns' types have them.
func rowFor(ctx *sql.Context, schema sql.Schema, values ...any) (sql.Row, error) {
	row := make(sql.Row, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		if _, ok := schema[i].Type.(sql.EnumType); ok { // expressions take an ENUM's text, and would take its number for a number
			row[i] = v
			continue
		}
		converted, _, err := schema[i].Type.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		row[i] = converted
	}
	return row, nil
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// shownDefault is COLUMN_DEFAULT, and what EXTRA says of it and of the column.
func shownDefault(c *sql.Column, f batch.Field) (value any, extra string) {
	text := f.MetadataText(delta.DefaultKey)
	if text == "" {
		return nil, c.Extra
	}
	e, err := sqlext.SparkExpression(text)
	if err != nil {
		return text, "DEFAULT_GENERATED"
	}
	switch e := e.(type) {
	case *ast.NullVal:
		return nil, c.Extra
	case *ast.SQLVal:
		return string(e.Val), c.Extra
	case *ast.UnaryExpr:
		if v, ok := e.Expr.(*ast.SQLVal); ok && e.Operator == ast.UMinusStr {
			return "-" + string(v.Val), c.Extra
		}
	}
	return nowText.ReplaceAllString(ast.String(e), "CURRENT_TIMESTAMP$1"), "DEFAULT_GENERATED"
}

// nowText is what Spark's name of the time of a statement is parsed to, which MySQL shows by its own.
var nowText = regexp.MustCompile(`^now(\(\d*\))$`)

func columnKey(keys []tableKey, c *sql.Column) string {
	kind := ""
	if c.PrimaryKey {
		kind = "PRI"
	}
	for _, k := range keys {
		at := slices.IndexFunc(k.columns, func(name string) bool { return strings.EqualFold(name, c.Name) })
		switch {
		case at < 0:
		case k.primary:
			return "PRI"
		case len(k.columns) == 1:
			kind = "UNI"
		case at == 0 && kind == "":
			kind = "MUL"
		}
	}
	return kind
}

// facts are what COLUMNS and PARAMETERS say of a type; nil is NULL.
type facts struct {
	name, text                                                        string
	characters, bytes, precision, scale, fraction, charset, collation any
}

// numericPrecision are NUMERIC_PRECISION of the integers, and of float and double.
var numericPrecision = map[querypb.Type]int{
	sqltypes.Int8: 3, sqltypes.Uint8: 3, sqltypes.Int16: 5, sqltypes.Uint16: 5, sqltypes.Int24: 7, sqltypes.Uint24: 7, sqltypes.Int32: 10, sqltypes.Uint32: 10, sqltypes.Int64: 19, sqltypes.Uint64: 20,
}

func typeFacts(ctx *sql.Context, t sql.Type) facts {
	text := typeText(t)
	name, _, _ := strings.Cut(text, "(")
	name, _, _ = strings.Cut(name, " ")
	f := facts{name: name, text: text}
	switch t := t.(type) {
	case sql.StringType:
		f.characters, f.bytes = t.MaxCharacterLength(), t.MaxByteLength()
		if types.IsBinaryType(t) {
			f.characters = f.bytes
			break
		}
		f.charset, f.collation = t.CharacterSet().Name(), t.Collation().Name()
		if name != "varchar" && name != "char" { // of a TEXT both are bytes
			f.characters = f.bytes
		}
	case sql.EnumType:
		f.withCollation(t.Collation(), longest(t.Values()))
	case sql.SetType:
		f.withCollation(t.Collation(), len(strings.Join(t.Values(), ",")))
	case sql.DecimalType:
		f.precision, f.scale = int(t.Precision()), int(t.Scale())
	case sql.DatetimeType:
		if types.IsDateType(t) {
			break
		}
		f.fraction = t.Precision()
	default:
		if digits, ok := numericPrecision[t.Type()]; ok {
			f.precision, f.scale = digits, 0
		} else if types.IsFloat(t) {
			f.precision = map[bool]int{true: 12, false: 22}[t.Type() == sqltypes.Float32]
		} else if types.IsTimespan(t) {
			f.fraction = 6
		}
	}
	return f
}

func (f *facts) withCollation(c sql.CollationID, characters int) {
	f.charset, f.collation = c.CharacterSet().Name(), c.Name()
	f.characters, f.bytes = characters, characters*int(c.CharacterSet().MaxLength())
}

func longest(values []string) int {
	n := 0
	for _, v := range values {
		n = max(n, len([]rune(v)))
	}
	return n
}

// typeText is a type as COLUMN_TYPE writes it: without character set and collation, which have columns of their own.
func typeText(t sql.Type) string {
	text := t.String()
	if i := strings.Index(text, " CHARACTER SET "); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text, " COLLATE "); i >= 0 {
		text = text[:i]
	}
	return text
}
